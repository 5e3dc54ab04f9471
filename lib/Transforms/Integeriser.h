// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk that turns `@main` into `@prologue`, `@network` and `@epilogue`.
// Values of `@main` fall into four kinds: constant, computed on the host before
// the network, held by the network (a lazy tensor), or computed on the host
// behind it.
#pragma once

#include "LazyTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Support/HostReason.h"
#include "rhizome/Transforms/Integerise.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace rhizome {
class Integeriser {
public:
  /// `held` are operations that the host computes before the network,
  /// whatever they are.
  Integeriser(mlir::ModuleOp module, IntegeriseStats &stats,
              llvm::DenseSet<mlir::Operation *> held = {})
      : module(module), builder(module.getContext()), stats(stats),
        heldBefore(std::move(held)) {}
  /// Walks over `@main` and makes the three functions; `finish` fills them.
  void walk();
  void finish();
  /// Undoes `walk`.
  void discard();

  /// Multiplications and other operations that the network holds.
  int64_t work() const;
  /// Layers that could belong to a network further behind.
  bool isCut() const { return cutLayers > 0; }
  /// What the host would compute before such a network.
  llvm::DenseSet<mlir::Operation *> heldForNext() const;

private:
  using Lazy = std::shared_ptr<LazyTensor>;

  // Integerise.cpp: the walk.
  void visit(mlir::Operation *op);
  bool isHostBefore(mlir::Value v) const { return before.contains(v); }
  Lazy lazy(mlir::Value v) const { return held.lookup(v); }
  /// Leaves the op to the host behind the network, for `reason`.
  void leaveToHost(mlir::Operation *op, std::string reason, std::string remedy);
  void setResult(mlir::Operation *op, Lazy result) {
    held[op->getResult(0)] = std::move(result);
  }
  /// A new physical tensor with `like`'s layout.
  Lazy makeLazy(mlir::Value physical, const LazyTensor &like,
                std::vector<PiecewiseLinear> f);
  /// Emits the pending sum, if any.
  bool settle(mlir::Operation *op, LazyTensor &t);
  /// The tensor with no layout left: an osa.reshape or osa.transpose where
  /// needed. Null (and a note to the host) if the channels' functions do not
  /// survive.
  Lazy materialise(mlir::Operation *op, Lazy t);
  num::IntType intType(int64_t lo, int64_t hi) {
    return num::IntType::getForRange(builder.getContext(), lo, hi);
  }
  mlir::Value constant(mlir::Location loc, llvm::StringRef name,
                       llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> values);

  // Elementwise.cpp: operations that only change the function.
  void visitDequantize(osa::DequantizeOp op, Lazy in);
  void visitElementwise(mlir::Operation *op, Lazy in);
  bool applyConstant(mlir::Operation *op, LazyTensor &t, const ExactConstant &c,
                     bool constantFirst);
  /// A constant operand's value for each channel of `t`, or one for all; null
  /// if it varies within a channel. May reshape and expand `t`.
  std::optional<std::vector<Real>> constantPerChannel(mlir::Operation *op,
                                                      LazyTensor &t,
                                                      const ExactConstant &c);
  /// Functions that are not piecewise linear.
  bool applyCurve(mlir::Operation *op, llvm::ArrayRef<Lazy> tensors);
  bool applyBatchNorm(osa::BatchNormOp op, LazyTensor &t);

  // Layers.cpp: operations that compute in integers.
  void visitLinear(mlir::Operation *op, Lazy in);
  void visitMaxPool(osa::MaxPoolOp op, Lazy in);
  void visitAvgPool(osa::AvgPoolOp op, Lazy in);
  void visitSum(mlir::Operation *op, Lazy lhs, Lazy rhs);
  void visitConcat(osa::ConcatOp op);
  void visitPad(osa::PadOp op, Lazy in);

