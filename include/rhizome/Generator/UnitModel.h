// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parameters of a unit kind mean in time and area: the behavior beside
// its description (rhizome/Unit/Unit.h). One class a kind, in the folder of the
// generator that builds with it, registered once (lib/Generator/Registry.cpp,
// or addUnit() for a program's own).
#pragma once

#include "rhizome/Cost/Structure.h"
#include "rhizome/Generator/Actor.h"
#include <optional>

namespace mlir {
class Location;
class Region;
} // namespace mlir

namespace rhizome::gen {
class Sampler;

/// What is const may be called by several threads at once.
class UnitModel {
public:
  /// The model of the kind of that name, which must be described.
  explicit UnitModel(llvm::StringRef kind);
  explicit UnitModel(const unit::Kind &kind) : description(kind) {}
  virtual ~UnitModel() = default;

  const unit::Kind &kind() const { return description; }

  /// Cycles between a firing and the visibility of what it produced, the output
  /// buffer's included.
  virtual int64_t latency(const unit::Instance &unit) const = 0;
  /// Adds the unit's processes to the event simulator's network. `inputs` and
  /// `outputs` are the channels of its stream ports, in their order. Unless
  /// overridden, each of `frameBeats` firings takes a beat of every input and
  /// makes one on every output.
  virtual void processes(const Actor &actor, Network &network,
                         const std::vector<int> &inputs,
                         const std::vector<int> &outputs) const;
  /// What the unit is made of.
  virtual void structure(cost::Builder &builder) const = 0;

  /// Which of the kind's names for characterization this one goes under.
  virtual const char *characterizedAs(const unit::Instance &) const {
    return description.characterized.front();
  }
  virtual Products products(const unit::Instance &) const { return {}; }
  /// Does it serve its inputs one after another, frame by frame? Others take a
  /// beat of each when they fire.
  virtual bool takesTurns(const unit::Instance &) const { return false; }
  /// Places of the output buffer that the unit needs in any case.
  virtual int64_t leastDepth(const unit::Instance &) const { return 2; }
  /// Firings for one beat of the output; what is in flight is fewer beats.
  virtual int64_t firingsPerBeat(const unit::Instance &) const { return 1; }

  /// A random unit that characterization synthesizes under one of the kind's
  /// names: sets the parameters and images of `sampler.actor`. Returns false
  /// where the device has none such, or the kind is not sampled.
  virtual bool sample(Sampler &, llvm::StringRef /*characterizedAs*/) const {
    return false;
  }
  /// Whether samples have output buffers of all depths, so that what buffers
  /// take is learned from them.
  virtual bool samplesDeepBuffers() const { return false; }

  // Of generated kinds.
  /// One unit that does the work of two that follow each other with nothing
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

/// The model of the kind of that name, null if there is none.
const UnitModel *findUnit(llvm::StringRef kind);
/// All models: the compiler's own, then those that a program has added.
std::vector<const UnitModel *> allUnits();
/// Adds a unit kind with its model: how a program that links the compiler
/// brings hardware of its own. Its description is added with it. Not while
/// another thread compiles.
void addUnit(std::unique_ptr<UnitModel> model);
/// Takes a unit kind out again.
std::unique_ptr<UnitModel> removeUnit(llvm::StringRef kind);
/// Every name under which units are characterized, in the order of the kinds.
std::vector<const char *> characterizedUnits();

/// Products of paired operands that are added before the pair is taken apart
/// (rhz_matvec), with signed and with unsigned activations.
constexpr int64_t kPackedSigned = 7, kPackedUnsigned = 4;

/// Stages from push to visible in an output buffer of so many places
/// (rhz_outbuf).
inline int64_t bufferLatency(const unit::Instance &unit) {
  return unit.get("Depth") > 64 ? 2 : 1;
}

/// `repeat` firings of a unit with one input, which take a beat each and make
/// one if `produces`.
inline Phase firings(int64_t repeat, bool produces = true) {
  return Phase::of(repeat, {1}, {produces});
}
/// Adds the process that reads `words` beats from the actor's memory port
/// `port` in bursts of `burst`, `periods` times a frame, into a channel of so
/// many places as it may have beats on their way.
void addReader(const Actor &actor, Network &network, size_t port, int64_t words,
               int64_t burst, int64_t periods, int channel);
/// A process of these phases, `periods` times a frame.
void addProcess(const Actor &actor, Network &network, std::vector<Phase> phases,
                int64_t periods, const std::vector<int> &inputs,
                const std::vector<int> &outputs);
} // namespace rhizome::gen
