// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processes that only pass tokens on, one by one, such as FIFOs, elementwise
// units and crossings between dies: with the channels before and after them
// they behave as one channel, which the event simulator takes in their place.
#include "EventState.h"
#include "llvm/ADT/STLExtras.h"

namespace rhizome::gen {
using events::ChannelState;
using events::ProcessState;

/// Does each firing take one token and make one?
static bool passesOn(const Process &process) {
  return process.memory < 0 && process.offers.empty() &&
         process.inputs.size() == 1 && process.outputs.size() == 1 &&
         llvm::all_of(
             process.phases,
             [](const Phase &phase) {
               return countAt(phase.need, 0) == 1 &&
                      countAt(phase.consume, 0) == 1 &&
                      countAt(phase.produce, 0) == 1;
             });
}

/// The fewest firings from one that `counts` to the next one; 0 if one counts
/// for more than a token.
template <typename Counted>
static int64_t distance(const Process &process, Counted counted) {
  int64_t least = INT64_MAX, since = INT64_MAX / 2;
  // Twice: the first one follows the last.
  for (int round = 0; round < 2; ++round)
    for (const Phase &phase : process.phases) {
      const int64_t tokens = counted(phase);
      if (tokens > 1)
        return 0;
      if (tokens == 0) {
        since += phase.repeat;
        continue;
      }
      least = std::min(least, phase.repeat > 1 ? 1 : since + 1);
      since = 0;
    }
  return least;
}

/// u(n), t(n), v(n): when token n is pushed into the first channel, passed on,
/// and popped from the second one. Of the three things that t(n) waits for,
/// u(n) + latency, v(n − capacity) + 1 + returns and t(n − 1) + 1, the last
/// never counts if u and v ascend. Where both channels have places for full
/// rate, the reader sees token n at u(n) + both latencies: that of its place
/// was free before. In the same way, the writer waits for nothing but the
/// place of v(n − both capacities).
bool Simulation::State::mayMerge(int p) const {
  const Process &process = network.processes[p];
  if (!passesOn(process))
    return false;
  const ChannelState &in = *processes[p].inputs[0],
                     &out = *processes[p].outputs[0];
  if (&in == &out || !in.isNarrow() || !out.isNarrow() || in.producer < 0 ||
      out.consumer < 0 || in.perFrame == 0 || in.perFrame != out.perFrame ||
      in.pushed.total > 0 || out.pushed.total > 0)
    return false;
  const Process &from = network.processes[in.producer],
                &to = network.processes[out.consumer];
  if (from.memory >= 0 || to.memory >= 0)
    return false;
  const ProcessState &writer = processes[in.producer],
                     &reader = processes[out.consumer];
  const auto output = size_t(llvm::find(writer.outputs, &in) -
                             writer.outputs.begin()),
             input = size_t(llvm::find(reader.inputs, &out) -
                            reader.inputs.begin());
  const int64_t pushes = distance(
      from, [&](const Phase &phase) { return countAt(phase.produce, output); });
  int64_t most = 0;
  const int64_t pops = distance(to, [&](const Phase &phase) {
    const int64_t need = countAt(phase.need, input),
                  consume = countAt(phase.consume, input);
    most = std::max(most, need);
    return consume > need ? 2 : consume;
  });
  return pushes > 0 && pops > 0 &&
         in.capacity * pushes > in.latency + in.returns &&
         (out.capacity - most) * pops >= out.latency + out.returns;
}

void Simulation::State::mergeDelays() {
  for (size_t p = 0; p < processes.size(); ++p) {
    if (!mayMerge(int(p)))
      continue;
    ProcessState &process = processes[p];
    ChannelState &in = *process.inputs[0], &out = *process.outputs[0];
    in.capacity += out.capacity;
    in.latency += out.latency;
    in.returns += out.returns + 1;
    in.consumer = out.consumer;
    llvm::replace(processes[in.consumer].inputs, &out, &in);
    process.mergedWith = std::exchange(out.consumer, -1);
    out.producer = -1;
  }
}
} // namespace rhizome::gen
