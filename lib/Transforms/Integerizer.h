// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk that turns `@main` into a graph of tasks. Values of `@main` are
// constant, computed on the host, or held by the FPGA as lazy tensors. Tasks
// take turns: host task 0, region 0 of the FPGA, host task 1, region 1 and so
// on. Each operation goes into the earliest that its operands allow, so that
// no task waits for a later one.
#pragma once

#include "LazyTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include "rhizome/Transforms/Integerize.h"
#include "rhizome/Transforms/Tasks.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace rhizome {
class Integerizer {
public:
  /// Why operations were left to the host.
  using Reasons = llvm::DenseMap<mlir::Operation *, Refusal>;

  /// `onHost` are operations that the host computes, whatever they are;
  /// `reasons` those of earlier walks.
  Integerizer(mlir::ModuleOp module, IntegerizeStats &stats,
              llvm::DenseSet<mlir::Operation *> onHost, Reasons reasons)
      : module(module), builder(module.getContext()), stats(stats),
        onHost(std::move(onHost)), reasons(std::move(reasons)) {}
  /// Walks over `@main` and makes the regions of the FPGA.
  void walk();
  /// Makes the tasks of the host and the graph; `@main` goes.
  void finish();
  /// Undoes `walk`; the reasons that it found.
  Reasons discard();

  /// The operations that go to the host although the FPGA holds them.
  llvm::DenseSet<mlir::Operation *> choosePlaces(const Placer &placer) const;

private:
  using Lazy = std::shared_ptr<LazyTensor>;

  // Integerize.cpp: the walk.
  void visit(mlir::Operation *op);
  /// What the FPGA holds of `v`, in the region that is being filled; null if
  /// the host has it.
  Lazy lazy(mlir::Value v);
  /// The first host task that can compute `op`.
  unsigned stageFor(mlir::Operation *op) const;
  void stayOnHost(mlir::Operation *op);
  /// Why a layer that reads reals does so.
  Refusal whyReal(mlir::Operation *layer) const;
  /// Leaves the op to the host, for `reason`.
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
  Lazy materialize(mlir::Operation *op, Lazy t);
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
  std::optional<std::vector<int64_t>>
  refined(mlir::Operation *op, LazyTensor &t, llvm::ArrayRef<int64_t> map);
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
  void visitMatmul(mlir::Operation *op, Lazy lhs, Lazy rhs);
  /// Elements `indices` of `t` along logical axis `axis`.
  Lazy gathered(mlir::Operation *op, Lazy t, int64_t axis,
                llvm::ArrayRef<int64_t> indices);
  /// Brings both to the shape of the result and to one layout; false (and a
  /// note to the host) if that can't be.
  bool align(mlir::Operation *op, Lazy &lhs, Lazy &rhs);

  // Rows.cpp: what is computed along rows.
  /// The tensor with its rows along the physical last axis, of one scale. Null
  /// (and a note to the host) if it is none.
  Lazy withRows(mlir::Operation *op, Lazy t);
  void visitSoftmax(osa::SoftmaxOp op, Lazy in);
  void visitNormalize(osa::NormalizeOp op, Lazy in);

  // Requantize.cpp
  void visitQuantize(osa::QuantizeOp op, Lazy in);
  void visitMultiThreshold(osa::MultiThresholdOp op, Lazy in);
  struct Channels; ///< the step functions of one quantizer
  bool passesThrough(osa::QuantizeOp op, LazyTensor &in,
                     const Channels &channels);
  mlir::Value emitDyadic(osa::QuantizeOp op, LazyTensor &in,
                         Channels &channels);
  mlir::Value emitSteps(mlir::Operation *op, LazyTensor &in,
                        Channels &channels);
  mlir::Value emitThreshold(mlir::Operation *op, LazyTensor &in,
                            Channels &channels);
  mlir::Value emitWide(mlir::Operation *op, LazyTensor &in, Channels &channels);
  mlir::Value emitTable(mlir::Operation *op, LazyTensor &in,
                        Channels &channels);
  mlir::Value emitPair(osa::QuantizeOp op, LazyTensor &in, Channels &channels);
  mlir::Value riseEverywhere(mlir::Operation *op, LazyTensor &in,
                             Channels &channels);

  // Placeable.cpp
  llvm::EquivalenceClasses<mlir::Operation *> groups() const;
  std::vector<PlaceableOp> placeable() const;

