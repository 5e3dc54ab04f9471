// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Firings of simple processes, which have one or two inputs and one output and
// are most of a design: as often as tokens and places allow, in registers.
#include "EventState.h"

namespace rhizome::gen {
using events::ChannelState;
using events::ProcessState;
using events::Series;
using events::SimplePhase;

namespace {
/// A process takes from a channel: when tokens had come, and its pops, in
/// registers until it is finished.
class Taking {
public:
  Taking(ChannelState &c, int64_t batches)
      : c(c), tokens(c.pushed), pops(reserved(c.popped, batches)) {}
  int64_t written() const { return pops.written(); }
  /// Fires with so many tokens needed: not before they have come.
  int64_t after(int64_t last, int64_t need) {
    return need > 0 ? std::max(last, tokens.reached(pops.written() + need))
                    : last;
  }
  void take(int64_t count, int64_t time) {
    if (count > 0)
      pops.add(count, time + c.returns);
  }
  void finish() const {
    tokens.finish(c.pushed);
    pops.finish(c.popped);
  }
  static Series &reserved(Series &series, int64_t batches) {
    series.reserve(batches);
    return series;
  }

private:
  ChannelState &c;
  Series::Reader tokens;
  Series::Writer pops;
};

/// The same of what it gives to a channel.
class Giving {
public:
  Giving(ChannelState &c, int64_t batches)
      : c(c), freed(c.popped), pushes(Taking::reserved(c.pushed, batches)) {}
  int64_t written() const { return pushes.written(); }
  /// Fires and gives so many: not before there are places; the time.
  int64_t give(int64_t count, int64_t last) {
    if (count <= 0)
      return last;
    last = std::max(last,
                    freed.reached(pushes.written() + count - c.capacity) + 1);
    pushes.add(count, last + c.latency);
    return last;
  }
  void finish() const {
    freed.finish(c.popped);
    pushes.finish(c.pushed);
  }

private:
  ChannelState &c;
  Series::Reader freed;
  Series::Writer pushes;
};

/// A visit of a simple process: its inputs, its output and the time of its last
/// firing, in registers until it is finished.
template <size_t kInputs> class Visit {
public:
  explicit Visit(ProcessState &state)
      : Visit(state, std::make_index_sequence<kInputs>()) {}

  /// How many of `most` equal firings tokens and places allow. If none, the
  /// process waits for what it lacks.
  int64_t allowed(const SimplePhase &phase, int64_t most) {
    for (size_t i = 0; i < kInputs; ++i) {
      if (there[i] < phase.need[i]) {
        state.inputs[i]->consumerWaits = takings[i].written() + phase.need[i];
        return 0;
      }
      if (phase.consume[i] > 0)
        most = std::min(
            most, quotient(there[i] - phase.need[i], phase.consume[i]) + 1);
    }
    if (places < phase.produce) {
      out.producerWaits = giving.written() + phase.produce - out.capacity;
      return 0;
    }
    if (phase.produce > 0)
      most = std::min(most, quotient(places, phase.produce));
    return most;
  }

  /// So many firings, which are allowed.
  void fire(const SimplePhase &phase, int64_t firings) {
    const auto [repeat, produce, need, consume] = phase;
    for (size_t i = 0; i < kInputs; ++i)
      there[i] -= firings * consume[i];
    places -= firings * produce;
    for (; firings > 0; --firings) {
      int64_t time = last + 1;
      for (size_t i = 0; i < kInputs; ++i)
        time = takings[i].after(time, need[i]);
      last = giving.give(produce, time);
      for (size_t i = 0; i < kInputs; ++i)
        takings[i].take(consume[i], last);
    }
  }

  /// Has it taken all that came to its first input?
  bool isStarved() const { return there[0] == 0; }
  int64_t time() const { return last; }
  void finish() const {
    for (const Taking &taking : takings)
      taking.finish();
    giving.finish();
    state.last = last;
  }

private:
  ProcessState &state;
  ChannelState &out;
  int64_t last, places;
  std::array<int64_t, kInputs> there;
  std::array<Taking, kInputs> takings;
  Giving giving;

  template <size_t... kInput>
  Visit(ProcessState &state, std::index_sequence<kInput...>)
      : state(state), out(*state.outputs[0]), last(state.last),
        places(out.popped.total - out.pushed.total + out.capacity),
        there{tokensIn(*state.inputs[kInput])...},
        takings{Taking(*state.inputs[kInput], there[kInput])...},
        giving(out, places) {}
  static int64_t tokensIn(const ChannelState &c) {
    return c.pushed.total - c.popped.total;
  }

  /// Most are divided by one.
  static int64_t quotient(int64_t a, int64_t by) {
    return by == 1 ? a : a / by;
  }
};
} // namespace

/// Fires a simple process as often as its tokens and places allow; whether it
/// has taken all that came, and something now.
template <size_t kInputs>
bool Simulation::State::fireSimple(int p, int frames) {
  ProcessState &s = processes[p];
  Visit<kInputs> visit(s);
  bool hasFired = false;
  while (s.frame < frames) {
    const SimplePhase &phase = s.phases[s.phase];
    const int64_t fired =
        visit.allowed(phase, s.first ? 1 : phase.repeat - s.done);
    if (fired == 0)
      break; // something else will wake it
    visit.fire(phase, fired);
    hasFired = true;
    if (std::exchange(s.first, false))
      note(p, visit.time());
    s.done += fired;
    if (s.done < phase.repeat)
      continue;
    s.last = visit.time();
    endPhase(p);
  }
  visit.finish();
  return hasFired && visit.isStarved();
}

/// Fires a simple process as often as it can. Whom that wakes is found out
/// once, at the end.
void Simulation::State::advanceSimple(int p, int frames) {
  const Process &process = network.processes[p];
  ProcessState &s = processes[p];
  const bool isPair = s.inputs.size() > 1;
  bool hasLeapt = false;
  while ((isPair ? fireSimple<2>(p, frames) : fireSimple<1>(p, frames)) &&
         !hasLeapt) {
    hasLeapt = true;
    if (s.isAtRound())
      leapRounds(s, process);
    else if (s.done > 0)
      s.done += leap(s, process.phases[s.phase]);
  }
  for (ChannelState *in : s.inputs)
    if (in->popped.total >= in->producerWaits)
      wake(in->producer, in->producerWaits);
  ChannelState &out = *s.outputs[0];
  if (out.pushed.total >= out.consumerWaits)
    wake(out.consumer, out.consumerWaits);
}
} // namespace rhizome::gen
