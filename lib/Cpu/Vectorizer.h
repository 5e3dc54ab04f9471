// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What VectorLoops.cpp (loops and tiles) and PackOperands.cpp (operands in
// another order) share.
#pragma once

#include "Nest.h"
#include "VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <map>

namespace rhizome::cpu {
/// Vectorizes the operations of one function, in order.
class Vectorizer {
public:
  Vectorizer(mlir::func::FuncOp func, const VectorOptions &options,
             Constants &constants)
      : func(func), unit(options.unit), options(options), constants(constants),
        b(func.getContext()), loc(func.getLoc()) {}
  void run();

private:
  //===--- One operation ---===//
  bool plan(Nest nest);
  void emit();
  int laneLoop(const Nest &nest) const;
  bool walksLanes(const Following &f) const;

  //===--- Sums along the lanes (Reductions.cpp) ---===//
  bool planReduction(Nest nest);
  int reductionLoop() const;
  bool canReduce() const;
  void emitReductionTile();
  mlir::Value loadPart(mlir::Value flat, mlir::Type element, mlir::Value at,
                       int64_t valid);
  mlir::Value lanesMask(int64_t valid);
  mlir::Value joined(mlir::Value x, mlir::Value y);

  //===--- Moves along another loop (Transposes.cpp) ---===//
  bool transpose(Nest given);

  //===--- Several operations by slices (Groups.cpp) ---===//
  void groupOperations(llvm::ArrayRef<mlir::Operation *> work,
                       llvm::DenseSet<mlir::Operation *> &done);
  bool canGroup(const Nest &found);
  void emitGroup(llvm::MutableArrayRef<Nest> nests,
                 llvm::DenseSet<mlir::Operation *> &done);

  //===--- Operands in another order ---===//
  bool isOwnConstant(size_t operand) const;
  std::vector<char> &constantBytes(size_t operand);
  void replaceConstant(size_t operand, mlir::Type element,
                       std::vector<char> bytes);
  llvm::SmallVector<int64_t> offsetsOf(const Access &access,
                                       llvm::ArrayRef<int> loops);
  bool canPack(size_t operand) const;
  /// A buffer of the function's own, made outside of loops.
  mlir::Value allocate(int64_t size, mlir::Type element);
  void pack(size_t operand);
  bool findDots();
  llvm::SmallVector<int> outerLoops(const Access &access) const;
  void addExcess(int summed);
  void packWeights(int summed);
  std::vector<char> packedWeights(int summed, llvm::ArrayRef<int> loops);
  void packByCode(const Access &packed, int summed, llvm::ArrayRef<int> loops);
  void readForDots(Access &access, int summed, bool isRaised);
  void packStrips();

  //===--- The end of the loop along vectors ---===//
  /// How the last vectors read where the loop's extent is no whole number of
  /// them.
  enum class Rest {
    Beyond,   ///< past the end, which every memory read allows
    MoveBack, ///< from before, places are computed twice
    Masked    ///< only what is there
  };
  bool hasMargin(mlir::Value memory) const;
  bool mayRepeat() const;
  Rest chooseRest() const;

  //===--- Code ---===//
  struct Part {
    int64_t size;   ///< of a tile, in steps of the loop
    mlir::Value at; ///< the loop's index where the tile begins
  };
  void emitLoops(size_t next);
  void emitTile();
  void fetchEnd();
  int64_t widthAt(int64_t left) const;
  std::vector<llvm::SmallVector<int64_t>> placesOfTile() const;
  void chooseWidth();
  void chooseTile();
  int64_t choosePieces();
  void cutSums();
  mlir::Value flat(const Access &access);
  mlir::Value number(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value plus(mlir::Value base, int64_t offset) {
    return offset ? mlir::arith::AddIOp::create(b, loc, base, number(offset))
                  : base;
  }
  mlir::Value address(const Access &access, bool summed);
  mlir::Value loadVector(mlir::Value flat, mlir::Type element, mlir::Value at,
                         int64_t count) {
    return mlir::vector::LoadOp::create(
        b, loc, mlir::VectorType::get({count}, element), flat, at);
  }
  /// A vector along the lanes of the tile, whose first lane is at `place`.
  mlir::Value loadLanes(mlir::Value flat, mlir::Type element, mlir::Value at,
                        llvm::ArrayRef<int64_t> place, int64_t step = 1);
  mlir::Value body(mlir::linalg::LinalgOp op,
                   llvm::ArrayRef<mlir::Value> arguments, mlir::Value out);
  mlir::Value spread(mlir::Value v);
  mlir::Value dotProduct(mlir::Value data, mlir::Value weights,
                         mlir::Value sum);
  void store(mlir::Value v, mlir::Value flat, mlir::Value at, int64_t valid);
  llvm::SmallVector<mlir::Value> onTile(const Following &f,
                                        llvm::ArrayRef<mlir::Value> sums);

  mlir::func::FuncOp func;
  VectorUnit unit;
  VectorOptions options;
  Constants &constants;
  mlir::OpBuilder b;
  mlir::Location loc;

  // Of the operations at hand that run slice by slice.
  mlir::scf::ForOp group;

  // Of the operation at hand.
  int sliceLoop = -1; ///< the loop that is the group's
  llvm::SmallVector<size_t> toPack;
  Nest nest;
  int lanes = 0;            ///< the loop along vectors
  Rest rest = Rest::Beyond; ///< of the loop along vectors
  bool repeats = false;     ///< places may be computed twice
  unsigned vectorBits = 0;  ///< of the unit, for the operation's numbers
  int64_t width = 0;        ///< elements of a vector
  int64_t narrowest = 0;    ///< elements that the last of a loop has at least
  int64_t current = 0;      ///< elements of the vector at hand
  int64_t vectors = 1;      ///< of a tile
  std::map<int, int64_t> tile; ///< steps of other loops in a tile
  /// Into how many pieces the sums are cut, and the loop over them, -1 if they
  /// are not.
  int64_t pieces = 1;
  int pieceLoop = -1;
  std::optional<Following> beginning, end;
  mlir::Operation *join = nullptr; ///< of the lanes, if sums run along them
  int64_t dotTerms = 1; ///< of a sum, that one instruction adds in a lane
  size_t dotWeights = 0;
  bool areWeightsUnsigned = false;
  /// What the sums are too large by, by place; and its step of pieces.
  std::optional<Access> excess;
  int64_t excessOfPiece = 0;
  llvm::SmallVector<int> order;
  std::vector<Part> blocks; ///< by loop
  llvm::SmallVector<mlir::Value> summedIndex;
  std::vector<llvm::SmallVector<int64_t>> places; ///< of the tile at hand
};
} // namespace rhizome::cpu
