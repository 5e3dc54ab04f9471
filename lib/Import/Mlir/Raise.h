// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the steps from `linalg` to `osa`: their order, and the
// queries on values that all of them use.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Import/Mlir/MlirImport.h"
#include "rhizome/Support/Refusal.h"
#include "llvm/Support/MemoryBuffer.h"

namespace rhizome::importer {
using Shape = llvm::SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Normalizes a function: few types, no assertions, one result per loop,
/// structured operations as loops if their name carries no information.
void tidy(mlir::func::FuncOp function);
/// Inside the network f64 becomes f32, and i1 tensors i64.
void settleTypes(mlir::func::FuncOp function);
/// Computes operations on constants with the interpreter. Broadcasts stay:
/// their readers look through them.
void foldConstants(mlir::func::FuncOp function);
/// Marks the loops that normalize by values computed from the data.
void markNormalizations(mlir::func::FuncOp function);
/// The whole conversion except the names.
void raise(mlir::func::FuncOp function);
void sinkTransposes(mlir::func::FuncOp function);
/// Turns the rest into loops for the host, with the reasons.
void leaveToHost(mlir::func::FuncOp function);
/// Refuses what the host does not support either.
void checkHost(mlir::func::FuncOp function, Refusals &refusals);

void addMoves(mlir::RewritePatternSet &patterns);
/// Merges two transposes, or two reshapes.
void addJoins(mlir::RewritePatternSet &patterns);
void addWindows(mlir::RewritePatternSet &patterns);
void addContractions(mlir::RewritePatternSet &patterns);
void addElementwise(mlir::RewritePatternSet &patterns);
void addReductions(mlir::RewritePatternSet &patterns);

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Loads the dialects that a file may have.
void loadReadable(mlir::MLIRContext &context);
/// The module of MLIR's bytecode, as text; nullopt if it cannot be read.
std::optional<std::string> textOfBytecode(llvm::StringRef bytes);
/// Parses and verifies, with the values of constants or without; returns null
/// with the error in `problem`. The buffer's name is the file's.
mlir::OwningOpRef<mlir::ModuleOp>
parseMlir(mlir::MLIRContext *context,
          std::unique_ptr<llvm::MemoryBuffer> buffer, bool withValues,
          std::string &problem);
/// The same for a file.
mlir::OwningOpRef<mlir::ModuleOp> parseMlir(mlir::MLIRContext *context,
                                            llvm::StringRef path,
                                            bool withValues,
                                            std::string &problem);
MlirKind kindOf(mlir::ModuleOp module);
/// Selects the network among several functions, renames it to @main and inlines
/// all its calls; the others are removed. Null if it is refused.
mlir::func::FuncOp isolateMain(mlir::ModuleOp module, Refusals &refusals);
/// Names and types of arguments and results.
void settleBorder(mlir::func::FuncOp function, const MlirOptions &options,
                  Refusals &refusals);
/// Keeps each operation's name in its location, as long as it has it.
void rememberOperations(mlir::func::FuncOp function);
/// Gives every operation a unique name.
void nameOperations(mlir::func::FuncOp function);
/// The graph of tasks of a module of integers.
bool completeIntegers(mlir::ModuleOp module, Refusals &refusals);
/// "model.mlir:12:5", "" if the file has no location.
std::string placeOf(mlir::Location location);

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

inline mlir::RankedTensorType tensorOf(mlir::Value v) {
  return llvm::dyn_cast<mlir::RankedTensorType>(v.getType());
}
inline Shape shapeOf(mlir::Value v) { return Shape(tensorOf(v).getShape()); }
/// True for types that `osa` computes on at the real level.
bool isReal(mlir::Value v);
/// True for types that `osa` can move: reals and indices.
bool isMovable(mlir::Value v);
/// The attribute of a tensor constant, null for other values.
mlir::ElementsAttr constantOf(mlir::Value v);
/// True for a constant of reals that contains an infinity or a NaN,
/// as in masks.
bool isInfinite(mlir::Value v);
/// The value of a scalar, or of all elements of a constant or filled
/// tensor.
std::optional<double> splatOf(mlir::Value v);
/// The loop, if it reads f32 tensors of `osa`, has one result, and no previous
/// step has left it to the host.
bool isOpen(mlir::linalg::LinalgOp op);
/// Leaves the loop to the host, for that reason; returns success.
mlir::LogicalResult keepOnHost(mlir::PatternRewriter &rewriter,
                               mlir::Operation *op, llvm::StringRef reason,
                               llvm::StringRef remedy = "");

mlir::Value reshaped(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v,
                     llvm::ArrayRef<int64_t> shape);
mlir::Value transposed(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v,
                       llvm::ArrayRef<int64_t> permutation);
mlir::Value scalarConstant(mlir::OpBuilder &b, mlir::Location loc,
                           double value);
llvm::SmallVector<int64_t> inverse(llvm::ArrayRef<int64_t> permutation);

/// The initial value of a sum, along one axis of its result: nothing, a
/// constant vector of a bias, or another value, which is added afterwards.
struct Start {
  mlir::Value bias;   ///< [size of the axes], constant; null for zero
  bool other = false; ///< none of these
};
/// `channels` are the axes along which a bias may vary.
Start startOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value init,
              llvm::ArrayRef<unsigned> channels);
} // namespace rhizome::importer
