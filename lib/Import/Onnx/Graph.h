// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ONNX file as a checked graph: parsed, of a version that we read, with
// unique tensor names, sorted, without cycles, reduced to what its outputs
// need.
#pragma once

#include "rhizome/Import/OnnxImport.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <onnx/onnx_pb.h>
#include <optional>
#include <string>
#include <vector>

namespace rhizome::importer {
/// A node's attributes by name, with the type checked on reading.
class Node {
public:
  Node(const onnx::NodeProto &proto, size_t index);

  const onnx::NodeProto &proto;
  /// The node's name; its first output's if it has none.
  std::string name;
  llvm::StringRef op() const { return proto.op_type(); }
  /// The operation as the file has it, if the node is part of another's
  /// expansion.
  llvm::StringRef writtenOp() const {
    return proto.doc_string().empty() ? op() : proto.doc_string();
  }

  bool has(llvm::StringRef attribute) const { return find(attribute); }
  int64_t getInt(llvm::StringRef attribute, int64_t fallback) const;
  double getFloat(llvm::StringRef attribute, double fallback) const;
  std::string getString(llvm::StringRef attribute, std::string fallback) const;
  /// nullopt if the attribute is absent.
  std::optional<std::vector<int64_t>> getInts(llvm::StringRef attribute) const;
  const onnx::AttributeProto *find(llvm::StringRef attribute) const;
};

struct Graph {
  onnx::ModelProto model;
  int64_t opset = 0;
  /// The nodes that the outputs need, producers first; stable in file order.
  std::vector<Node> nodes;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// Graph inputs that are not initializers.
  std::vector<const onnx::ValueInfoProto *> inputs;
  llvm::StringMap<const onnx::ValueInfoProto *> valueInfo;
  /// Of an opset whose operations we know.
  bool isOfKnownVersion = true;
  /// Nodes and initializers that are refused already, by name. The others are
  /// still read, so that one run tells everything.
  llvm::StringSet<> refusedNodes, refusedTensors;
  /// Operations that were written out, as the file has them, by their output.
  llvm::StringMap<onnx::NodeProto> expanded;
};

/// The node's body, if its operation repeats one; else null.
const onnx::GraphProto *bodyOf(const onnx::NodeProto &node);
/// That body, or the two branches of an If.
std::vector<const onnx::GraphProto *>
innerGraphsOf(const onnx::NodeProto &node);

/// A node's body as a graph of its own: its inputs, and then what it reads from
/// around itself, which are the node's further inputs. Null if it is refused.
std::unique_ptr<Graph> readBody(const onnx::GraphProto &body,
                                const Graph &outer, Refusals &refusals);

/// Parses and checks; null if the file as a whole is refused. With refusals of
/// nodes or tensors alone, or of the version, the graph is given all the same.
std::unique_ptr<Graph> readGraph(llvm::StringRef bytes,
                                 const ImportOptions::Limits &limits,
                                 Refusals &refusals);
} // namespace rhizome::importer
