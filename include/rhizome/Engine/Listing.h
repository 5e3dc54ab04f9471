// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program's instructions are for, layer by layer, and where the cycles
// of a frame go, predicted or measured. A package has it beside its segments,
// as JSON; who makes programs, who measures and who draws share it.
#pragma once

#include "rhizome/Engine/Timing.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace rhizome::engine {
/// Bytes that a layer's instructions move in a frame.
struct LayerBytes {
  int64_t weights = 0;            ///< from memory
  int64_t loaded = 0, stored = 0; ///< other words of memory
  int64_t received = 0, sent = 0; ///< words of the streams
  int64_t scratchRead = 0, scratchWritten = 0;
};

/// A layer of a program: operations that are carried out tile by tile.
struct LayerReport {
  std::string name; ///< of the model's node, "conv + add" of several
  /// "matrix", "dot", "maximum" or "map"; between streams also "input" and
  /// "output", which go through memory.
  std::string kind;
  int64_t products = 0;          ///< of the model
  int64_t ideal = 0;             ///< cycles of the array, if all are its own
  int64_t rows = 0, columns = 0; ///< of a tile
  bool isInputInside = false, isOutputInside = false; ///< in the scratchpad
  LayerBytes bytes = {};
};

/// Where a unit's cycles go: from the start of a frame to the end of its last
/// instruction, each cycle counts once.
struct UnitUse {
  int64_t works = 0;
  std::array<int64_t, kCauses> waits = {}; ///< by what for
  int64_t all() const;
};

struct LayerUse {
  /// By which its main unit ends with it later than those of all layers before
  /// with theirs; those of all layers are the frame's.
  int64_t cycles = 0;
  std::array<UnitUse, kUnits> units;

  /// The unit that a layer of this kind is about.
  static Unit mainUnit(llvm::StringRef kind);
};

struct Listing {
  std::string unit;   ///< the actor that has the program, "" by itself
  std::string memory; ///< the device's memory behind its port, "" by itself
  int64_t in = 0, out = 0;
  std::vector<LayerReport> layers;

  /// An instruction; `end` has none.
  struct Line {
    Opcode opcode = Opcode::Load;
    size_t layer = 0;
    /// Cycles without any waiting; of `vector` all of them.
    int64_t work = 0;
  };
  std::vector<Line> lines;
  std::vector<Span> predicted; ///< of each line
  int64_t cycles = 0;          ///< predicted, of a frame

  /// Where cycles go if a frame takes `cycles`, and each line its span.
  std::vector<LayerUse> account(llvm::ArrayRef<Span> spans,
                                int64_t cycles) const;
};

/// Completes `layers` for a program, of which each instruction but `end` is for
/// the layer `layerOf`.
Listing listingOf(const Program &program, const Core &core,
                  llvm::ArrayRef<size_t> layerOf,
                  std::vector<LayerReport> layers, const Prediction &predicted);

/// As a package has it: what `listingFrom` reads, and for pages the predicted
/// use of each layer and a timeline of each unit.
llvm::json::Object toJson(const Listing &listing);
/// From a stranger's text, too: numbers that mean nothing are refused.
llvm::Expected<Listing> listingFrom(llvm::StringRef text);

/// {"works": …, "waits": {"memory": …}} of each unit that does something.
llvm::json::Object toJson(const LayerUse &use);

/// The spans of a listing's lines as something that happened.
struct Happening {
  const Listing *listing;
  std::string name;
  llvm::ArrayRef<Span> spans;
};
/// A trace for Perfetto and Chrome: a process for each happening, a thread for
/// each unit, an event for each line; a cycle is a microsecond.
void writeTrace(llvm::raw_ostream &os, llvm::ArrayRef<Happening> happenings);
} // namespace rhizome::engine
