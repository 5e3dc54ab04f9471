// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Firings that the event simulator passes over, since their times follow from
// the first of them: of a process that takes a token a cycle from another one,
// within a phase, or round by round.
#include "EventState.h"
#include "llvm/ADT/STLExtras.h"

namespace rhizome::gen {
using events::ChannelState;
using events::Meeting;
using events::ProcessState;
using events::Series;

/// How many firings a round has that takes tokens one by one and makes one in
/// the last of them, otherwise 0.
static int64_t foldsOf(const Process &process) {
  int64_t folds = 0;
  for (auto [i, phase] : llvm::enumerate(process.phases)) {
    const bool isLast = i + 1 == process.phases.size();
    if (countAt(phase.need, 0) != 1 || countAt(phase.consume, 0) != 1 ||
        countAt(phase.produce, 0) != isLast || (isLast && phase.repeat != 1))
      return 0;
    folds += phase.repeat;
  }
  return folds;
}

/// What such a round takes of another input, one by one; nothing if it takes
/// more at once, or takes what it does not need.
static std::optional<Meeting> meetingOf(const Process &process, size_t input) {
  Meeting meeting;
  meeting.input = input;
  int64_t firing = 0, since = 0; // since when the next token is needed
  for (const Phase &phase : process.phases) {
    const int64_t need = countAt(phase.need, input),
                  consume = countAt(phase.consume, input);
    if (need > 1 || consume > need)
      return std::nullopt;
    meeting.isAlwaysNeeded &= need == 1;
    meeting.isNeeded |= need == 1;
    if (need == 1 && since == 0)
      since = firing + 1;
    for (int64_t i = 1; consume == 1 && i <= phase.repeat; ++i) {
      meeting.takes.push_back({since, firing + i});
      since = firing + i + 1;
    }
    firing += phase.repeat;
    if (consume == 1)
      since = 0;
  }
  // What is needed at the end of a round is there at the next one's beginning.
  return since == 0 || meeting.takes.empty() ? std::optional(std::move(meeting))
                                             : std::nullopt;
}

int64_t events::roundOf(const Process &process,
                        std::vector<Meeting> &meetings) {
  constexpr int64_t kMost = 1 << 14; // firings, if there are other inputs
  const int64_t folds = foldsOf(process);
  if (folds > kMost && process.inputs.size() > 1)
    return 0;
  for (size_t i = 1; folds > 0 && i < process.inputs.size(); ++i) {
    std::optional<Meeting> meeting = meetingOf(process, i);
    if (!meeting)
      return 0;
    meetings.push_back(std::move(*meeting));
  }
  return folds;
}

/// The process that brings a channel's tokens to this one, which takes one in
/// every firing, if both are in step: each fires once a cycle as long as it
/// needs nothing else.
/// With places for c tokens push n waits for pop n - c, and pop n for push n.
/// Where both processes wait for nothing else, all that was pushed has been
/// taken, and the last c pops came cycle by cycle, each further push comes one
/// cycle after the one before, and so does each pop.
ProcessState *Simulation::State::stepsWith(const ProcessState &taker,
                                           const ChannelState &c) {
  if (!c.isLine || c.pushed.total != c.popped.total)
    return nullptr;
  ProcessState &giver = processes[c.producer];
  const Phase &give = network.processes[c.producer].phases[giver.phase];
  if (giver.first || giver.inputs.empty() || countAt(give.produce, 0) != 1 ||
      llvm::any_of(give.need, [](int64_t n) { return n != 0; }) ||
      llvm::any_of(give.consume, [](int64_t n) { return n != 0; }) ||
      int64_t(c.popped.size()) != c.capacity + 1 ||
      taker.last + c.returns - c.popped[0].time != c.capacity ||
      giver.last + c.latency > taker.last)
    return nullptr;
  return &giver;
}

/// So many firings of a channel's giver, in step with its taker, without
/// looking at each.
static void step(ChannelState &c, ProcessState &giver, int64_t firings) {
  c.popped.shift(firings);
  c.pushed.total += firings;
  giver.done += firings;
  giver.last += firings;
}

/// The firings left in the phase of a channel's giver.
int64_t Simulation::State::leftOf(const ChannelState &c) const {
  const ProcessState &giver = processes[c.producer];
  return network.processes[c.producer].phases[giver.phase].repeat - giver.done;
}

/// Does a process that is in one of these firings wait for nothing but its
/// first input as long as they go on? Of others it may need what stays: it is
/// there.
static bool staysReady(const ProcessState &state, const Phase &phase) {
  for (size_t i = 1; i < state.inputs.size(); ++i) {
    ChannelState &c = *state.inputs[i];
    if (countAt(phase.consume, i) != 0)
      return false;
    const int64_t need = countAt(phase.need, i);
    if (need == 0 || c.isEndless)
      continue;
    if (c.watched || c.pushed.total - c.popped.total < need ||
        c.pushed.reached(c.popped.total + need) > state.last)
      return false;
  }
  return true;
}

/// Fires both processes of a channel in step until one of them is at the last
/// of its phase; how often.
int64_t Simulation::State::leap(ProcessState &taker, const Phase &take) {
  if (taker.sink >= 0 ||
      llvm::any_of(take.produce, [](int64_t n) { return n != 0; }) ||
      countAt(take.need, 0) != 1 || countAt(take.consume, 0) != 1 ||
      !staysReady(taker, take))
    return 0;
  ChannelState &c = *taker.inputs[0];
  ProcessState *giver = stepsWith(taker, c);
  if (!giver)
    return 0;
  int64_t firings = std::min(take.repeat - taker.done, leftOf(c)) - 1;
  if (firings <= 0)
    return 0;
  for (size_t i = 1; i < taker.inputs.size(); ++i)
    if (countAt(take.need, i) > 0 && taker.inputs[i]->isEndless)
      taker.inputs[i]->needed.addEach(firings, taker.last + 1);
  step(c, *giver, firings);
  taker.last += firings;
  return firings;
}

/// The same for whole rounds of a process at the beginning of one, as long as
/// there are places for what they make in time, and what they take of other
/// inputs is there in time, or comes in step, too.
void Simulation::State::leapRounds(ProcessState &taker,
                                   const Process &process) {
  ChannelState &first = *taker.inputs[0], &out = *taker.outputs[0];
  ProcessState *giver = stepsWith(taker, first);
  if (!giver)
    return;
  const int64_t places = out.popped.total - out.pushed.total + out.capacity;
  int64_t most = std::min({(leftOf(first) - 1) / taker.folds,
                           process.periods - taker.period - 1, places});
  // What comes in step, and what lies in a channel.
  llvm::SmallVector<std::pair<ChannelState *, ProcessState *>, 2> inStep = {
      {&first, giver}};
  struct Stock {
    const Meeting *meeting;
    ChannelState *channel;
    Series::Reader tokens;
    int64_t next; ///< token
  };
  llvm::SmallVector<Stock, 2> stocks;
  for (const Meeting &meeting : taker.meetings) {
    ChannelState &c = *taker.inputs[meeting.input];
    const auto takes = int64_t(meeting.takes.size());
    if (c.watched || &c == &out || (c.isEndless && !meeting.isAlwaysNeeded))
      return;
    if (c.isEndless || !meeting.isNeeded)
      continue;
    const int64_t there = c.pushed.total - c.popped.total;
    if (takes == 0) {
      if (there == 0 || c.pushed.reached(c.popped.total + 1) > taker.last)
        return;
      continue;
    }
    if (takes == taker.folds)
      if (ProcessState *other = stepsWith(taker, c)) {
        inStep.push_back({&c, other});
        most = std::min(most, (leftOf(c) - 1) / taker.folds);
        continue;
      }
    most = std::min(most, there / takes);
    stocks.push_back(
        {&meeting, &c, Series::Reader(c.pushed), c.popped.total + 1});
  }
  if (most <= 0)
    return;
  out.pushed.reserve(most);
  int64_t rounds = 0;
  auto isThere = [&](Stock &stock) {
    const int64_t before = taker.last + rounds * taker.folds;
    return llvm::all_of(stock.meeting->takes, [&](const Meeting::Take &take) {
      return stock.tokens.reached(stock.next++) <= before + take.needed;
    });
  };
  for (; rounds < most; ++rounds) {
    int64_t time = taker.last + (rounds + 1) * taker.folds;
    if (out.popped.reached(out.pushed.total + 1 - out.capacity) >= time ||
        !llvm::all_of(stocks, isThere))
      break;
    out.push(1, time);
  }
  if (rounds == 0)
    return;
  const int64_t firings = rounds * taker.folds;
  for (auto [c, other] : inStep)
    step(*c, *other, firings);
  for (const Stock &stock : stocks) {
    ChannelState &c = *stock.channel;
    for (int64_t r = 0; r < rounds; ++r)
      for (const Meeting::Take &take : stock.meeting->takes)
        c.pop(1, taker.last + r * taker.folds + take.taken);
    c.pushed.reached(c.popped.total); // what was passed is forgotten
    if (c.popped.total >= c.producerWaits)
      wake(c.producer, c.producerWaits);
  }
  for (const Meeting &meeting : taker.meetings)
    if (ChannelState &c = *taker.inputs[meeting.input]; c.isEndless) {
      c.needed.addEach(firings, taker.last + 1);
      c.popped.total += rounds * int64_t(meeting.takes.size());
    }
  taker.last += firings;
  taker.period += rounds;
  if (out.pushed.total >= out.consumerWaits)
    wake(out.consumer, out.consumerWaits);
}
} // namespace rhizome::gen
