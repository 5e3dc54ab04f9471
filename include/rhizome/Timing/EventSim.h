// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The event simulator: from run-length cyclo-static phases to interval,
// latency and buffer occupancy of a whole graph: the only source of these for
// networks. The rules it applies are those of docs/rationale/stream-cells.md, a
// max-plus recurrence over firings.
#pragma once

#include "rhz_memory.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rhizome::gen {
/// A count for each of a process's inputs or outputs.
using Counts = llvm::SmallVector<int64_t, 2>;
/// One of them, 0 if it was left out.
inline int64_t countAt(const Counts &counts, size_t i) {
  return i < counts.size() ? counts[i] : 0;
}

/// `repeat` equal firings of a process. A firing needs `need[i]` tokens
/// visible on input i beyond those already consumed, consumes `consume[i]`
/// (more than are there yet, where it skips some) and produces `produce[k]`
/// tokens on output k. Counts that are left out at the end are 0.
struct Phase {
  int64_t repeat = 1;
  Counts need, consume, produce;

  /// Firings that each take `taken[i]` tokens of input i, which must be there,
  /// and make `made[k]` on output k.
  static Phase of(int64_t repeat, Counts taken, Counts made) {
    return {repeat, taken, taken, std::move(made)};
  }
  bool operator==(const Phase &) const = default;
};

/// A token queue between two processes; it holds at most `capacity` tokens,
/// those of firings that are still in the producer's pipeline included.
struct TokenQueue {
  int64_t capacity = 0;
  int64_t latency = 1; ///< firing to visible
  std::string name;
  /// Tokens that are visible from the start, in front of all others.
  int64_t initial = 0;
  /// Cycles, beyond the usual one, before a place that was freed can be used
  /// again.
  int64_t returns = 0;
  bool operator==(const TokenQueue &) const = default;
};

/// `count` times, `step` cycles after each other.
struct Times {
  int64_t first;
  int64_t count = 1, step = 0;
  int64_t at(int64_t i) const { return first + i * step; }
  bool operator==(const Times &) const = default;
};

/// A bank of a memory outside the chip, which processes read burst after burst.
/// It grants one request a cycle, round robin among those that wait.
struct MemoryBank {
  std::string memory; ///< its name
  int64_t bank = 0;
  rhz::MemoryTiming timing;
  /// If several processes read it: the bursts that are in flight at most.
  int64_t inFlight = 0;
};

/// A sequential process. Its phases repeat; `periods` rounds make a frame.
struct Process {
  std::string name;
  std::vector<Phase> phases;
  int64_t periods = 1;
  std::vector<int> inputs;  ///< channel indices
  std::vector<int> outputs; ///< channel indices
  /// Before these times its first firings cannot be, one after the other.
  std::vector<Times> offers = {};
  /// The number of a memory bank if each firing asks it for a burst: what the
  /// firing produces are beats, which the channel gets as the bank has them;
  /// its latency is that from a beat's arrival. A firing is in the cycle
  /// before the request stands at the port; the next one can be in the cycle in
  /// which it is granted. Each period starts at another address than its
  /// predecessor's end.
  int memory = -1;
  /// How many bursts it may be granted in a row before others.
  int64_t turn = 1;
  /// Bursts requested back to back, once the buffer has room for all of them.
  int64_t group = 1;

  /// Does it stand for an input port of the design?
  bool isSource() const { return inputs.empty() && memory < 0; }
  bool operator==(const Process &) const = default;
};

/// A graph of processes. Processes without inputs that ask no memory are
/// sources that always offer, processes without outputs sinks that always
/// accept.
struct ProcessNetwork {
  std::vector<Process> processes;
  std::vector<TokenQueue> channels;
  std::vector<MemoryBank> memories;
  /// Frames of the design that are one of the network's, since units take as
  /// many at once.
  int frames = 1;
  /// Whether units that take several frames at once do not wait for them: how a
  /// frame goes through that comes alone.
  bool isAlone = false;
  int addChannel(std::string name, int64_t capacity, int64_t latency) {
    channels.push_back({capacity, latency, std::move(name)});
    return int(channels.size()) - 1;
  }
  /// The number of a memory's bank; one that is not there yet is added, which
  /// has a beat every cycle.
  int memory(llvm::StringRef name, int64_t bank) {
    for (size_t m = 0; m < memories.size(); ++m)
      if (memories[m].memory == name && memories[m].bank == bank)
        return int(m);
    memories.push_back({name.str(), bank, {}, 0});
    return int(memories.size()) - 1;
  }
};

