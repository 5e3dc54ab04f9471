// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a network in integer `osa` to a program for a core of the engine: what
// lies in its memories, where inputs and outputs are, and what the cycle model
// says of it. What no core can do is refused, layer by layer.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Engine/Faces.h"
#include "rhizome/Engine/Listing.h"
#include "rhizome/Engine/Timing.h"
#include "rhizome/Engine/Verifier.h"

namespace rhizome::engine {
/// Where a tensor lies in a memory, channels last. A pixel is a whole number of
/// words, or a row is if the bytes of its pixels follow each other.
struct TensorPlace {
  std::string name;
  int64_t height = 1, width = 1, channels = 1;
  int64_t bias = 0;     ///< of a value, its byte is `bias` less
  int64_t port = 0;     ///< memory
  int64_t address = 0;  ///< first word
  int64_t rowWords = 0; ///< from row to row
  bool isPacked = false;

  int64_t words() const { return height * rowWords; }
};

/// What a program finds in a memory.
struct Segment {
  std::string name; ///< "weights", "constants", or "program" between streams
  int64_t port, address;
  std::vector<int8_t> bytes; ///< whole words
};

struct CompiledNetwork {
  Program program;
  std::vector<Segment> segments;
  std::array<int64_t, 4> memoryWords = {}; ///< segments and working space
  std::vector<TensorPlace> inputs, outputs;
  int64_t received = 0, sent = 0; ///< words of the streams in a frame
  Listing listing;                ///< its layers
  int64_t products = 0;           ///< of the model
  Prediction predicted;

  /// Memories with the segments and zeros.
  State state(const Core &core) const;
  Surroundings surroundings() const { return {memoryWords, received, sent}; }
  /// Of the products that the array could have made in the predicted cycles,
  /// those that the model has.
  double arrayUse(const Core &core) const {
    return double(products) / double(core.in * core.out * predicted.cycles);
  }
};

/// What a core can't do, and why.
struct EngineRefusal {
  mlir::Operation *op;
  std::string reason;
};

/// What is around the core, and what the compiler is free to choose.
struct CompileOptions {
  MemoryTiming memory;
  /// Inputs come from the core's stream, one after the other, each row from a
  /// new word on if it is packed, otherwise each pixel; outputs go to the other
  /// one likewise. The program lies at word 0 of memory 0. For cores with one
  /// port.
  bool streams = false;
  // For tests.
  bool keepsInside = true; ///< whole tensors in the scratchpad, where they fit
  bool movesLoads = true;  ///< up in the program
  bool joins = true;       ///< neighboring layers, piece by piece
};

/// What of `network` no program for a core like this one can do, whatever its
/// size.
std::vector<EngineRefusal> refusalsFor(mlir::func::FuncOp network,
                                       const Core &core);

/// A program for all of `network`, a function of integer `osa` operations; its
/// arguments are inputs, its results outputs. Otherwise nothing, and why.
std::optional<CompiledNetwork>
compileForCore(mlir::func::FuncOp network, const Core &core,
               std::vector<EngineRefusal> &refusals,
               const CompileOptions &options = {});

/// Writes an input's values, row-major, into its memory, and reads those of an
/// output.
void writeTensor(const TensorPlace &place, const Core &core,
                 llvm::ArrayRef<int64_t> values, State &state);
std::vector<int64_t> readTensor(const TensorPlace &place, const Core &core,
                                const State &state);
} // namespace rhizome::engine
