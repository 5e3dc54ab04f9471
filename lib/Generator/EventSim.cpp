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
/// Channels that hold this much never wait for their reader.
constexpr int64_t kUnbounded = INT64_MAX / 8;

/// A growing count of tokens with the time at which each batch took place, and
/// its one reader, which asks for ascending counts. What it has passed is
/// forgotten.
class Series {
public:
  int64_t total = 0;

  void add(int64_t tokens, int64_t time) {
    total += tokens;
    if (end - begin > mask)
      grow();
    ring[end++ & mask] = {total, time};
  }

  /// True if the count has reached n; raises `time` to when it did.
  bool reached(int64_t n, int64_t &time) {
    if (total < n)
      return false;
    while (ring[begin & mask].count < n)
      ++begin;
    time = std::max(time, ring[begin & mask].time);
    return true;
  }

private:
  struct Event {
    int64_t count, time;
  };
  size_t begin = 0, end = 0, mask = 15; ///< a power of two, less one
  std::unique_ptr<Event[]> ring = std::make_unique<Event[]>(mask + 1);

  void grow() {
    size_t wider = 2 * mask + 1;
    auto larger = std::make_unique<Event[]>(wider + 1);
    for (size_t i = begin; i != end; ++i)
      larger[i & wider] = ring[i & mask];
    ring = std::move(larger);
    mask = wider;
  }
};

struct ChannelState {
  int64_t capacity = 0, latency = 1;
  Series pushed, popped; ///< visible times; pop times
  int consumer = -1, producer = -1;
  /// Of a watched channel: firing times of the producer, pop times.
  bool watched = false;
  std::vector<std::pair<int64_t, int64_t>> reserved, freed;

  void push(int64_t tokens, int64_t time) {
    pushed.add(tokens, time + latency);
    if (watched)
      reserved.push_back({pushed.total, time});
  }
  void pop(int64_t tokens, int64_t time) {
    if (capacity < kUnbounded)
      popped.add(tokens, time);
    else
      popped.total += tokens;
    if (watched)
      freed.push_back({popped.total, time});
  }
  /// A place is taken from the producer's firing to the consumer's.
  int64_t occupancy() const {
    size_t j = 0;
    int64_t gone = 0, most = 0;
    for (auto [count, time] : reserved) {
      while (j < freed.size() && freed[j].second < time)
        gone = freed[j++].first;
      most = std::max(most, count - gone);
    }
    return most;
  }
};

struct ProcessState {
  size_t phase = 0;
  int64_t done = 0;   ///< firings of the current phase
  int64_t period = 0; ///< rounds of the current frame
  int64_t frame = 0;  ///< frames completed
  int64_t last = -1;  ///< time of the last firing
  size_t offer = 0;   ///< the next of the process's
  bool first = true;  ///< the next firing is the first of a frame
  bool queued = false;
  int sink = -1; ///< its number among the sinks
  std::vector<ChannelState *> inputs, outputs;
};
} // namespace

struct Simulation::State {
  const Network &network;
  std::vector<ChannelState> channels;
  std::vector<ProcessState> processes;
  std::deque<int> work;
  SimResult result;

  explicit State(const Network &network) : network(network) {}
  void enqueue(int p) {
    if (p >= 0 && !processes[p].queued) {
      processes[p].queued = true;
      work.push_back(p);
    }
  }
  int64_t fire(const Phase &phase, ProcessState &state, int64_t most,
               int64_t earliest);
  void note(int p, int64_t time);
  bool advance(int p, int frames);
};

Simulation::Simulation(const Network &network, llvm::ArrayRef<int> watched)
    : state(std::make_unique<State>(network)) {
  state->channels.resize(network.channels.size());
  for (size_t c = 0; c < network.channels.size(); ++c) {
    state->channels[c].capacity = network.channels[c].capacity;
    state->channels[c].latency = network.channels[c].latency;
  }
  for (int c : watched)
    state->channels[c].watched = true;
  state->processes.resize(network.processes.size());
  int sinks = 0;
  for (size_t p = 0; p < network.processes.size(); ++p) {
    ProcessState &process = state->processes[p];
    for (int c : network.processes[p].inputs) {
      state->channels[c].consumer = int(p);
      process.inputs.push_back(&state->channels[c]);
    }
    for (int c : network.processes[p].outputs) {
      state->channels[c].producer = int(p);
      process.outputs.push_back(&state->channels[c]);
    }
    if (process.outputs.empty())
      process.sink = sinks++;
  }
  state->result.firstOut.resize(sinks);
  state->result.lastOut.resize(sinks);
  state->result.taken.resize(sinks);
  state->result.spans.resize(network.processes.size());
}

