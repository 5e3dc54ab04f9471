// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A work list of processes, each advanced as far as its channels allow. Firing
// times are exact whatever the order in which processes are visited, since
// the graph is determinate (Kahn): a firing's time depends on the times of
// tokens and credits only.
#include "rhizome/Generator/EventSim.h"
#include <algorithm>
#include <cassert>
#include <deque>

namespace rhizome::gen {
namespace {
/// A growing count of tokens with the time at which each batch took place, and
/// its one reader, which asks for ascending counts. What it has passed is
/// forgotten, unless all is kept for later.
struct Series {
  std::vector<std::pair<int64_t, int64_t>> events; ///< (count after, time)
  int64_t total = 0;
  size_t at = 0;
  bool keep = false;

  void add(int64_t tokens, int64_t time) {
    total += tokens;
    events.push_back({total, time});
  }

  /// True if the count has reached n; raises `time` to when it did.
  bool reached(int64_t n, int64_t &time) {
    if (n <= 0)
      return true;
    if (total < n)
      return false;
    while (events[at].first < n)
      ++at;
    time = std::max(time, events[at].second);
    if (!keep && at > 4096 && at > events.size() / 2) {
      events.erase(events.begin(), events.begin() + int64_t(at));
      at = 0;
    }
    return true;
  }
};

struct ChannelState {
  Series pushed, popped; ///< visible times; pop times
  Series reserved;       ///< firing times of the producer
  int consumer = -1, producer = -1;
};

struct ProcessState {
  size_t phase = 0;
  int64_t done = 0;   ///< firings of the current phase
  int64_t period = 0; ///< rounds of the current frame
  int64_t frame = 0;  ///< frames completed
  int64_t last = -1;  ///< time of the last firing
  bool first = true;  ///< the next firing is the first of a frame
  bool queued = false;
};
} // namespace

SimResult simulate(const Network &network, int frames, bool occupancy) {
  std::vector<ChannelState> channels(network.channels.size());
  for (ChannelState &c : channels)
    c.popped.keep = occupancy;
  std::vector<ProcessState> states(network.processes.size());
  SimResult result;
  std::vector<int> sinkIndex(network.processes.size(), -1);
  int sinks = 0;
  for (size_t p = 0; p < network.processes.size(); ++p) {
    for (int c : network.processes[p].inputs)
      channels[c].consumer = int(p);
    for (int c : network.processes[p].outputs)
      channels[c].producer = int(p);
    if (network.processes[p].outputs.empty())
      sinkIndex[p] = sinks++;
  }
  result.firstOut.resize(sinks);
  result.lastOut.resize(sinks);
  result.firstIn.assign(frames, INT64_MAX);
  result.spans.resize(network.processes.size());

  std::deque<int> work;
  auto enqueue = [&](int p) {
    if (p >= 0 && !states[p].queued) {
      states[p].queued = true;
      work.push_back(p);
    }
  };
  for (size_t p = 0; p < network.processes.size(); ++p)
    enqueue(int(p));

  while (!work.empty()) {
    int p = work.front();
    work.pop_front();
    const Process &process = network.processes[p];
    ProcessState &state = states[p];
    state.queued = false;
    bool progress = false;
    while (state.frame < frames) {
      const Phase &phase = process.phases[state.phase];
      int64_t time = state.last + 1;
      bool ready = true;
      for (size_t i = 0; ready && i < process.inputs.size(); ++i) {
        ChannelState &c = channels[process.inputs[i]];
        if (phase.need[i] > 0)
          ready = c.pushed.reached(c.popped.total + phase.need[i], time);
      }
      if (phase.produce > 0)
        for (size_t o = 0; ready && o < process.outputs.size(); ++o) {
          int index = process.outputs[o];
          ChannelState &c = channels[index];
          int64_t freed =
              c.pushed.total + phase.produce - network.channels[index].capacity;
          int64_t popTime = -1;
          ready = c.popped.reached(freed, popTime);
          time = std::max(time, popTime + 1);
        }
      if (!ready)
        break;
      progress = true;
      state.last = time;
      for (size_t i = 0; i < process.inputs.size(); ++i)
        if (phase.consume[i] > 0)
          channels[process.inputs[i]].popped.add(phase.consume[i], time);
      if (phase.produce > 0)
        for (int index : process.outputs) {
          channels[index].pushed.add(phase.produce,
                                     time + network.channels[index].latency);
          if (occupancy)
            channels[index].reserved.add(phase.produce, time);
        }
      if (process.inputs.empty() && state.first)
        result.firstIn[state.frame] =
            std::min(result.firstIn[state.frame], time);
      if (state.first)
        result.spans[p].push_back({time, time});
      result.spans[p].back().second = time;
      if (sinkIndex[p] >= 0) {
        if (state.first) {
          result.firstOut[sinkIndex[p]].push_back(time);
          result.lastOut[sinkIndex[p]].push_back(time);
        }
        result.lastOut[sinkIndex[p]].back() = time;
      }
      state.first = false;
      if (++state.done == phase.repeat) {
        state.done = 0;
        if (++state.phase == process.phases.size()) {
          state.phase = 0;
          if (++state.period == process.periods) {
            state.period = 0;
            ++state.frame;
            state.first = true;
          }
        }
      }
    }
    if (!progress)
      continue;
    for (int c : process.inputs)
      enqueue(channels[c].producer);
    for (int c : process.outputs)
      enqueue(channels[c].consumer);
  }

  for (size_t p = 0; p < network.processes.size(); ++p)
    if (states[p].frame < frames) {
      result.deadlock = true;
      result.blocked +=
          (result.blocked.empty() ? "" : ", ") + network.processes[p].name;
    }

  // A place is taken from the producer's firing to the consumer's.
  result.occupancy.resize(channels.size());
  for (size_t c = 0; c < channels.size(); ++c) {
    const auto &in = channels[c].reserved.events;
    const auto &out = channels[c].popped.events;
    size_t j = 0;
    int64_t popped = 0, most = 0;
    for (auto [count, time] : in) {
      while (j < out.size() && out[j].second < time)
        popped = out[j++].first;
      most = std::max(most, count - popped);
    }
    result.occupancy[c] = most;
  }
  return result;
}

double SimResult::interval(int warmUp) const {
  double worst = 0;
  for (const auto &first : firstOut) {
    int last = int(first.size()) - 1;
    if (last <= warmUp)
      continue;
    worst =
        std::max(worst, double(first[last] - first[warmUp]) / (last - warmUp));
  }
  return worst;
}

bool SimResult::isSteady(int warmUp) const {
  for (const auto &first : firstOut)
    for (size_t i = size_t(warmUp) + 2; i < first.size(); ++i)
      if (first[i] - first[i - 1] != first[i - 1] - first[i - 2])
        return false;
  return true;
}

int64_t SimResult::latency() const {
  int64_t last = 0;
  for (const auto &out : lastOut)
    if (!out.empty())
      last = std::max(last, out.front());
  return last - (firstIn.empty() ? 0 : firstIn.front());
}
} // namespace rhizome::gen
