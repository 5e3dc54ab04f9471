// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The timing and the area of a unit kind as functions of its parameters: the
// behavior for its description (rhizome/Unit/Unit.h). One class per kind, in
// the folder of the generator that uses it, registered once
// (lib/Generator/Registry.cpp, or addUnit() for a program's own).
#pragma once

#include "rhizome/Cost/MemoryImages.h"
#include "rhizome/Cost/Structure.h"
#include "rhizome/Generator/Actor.h"
#include <optional>

namespace mlir {
class Location;
class Region;
} // namespace mlir

namespace rhizome::gen {
class Sampler;

/// OpenCL C that computes what a design does (rhizome/runtime/driver.h says how
/// its kernel is called).
struct DeviceProgram {
  std::string text, kernel;
  int64_t spaceBytes = 0;
};

/// Const member functions may be called by several threads at once.
class UnitModel {
public:
  /// The model of the kind with this name, which must be described.
  explicit UnitModel(llvm::StringRef kind);
  explicit UnitModel(const unit::Kind &kind) : description(kind) {}
  virtual ~UnitModel() = default;

  const unit::Kind &kind() const { return description; }

  /// Cycles from a firing until its results are visible, including the output
  /// buffer.
  virtual int64_t latency(const unit::Instance &unit) const = 0;
  /// Adds the unit's processes to the event simulator's network. `inputs` and
  /// `outputs` are the channels of its stream ports, in their order. Unless
  /// overridden, each of `frameBeats` firings takes a beat of every input and
  /// produces one on every output.
  virtual void processes(const Actor &actor, ProcessNetwork &network,
                         const std::vector<int> &inputs,
                         const std::vector<int> &outputs) const;
  /// The structure of the unit.
  virtual void structure(cost::Builder &builder) const = 0;

  /// The name, among the kind's, under which this unit is characterized.
  virtual const char *characterizedAs(const unit::Instance &) const {
    return description.characterized.front();
  }
  virtual Products products(const unit::Instance &) const { return {}; }
  /// Whether it serves its inputs one after another, frame by frame. Others
  /// take a beat of each when they fire.
  virtual bool takesTurns(const unit::Instance &) const { return false; }
  /// The memory that is in UltraRAM if the parameter `Ultra` says so.
  virtual std::optional<cost::Store> store(const unit::Instance &) const {
    return std::nullopt;
  }
  /// For an OpenCL device, a program that does what a design of nothing but
  /// this unit between two borders does, with these contents of its memories,
  /// null where one has none; nothing if there is no such program.
  virtual std::optional<DeviceProgram>
  program(const unit::Instance &, const unit::Instance & /*source*/,
          const unit::Instance & /*sink*/,
          llvm::ArrayRef<const MemoryImage *>) const {
    return std::nullopt;
  }
  /// Minimum number of places of the output buffer.
  virtual int64_t leastDepth(const unit::Instance &) const { return 2; }
  /// Firings per beat of the output; fewer beats than firings are in flight.
  virtual int64_t firingsPerBeat(const unit::Instance &) const { return 1; }

  /// A random unit that characterization synthesizes under one of the kind's
  /// names: sets the parameters and images of `sampler.actor`. Returns false
  /// if the device has no such unit, or the kind is not sampled.
  virtual bool sample(Sampler &, llvm::StringRef /*characterizedAs*/) const {
    return false;
  }
  /// Whether samples have output buffers of all depths, so that the cost of
  /// buffers is fitted from them.
  virtual bool samplesDeepBuffers() const { return false; }

  // For generated kinds.
  /// One unit that does the work of two consecutive units with nothing
  /// between; none if there is no such unit.
  virtual std::optional<Actor> fused(const Actor & /*first*/,
                                     const Actor & /*second*/) const {
    return std::nullopt;
  }
  /// Fills an empty region with the datapath: a block of (clock, beat) that
  /// ends in an rtl.output.
  virtual void emitDatapath(const Actor &, mlir::Region &,
                            mlir::Location) const;

private:
  const unit::Kind &description;
};

/// The model of the kind with this name, null if there is none.
const UnitModel *findUnit(llvm::StringRef kind);
/// All models: the compiler's own, then those that a program has added.
std::vector<const UnitModel *> allUnits();
/// Adds a unit kind with its model: this is how a program that links the
/// compiler adds its own hardware. Its description is added with it. Not while
/// another thread compiles.
void addUnit(std::unique_ptr<UnitModel> model);
/// Removes a unit kind.
std::unique_ptr<UnitModel> removeUnit(llvm::StringRef kind);
/// Every name under which units are characterized, in the order of the kinds.
std::vector<const char *> characterizedUnits();

/// Products of paired operands that are added before the pair is unpacked
/// (rhz_matvec), with signed and with unsigned activations.
constexpr int64_t kPackedSigned = 7, kPackedUnsigned = 4;

/// Stages from push to visible in an output buffer of this many places
/// (rhz_outbuf).
inline int64_t bufferLatency(const unit::Instance &unit) {
  return unit.get("Depth") > 64 ? 2 : 1;
}

/// `repeat` firings of a unit with one input, which take a beat each and
/// produce one if `produces`.
inline Phase firings(int64_t repeat, bool produces = true) {
  return Phase::of(repeat, {1}, {produces});
}
/// Adds the process that reads `words` beats from the actor's memory port
/// `port` in bursts of `burst`, `periods` times per frame, into a channel whose
/// capacity is the maximum number of beats in flight.
void addReader(const Actor &actor, ProcessNetwork &network, size_t port,
               int64_t words, int64_t burst, int64_t periods, int channel);
/// A process with these phases, `periods` times per frame.
void addProcess(const Actor &actor, ProcessNetwork &network,
                std::vector<Phase> phases, int64_t periods,
                const std::vector<int> &inputs,
                const std::vector<int> &outputs);
} // namespace rhizome::gen
