// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of ONNX's operations: for each what a file may give it, and which
// functions build it. Nothing else in Import lists operations by what they can;
// docs/supported-ops.md is made from it.
#pragma once

#include "Fold.h"
#include "mlir/Support/LLVM.h"

namespace rhizome::importer {
struct NodeContext;
class Expansion;

/// Gives a node its results, or refuses it.
using NodeBuilder = llvm::LogicalResult (*)(NodeContext &node);

/// Computes a node of constants.
using NodeFolder = Fold (*)(Folding &f, HostRef &out);
/// Writes a node out as others.
using NodeExpander = void (*)(Expansion &e);

/// What an attribute holds. The entries of a `List` its reader checks.
enum class AttributeKind : uint8_t {
  Int,
  Float,
  Text,
  Tensor,
  Ints,
  Floats,
  List,
  Graph
};

struct OnnxAttribute {
  llvm::StringLiteral name;
  AttributeKind kind;
  bool isHostOnly = false; ///< the network would not heed it

  constexpr OnnxAttribute onHost() const { return {name, kind, true}; }
};

/// Of lists of any length.
constexpr int kAny = 1 << 30;

/// How many inputs an operation takes and how many outputs it gives, over all
/// opsets that we read.
struct Arity {
  int least = 0, most = kAny, mostOutputs = 1;
};
/// Of operations whose arity is not judged.
constexpr Arity kUnjudged{0, kAny, kAny};

enum Trait : unsigned {
  /// What the network makes of integers carried as reals; it refuses them
  /// without one of these: they are passed on, computed with, or the builder
  /// decides.
  KeepsIntegers = 1,
  ComputesIntegers = 2,
  DecidesOnIntegers = 4,
  /// The results are elements of the inputs, or numbers that every type of
  /// float has.
  KeepsNumbers = 8,
  /// The first result has the shape of input 0.
  KeepsShape = 16,
  /// Of QONNX's domains, or of none.
  Qonnx = 32,
};

struct OnnxOperation {
  llvm::StringLiteral name;
  Arity arity;
  NodeBuilder network = nullptr; ///< as part of the network, or null
  NodeBuilder host = nullptr;    ///< on the host, or null
  std::vector<OnnxAttribute> attributes;
  unsigned traits = 0;       ///< of Trait
  NodeFolder fold = nullptr; ///< of constants, or null
  /// Writes it out as others, before anything else; or null.
  NodeExpander expand = nullptr;
  /// Of what is written out: on the host as a whole, with exact sums.
  NodeBuilder exact = nullptr;

  bool has(Trait trait) const { return traits & trait; }
};

/// The table's row, whatever the domain; null if there is none.
const OnnxOperation *findOperation(llvm::StringRef name);
/// The row of a node whose domain is one of those that the row is for.
const OnnxOperation *findOperation(const Node &node);
} // namespace rhizome::importer
