// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of the event simulator while it runs: processes, channels, banks.
#pragma once

#include "EventSeries.h"
#include "llvm/ADT/STLExtras.h"
#include <array>
#include <functional>

namespace rhizome::gen {
namespace events {
/// A phase of a process with one or two inputs and one output.
struct SimplePhase {
  int64_t repeat, produce;
  std::array<int64_t, 2> need, consume;
};

/// What a round takes of an input, if its other firings take one token each of
/// the first one.
struct Meeting {
  struct Take {
    int64_t needed, taken; ///< firings of the round, the first one is 1
  };
  size_t input = 0;
  std::vector<Take> takes = {};
  bool isAlwaysNeeded = true; ///< by all firings
  bool isNeeded = false;      ///< by some
};

/// How many firings a round of a process has, if it takes tokens of its first
/// input one by one and makes one in the last of them, with what it takes of
/// its other inputs; otherwise 0.
int64_t roundOf(const Process &process, std::vector<Meeting> &meetings);

struct ProcessState {
  size_t phase = 0;
  int64_t done = 0;    ///< firings of the current phase
  int64_t period = 0;  ///< rounds of the current frame
  int64_t frame = 0;   ///< frames completed
  int64_t last = -1;   ///< time of the last firing
  size_t offer = 0;    ///< the next of the process's
  int64_t offered = 0; ///< firings of those that it stands for
  bool first = true;   ///< the next firing is the first of a frame
  bool queued = false;
  /// One or two inputs and one output, all of few places: its phases.
  bool isSimple = false;
  std::vector<SimplePhase> phases = {};
  /// If each of its rounds takes so many tokens of its first input, one by one,
  /// and the last firing makes one: their number, and what it takes of others.
  int64_t folds = 0;
  std::vector<Meeting> meetings = {};
  /// If it is a part of a channel: that one's reader, or another part.
  int mergedWith = -1;
  /// Beats of the burst that it waits to be granted, 0 if it asks for none, and
  /// the cycle from which the request stands at the port.
  int64_t asked = 0, presented = 0;
  int sink = -1; ///< its number among the sinks
  std::vector<ChannelState *> inputs, outputs;
  bool isMerged() const { return mergedWith >= 0; }
  /// Is it at the beginning of such a round, and not of a frame?
  bool isAtRound() const {
    return folds > 0 && phase == 0 && done == 0 && !first;
  }
};

struct MemoryState {
  rhz::MemoryServer server;
  std::vector<int> readers; ///< processes, in the order of their ports
  int64_t granted = -1;     ///< the cycle of the last grant
  int64_t free = 0;         ///< the first cycle in which its port has no beat
  size_t last = 0;          ///< the reader that was granted last
  size_t first = 0;         ///< the next one's turn
  int64_t left = 0; ///< bursts that the last one may still have in a row
  /// The last beats of as many bursts as may be in flight, in a ring; empty if
  /// it is any number.
  std::vector<int64_t> ends = {};
  size_t oldest = 0;   ///< of them
  bool isFresh = true; ///< nothing was granted yet
};

/// All that the next frame depends on when every process has completed the same
/// frames and no channel holds tokens.
struct Ending {
  std::vector<int64_t> lasts; ///< of each process
  std::vector<Event> pops;    ///< which places become free, and when

  /// Is it the same, but so many cycles later?
  bool isShifted(const Ending &from, int64_t by) const {
    return llvm::equal(lasts, from.lasts,
                       [&](int64_t a, int64_t b) { return a == b + by; }) &&
           llvm::equal(pops, from.pops, [&](const Event &a, const Event &b) {
             return a.count == b.count && a.time == b.time + by;
           });
  }
};
} // namespace events

struct Simulation::State {
  const ProcessNetwork &network;
  bool reads = false;     ///< memories
  bool isLate = false;    ///< a firing came after its offer
  bool stopsLate = false; ///< then the run ends
  /// Asked now and then whether it ends: after so many grants of memories.
  std::function<bool()> stops;
  int64_t grants = 0, nextStop = 1 << 14;
  bool isStopped = false;
  int64_t known = INT64_MAX; ///< all firings before it are known
  std::vector<events::ChannelState> channels;
  std::vector<events::ProcessState> processes;
  std::vector<events::MemoryState> memories;
  std::deque<int> work;
  SimResult &result;
  int completed = 0;     ///< frames, without a deadlock
  events::Ending ending; ///< of the last of them
  bool isFree = true;    ///< what isFreeBefore said of it
  int64_t repeats = 0;   ///< cycles between all later frames, if they are equal
  bool recurs = false;   ///< tokens stay in channels from frame to frame

  /// With `supplies` all that is read is there from the start; `merges` those
  /// processes that only pass tokens on.
  State(const ProcessNetwork &network, llvm::ArrayRef<int> watched,
        SimResult &result, bool supplies, bool merges);
  const SimResult &upTo(int frames, int ahead);
  Process takerOf(int c, int frames) const;
  /// Does it bring what is always there?
  bool isIdle(size_t p) const {
    return !reads && network.processes[p].memory >= 0;
  }
  void enqueue(int p) {
    if (!processes[p].queued) {
      processes[p].queued = true;
      work.push_back(p);
    }
  }
  /// Wakes a process that has what it waited for.
  void wake(int p, int64_t &waited) {
    waited = events::kNever;
    enqueue(p);
  }
  bool mayMerge(int p) const;
  void mergeDelays();
  int64_t fire(const Phase &phase, events::ProcessState &state, int64_t most,
               int64_t earliest);
  void note(int p, int64_t time);
  events::ProcessState *stepsWith(const events::ProcessState &taker,
                                  const events::ChannelState &c);
  int64_t leftOf(const events::ChannelState &c) const;
  int64_t leap(events::ProcessState &taker, const Phase &take);
  void leapRounds(events::ProcessState &taker, const Process &process);
  void endPhase(int p);
  void advance(int p, int frames);
  void advanceSimple(int p, int frames);
  template <size_t kInputs> bool fireSimple(int p, int frames);
  void ask(int p);
  bool grant();
  void serve(events::MemoryState &memory, size_t reader, int64_t cycle);
  bool isDone(int frames) const;
  bool mayStop();
  void enqueueAll();
  void drain(int frames);
  bool isFreeBefore(const events::Ending &now) const;
  bool isLike(const events::Ending &now, int64_t by);
  void endFrame();
  void repeat(int frames);
};
} // namespace rhizome::gen
