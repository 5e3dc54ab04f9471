// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exploration as a problem of numbers: stages in a topological order, the
// choices for each on every kind of device, places in a given order.
// `solve` cuts the stages into runs, assigns each run a place (or several equal
// ones, as replicas) and takes one choice per stage. It does not depend on
// networks; tests compare it with brute force.
#pragma once

#include "rhizome/Cost/Resources.h"
#include "rhizome/Explore/Solver/Limit.h"
#include "rhizome/Support/Medium.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rhizome::explore {
class Layouts;

/// Resources, and the errors of LUTs and FFs: variances add up.
struct Cost {
  gen::Resources resources;
  double lutVariance = 0, ffVariance = 0;
  Cost &operator+=(const Cost &other);
  /// Resources including the error bars.
  gen::Resources most() const;
};

/// The format of a stream that stays within a region.
constexpr int kInside = -1;

/// One way to build a stage.
struct Choice {
  /// Cycles per frame for which the stage occupies its unit.
  int64_t interval = 1;
  /// With a unit of its own on the way of a state to the next frame: the cycles
  /// of that way at least, whatever the other stages are.
  int64_t around = 0;
  Cost cost;
  std::vector<int> in; ///< stream format of each operand
  int out = 0;         ///< of the result; Glue defines these numbers
  /// For a unit that several stages may share: which of the kind's units,
  /// −1 if it has its own. `cost` is the cost without the unit.
  int unit = -1;
  /// A region of several consecutive stages is chosen as a whole: its
  /// index (−1: the stage alone), and which part of how many this stage is. All
  /// its cost is in the first part.
  int region = -1, part = 0, parts = 1;
  /// The interval of something that cannot be chosen.
  static constexpr int64_t kNever = INT64_MAX;
  bool isWhole() const { return part + 1 == parts; }
};

/// A value: from a stage or from the host to stages and possibly to the host.
struct Tensor {
  int producer = -1;        ///< a stage, or -1 for the host
  std::vector<int> readers; ///< stages, ascending
  bool toHost = false;
  int64_t bits = 0; ///< of a frame
  unsigned elementBits = 8;
};

struct Stage {
  std::string name;
  std::vector<int> operands; ///< tensors
  int result = -1;           ///< a tensor
  bool staysWith = false;    ///< with the previous stage, if that feeds it
  bool mayCut = true;        ///< may a run begin here?
  bool mustCut = false;      ///< must one?
  int place = -1;            ///< where it must be; -1 for anywhere
  int die = -1;              ///< on which die of that place; -1 for any
  /// If set, a run holds the stage as the first of exactly this many
  /// replicas, with streams of this width; 0 for any.
  int copies = 0;
  int64_t streamBits = 0;
  bool isPinned() const { return place >= 0 || die >= 0 || mustCut; }
  /// It may be anywhere.
  void unpin() {
    place = -1;
    die = -1;
    mustCut = false;
    copies = 0;
    streamBits = 0;
  }
};

/// Devices with the same choices and prices.
struct Kind {
  std::string name;
  /// Prices are relative to this: the device's own capacity, whatever part of
  /// it a user allows.
  gen::Resources capacity;
  std::vector<std::vector<Choice>> choices; ///< of each stage
  std::vector<Cost> units;                  ///< that several stages may share
  std::vector<std::string> memories;        ///< outside the chip
  /// Extra resources that designs built so far needed for the buffers before a
  /// stage: in runs that begin at `from` or earlier, where its operands part.
  /// Empty if nothing is known.
  struct Beyond {
    int from = 0;
    gen::Resources resources;
    bool isLeast = true; ///< no run told them
  };
  std::vector<Beyond> beyond; ///< for each stage
};

/// A medium and how frames are cut for it: packed into words of 64 bits, which
/// are packed into datagrams.
struct Wire : Medium {
  int64_t slotWords = 128;  ///< words in a full datagram
  int64_t headerBytes = 16; ///< of the protocol, in each
  double latencyS() const { return double(latencyNs) * 1e-9; }
  /// Seconds for which a frame of this many bits occupies the medium.
  double secondsForFrame(int64_t bits) const;
  /// Seconds for which the acknowledgements of such a frame occupy the return
  /// path.
  double answerFor(int64_t bits) const;
  /// Payload words of the datagrams of a frame.
  std::vector<int64_t> datagramsOf(int64_t bits) const;
  /// Bits of a datagram with so many payload words on the medium.
  double bitsOf(int64_t words) const {
    return 8 * double(words * 8 + headerBytes + overheadBytes);
  }
  /// Seconds for which frames of these sizes there, and of those back, occupy
  /// the medium with their acknowledgements, in its busier direction.
  double busierSeconds(const std::vector<int64_t> &there,
                       const std::vector<int64_t> &back) const;
  /// Cycles for which it occupies an endpoint's byte stream, averaged over
  /// frames that share datagrams.
  double cyclesFor(int64_t bits, int64_t streamBits) const;
  bool operator==(const Wire &) const = default;
};

/// The dies of a device, in the order of their row: each stage lies on one, and
/// streams between neighbors pass registers on both sides.
struct Dies {
  std::vector<gen::Resources> budgets; ///< empty: one die, with all there is
  int64_t wires = 0;                   ///< between two neighbors
  int registers = 0;                   ///< that a beat passes there
  int border = 0;                      ///< with the border and the link
  int memory = 0;                      ///< with the ports to off-chip memories
  size_t count() const { return budgets.size(); }
  bool operator==(const Dies &) const = default;
};