/// What one run tells, in cycles.
struct SimResult {
  /// So many frames were asked for; of those after them, which the vectors may
  /// hold too, nothing is told.
  int frames = 0;
  bool deadlock = false;
  std::string blocked; ///< names of the processes that wait, if deadlock
  /// Per sink process, in order of appearance: when the first and the last
  /// beat of each frame were taken.
  std::vector<std::vector<int64_t>> firstOut, lastOut;
  /// Per sink: when every beat of the first frame was taken.
  std::vector<std::vector<int64_t>> taken;
  /// When the first source beat of each frame was accepted.
  std::vector<int64_t> firstIn;
  /// Per process and frame it began: its first and last firing. Empty for
  /// processes that were merged into channels (see Simulation).
  std::vector<std::vector<std::pair<int64_t, int64_t>>> spans;

  /// The definitions of docs/architecture.md: mean distance between first
  /// output beats of successive frames, the first `warmUp` frames apart.
  double interval(int warmUp) const;
  /// True if all distances between successive frames behind `warmUp` are equal.
  bool isSteady(int warmUp) const;
  /// First input beat accepted to last output beat taken, frame 0.
  int64_t latency() const;
};

/// A run of a network, at first with nothing but the initial tokens, that can
/// be carried on. The network must outlive it.
class Simulation {
public:
  /// Whether memories are left out as long as they keep up.
  enum class Memories : uint8_t { IfTheyMatter, Always };
  /// Whether the spans of all processes will be asked for.
  enum class Spans : uint8_t { Told, Omitted };
  /// `watched` are channels whose occupancy will be asked for; it is counted
  /// as the run goes on. Where channels are watched or spans are omitted,
  /// processes that only pass tokens on are merged with the channels before
  /// and after them, which takes less time; they have no spans then.
  explicit Simulation(const ProcessNetwork &network,
                      llvm::ArrayRef<int> watched = {},
                      Memories memories = Memories::IfTheyMatter,
                      Spans spans = Spans::Told);
  ~Simulation();
  /// Frames by which processes may be ahead of the outputs of a design with
  /// memories: as they read ahead, what others read comes later.
  static constexpr int kAhead = 4;

  /// Runs until so many frames have gone through, the earlier ones included.
  const SimResult &upTo(int frames, int ahead = kAhead);
  /// Asks now and then, while memories bring beats, whether to end a run before
  /// its frames are complete; it cannot be carried on then. It may ask for
  /// occupancies.
  void stopIf(std::function<bool()> isEnough) { stops = std::move(isEnough); }
  bool isStopped() const;
  /// Most tokens that a watched channel held at once, as far as it was run.
  int64_t occupancy(int channel);
  /// The fewest cycles for which tokens of a watched channel had been visible
  /// when a firing needed them: if they came later by as much, no firing would.
  int64_t slack(int channel) const;
  /// The frames that were simulated. Once a frame ends like the one before,
  /// those after it are known.
  int simulated() const;
  /// Can upTo tell that many frames without simulating more, or any number?
  bool knows(int frames) const;
  bool knowsAll() const;
  /// Is it a run without memories, since these have kept up so far?
  bool keepsUp() const { return supply != nullptr; }
  /// Would they keep up with the first frame if it came so many cycles later?
  bool keepsUpLater(int64_t by) const;

private:
  struct State;
  struct Supply;
  SimResult result;
  std::unique_ptr<State> state;
  std::unique_ptr<Supply> supply;
  std::function<bool()> stops;
};
} // namespace rhizome::gen
