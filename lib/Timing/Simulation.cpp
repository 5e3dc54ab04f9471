// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run of a network, and what it tells. Where memories are read, a run comes
// first in which all that is read is always there. If it takes nothing before
// the memories would have brought it, they change nothing, and it is the run;
// its frames soon repeat. Otherwise the network runs with its memories.
#include "EventState.h"
#include "llvm/ADT/STLExtras.h"

namespace rhizome::gen {
using events::ChannelState;

/// The readers of a network by themselves, with what a run takes.
struct Simulation::Supply {
  const ProcessNetwork &network;
  std::vector<int> watched, readers;
  const bool merges;

  Supply(const ProcessNetwork &network, llvm::ArrayRef<int> watched,
         bool merges)
      : network(network), watched(watched), merges(merges) {
    for (size_t p = 0; p < network.processes.size(); ++p)
      if (network.processes[p].memory >= 0)
        readers.push_back(int(p));
  }
  bool isIndependent() const;
  bool keepsUp(const State &run, int frames, int ahead, int64_t later,
               SimResult &told) const;
};

/// Are there readers, does nothing but places hold them up, and is all that
/// they read needed when it is taken?
bool Simulation::Supply::isIndependent() const {
  if (readers.empty() ||
      llvm::any_of(network.channels,
                   [](const TokenQueue &c) { return c.initial > 0; }))
    return false;
  auto isTaken = [&](int channel) {
    for (const Process &to : network.processes)
      for (auto [i, c] : llvm::enumerate(to.inputs))
        if (c == channel)
          return llvm::all_of(to.phases, [i = i](const Phase &phase) {
            return countAt(phase.consume, i) <= countAt(phase.need, i);
          });
    return false;
  };
  return llvm::all_of(readers, [&](int p) {
    const Process &reader = network.processes[p];
    return reader.inputs.empty() && isTaken(reader.outputs[0]);
  });
}

/// Do the readers bring everything before it is taken, if it is taken so many
/// cycles later? Then `told` says when they read: every other process is one.
bool Simulation::Supply::keepsUp(const State &run, int frames, int ahead,
                                 int64_t later, SimResult &told) const {
  ProcessNetwork alone;
  alone.memories = network.memories;
  alone.channels = network.channels;
  for (int p : readers) {
    alone.processes.push_back(network.processes[p]);
    Process taker =
        run.takerOf(network.processes[p].outputs[0], frames + ahead);
    for (Times &times : taker.offers)
      times.first += later;
    alone.processes.push_back(std::move(taker));
  }
  State readings(alone, {}, told, /*supplies=*/false, /*merges=*/false);
  readings.stopsLate = true;
  // Late beats usually show in the first frames.
  for (int until : {1, frames})
    if (readings.upTo(until, frames + ahead - until).deadlock ||
        readings.isLate)
      return false;
  return true;
}

Simulation::Simulation(const ProcessNetwork &network,
                       llvm::ArrayRef<int> watched, Memories memories,
                       Spans spans)
    : supply(std::make_unique<Supply>(
          network, watched, !watched.empty() || spans == Spans::Omitted)) {
  const bool merges = supply->merges;
  if (memories == Memories::Always || !supply->isIndependent())
    supply.reset();
  state = std::make_unique<State>(network, watched, result,
                                  /*supplies=*/supply != nullptr, merges);
}

Simulation::~Simulation() = default;

const SimResult &Simulation::upTo(int frames, int ahead) {
  if (supply) {
    SimResult told;
    // Late beats usually show in the first frames.
    state->upTo(1, 0);
    bool isLate = !result.deadlock && !supply->keepsUp(*state, 1, /*ahead=*/0,
                                                       /*later=*/0, told);
    if (!isLate)
      state->upTo(frames + ahead, 0);
    if (!isLate && !result.deadlock &&
        supply->keepsUp(*state, frames, ahead, /*later=*/0, told)) {
      for (auto [i, p] : llvm::enumerate(supply->readers))
        result.spans[p] = std::move(told.spans[2 * i]);
      return state->upTo(frames, 0);
    }
    // From the start, with the memories.
    std::unique_ptr<Supply> tried = std::move(supply);
    state = std::make_unique<State>(tried->network, tried->watched, result,
                                    /*supplies=*/false, tried->merges);
  }
  state->stops = stops;
  return state->upTo(frames, ahead);
}

bool Simulation::isStopped() const { return state->isStopped; }

int64_t Simulation::slack(int channel) const {
  return state->channels[channel].waited;
}

bool Simulation::keepsUpLater(int64_t by) const {
  SimResult told;
  return supply && supply->keepsUp(*state, 1, /*ahead=*/0, by, told);
}

int Simulation::simulated() const { return state->completed; }

bool Simulation::knows(int frames) const {
  return knowsAll() || frames <= state->completed;
}

bool Simulation::knowsAll() const { return state->repeats > 0; }

int64_t Simulation::occupancy(int channel) {
  ChannelState &c = state->channels[channel];
  c.count(state->known);
  return c.most;
}

double SimResult::interval(int warmUp) const {
  double worst = 0;
  for (const auto &first : firstOut) {
    int last = std::min(frames, int(first.size())) - 1;
    if (last <= warmUp)
      continue;
    worst =
        std::max(worst, double(first[last] - first[warmUp]) / (last - warmUp));
  }
  return worst;
}

bool SimResult::isSteady(int warmUp) const {
  for (const auto &first : firstOut) {
    size_t all = std::min(size_t(frames), first.size());
    for (size_t i = size_t(warmUp) + 2; i < all; ++i)
      if (first[i] - first[i - 1] != first[i - 1] - first[i - 2])
        return false;
  }
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
