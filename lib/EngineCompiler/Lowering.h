// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk that makes layers of operations: what each value of the function is
// for the engine so far. Sums and what follows them are in Layers.cpp, products
// of two tensors in Products.cpp, what only moves words in Moves.cpp.
#pragma once

#include "Layers.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "llvm/ADT/DenseMap.h"

namespace rhizome::engine {
inline constexpr int64_t kLeastByte = -128, kMostByte = 127;

/// What a value of the function is for the engine.
struct Meaning {
  enum Kind : uint8_t { Unknown, Bytes, Sums, Addition } kind = Unknown;
  int index = -1; ///< tensor or layer
  /// Of sums: what is to be added to those of the core, by channel; and the
  /// least and the greatest of the core's.
  std::vector<int64_t> rest, least, most;
  /// Of an addition.
  int left = -1, right = -1;
  int64_t leftFactor = 1, rightFactor = 1;
};

class Lowering {
public:
  Lowering(const Core &core, std::vector<EngineRefusal> &refusals)
      : core(core), refusals(refusals) {}

  Network run(mlir::func::FuncOp function);

private:
  using Op = mlir::Operation;
  void refuse(Op *op, const llvm::Twine &reason);
  /// Takes the last layer back.
  void drop(Op *op, const llvm::Twine &reason);

  /// The tensor of a value, unless its elements need more than a byte.
  std::optional<ByteTensor> tensorOf(mlir::Value value, std::string name);
  int addTensor(mlir::Value value, ByteTensor tensor);
  ByteTensor &tensor(int i) { return net.tensors[size_t(i)]; }
  int64_t wordsOf(int64_t channels) const {
    return (channels + core.in - 1) / core.in;
  }
  /// The tensor of bytes that an operand is, or -1; then the operation is
  /// refused, unless what makes the operand has been.
  int bytesOf(Op &op, mlir::Value operand);
  Layer &addLayer(Layer::Kind kind, Op *op, int input);
  void visit(Op &op);

  // Sums.
  template <typename T> void products(T op);
  void visit(osa::SumPoolOp op);
  static void trimPads(osa::Window &w);
  /// What the sums of the core are less than those of the model, and their
  /// ranges; refuses what the core does not hold.
  void finishSums(Op *op, mlir::Value result, Layer &layer, int64_t pad,
                  llvm::ArrayRef<int64_t> bias);
  void finishSums(Op *op, mlir::Value result, Meaning meaning);
  std::string tooLarge(const Layer &layer) const;
  void visit(osa::MatmulOp op);

  // What follows them.
  void visit(osa::RequantizeOp op);
  std::optional<Meaning> wholeSums(Meaning sums);
  void requantizeSums(osa::RequantizeOp op, const Meaning &sums);
  void visit(osa::ThresholdOp op);
  static Staircase staircaseOf(llvm::ArrayRef<int64_t> thresholds,
                               const Meaning &sums, size_t channel,
                               int64_t base, int64_t step,
                               const ByteTensor &tensor);
  bool tiesToEven(
      Layer &layer, const std::vector<Scaling> &scalings,
      const ByteTensor &tensor,
      llvm::function_ref<bool(std::vector<Scaling>, int64_t, int)> addStep);
  void visit(osa::ScaledAddOp op);
  void add(Op *op, mlir::Value result, const Meaning &sum,
           llvm::ArrayRef<int64_t> multiplier, llvm::ArrayRef<int64_t> offset,
           int64_t shift, bool tiesEven);
  void addSteps(osa::ThresholdOp op, const Meaning &sum, const ByteTensor &made,
                llvm::ArrayRef<int64_t> thresholds, size_t channels);
  Addends addendsOf(const Meaning &sum, int64_t leftFactor,
                    int64_t rightFactor);
  void finishAddition(Op *op, mlir::Value result, const Meaning &sum,
                      ByteTensor made, llvm::ArrayRef<Addition> additions);
  int fusedInto(Op *op, const Meaning &sum);
  void visit(osa::MaxPoolOp op);
  void visit(osa::TableOp op);
  /// A layer that looks bytes up.
  void table(Op *op, mlir::Value result, ByteTensor made, int input,
             llvm::function_ref<int64_t(int64_t)> valueOf);
  /// `made` is what a layer of sums makes of them.
  void finishLayer(mlir::Value result, int layer, ByteTensor made);

  /// The operand and the result of an operation from bytes to bytes; refused
  /// if either is none.
  struct Bytes {
    int input;
    ByteTensor made;
  };
  std::optional<Bytes> bytesThrough(Op *op, mlir::Value input,
                                    mlir::Value result);

  // What only moves words.
  void visit(osa::ReshapeOp op);
  void visit(osa::ConcatOp op);
  void visit(osa::GatherOp op);
  void visit(osa::TransposeOp op);
  void visit(osa::PadOp op);
  /// A tensor of these sizes that is part of another one.
  int addView(View view, int64_t height, int64_t width, int64_t channels);
  /// The pixels of a tensor as one row; nothing if no step leads from each to
  /// the next.
  std::optional<View> line(int tensor);
  /// Its words as one row.
  std::optional<View> words(int tensor);
  /// `line`, of a copy if need be.
  View lineOrCopy(Op *op, int tensor);
  /// Pixels first, first + step, …
  View part(View line, int64_t first, int64_t step) const;
  /// A layer that copies a tensor of pixels into one of as many; with
  /// `channels` all bytes from that one on become zero.
  void copy(Op *op, int from, int to, int64_t channels = 0);
  /// A tensor with its own words like another one.
  int addLike(int tensor);
  int copied(Op *op, int tensor, int64_t channels = 0);
  void gatherPixels(osa::GatherOp op, int input, int64_t inner);

  const Core &core;
  std::vector<EngineRefusal> &refusals;
  Network net;
  llvm::DenseMap<mlir::Value, Meaning> meanings;
};
} // namespace rhizome::engine
