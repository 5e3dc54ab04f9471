// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `kernel`, of a package that computes a kernel and not a network:
// which tensors follow each other in its streams, the cycles of its loop nests,
// and what is in its memories when.
#pragma once

#include "rhizome/Numeric/Format.h"
#include "rhizome/Package/PlannedSystem.h"
#include "rhizome/Package/UnitChoice.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rhizome {
/// A tensor in a stream, a word for each element, row-major. Words hold the
/// pattern of the format, sign- or zero-extended.
struct PlannedTensor {
  std::string name;
  std::vector<int64_t> shape;
  numeric::Format format = numeric::Format::binary64();
  int64_t words() const;
  bool operator==(const PlannedTensor &) const = default;
};

/// An operation of an iteration on its unit, from a cycle on; 0 cycles: within
/// that one, with others.
struct PlannedStep {
  std::string name; ///< "read A", "mul"
  std::string unit; ///< "memory port", "multiplier"
  int64_t cycle = 0, cycles = 0;
  int64_t copies = 1; ///< side by side
  bool operator==(const PlannedStep &) const = default;
};

/// A loop nest: an iteration starts every `interval` cycles, and its result is
/// written `depth` cycles later.
struct PlannedNest {
  std::string name;  ///< the variable, or its place in the kernel's file
  std::string place; ///< "helmholtz.cfd:13:5"
  std::vector<int64_t> loops; ///< iterations of each, outermost first
  int64_t iterations = 0, interval = 1, depth = 0, cycles = 0;
  std::vector<PlannedStep> operations{}; ///< its schedule
  bool operator==(const PlannedNest &) const = default;
};

/// A stream of the unit: these tensors one after the other, each from a beat of
/// its own on. A beat has so many words of a tensor, the first one in its low
/// bits; a tensor's last beat is filled up with zeros.
struct PlannedStream {
  std::string port;                 ///< "s_axis_0"
  std::vector<std::string> tensors; ///< names
  bool isOnce = false; ///< they stay: they are read once, after reset
  int64_t words = 1;
  int64_t beatsOf(const PlannedTensor &tensor) const;
  bool operator==(const PlannedStream &) const = default;
};

/// Nests, or the reading or writing of tensors, that take turns.
struct PlannedStage {
  std::vector<std::string> parts; ///< "read S", "t", "write v"
  std::vector<int64_t> partCycles;
  int64_t cycles = 0;
  bool isOnce = false;
  bool operator==(const PlannedStage &) const = default;
};

/// A tensor in a memory, from the part of its stage that writes it first to the
/// last one that reads it.
struct PlannedShare {
  std::string tensor;
  int64_t first = 0, last = 0;
  bool operator==(const PlannedShare &) const = default;
};

struct PlannedStore {
  std::string name;
  std::string kind;             ///< registers, LUT, block or ultra
  int64_t stage = 0;            ///< that writes it
  int64_t words = 0, width = 0; ///< of a slot of a bank; bits
  int64_t slots = 1;            ///< elements at a time
  int64_t banks = 1;
  int64_t copies = 1; ///< reads at the same time
  std::vector<PlannedShare> tensors;
  bool operator==(const PlannedStore &) const = default;
};

/// A serial unit reads, computes and writes one element after the other; the
/// stages of a dataflow unit work on elements that follow each other.
struct PlannedKernel {
  std::string name;
  UnitChoice choice; ///< what was decided; all else follows from it
  bool isDataflow = false;
  /// Elements side by side: a beat has a word of each, but for what stays.
  int64_t lanes = 1;
  int64_t readCycles = 0, computeCycles = 0, writeCycles = 0;
  std::vector<PlannedNest> nests;
  std::vector<PlannedTensor> inputs, outputs;
  std::vector<PlannedStream> streams; ///< of both directions
  std::vector<PlannedStage> stages;
  std::vector<PlannedStore> memories;
  /// Between it, off-chip memory and a host; without: streams are the border.
  std::optional<PlannedSystem> system;
  /// Elements in one interval.
  int64_t elementsAtOnce() const {
    return lanes * (system ? system->units : 1);
  }
  bool operator==(const PlannedKernel &) const = default;
};

/// The numbers of the tensors in the stream of a port, in its order; `tensors`
/// are the kernel's inputs or its outputs. Empty if there is none, or if a
/// tensor is not among them.
std::vector<size_t> tensorsOfPort(const PlannedKernel &kernel,
                                  const std::vector<PlannedTensor> &tensors,
                                  const std::string &port);

/// How the words of elements lie in a port's beats: those of a lane are next to
/// each other, the first lane's in the low bits.
struct PortLayout {
  int64_t words = 1; ///< of a lane in a beat
  int64_t lanes = 1;
  int64_t beats = 0;           ///< of a frame: an element of every lane
  std::vector<size_t> tensors; ///< as tensorsOfPort
  std::vector<int64_t> first;  ///< by tensor: its first beat
  /// Where a word of a tensor, by its place in `tensors`, is in a frame.
  size_t wordAt(size_t tensor, int64_t lane, int64_t word) const {
    return size_t(((first[tensor] + word / words) * lanes + lane) * words +
                  word % words);
  }
  int64_t frameWords() const { return beats * lanes * words; }
};
PortLayout layoutOf(const PlannedKernel &kernel,
                    const std::vector<PlannedTensor> &tensors,
                    const std::string &port);

/// As in plan.json.
llvm::json::Value toJSON(const PlannedKernel &kernel);
bool fromJSON(const llvm::json::Value &value, PlannedKernel &kernel,
              llvm::json::Path path);
} // namespace rhizome
