// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the steps from `linalg` to `osa` share: the order of the steps, and the
// few questions that all of them ask of a value.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Import/Mlir/MlirImport.h"
#include "rhizome/Support/HostReason.h"
#include "rhizome/Support/Refusal.h"
#include "llvm/Support/MemoryBuffer.h"

namespace rhizome::importer {
using Shape = llvm::SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Brings a function to few forms: few types, no assertions, one result a loop,
/// structured operations as loops where a name tells nothing.
void tidy(mlir::func::FuncOp function);
/// Inside the network f64 becomes f32, and i1 tensors i64.
void settleTypes(mlir::func::FuncOp function);
/// Computes by the interpreter what only constants enter. Broadcasts stay: who
/// reads one looks through it.
void foldConstants(mlir::func::FuncOp function);
/// Marks the loops that normalize by what the data themselves give.
void markNormalizations(mlir::func::FuncOp function);
/// All of the conversion but the names.
void raise(mlir::func::FuncOp function);
void sinkTransposes(mlir::func::FuncOp function);
/// Makes loops of what is left, for the host, with the reasons.
void leaveToHost(mlir::func::FuncOp function);
/// Refuses what the host cannot compute either.
void checkHost(mlir::func::FuncOp function, Refusals &refusals);

void addMoves(mlir::RewritePatternSet &patterns);
/// Of two transposes, or two reshapes, one.
void addJoins(mlir::RewritePatternSet &patterns);
void addWindows(mlir::RewritePatternSet &patterns);
void addContractions(mlir::RewritePatternSet &patterns);
void addElementwise(mlir::RewritePatternSet &patterns);
void addReductions(mlir::RewritePatternSet &patterns);

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Parses and verifies, with the values of constants or without; null with what
/// was wrong in `problem`. The buffer's name is the file's.
mlir::OwningOpRef<mlir::ModuleOp>
parseMlir(mlir::MLIRContext *context,
          std::unique_ptr<llvm::MemoryBuffer> buffer, bool withValues,
          std::string &problem);
/// The same of a file.
mlir::OwningOpRef<mlir::ModuleOp> parseMlir(mlir::MLIRContext *context,
                                            llvm::StringRef path,
                                            bool withValues,
                                            std::string &problem);
MlirKind kindOf(mlir::ModuleOp module);
/// Of several functions the network, renamed @main, with all that it calls in
/// it; the others go. Null if it is refused.
mlir::func::FuncOp isolateMain(mlir::ModuleOp module, Refusals &refusals);
/// Names and types of arguments and results.
void settleBorder(mlir::func::FuncOp function, const MlirOptions &options,
                  Refusals &refusals);
/// Keeps each operation's name in its location, as long as it has it.
void rememberOperations(mlir::func::FuncOp function);
/// Gives every operation a name of its own.
void nameOperations(mlir::func::FuncOp function);
/// The graph of tasks of a module of integers.
bool completeIntegers(mlir::ModuleOp module, Refusals &refusals);
/// "model.mlir:12:5", "" if the file says nothing.
std::string placeOf(mlir::Location location);

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

inline mlir::RankedTensorType tensorOf(mlir::Value v) {
  return llvm::dyn_cast<mlir::RankedTensorType>(v.getType());
}
inline Shape shapeOf(mlir::Value v) { return Shape(tensorOf(v).getShape()); }
/// True for what `osa` computes on at the real level.
bool isReal(mlir::Value v);
/// True for what `osa` can move: reals and indices.
bool isMovable(mlir::Value v);
/// The attribute of a tensor constant, null if `v` is none.
mlir::ElementsAttr constantOf(mlir::Value v);
/// True for a constant of reals that holds an infinity or a NaN, which no real
/// number is: of masks, say.
bool isInfinite(mlir::Value v);
/// The one value of a scalar, or of all elements of a constant or filled
/// tensor.
std::optional<double> splatOf(mlir::Value v);
/// The loop, if it reads `osa`'s tensors of f32, has one result, and no step
/// before has left it to the host.
bool isOpen(mlir::linalg::LinalgOp op);
/// Gives the loop to the host, for that reason; success.
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

/// What a sum begins with, laid along one axis of its result: nothing, a
/// constant vector of a bias, or something else, which is added afterwards.
struct Start {
  mlir::Value bias;   ///< [size of the axes], constant; null for zero
  bool other = false; ///< none of these
};
/// `channels` are the axes along which a bias may vary.
Start startOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value init,
              llvm::ArrayRef<unsigned> channels);
} // namespace rhizome::importer
