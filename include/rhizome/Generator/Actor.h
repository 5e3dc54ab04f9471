// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An actor as every stage sees it: a hardware unit with its parameters. What it
// takes (phases) and what it costs (resources) are functions of these alone,
// which the unit's model gives (UnitModel.h).
#pragma once

#include "rhizome/Cost/CostModel.h"
#include "rhizome/Cost/Resources.h"
#include "rhizome/Generator/EventSim.h"
#include "rhizome/Unit/Units.h"
#include "llvm/ADT/StringRef.h"
#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rhizome::gen {
class UnitModel;

/// How one tensor is cut into beats; see flow.stream.
struct Format {
  bool isSigned = false;
  int64_t width = 1; ///< bits of an element
  int64_t lanes = 1;
  int64_t row = 1;
  int64_t count = 1;

  int64_t beatsPerRow() const { return (row + lanes - 1) / lanes; }
  int64_t beats() const { return count / row * beatsPerRow(); }
  int64_t bits() const { return lanes * width; }
  bool operator==(const Format &) const = default;

  /// The same beats have one format: where rows end at beat borders anyway the
  /// whole frame is one row.
  Format canonical() const {
    Format f = *this;
    if (row % lanes == 0)
      f.row = count;
    return f;
  }
  /// For people: "4 lanes", and where beats end at other rows, which.
  std::string lanesText() const;
};

using Param = std::pair<llvm::StringRef, int64_t>;

/// The datapath that a generator makes for an actor of a generated kind.
struct Datapath {
  virtual ~Datapath() = default;
};

/// A memory outside the chip.
struct Memory : rhz::MemoryFigures {
  std::string name; ///< "ddr4", "hbm2"
};

/// Where a memory port of an actor stands, and what it reads there: the image
/// of that name in `MemoryImages`, a word a beat, lies in the bank from before
/// the first frame on. Its address is layOut()'s (Generator/Segments.h).
struct MemoryPlace {
  std::string memory;
  int64_t bank = 0;
  std::string segment;
};

/// A unit of a design. `files` are memory images, whose contents stand in
/// `MemoryImages` under the same name.
struct Actor : unit::Instance {
  Actor() = default;
  /// Of the kind `kind`, which must be registered: a generator knows its own
  /// units. What a file says is asked with findUnit() before.
  explicit Actor(llvm::StringRef kind, std::string name = "",
                 std::initializer_list<Param> params = {});
  Actor(const UnitModel &model, std::string name);

  std::string name; ///< unique in the design once built
  /// Of every memory port of the kind, in their order.
  std::vector<MemoryPlace> memories;
  /// Of a generated kind: the name of its own module, once it is built.
  std::string ownModule;
  /// Of an actor of a generated kind: its datapath, once it is built.
  std::shared_ptr<const Datapath> datapath = nullptr;

  const UnitModel &model() const { return *unitModel; }
  /// The module that it is an instance of.
  std::string module() const {
    return ownModule.empty() ? kind().module : ownModule;
  }

private:
  const UnitModel *unitModel = nullptr;
};

/// The memory image that the load chain brings into an actor, by the actor's
/// name; in the words of its memory.
std::string loadImage(llvm::StringRef actor);
/// Bits of a word of the chain.
constexpr int64_t kLoadBits = 64;

/// Cycles between a firing and the visibility of what it produced.
int64_t latencyOf(const Actor &actor);
/// Cycles a frame that the actor needs by itself: the firings of its busiest
/// process.
int64_t serviceCycles(const Actor &actor);
/// Beats that the actor's output buffer must hold so that it can fire in every
/// cycle.
int64_t fullRateDepth(const Actor &actor);
/// Depth of the output buffer for a firing in every cycle, at least `least`.
void sizeOutput(Actor &actor, int64_t least = 2);

/// What multiplies.
enum class Multiplier : uint8_t { Lut, Dsp, DspPair };
/// Products of weights and activations that a unit computes each cycle.
struct Products {
  int64_t count = 0;
  Multiplier by = Multiplier::Lut;
};
Products productsOf(const Actor &actor);

/// Sets the placement of every read-only memory to what costs less.
void placeRoms(Actor &actor, const CostContext &context);
/// What the actor is made of. With its memories' contents that counts equal and
/// constant columns as synthesis does; without, as is to be expected.
Structure structureOf(const Actor &actor, const CostContext &context,
                      const MemoryImages *images = nullptr);
/// LUTs, FFs, DSPs and memories: the structure times the family's model.
Resources costOf(const Actor &actor, const CostContext &context,
                 const MemoryImages *images = nullptr);
/// How far `cost` may be off, in LUTs and FFs, by the family's residuals.
Resources errorOf(const Actor &actor, const Resources &cost,
                  const CostContext &context);
/// Adds the actor's processes to a network. `inputs` and `outputs` are the
/// channels of its stream ports.
void addProcesses(const Actor &actor, Network &network,
                  const std::vector<int> &inputs,
                  const std::vector<int> &outputs);
} // namespace rhizome::gen