struct Place {
  int kind = 0;
  gen::Resources budget; ///< of on-chip resources
  /// Bytes per second that each off-chip memory transfers.
  std::array<double, gen::kMemories> bandwidth{};
  double clockHz = 1e8;
  int64_t streamBits = 64; ///< of the border and of the link's byte streams
  /// Streams may be narrower, by halves down to this, if the rate allows it;
  /// 0 if their width is fixed.
  int64_t leastBits = 0;
  std::optional<Wire> wire; ///< none if the device has no link
  Dies dies;
  bool operator==(const Place &) const = default;
  /// The budget of a frame that takes this many seconds.
  gen::Resources budgetFor(double seconds) const;
  /// As if there were no budgets.
  void unlimit();
  /// This place with its streams as narrow as possible, and with all wider
  /// ones.
  std::vector<Place> widths() const;
  /// Whether it can hold a replica of anything that `other` holds, at the same
  /// rate.
  bool covers(const Place &other) const;
};

/// A run's traffic on its link.
struct Ends {
  std::vector<int> in, out; ///< tensors
  double framesPerS = 0;    ///< wanted of each copy
};

/// The glue between choices. Costs are those of one kind of device.
class Glue {
public:
  virtual ~Glue() = default;
  /// A converter between the formats of two stages' streams; empty if they are
  /// equal.
  virtual Cost convert(int kind, int tensor, int from, int to) = 0;
  /// A fork to several readers.
  virtual Cost fork(int kind, int tensor, int format, int readers) = 0;
  /// A tensor that enters or leaves the device; format -1 is one element per
  /// beat.
  virtual Cost border(int kind, int64_t streamBits, int tensor, int format,
                      bool enters) = 0;
  /// The link's endpoint.
  virtual Cost endpoint(const struct Place &place, const Ends &ends) = 0;
  /// A stream from one die to the next one.
  virtual Cost crossing(int kind, int tensor, int format);
  /// The wires that it takes there, in both directions.
  virtual int64_t wires(int tensor, int format);
};

/// The way of a state to the next frame that takes the most cycles, at least
/// so many whatever is chosen.
struct Loop {
  std::string state;
  int64_t cycles = 0;
};

struct Problem {
  std::vector<Stage> stages; ///< operands come from earlier stages
  Loop loop;
  std::vector<Tensor> tensors;
  std::vector<Kind> kinds;
  std::vector<Place> places; ///< in the order in which runs take them
  std::optional<Wire> hostWire;
  /// A place sends only to the next one (and to the host), so tensors for
  /// later places pass through; none may be left out.
  bool isChain = false;
  bool mayReplicate = true;
  Glue *glue = nullptr;
  /// What is known of layouts on dies, if anything is kept.
  std::shared_ptr<Layouts> layouts;
};

/// Topological orders in which runs may be cut, the problem's own first, as
/// permutations of its stages: for a chain only that one, for other graphs also
/// depth-first and breadth-first.
std::vector<std::vector<int>> ordersOf(const Problem &problem);

/// The same problem with its stages in another order.
Problem reorder(const Problem &problem, const std::vector<int> &order);

/// The same problem in which a choice's interval is no less than the way of a
/// state around it. All choices together may need more.
Problem withLoops(Problem problem);

struct Limits {
  /// Numbers of choices of a stage and of partial runs that are followed at
  /// once. The solution is exact as long as neither limit is reached.
  size_t choices = 16, partial = 24;
  int64_t maxNodes = INT64_MAX;
  /// The share of every budget that may be used.
  double share = 1;
  /// Whether error bars count.
  bool errorBars = true;
  /// solveFastest searches for nothing faster.
  double least = 0;
};

/// A run of stages, on one place or as replicas on several.
struct Run {
  int begin = 0, end = 0;
  std::vector<int> places;
  std::vector<int> choices; ///< for each stage of the run
  /// The index among equal shared units for each stage; 0 without one.
  std::vector<int> units;
  /// The die of each stage; empty on a device with one.
  std::vector<int> dies;
  Cost cost;               ///< of one copy, with all glue
  int64_t streamBits = 64; ///< of its border
};

struct Solution {
  std::vector<Run> runs;
  double seconds = 0;  ///< per frame, at most
  bool isExact = true; ///< no limit of `Limits` was reached
  int64_t nodes() const;
};

/// Whether it is so large that fewer replicas and partial runs are followed.
bool isLarge(const Problem &problem);

/// The plan with the fewest nodes, and among these the least resources, with
/// at most `seconds` per frame; none if there is none.
std::optional<Solution> solveWithin(const Problem &problem, double seconds,
                                    const Limits &limits);

/// The least seconds for which solveWithin has a plan, with that plan.
std::optional<Solution> solveFastest(const Problem &problem,
                                     const Limits &limits);

/// No plan takes fewer seconds per frame than this: every stage by itself, the
/// ways of states, all stages on the sum of all budgets, and the host's link.
/// `why` names the limit.
double lowerBound(const Problem &problem, Limit *why = nullptr);

/// The least seconds per frame for which a stage and those that stay with it
/// fit one place, or as many replicas as there may be; infinite if they
/// fit none, 0 if the stage stays with the previous one.
double aloneSeconds(const Problem &problem, int stage);

/// The least resources that such stages need on the place that they fit best.
Limit whyNotAlone(const Problem &problem, int stage);

/// "bram", or the name of a memory of such a device.
std::string nameOf(size_t resource, const Kind &kind);
/// The resource of whose budget `need` is the largest share, and that share.
std::pair<size_t, double> scarcest(const gen::Resources &need,
                                   const gen::Resources &budget);

/// The limit of a run that does not fit: the resource exceeded most, or none.
Limit exceeded(const gen::Resources &need, const gen::Resources &budget,
               const Kind &kind);
} // namespace rhizome::explore
