// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A work list of processes, each advanced as far as its channels allow; one
// that waits is visited again once what it waits for is there. Firing times are
// exact whatever the order in which processes are visited, since the graph is
// determinate (Kahn): a firing's time depends on the times of tokens and
// credits only. A memory that several processes read is not: whom it serves
// depends on who comes first. So a request is granted only when nothing else
// can move; whatever is asked later then depends on beats that are still to
// come, and stands at the port after the cycle of the earliest grant.
// Frames are run one by one, until one ends as the frame before has: all later
// ones are like it. Where tokens stay in channels from frame to frame, all
// frames are simulated; so they are where memories are read (see
// Simulation.cpp).
#include "EventState.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

namespace rhizome::gen {
using events::ChannelState;
using events::Ending;
using events::MemoryState;
using events::ProcessState;
using events::Series;

static bool isLine(const ProcessNetwork &network, int c,
                   const ChannelState &channel) {
  if (!channel.isNarrow() || channel.producer < 0 || channel.consumer < 0 ||
      channel.pushed.total > 0)
    return false;
  const Process &from = network.processes[channel.producer],
                &to = network.processes[channel.consumer];
  const auto input = size_t(llvm::find(to.inputs, c) - to.inputs.begin());
  return from.memory < 0 && from.outputs.size() == 1 &&
         llvm::all_of(
             from.phases,
             [](const Phase &p) { return countAt(p.produce, 0) <= 1; }) &&
         llvm::all_of(
             to.phases,
             [&](const Phase &p) { return countAt(p.consume, input) <= 1; });
}

/// How many tokens come through a channel in a frame, 0 if not all that come
/// go.
static int64_t tokensOfFrame(const ProcessNetwork &network, int c,
                             const ChannelState &channel) {
  if (channel.producer < 0 || channel.consumer < 0)
    return 0;
  const Process &from = network.processes[channel.producer],
                &to = network.processes[channel.consumer];
  size_t out = size_t(llvm::find(from.outputs, c) - from.outputs.begin()),
         in = size_t(llvm::find(to.inputs, c) - to.inputs.begin());
  int64_t come = 0, go = 0;
  for (const Phase &phase : from.phases)
    come += phase.repeat * countAt(phase.produce, out) * from.periods;
  for (const Phase &phase : to.phases)
    go += phase.repeat * countAt(phase.consume, in) * to.periods;
  return come == go ? come : 0;
}

Simulation::State::State(const ProcessNetwork &network,
                         llvm::ArrayRef<int> watched, SimResult &result,
                         bool supplies, bool merges)
    : network(network), result(result) {
  channels.resize(network.channels.size());
  for (size_t c = 0; c < network.channels.size(); ++c) {
    channels[c].capacity = network.channels[c].capacity;
    channels[c].returns = network.channels[c].returns;
    channels[c].latency = network.channels[c].latency;
  }
  for (int c : watched)
    channels[c].watched = true;
  for (size_t c = 0; c < network.channels.size(); ++c)
    channels[c].begin(network.channels[c].initial);
  recurs = llvm::any_of(network.channels,
                        [](const TokenQueue &c) { return c.initial > 0; });
  for (const Process &process : network.processes) {
    reads |= process.memory >= 0 && !supplies;
    if (process.memory >= 0 && supplies)
      channels[process.outputs[0]].neverEnd();
    for (const Phase &phase : process.phases)
      assert(phase.need.size() <= process.inputs.size() &&
             phase.consume.size() <= process.inputs.size() &&
             phase.produce.size() <= process.outputs.size() &&
             "a count for a port that the process does not have");
  }
  processes.resize(network.processes.size());
  int sinks = 0;
  for (size_t p = 0; p < network.processes.size(); ++p) {
    ProcessState &process = processes[p];
    for (int c : network.processes[p].inputs) {
      channels[c].consumer = int(p);
      process.inputs.push_back(&channels[c]);
    }
    for (int c : network.processes[p].outputs) {
      if (!isIdle(p))
        channels[c].producer = int(p);
      process.outputs.push_back(&channels[c]);
    }
    if (process.outputs.empty())
      process.sink = sinks++;
  }
  for (const MemoryBank &memory : network.memories)
    memories.push_back({rhz::MemoryServer(memory.timing), {}});
  for (size_t p = 0; p < network.processes.size(); ++p)
    if (int m = network.processes[p].memory; m >= 0)
      memories[m].readers.push_back(int(p));
  for (auto [bank, memory] : llvm::zip_equal(network.memories, memories))
    if (memory.readers.size() > 1)
      memory.ends.assign(size_t(bank.inFlight), -1);
  for (size_t c = 0; c < network.channels.size(); ++c)
    channels[c].perFrame = tokensOfFrame(network, int(c), channels[c]);
  if (merges)
    mergeDelays();
  for (auto [c, channel] : llvm::enumerate(channels)) {
    channel.isLine = isLine(network, int(c), channel);
    if (channel.isNarrow())
      channel.popped.reserve(std::min(channel.capacity, channel.perFrame));
  }
  for (auto [p, process] : llvm::zip_equal(processes, network.processes)) {
    const bool isPlain = process.memory < 0 && process.offers.empty() &&
                         !p.inputs.empty() && p.outputs.size() == 1 &&
                         p.inputs[0]->isNarrow() && p.outputs[0]->isNarrow();
    if (!isPlain)
      continue;
    p.folds = events::roundOf(process, p.meetings);
    p.isSimple = p.inputs.size() <= 2 && p.inputs.back()->isNarrow() &&
                 !llvm::is_contained(p.inputs, p.outputs[0]);
    if (!p.isSimple)
      continue;
    for (const Phase &phase : process.phases)
      p.phases.push_back(
          {phase.repeat,
           countAt(phase.produce, 0),
           {countAt(phase.need, 0), countAt(phase.need, 1)},
           {countAt(phase.consume, 0), countAt(phase.consume, 1)}});
  }
  result = {};
  result.firstOut.resize(sinks);
  result.lastOut.resize(sinks);
  result.taken.resize(sinks);
  result.spans.resize(network.processes.size());
}

/// How many of `most` equal firings a channel's tokens allow. If none, the
/// consumer waits for them.
static int64_t withTokens(ChannelState &c, int64_t need, int64_t consume,
                          int64_t most) {
  int64_t beyond = c.pushed.total - c.popped.total - need;
  if (beyond >= 0)
    return consume == 0   ? most
           : consume == 1 ? std::min(most, beyond + 1)
                          : std::min(most, beyond / consume + 1);
  c.consumerWaits = c.popped.total + need;
  return 0;
}

/// How many its places allow. If none, the producer waits for them.
static int64_t withPlaces(ChannelState &c, int64_t produce, int64_t most) {
  int64_t places = c.popped.total - c.pushed.total + c.capacity;
  if (places >= produce)
    return std::min(most, produce == 1 ? places : places / produce);
  c.producerWaits = c.pushed.total + produce - c.capacity;
  return 0;
}

/// So many firings, which tokens and places allow, of any process: port by
/// port, for so many of them at once.
LLVM_ATTRIBUTE_NOINLINE // its frame is large
    static void fireAny(const Phase &phase, ProcessState &state,
                        int64_t firings, int64_t earliest) {
  constexpr int64_t kAtOnce = 64;
  int64_t times[kAtOnce];
  llvm::SmallVector<int64_t, 2 * kAtOnce> since; // for watched inputs
  for (int64_t n; firings > 0; firings -= n) {
    n = std::min(firings, kAtOnce);
    std::fill_n(times, n, earliest);
    since.clear();
    for (size_t i = 0; i < phase.need.size(); ++i) {
      ChannelState &c = *state.inputs[i];
      if (phase.need[i] <= 0 || c.isEndless)
        continue;
      const int64_t consume = countAt(phase.consume, i);
      int64_t needed = c.popped.total + phase.need[i];
      if (c.watched) {
        for (int64_t k = 0; k < n; ++k, needed += consume) {
          since.push_back(c.visible.reached(needed));
          times[k] = std::max(times[k], since.back());
        }
        continue;
      }
      Series::Reader tokens(c.pushed);
      for (int64_t k = 0; k < n; ++k, needed += consume)
        times[k] = std::max(times[k], tokens.reached(needed));
      tokens.finish(c.pushed);
    }
    for (size_t o = 0; o < phase.produce.size(); ++o) {
      ChannelState &c = *state.outputs[o];
      const int64_t produce = phase.produce[o];
      if (produce <= 0 || c.capacity >= events::kUnbounded)
        continue;
      int64_t freed = c.pushed.total + produce - c.capacity;
      Series::Reader places(c.popped);
      for (int64_t k = 0; k < n; ++k, freed += produce)
        times[k] = std::max(times[k], places.reached(freed) + 1);
      places.finish(c.popped);
    }
    for (int64_t k = 0; k < n; ++k)
      times[k] = state.last = std::max(times[k], state.last + 1);
    const auto all = llvm::ArrayRef(times, size_t(n));
    const int64_t *visible = since.data();
    for (size_t i = 0; i < phase.need.size(); ++i) {
      ChannelState &c = *state.inputs[i];
      if (phase.need[i] <= 0)
        continue;
      if (c.watched && !c.isEndless)
        for (int64_t time : all)
          c.noteWait(*visible++, time);
      if (c.isEndless)
        for (int64_t time : all)
          c.needed.add(1, time);
    }
    for (size_t i = 0; i < phase.consume.size(); ++i)
      if (phase.consume[i] > 0)
        state.inputs[i]->popAll(phase.consume[i], all);
    for (size_t o = 0; o < phase.produce.size(); ++o)
      if (phase.produce[o] > 0)
        state.outputs[o]->pushAll(phase.produce[o], all);
  }
}

/// Up to `most` equal firings, as many as tokens and places allow; how many.
int64_t Simulation::State::fire(const Phase &phase, ProcessState &state,
                                int64_t most, int64_t earliest) {
  int64_t firings = most;
  for (size_t i = 0; i < phase.need.size() && firings > 0; ++i)
    if (phase.need[i] > 0)
      firings = withTokens(*state.inputs[i], phase.need[i],
                           countAt(phase.consume, i), firings);
  for (size_t k = 0; k < phase.produce.size() && firings > 0; ++k)
    if (phase.produce[k] > 0)
      firings = withPlaces(*state.outputs[k], phase.produce[k], firings);
  if (firings == 0)
    return 0;
  fireAny(phase, state, firings, earliest);
  for (ChannelState *c : state.inputs)
    if (c->popped.total >= c->producerWaits)
      wake(c->producer, c->producerWaits);
  for (ChannelState *c : state.outputs)
    if (c->pushed.total >= c->consumerWaits)
      wake(c->consumer, c->consumerWaits);
  return firings;
}

/// Enters the first firing of a frame in the result.
void Simulation::State::note(int p, int64_t time) {
  const ProcessState &process = processes[p];
  if (network.processes[p].isSource())
    result.firstIn[process.frame] =
        std::min(result.firstIn[process.frame], time);
  result.spans[p].push_back({time, time});
  if (process.sink >= 0) {
    result.firstOut[process.sink].push_back(time);
    result.lastOut[process.sink].push_back(time);
  }
}

/// Enters that the last firing of a phase was the last one.
void Simulation::State::endPhase(int p) {
  const Process &process = network.processes[p];
  ProcessState &s = processes[p];
  s.done = 0;
  if (++s.phase < process.phases.size())
    return;
  s.phase = 0;
  if (++s.period < process.periods)
    return;
  s.period = 0;
  ++s.frame;
  s.first = true;
  result.spans[p].back().second = s.last;
  if (s.sink >= 0)
    result.lastOut[s.sink].back() = s.last;
}

/// Fires a process as often as it can.
void Simulation::State::advance(int p, int frames) {
  const Process &process = network.processes[p];
  ProcessState &s = processes[p];
  if (process.memory >= 0)
    return reads ? ask(p) : void();
  if (s.isSimple)
    return advanceSimple(p, frames);
  while (s.frame < frames) {
    if (s.isAtRound())
      leapRounds(s, process);
    const Phase &phase = process.phases[s.phase];
    bool waits = s.offer < process.offers.size();
    // One by one where the time of each firing counts.
    bool isTaken = s.sink >= 0 && s.frame == 0;
    int64_t most = waits || isTaken || s.first ? 1 : phase.repeat - s.done;
    int64_t offer = waits ? process.offers[s.offer].at(s.offered) : 0;
    int64_t fired = fire(phase, s, most, offer);
    if (fired == 0)
      break; // something else will wake it
    if (waits) {
      isLate |= s.last > offer;
      if (++s.offered == process.offers[s.offer].count) {
        ++s.offer;
        s.offered = 0;
      }
    }
    if (isTaken)
      result.taken[s.sink].push_back(s.last);
    if (s.first)
      note(p, s.last);
    s.first = false;
    s.done += fired;
    if (s.done < phase.repeat) {
      if (!s.inputs.empty())
        s.done += leap(s, phase);
      continue;
    }
    endPhase(p);
  }
}

/// Lets a process ask its memory for the next burst if there is room for all of
/// it; one request at a time waits for its grant.
void Simulation::State::ask(int p) {
  ProcessState &s = processes[p];
  if (s.asked)
    return;
  const Phase &phase = network.processes[p].phases[s.phase];
  ChannelState &to = *s.outputs[0];
  int64_t beats = countAt(phase.produce, 0), isReady = 1;
  for (size_t i = 0; i < phase.need.size() && isReady; ++i)
    if (phase.need[i] > 0)
      isReady = withTokens(*s.inputs[i], phase.need[i],
                           countAt(phase.consume, i), isReady);
  // A group has places since it began.
  const Process &process = network.processes[p];
  const int64_t bursts = s.done + (s.phase == 0 ? 0 : process.phases[0].repeat);
  int64_t places = beats;
  if (process.group > 1)
    places = bursts % process.group
                 ? 0
                 : process.group * countAt(process.phases[0].produce, 0);
  if (!isReady || (places > 0 && !withPlaces(to, places, 1)))
    return;
  int64_t time = s.last + 1, freed = to.pushed.total + places - to.capacity;
  time = std::max(time, to.popped.reached(freed) + 1);
  for (size_t i = 0; i < phase.need.size(); ++i)
    if (phase.need[i] > 0) {
      ChannelState &c = *s.inputs[i];
      time = std::max(time, c.seen(c.popped.total + phase.need[i]));
    }
  for (size_t i = 0; i < phase.consume.size(); ++i)
    if (phase.consume[i] > 0)
      s.inputs[i]->pop(phase.consume[i], time);
  s.last = time;
  s.asked = beats;
  s.presented = time + 1;
  if (s.first)
    note(p, time);
  s.first = false;
  for (ChannelState *c : s.inputs)
    if (c->popped.total >= c->producerWaits)
      wake(c->producer, c->producerWaits);
}

/// Grants the earliest request of all; false if there is none.
bool Simulation::State::grant() {
  MemoryState *best = nullptr;
  int64_t cycle = INT64_MAX;
  for (MemoryState &memory : memories)
    for (int p : memory.readers)
      if (processes[p].asked) {
        int64_t when = std::max(processes[p].presented, memory.granted + 1);
        if (!memory.ends.empty())
          when = std::max(when, memory.ends[memory.oldest] + 1);
        if (when < cycle)
          best = &memory, cycle = when;
      }
  if (!best)
    return false;
  size_t count = best->readers.size(), reader = best->first;
  auto waits = [&](size_t r) {
    const ProcessState &s = processes[best->readers[r]];
    return s.asked && s.presented <= cycle;
  };
  if (best->left > 0 && waits(best->last))
    reader = best->last;
  else
    best->left = 0;
  while (!waits(reader))
    reader = (reader + 1) % count;
  serve(*best, reader, cycle);
  known = cycle;
  return true;
}

/// Hands a reader the burst that it asked for, granted in that cycle.
void Simulation::State::serve(MemoryState &memory, size_t reader,
                              int64_t cycle) {
  int p = memory.readers[reader];
  ProcessState &s = processes[p];
  bool begins = s.phase == 0 && s.done == 0;
  // An arbiter takes a cycle.
  memory.server.begin(cycle + (memory.readers.size() > 1),
                      memory.isFresh || reader != memory.last || begins);
  memory.isFresh = false;
  memory.left =
      memory.left > 0 ? memory.left - 1 : network.processes[p].turn - 1;
  memory.granted = cycle;
  memory.last = reader;
  memory.first = (reader + 1) % memory.readers.size();
  ChannelState &to = *s.outputs[0];
  int64_t end = cycle;
  for (int64_t i = 0; i < s.asked; ++i) {
    to.push(1, end = std::max(memory.server.next(), memory.free));
    memory.free = end + 1;
  }
  if (!memory.ends.empty()) {
    memory.ends[memory.oldest] = end;
    memory.oldest = (memory.oldest + 1) % memory.ends.size();
  }
  s.asked = 0;
  s.last = cycle - 1;
  if (++s.done == network.processes[p].phases[s.phase].repeat)
    endPhase(p);
  enqueue(p);
  if (to.pushed.total >= to.consumerWaits)
    wake(to.consumer, to.consumerWaits);
}

/// Have so many frames come out?
bool Simulation::State::isDone(int frames) const {
  return llvm::all_of(processes, [&](const ProcessState &s) {
    return s.sink < 0 || s.frame >= frames;
  });
}

void Simulation::State::enqueueAll() {
  for (size_t p = 0; p < processes.size(); ++p)
    if (!processes[p].isMerged())
      enqueue(int(p));
}

/// Advances the processes in the queue, and those that they wake.
void Simulation::State::drain(int frames) {
  while (!work.empty()) {
    int p = work.back();
    work.pop_back();
    processes[p].queued = false;
    advance(p, frames);
  }
}

/// Are all places that were freed before this frame free before the last push
/// of their channel in it?
bool Simulation::State::isFreeBefore(const Ending &now) const {
  return llvm::all_of(channels, [&](const ChannelState &c) {
    bool reachesBack = c.watched || (c.isNarrow() && c.capacity > c.perFrame);
    return c.producer < 0 || c.consumer < 0 || !reachesBack ||
           ending.lasts[c.consumer] + c.returns <= now.lasts[c.producer];
  });
}

/// Will all frames after this one be like it, so many cycles after each other,
/// since it has ended like the one before?
/// A firing waits for firings of the same frame; for the process's own last one
/// of the frame before; and for a place. Each of these comes later by as much,
/// if the place was freed within the frame before. Of those freed earlier none
/// is waited for if all of them are free before that frame's last push; this
/// frame must not have waited for one either.
bool Simulation::State::isLike(const Ending &now, int64_t by) {
  const bool wasFree = isFree;
  isFree = ending.lasts.empty() ? completed == 1 : isFreeBefore(now);
  if (ending.lasts.empty() || !wasFree || !isFree || !now.isShifted(ending, by))
    return false;
  for (ChannelState &c : channels) {
    if (c.producer < 0 || c.consumer < 0)
      continue;
    if (c.perFrame == 0)
      return false;
    // Its occupancy depends on all pops.
    if (c.watched &&
        (c.most > c.perFrame || !c.pops.isShifted(c.popsBefore, by)))
      return false;
  }
  return true;
}

/// Compares the frame that was completed with the one before.
void Simulation::State::endFrame() {
  Ending now;
  for (size_t p = 0; p < processes.size(); ++p) {
    // Where nobody needs to read, the taker stands for the reader.
    size_t of = isIdle(p) ? size_t(processes[p].outputs[0]->consumer) : p;
    while (processes[of].mergedWith >= 0)
      of = size_t(processes[of].mergedWith);
    if (processes[of].frame < completed ||
        processes[of].offer < network.processes[of].offers.size()) {
      ending = {};
      return;
    }
    now.lasts.push_back(processes[of].last);
  }
  for (ChannelState &c : channels) {
    if (c.isNarrow())
      c.popped.addLast(std::min(c.capacity, c.perFrame), now.pops);
    if (c.watched)
      c.count(/*known=*/INT64_MAX);
  }
  int64_t by = ending.lasts.empty() ? 0 : now.lasts[0] - ending.lasts[0];
  if (isLike(now, by))
    repeats = by;
  ending = std::move(now);
  for (ChannelState &c : channels)
    if (c.watched)
      c.popsBefore = std::exchange(c.pops, {});
}

/// Enters frames that are like the last one.
void Simulation::State::repeat(int frames) {
  auto extend = [&](std::vector<int64_t> &times) {
    while (int(times.size()) < frames)
      times.push_back(times.back() + repeats);
  };
  for (auto *perSink : {&result.firstOut, &result.lastOut})
    for (std::vector<int64_t> &times : *perSink)
      extend(times);
  if (result.firstIn.back() != INT64_MAX)
    extend(result.firstIn);
  result.firstIn.resize(frames, INT64_MAX);
  for (auto &spans : result.spans)
    while (!spans.empty() && int(spans.size()) < frames)
      spans.push_back(
          {spans.back().first + repeats, spans.back().second + repeats});
}

/// Whether the run ends here, before its frames are complete.
bool Simulation::State::mayStop() {
  isStopped |= stopsLate && isLate;
  if (!stops || isStopped || ++grants < nextStop)
    return isStopped;
  nextStop += nextStop / 4;
  return isStopped = stops();
}

const SimResult &Simulation::State::upTo(int frames, int ahead) {
  result.frames = frames;
  result.deadlock = false;
  result.blocked.clear();
  // What is read ahead for later frames contends with what is read for these.
  if (reads || recurs) {
    int most = frames + (reads ? ahead : 0);
    result.firstIn.resize(most, INT64_MAX);
    enqueueAll();
    known = 0;
    do
      drain(most);
    while (reads && !mayStop() && !isDone(frames) && grant());
    if (!isStopped)
      known = INT64_MAX;
    if (reads && (isStopped || isDone(frames)))
      return result;
  }
  while (!reads && !recurs && !repeats && completed < frames) {
    result.firstIn.resize(++completed, INT64_MAX);
    enqueueAll();
    drain(completed);
    endFrame();
  }
  if (repeats) {
    repeat(frames);
    return result;
  }
  for (size_t p = 0; p < processes.size(); ++p)
    if (!isIdle(p) && !processes[p].isMerged() && processes[p].frame < frames) {
      result.deadlock = true;
      result.blocked +=
          (result.blocked.empty() ? "" : ", ") + network.processes[p].name;
    }
  return result;
}

/// A process that needs and takes the tokens of a channel, which are always
/// there, when these are needed in the first frames of this run.
Process Simulation::State::takerOf(int c, int frames) const {
  const int p = channels[c].consumer;
  const Process &whole = network.processes[p];
  const size_t input =
      size_t(llvm::find(whole.inputs, c) - whole.inputs.begin());
  Process taker{whole.name, {}, whole.periods, {c}, {}};
  int64_t perFrame = 0; // firings
  for (const Phase &phase : whole.phases)
    if (int64_t need = countAt(phase.need, input)) {
      taker.phases.push_back(
          {phase.repeat, {need}, {countAt(phase.consume, input)}, {}});
      perFrame += phase.repeat * whole.periods;
    }
  taker.offers = channels[c].needed.times();
  // Later frames are like the last one that was simulated.
  std::vector<Times> last;
  int64_t before = perFrame * (completed - 1);
  for (const Times &t : taker.offers) {
    int64_t skipped = std::min(before, t.count);
    before -= skipped;
    if (skipped < t.count)
      last.push_back({t.at(skipped), t.count - skipped, t.step});
  }
  for (int frame = completed; frame < frames; ++frame)
    for (Times &t : last) {
      t.first += repeats;
      taker.offers.push_back(t);
    }
  return taker;
}
} // namespace rhizome::gen