  // Tasks.cpp: regions, the host's tasks, and the tensors between them.
  /// A function in the making, with the tensors that it takes and gives.
  struct Task {
    mlir::func::FuncOp function;
    mlir::IRMapping map;                ///< of the host's: from `@main`
    std::vector<unsigned> taken, given; ///< tensors
    std::vector<mlir::Value> results;   ///< as many as `given`
    llvm::DenseMap<unsigned, mlir::Value> arguments; ///< of tensors
  };
  /// A real or integer tensor that tasks share.
  struct Tensor {
    mlir::Type type;
    std::string name; ///< "" if the model has none for it
  };
  /// Where the host quantizes what a region takes.
  struct Entry {
    unsigned tensor;
    std::optional<llvm::SmallVector<int64_t>> permutation;
  };
  using Tasks = std::vector<std::unique_ptr<Task>>;
  Task &taskAt(Tasks &tasks, unsigned i);
  Task &hostAt(unsigned i) { return taskAt(hosts, i); }
  Task &regionAt(unsigned i) { return taskAt(regions, i); }
  mlir::OpBuilder endOf(Task &task);
  unsigned addTensor(mlir::Type type, std::string name = "");
  unsigned regionOf(const LazyTensor &t) const;
  mlir::Value take(Task &task, unsigned tensor, mlir::Location loc);
  void give(Task &task, unsigned tensor, mlir::Value v);
  /// The tensor that a region's value is outside the region.
  unsigned regionTensor(mlir::Value physical);
  /// The tensor that a host's value is for later tasks.
  unsigned hostTensor(mlir::Value v);
  void visitEntry(mlir::Operation *op);
  void addInputs();
  void noteHost(mlir::Operation *op);
  mlir::Value hostClone(mlir::Operation *op, unsigned stage);
  mlir::Value hostValue(mlir::Value v, unsigned stage);
  mlir::Value hostInteger(mlir::Value v, const LazyTensor &t, unsigned stage);
  mlir::Value hostReal(mlir::Location loc, const LazyTensor &t, unsigned stage);
  mlir::Value hostLayout(mlir::Location loc, const LazyTensor &t, mlir::Value v,
                         unsigned stage);
  void enter(mlir::Operation *op, const Entry &entry);
  void addOutputs();
  void prune();
  void append(Task &to, Task &from);
  void fuse();
  void nameTensors();
  void close(Task &task);
  void nameBorders();
  void nameEntries();
  void nameResults();
  void renameStates();

  mlir::ModuleOp module;
  mlir::OpBuilder builder; ///< inserts at the end of the current region
  IntegerizeStats &stats;
  ConstantEvaluator constants;
  llvm::DenseSet<mlir::Operation *> onHost;
  Reasons reasons;

  mlir::func::FuncOp model;
  Tasks hosts, regions; ///< host task i runs before region i; null if empty
  unsigned current = 0; ///< the region that is being filled
  std::vector<Tensor> tensors;
  std::vector<unsigned> inputs, outputs; ///< tensors of the model
  llvm::DenseMap<mlir::Block *, unsigned> regionAtBlock;
  /// Of what the host computes, the task; of the graph's inputs 0.
  llvm::DenseMap<mlir::Value, unsigned> stages;
  llvm::DenseMap<mlir::Value, Lazy> held;
  /// Held tensors of earlier regions that the FPGA was given again.
  std::map<std::pair<void *, unsigned>, Lazy> moved;
  llvm::DenseMap<mlir::Value, unsigned> regionTensors, hostTensors;
  /// By a region's tensor, the values of `@main` that the host makes of it.
  llvm::DenseMap<unsigned, llvm::SmallVector<mlir::Value>> pickedUp;
  llvm::MapVector<mlir::Operation *, Entry> entries;
  /// Reals that an integer operation made: where the host may pick up.
  llvm::DenseSet<mlir::Value> pickUp;
  llvm::DenseSet<mlir::Value> dependsOnInput;
  unsigned blobs = 0;
  llvm::StringMap<size_t> hostEntries; ///< in stats.host, by node
};

/// The values that an operation reads, those of its loops' bodies included.
llvm::SmallVector<mlir::Value> valuesRead(mlir::Operation *op);
/// Why the host's loop `op` is none of the network's.
Refusal whyHost(mlir::Operation *op);

/// The ONNX operation's name that a location carries as metadata, else the
/// `osa` one.
std::string modelOpName(mlir::Operation *op);
} // namespace rhizome