  // Streams.cpp: elements that are chosen, and pairs of streams.
  void visitGather(osa::GatherOp op, Lazy in);
  void visitMax(mlir::Operation *op, Lazy lhs, Lazy rhs);
  void visitProduct(osa::MulOp op, Lazy lhs, Lazy rhs);
  /// Elements `indices` of `t` along logical axis `axis`.
  Lazy gathered(mlir::Operation *op, Lazy t, int64_t axis,
                llvm::ArrayRef<int64_t> indices);
  /// Brings both to the shape of the result and to one layout; false (and a
  /// note to the host) if that can't be.
  bool align(mlir::Operation *op, Lazy &lhs, Lazy &rhs);

  // Requantise.cpp
  void visitQuantize(osa::QuantizeOp op, Lazy in);
  void visitMultiThreshold(osa::MultiThresholdOp op, Lazy in);
  struct Channels; ///< the step functions of one quantiser
  bool passesThrough(osa::QuantizeOp op, LazyTensor &in,
                     const Channels &channels);
  mlir::Value emitDyadic(osa::QuantizeOp op, LazyTensor &in,
                         Channels &channels);
  mlir::Value emitSteps(mlir::Operation *op, LazyTensor &in,
                        Channels &channels);
  mlir::Value emitThreshold(mlir::Operation *op, LazyTensor &in,
                            Channels &channels);
  mlir::Value emitTable(mlir::Operation *op, LazyTensor &in,
                        Channels &channels);
  mlir::Value emitPair(osa::QuantizeOp op, LazyTensor &in, Channels &channels);
  mlir::Value riseEverywhere(mlir::Operation *op, LazyTensor &in,
                             Channels &channels);

  // Partition.cpp: the border to the host.
  void visitEntry(mlir::Operation *op);
  Lazy addNetworkInput(mlir::Location loc, mlir::Value hostValue,
                       mlir::Value model);
  mlir::Value beforeValue(mlir::Value v);
  mlir::Value behindValue(mlir::Value v);
  mlir::Value behindInteger(mlir::Value v, const LazyTensor &t);
  mlir::Value behindReal(mlir::Location loc, const LazyTensor &t);
  mlir::Value behindLayout(mlir::Location loc, const LazyTensor &t,
                           mlir::Value v);
  mlir::Value networkResult(mlir::Value physical);
  mlir::Value carriedValue(mlir::Value v);
  void noteHost(mlir::Operation *op);
  void createFunctions();
  void orderEpilogue(std::vector<mlir::Value> &results);

  mlir::ModuleOp module;
  mlir::OpBuilder builder; ///< inserts at the end of @network
  IntegeriseStats &stats;
  ConstantEvaluator constants;
  llvm::DenseSet<mlir::Operation *> heldBefore;
  int64_t cutLayers = 0;

  mlir::func::FuncOp model, prologue, network, epilogue;
  mlir::IRMapping beforeMap, behindMap;
  llvm::DenseSet<mlir::Value> before;
  llvm::DenseMap<mlir::Value, Lazy> held;
  /// Reals that an integer operation made: where the epilogue may pick up.
  llvm::DenseSet<mlir::Value> pickUp;
  /// Values behind the network.
  llvm::DenseSet<mlir::Value> behind;
  llvm::DenseMap<mlir::Operation *, Refusal> reasons; ///< of leaveToHost
  llvm::DenseSet<mlir::Value> dependsOnInput;
  std::vector<mlir::Value> prologueResults, networkResults;
  /// The epilogue's arguments as they were asked for: of the network's
  /// results, and of values carried past it.
  std::vector<mlir::BlockArgument> resultArguments, carriedArguments;
  std::vector<mlir::Value> carriedResults;
  std::vector<std::string> inputNames;
  unsigned blobs = 0;
};

/// The values that an operation reads, those of its loops' bodies included.
llvm::SmallVector<mlir::Value> valuesRead(mlir::Operation *op);
/// Why the host's loop `op` is none of the network's.
Refusal whyHost(mlir::Operation *op);

/// The ONNX operation's name that a location carries as metadata, else the
/// `osa` one.
std::string modelOpName(mlir::Operation *op);
} // namespace rhizome
