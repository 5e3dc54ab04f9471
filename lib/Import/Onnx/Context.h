// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the functions that build an operation are given: the state of the import
// and the node at hand, with its inputs, its attributes, a place for its
// results and one for what is to be refused. Results reach the graph when the
// node is built, so that an attempt that fails leaves nothing behind.
#pragma once

#include "RealBounds.h"
#include "Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace rhizome::importer {
/// The state of one import.
struct ImportState {
  ImportState(mlir::MLIRContext *context, const Graph &graph,
              llvm::StringRef directory, const ImportOptions &options,
              Refusals &refusals)
      : graph(graph), directory(directory), options(options),
        refusals(refusals), builder(context) {}

  /// The tensor of this name, an initializer decoded when first asked for;
  /// null if there is none.
  TensorRef lookup(llvm::StringRef name);
  /// A constant of the file.
  TensorRef constant(HostRef host);

  const Graph &graph;
  std::string directory; ///< where external data lies
  const ImportOptions &options;
  Refusals &refusals;
  mlir::OpBuilder builder;
  mlir::func::FuncOp function;
  llvm::StringMap<TensorRef> tensors;
  int64_t foldedElements = 0; ///< of all constants computed so far
  /// How often a body runs, those around it included; 0 outside of bodies.
  int64_t trips = 0;
  /// Tensors that stand between two quantizers, once asked for.
  std::optional<llvm::StringSet<>> betweenQuantizers;
  RealBounds bounds; ///< of the values built so far
  /// Whether the host computes all integers: where their reals in the network
  /// would not be exact. `needsExactIntegers` is set where that turns out.
  bool integersOnHost = false, needsExactIntegers = false;
};

/// What refusing gives: a failure that callers may also ignore.
struct Refused {
  operator llvm::LogicalResult() const { return llvm::failure(); }
};

/// Whom building and refusing concern: a node of the file, or an input or
/// output of the graph.
struct Place {
  Place(ImportState &state, llvm::StringRef name, llvm::StringRef op);

  Refused refuse(std::string reason, std::string remedy = "");

  ImportState &state;
  mlir::OpBuilder &builder;
  mlir::MLIRContext *context;
  std::string name;      ///< in the file
  std::string writtenOp; ///< as the file has it, or "input", "output"
  mlir::Location loc;
  mlir::Type f32;
  Refusals refusals; ///< what was refused here
};

/// A node while it is built.
struct NodeContext : Place {
  /// Refuses nothing here: what is wrong with an initializer is the state's.
  NodeContext(ImportState &state, const Node &file);

  llvm::StringRef op() const { return file.op(); }
  bool has(llvm::StringRef attribute) const { return file.has(attribute); }
  const onnx::AttributeProto *find(llvm::StringRef attribute) const {
    return file.find(attribute);
  }
  int64_t getInt(llvm::StringRef attribute, int64_t fallback) const {
    return file.getInt(attribute, fallback);
  }
  double getFloat(llvm::StringRef attribute, double fallback) const {
    return file.getFloat(attribute, fallback);
  }
  std::string getString(llvm::StringRef attribute, std::string fallback) const {
    return file.getString(attribute, std::move(fallback));
  }
  std::optional<std::vector<int64_t>> getInts(llvm::StringRef attribute) const {
    return file.getInts(attribute);
  }
  /// The attribute `axis`, counted from the front; nullopt (refused) if it is
  /// out of range.
  std::optional<int64_t> axisAttribute(int64_t fallback, size_t rank);

  /// Null if the input is absent.
  TensorRef input(size_t i) const {
    return i < inputs.size() ? inputs[i] : nullptr;
  }
  /// False behind a refused node, or if an initializer cannot be read.
  bool areInputsKnown() const;
  /// Refuses input `i` unless it holds reals.
  llvm::LogicalResult requireReal(size_t i);
  /// Constant input `i` as integers or reals; nullopt (refused) if it is not.
  std::optional<std::vector<int64_t>> constantInts(size_t i,
                                                   llvm::StringRef what);
  std::optional<std::vector<double>> constantReals(size_t i,
                                                   llvm::StringRef what);

  bool outputUsed(size_t i) const;
  /// Refuses tensors that are empty or too large.
  llvm::LogicalResult setResult(size_t i, TensorRef t);

  const Node &file;
  const onnx::NodeProto &proto;
  std::vector<TensorRef> inputs;
  std::vector<TensorRef> results; ///< by output, null where none was given
};

/// The shape that a value info gives, unknown sizes being 1; nullopt if it
/// gives none.
std::optional<Shape> staticShape(const onnx::ValueInfoProto &info);
} // namespace rhizome::importer