Simulation::~Simulation() = default;

/// Up to `most` equal firings, as many as tokens and places allow; how many.
int64_t Simulation::State::fire(const Phase &phase, ProcessState &state,
                                int64_t most, int64_t earliest) {
  struct Input {
    ChannelState *channel;
    int64_t need, consume;
  };
  Input inputs[2];
  size_t count = 0;
  for (size_t i = 0; i < state.inputs.size(); ++i)
    if (phase.need[i] > 0 || phase.consume[i] > 0)
      inputs[count++] = {state.inputs[i], phase.need[i], phase.consume[i]};
  ChannelState *const *outputs = state.outputs.data();
  size_t readers = phase.produce > 0 ? state.outputs.size() : 0;
  int64_t produce = phase.produce, last = state.last, fired = 0;
  for (; fired < most; ++fired) {
    int64_t time = std::max(last + 1, earliest);
    bool ready = true;
    for (size_t i = 0; ready && i < count; ++i)
      if (inputs[i].need > 0) {
        ChannelState &c = *inputs[i].channel;
        ready = c.pushed.reached(c.popped.total + inputs[i].need, time);
      }
    for (size_t i = 0; ready && i < readers; ++i) {
      ChannelState &c = *outputs[i];
      int64_t freed = c.pushed.total + produce - c.capacity;
      int64_t popTime = -1;
      ready = freed <= 0 || c.popped.reached(freed, popTime);
      time = std::max(time, popTime + 1);
    }
    if (!ready)
      break;
    last = time;
    for (size_t i = 0; i < count; ++i)
      if (inputs[i].consume > 0)
        inputs[i].channel->pop(inputs[i].consume, time);
    for (size_t i = 0; i < readers; ++i)
      outputs[i]->push(produce, time);
  }
  state.last = last;
  return fired;
}

/// Enters the first firing of a frame in the result.
void Simulation::State::note(int p, int64_t time) {
  const ProcessState &process = processes[p];
  if (process.inputs.empty())
    result.firstIn[process.frame] =
        std::min(result.firstIn[process.frame], time);
  result.spans[p].push_back({time, time});
  if (process.sink >= 0) {
    result.firstOut[process.sink].push_back(time);
    result.lastOut[process.sink].push_back(time);
  }
}

/// Fires a process as often as it can; false if it can't.
bool Simulation::State::advance(int p, int frames) {
  const Process &process = network.processes[p];
  ProcessState &s = processes[p];
  bool progress = false;
  while (s.frame < frames) {
    const Phase &phase = process.phases[s.phase];
    bool waits = s.offer < process.offers.size();
    // One by one where the time of each firing counts.
    bool isTaken = s.sink >= 0 && s.frame == 0;
    int64_t most = waits || isTaken || s.first ? 1 : phase.repeat - s.done;
    int64_t fired = fire(phase, s, most, waits ? process.offers[s.offer] : 0);
    if (fired == 0)
      break;
    s.offer += waits;
    progress = true;
    if (isTaken)
      result.taken[s.sink].push_back(s.last);
    if (s.first)
      note(p, s.last);
    s.first = false;
    s.done += fired;
    if (fired < most)
      break;
    if (s.done < phase.repeat)
      continue;
    s.done = 0;
    if (++s.phase < process.phases.size())
      continue;
    s.phase = 0;
    if (++s.period < process.periods)
      continue;
    s.period = 0;
    ++s.frame;
    s.first = true;
    result.spans[p].back().second = s.last;
    if (s.sink >= 0)
      result.lastOut[s.sink].back() = s.last;
  }
  return progress;
}

const SimResult &Simulation::upTo(int frames) {
  State &s = *state;
  s.result.firstIn.resize(frames, INT64_MAX);
  for (size_t p = 0; p < s.processes.size(); ++p)
    s.enqueue(int(p));
  while (!s.work.empty()) {
    int p = s.work.front();
    s.work.pop_front();
    s.processes[p].queued = false;
    if (!s.advance(p, frames))
      continue;
    for (ChannelState *c : s.processes[p].inputs)
      s.enqueue(c->producer);
    for (ChannelState *c : s.processes[p].outputs)
      s.enqueue(c->consumer);
  }
  s.result.deadlock = false;
  s.result.blocked.clear();
  for (size_t p = 0; p < s.processes.size(); ++p)
    if (s.processes[p].frame < frames) {
      s.result.deadlock = true;
      s.result.blocked +=
          (s.result.blocked.empty() ? "" : ", ") + s.network.processes[p].name;
    }
  return s.result;
}

int64_t Simulation::occupancy(int channel) const {
  return state->channels[channel].occupancy();
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
