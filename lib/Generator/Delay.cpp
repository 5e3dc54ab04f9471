// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Generator/Delay.h"
#include "rhizome/Timing/EventSim.h"
#include "llvm/ADT/STLExtras.h"

namespace rhizome::gen {
/// In a frame's last period: the number of the first firing that needs the
/// frame's last token of an input; none if no firing there does.
static std::optional<int64_t> lastNeed(const Process &process, size_t input) {
  int64_t total = 0;
  for (const Phase &phase : process.phases)
    total += phase.repeat * countAt(phase.consume, input);
  int64_t left = total, firing = 0;
  for (const Phase &phase : process.phases) {
    const int64_t each = countAt(phase.consume, input),
                  need = countAt(phase.need, input);
    // The firing before which no more than `need` are left.
    int64_t before = need <= 0      ? phase.repeat
                     : need >= left ? 0
                     : each > 0     ? (left - need + each - 1) / each
                                    : phase.repeat;
    if (before < phase.repeat)
      return firing + before;
    left -= phase.repeat * each;
    firing += phase.repeat;
  }
  return std::nullopt;
}

/// The number of the last firing of a period that makes a token of an output.
static std::optional<int64_t> lastMade(const Process &process, size_t output) {
  std::optional<int64_t> last;
  int64_t firing = 0;
  for (const Phase &phase : process.phases) {
    firing += phase.repeat;
    if (phase.repeat > 0 && countAt(phase.produce, output) > 0)
      last = firing - 1;
  }
  return last;
}

int64_t leastDelay(const Body &body, size_t inputs, size_t input) {
  ProcessNetwork network;
  std::vector<int> given;
  for (size_t i = 0; i < inputs; ++i)
    given.push_back(network.addChannel("", 0, 0));
  std::vector<std::vector<int>> made;
  auto channelOf = [&](const Body::Source &source) {
    return source.unit < 0 ? given[size_t(source.port)]
                           : made[size_t(source.unit)][size_t(source.port)];
  };
  for (const Body::Unit &unit : body.units) {
    std::vector<int> in, out;
    for (const Body::Source &source : unit.inputs)
      in.push_back(channelOf(source));
    for (size_t k = 0; k < unit.outputs.size(); ++k)
      out.push_back(network.addChannel("", 0, latencyOf(unit.actor)));
    addProcesses(unit.actor, network, in, out);
    made.push_back(out);
  }
  // When the last token of each channel is visible; −1 if it does not wait for
  // the input's.
  std::vector<int64_t> times(network.channels.size(), -1);
  times[size_t(given[input])] = 0;
  bool grows = true;
  for (size_t round = 0; grows; ++round) {
    if (round > network.processes.size())
      return 0; // tokens go around inside
    grows = false;
    for (const Process &process : network.processes)
      for (auto [i, from] : llvm::enumerate(process.inputs)) {
        auto need = lastNeed(process, i);
        if (times[size_t(from)] < 0 || !need)
          continue;
        for (auto [k, to] : llvm::enumerate(process.outputs)) {
          auto last = lastMade(process, k);
          if (!last || *last < *need)
            continue;
          int64_t time = times[size_t(from)] + *last - *need +
                         network.channels[size_t(to)].latency;
          if (time > times[size_t(to)]) {
            times[size_t(to)] = time;
            grows = true;
          }
        }
      }
  }
  return std::max<int64_t>(0, times[size_t(channelOf(body.outputs[0]))]);
}
} // namespace rhizome::gen
