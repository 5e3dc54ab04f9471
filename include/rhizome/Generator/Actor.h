// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An actor as every stage sees it: a library cell and its parameters. What it
// takes (phases) and what it costs (resources) are functions of these alone,
// and stand in lib/Generator/CellTiming.cpp and lib/Generator/Cost/.
#pragma once

#include "rhizome/Generator/CostModel.h"
#include "rhizome/Generator/EventSim.h"
#include "rhizome/Generator/Resources.h"
#include "llvm/ADT/StringRef.h"
#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rhizome::gen {
class Circuit;

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

/// The name of a parameter: a literal, or a text that is kept for ever, so that
/// actors are copied and searched at little cost.
class ParamName {
public:
  consteval ParamName(const char *literal) : text(literal) {}
  static ParamName kept(llvm::StringRef text);
  operator llvm::StringRef() const { return text; }
  bool operator==(const ParamName &other) const { return text == other.text; }
  bool operator==(const char *other) const { return text == other; }

private:
  struct Kept {};
  ParamName(llvm::StringRef text, Kept) : text(text) {}
  llvm::StringRef text;
};

struct Param {
  ParamName key;
  int64_t value;
};

/// A cell with parameters. `files` are memory images, whose contents stand
/// in `MemoryImages` under the same name. The cell `circuit` is generated, not
/// of the library: see Circuit.h.
struct Actor {
  std::string cell; ///< "window" for rhz_window
  std::string name; ///< unique in the design once built
  std::vector<Param> params;
  std::vector<std::pair<std::string, std::string>> files;
  /// Of an actor of kind `circuit`: its datapath, once it is built.
  std::shared_ptr<const Circuit> circuit = nullptr;

  int64_t get(llvm::StringRef key) const {
    for (const auto &[k, v] : params)
      if (llvm::StringRef(k) == key)
        return v;
    assert(false && "the cell has no such parameter");
    return 0;
  }
  void set(ParamName key, int64_t value) {
    for (auto &[k, v] : params)
      if (k == key) {
        v = value;
        return;
      }
    params.push_back({key, value});
  }
};

/// What the cost model needs to know of a device.
struct CostContext {
  int64_t lutInputs = 6;
  /// Signed operands of one DSP block's multiplier; 0 without any.
  int64_t dspWide = 27, dspNarrow = 18;
  /// Bits of one block RAM and its widest port.
  int64_t bramBits = 36864, bramPort = 72;
  /// Half blocks are units of their own.
  bool halfBlocks = true;
  /// Width of the family's smallest memory in LUTs; 0 without any. AMD's are
  /// 32 deep, others 16.
  int64_t lutramBits = 14;
  /// Rows of registers without a reset become LUTs.
  bool shiftRegisters = true;
  /// What a level of LUTs with its routing takes, and a register before and
  /// behind: how much logic generated pipelines put between registers.
  double levelNs = 0.75, registerNs = 0.6;
  /// The family's calibrated model.
  std::shared_ptr<const CostModel> model =
      std::make_shared<CostModel>(CostModel::unit());
};

/// Cycles between a firing and the visibility of what it produced.
int64_t latencyOf(const Actor &actor);
/// Cycles a frame that the actor needs by itself: the firings of its busiest
/// process.
int64_t serviceCycles(const Actor &actor);
/// Beats that the actor's output buffer must hold so that it can fire in every
/// cycle.
int64_t fullRateDepth(const Actor &actor);
/// Products of weights and activations that the actor computes each cycle; its
/// parameter `Style` says in what (0 LUTs, 1 a DSP each, 2 two in one DSP).
int64_t productsOf(const Actor &actor);
/// Stages of the actor's multipliers: those in LUTs take a second one where
/// both operands have more than four bits (rhz_mul).
int64_t multiplierStages(const Actor &actor);
/// A read-only memory of an actor: the parameter that places it in block RAM
/// (1) or LUTs (0), its shape and how many of it there are.
struct RomUse {
  ParamName placedBy;
  int64_t words, width, copies;
};
std::vector<RomUse> romsOf(const Actor &actor);
/// Sets the placement of every read-only memory to what costs less.
void placeRoms(Actor &actor, const CostContext &context);
/// DSP blocks that one product of signed operands takes.
int64_t dspTiles(int64_t a, int64_t b, const CostContext &context);
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
/// channels of its ports, `out` the format of its (first) output.
void addProcesses(const Actor &actor, Network &network,
                  const std::vector<int> &inputs,
                  const std::vector<int> &outputs);
} // namespace rhizome::gen
