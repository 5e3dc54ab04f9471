// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An actor as every phase sees it: a hardware unit with its parameters. Its
// timing (phases) and cost (resources) are functions of these alone,
// given by the unit's model (UnitModel.h).
#pragma once

#include "rhizome/Cost/CostModel.h"
#include "rhizome/Cost/Resources.h"
#include "rhizome/Timing/EventSim.h"
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
struct BeatFormat {
  bool isSigned = false;
  int64_t width = 1; ///< bits per element
  int64_t lanes = 1;
  int64_t row = 1;
  int64_t count = 1;

  int64_t beatsPerRow() const { return (row + lanes - 1) / lanes; }
  int64_t beats() const { return count / row * beatsPerRow(); }
  int64_t bits() const { return lanes * width; }
  bool operator==(const BeatFormat &) const = default;

  /// Equal beats have one format: if rows end at beat borders anyway, the
  /// whole frame is one row.
  BeatFormat canonical() const {
    BeatFormat f = *this;
    if (row % lanes == 0)
      f.row = count;
    return f;
  }
  /// For people: "4 lanes", and the row if beats end early.
  std::string lanesText() const;
};

using Param = std::pair<llvm::StringRef, int64_t>;

/// The datapath that a generator makes for an actor of a generated kind.
struct Datapath {
  virtual ~Datapath() = default;
};

/// An off-chip memory.
struct Memory : rhz::MemoryFigures {
  std::string name;      ///< "ddr4", "hbm2"
  int64_t portBits = 64; ///< of a beat at a bank's port
  /// The port's own clock, 0 if it has that of the design. A design with a
  /// slower clock has a port as many times wider.
  double portMhz = 0;

  /// Bits of a beat at a port of a design with this clock, at least a word of
  /// the load chain.
  int64_t portBitsAt(double clockMhz) const;
  /// The rate of a bank's port, and of all banks, for long bursts: what is left
  /// after refreshes.
  double bankBytesPerS(double clockMhz) const;
  double sustainedBytesPerS(double clockMhz) const {
    return double(banks) * bankBytesPerS(clockMhz);
  }
};

/// The bank of a memory port of an actor, and what it reads there: the image
/// with that name in `MemoryImages`, one word per beat, is in the bank before
/// the first frame. Its address is set by layOut() (Design/Segments.h).
struct MemoryPlace {
  /// A bank that buildDesign() chooses.
  static constexpr int64_t kAnyBank = -1;

  std::string memory;
  int64_t bank = 0;
  std::string segment;
};

/// A unit of a design. `files` are memory images, whose contents are in
/// `MemoryImages` under the same name.
struct Actor : unit::Instance {
  Actor() = default;
  /// An actor of the kind `kind`, which must be registered: a generator knows
  /// its own units. For names from files, call findUnit() before.
  explicit Actor(llvm::StringRef kind, std::string name = "",
                 std::initializer_list<Param> params = {});
  Actor(const UnitModel &model, std::string name);

  std::string name; ///< unique in the design once built
  /// For every memory port of the kind, in their order.
  std::vector<MemoryPlace> memories;
  /// For a generated kind: the name of its own module, once it is built.
  std::string ownModule;
  /// For an actor of a generated kind: its datapath, once it is built.
  std::shared_ptr<const Datapath> datapath = nullptr;

  const UnitModel &model() const { return *unitModel; }
  /// The module that it is an instance of.
  std::string module() const {
    return ownModule.empty() ? kind().module : ownModule;
  }

private:
  const UnitModel *unitModel = nullptr;
};

/// The memory image that the load chain transfers to an actor, by the actor's
/// name; in the words of its memory.
std::string loadImage(llvm::StringRef actor);
/// Bits of a word of the chain.
constexpr int64_t kLoadBits = 64;

/// Cycles from a firing until its results are visible.
int64_t latencyOf(const Actor &actor);
/// Cycles per frame that the actor needs by itself: the firings of its busiest
/// process.
int64_t serviceCycles(const Actor &actor);
/// Beats that the actor's output buffer must hold so that it can fire in every
/// cycle.
int64_t fullRateDepth(const Actor &actor);
/// Depth of the output buffer for a firing in every cycle, at least `least`.
void sizeOutput(Actor &actor, int64_t least = 2);

/// Where the multiplications are done.
enum class Multiplier : uint8_t { Lut, Dsp, DspPair };
/// Products of weights and activations that a unit computes each cycle.
struct Products {
  int64_t count = 0;
  Multiplier by = Multiplier::Lut;
};
Products productsOf(const Actor &actor);

/// What a read-only memory takes in LUTs or in blocks.
struct RomChoice {
  double luts = 0, blocks = 1;
  /// Whether blocks are cheaper.
  bool isBlock(double lutsOfABlock) const {
    return luts > lutsOfABlock * blocks;
  }
};
using RomChoices = llvm::SmallVector<RomChoice, 2>;
/// Sets the placement of every read-only memory to the cheaper one.
RomChoices placeRoms(Actor &actor, const CostContext &context);
/// Puts the actor's rows or pages into UltraRAM, if that may be worth it.
bool placeInUltra(Actor &actor, const CostContext &context);
/// The actor's structure. With its memories' contents, equal and
/// constant columns are counted as synthesis does; without, the expected
/// numbers.
Structure structureOf(const Actor &actor, const CostContext &context,
                      const MemoryImages *images = nullptr);
/// LUTs, FFs, DSPs and memories: the structure times the family's model.
Resources costOf(const Actor &actor, const CostContext &context,
                 const MemoryImages *images = nullptr);
Resources costOf(const Structure &structure, const CostContext &context);
/// The errors of `cost` in LUTs and FFs, by the family's residuals.
Resources errorOf(const Actor &actor, const Resources &cost,
                  const CostContext &context);
/// Adds the actor's processes to a network. `inputs` and `outputs` are the
/// channels of its stream ports.
void addProcesses(const Actor &actor, ProcessNetwork &network,
                  const std::vector<int> &inputs,
                  const std::vector<int> &outputs);
} // namespace rhizome::gen
