// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The least state in which a join has the first token of one of its inputs: a
// process has fired as often as a reader needs, and as often as it must since
// its inputs hold no more. What has come to the join's other inputs by then,
// these must hold.
#include "rhizome/Timing/LeastDepths.h"
#include <algorithm>
#include <deque>

namespace rhizome::gen {
namespace {
/// The firings and tokens of a round of a process.
struct Round {
  int64_t firings = 0;
  Counts consumed, produced;
};

class Least {
public:
  Least(const ProcessNetwork &network, llvm::ArrayRef<int> channels);
  /// Tokens that have come to every channel when this one has its first.
  std::vector<int64_t> whenFirst(int channel);
  int readerOf(int channel) const { return readers[size_t(channel)]; }

private:
  const ProcessNetwork &network;
  std::vector<int> writers, readers; ///< of each channel, -1 if none
  std::vector<bool> isOpen;          ///< channels without bounds
  std::vector<Round> rounds;
  std::vector<int64_t> fired;
  std::deque<int> open; ///< processes whose neighbours may have to fire

  int64_t countIn(size_t p, int64_t firings, Counts Phase::*what,
                  size_t i) const;
  int64_t firingsFor(size_t p, int64_t tokens, Counts Phase::*what,
                     size_t i) const;
  int64_t neededBy(size_t p, size_t i) const;
  void fire(int p, int64_t firings);
  void demand(int channel, int64_t tokens);
  void follow(size_t p);
};
} // namespace

static size_t placeOf(const std::vector<int> &channels, int channel) {
  return size_t(llvm::find(channels, channel) - channels.begin());
}

Least::Least(const ProcessNetwork &network, llvm::ArrayRef<int> channels)
    : network(network), writers(network.channels.size(), -1),
      readers(network.channels.size(), -1),
      isOpen(network.channels.size(), false) {
  for (int channel : channels)
    isOpen[size_t(channel)] = true;
  for (auto [p, process] : llvm::enumerate(network.processes)) {
    for (int channel : process.inputs)
      readers[size_t(channel)] = int(p);
    for (int channel : process.outputs)
      writers[size_t(channel)] = int(p);
    Round &round = rounds.emplace_back();
    round.consumed.resize(process.inputs.size());
    round.produced.resize(process.outputs.size());
    for (const Phase &phase : process.phases) {
      round.firings += phase.repeat;
      for (size_t i = 0; i < process.inputs.size(); ++i)
        round.consumed[i] += phase.repeat * countAt(phase.consume, i);
      for (size_t k = 0; k < process.outputs.size(); ++k)
        round.produced[k] += phase.repeat * countAt(phase.produce, k);
    }
  }
}

/// What so many firings consume of an input, or produce on an output.
int64_t Least::countIn(size_t p, int64_t firings, Counts Phase::*what,
                       size_t i) const {
  const Round &round = rounds[p];
  if (round.firings == 0)
    return 0;
  const Counts &all = what == &Phase::produce ? round.produced : round.consumed;
  int64_t sum = firings / round.firings * all[i],
          left = firings % round.firings;
  for (const Phase &phase : network.processes[p].phases) {
    const int64_t some = std::min(left, phase.repeat);
    sum += some * countAt(phase.*what, i);
    left -= some;
  }
  return sum;
}

/// The firings that consume or produce at least so many tokens.
int64_t Least::firingsFor(size_t p, int64_t tokens, Counts Phase::*what,
                          size_t i) const {
  const Round &round = rounds[p];
  const Counts &all = what == &Phase::produce ? round.produced : round.consumed;
  if (tokens <= 0 || all[i] == 0)
    return 0;
  int64_t left = tokens - (tokens - 1) / all[i] * all[i],
          firings = (tokens - 1) / all[i] * round.firings;
  for (const Phase &phase : network.processes[p].phases) {
    const int64_t each = countAt(phase.*what, i);
    if (each > 0 && left <= each * phase.repeat)
      return firings + (left + each - 1) / each;
    left -= each * phase.repeat;
    firings += phase.repeat;
  }
  return firings;
}

/// Tokens that must have come to an input for the firings so far.
int64_t Least::neededBy(size_t p, size_t i) const {
  const Round &round = rounds[p];
  if (fired[p] == 0)
    return 0;
  // Within the round of the last firing; those before it need no more than
  // its own firings do, or than the round before.
  int64_t most = 0;
  const int64_t last = (fired[p] - 1) / round.firings;
  for (int64_t at = std::max<int64_t>(0, last - 1); at <= last; ++at) {
    int64_t before = at * round.consumed[i],
            left = fired[p] - at * round.firings;
    for (const Phase &phase : network.processes[p].phases) {
      const int64_t some = std::min(left, phase.repeat);
      if (some <= 0)
        break;
      const int64_t each = countAt(phase.consume, i);
      most =
          std::max(most, before + (some - 1) * each + countAt(phase.need, i));
      before += some * each;
      left -= some;
    }
  }
  return most;
}

void Least::fire(int p, int64_t firings) {
  if (p < 0 || fired[size_t(p)] >= firings)
    return;
  fired[size_t(p)] = firings;
  if (!llvm::is_contained(open, p))
    open.push_back(p);
}

/// So many tokens must have come to a channel.
void Least::demand(int channel, int64_t tokens) {
  const int writer = writers[size_t(channel)];
  if (writer < 0)
    return;
  const Process &process = network.processes[size_t(writer)];
  fire(writer, firingsFor(size_t(writer),
                          tokens - network.channels[size_t(channel)].initial,
                          &Phase::produce, placeOf(process.outputs, channel)));
}

/// What a process's firings ask of its neighbours.
void Least::follow(size_t p) {
  const Process &process = network.processes[p];
  for (auto [i, channel] : llvm::enumerate(process.inputs))
    demand(channel, neededBy(p, i));
  for (auto [k, channel] : llvm::enumerate(process.outputs)) {
    const int reader = readers[size_t(channel)];
    const TokenQueue &queue = network.channels[size_t(channel)];
    if (reader < 0 || isOpen[size_t(channel)])
      continue;
    const int64_t beyond = queue.initial +
                           countIn(p, fired[p], &Phase::produce, k) -
                           queue.capacity;
    fire(reader, firingsFor(size_t(reader), beyond, &Phase::consume,
                            placeOf(network.processes[size_t(reader)].inputs,
                                    channel)));
  }
}

std::vector<int64_t> Least::whenFirst(int channel) {
  fired.assign(network.processes.size(), 0);
  open.clear();
  demand(channel, 1);
  while (!open.empty()) {
    const int p = open.front();
    open.pop_front();
    follow(size_t(p));
  }
  std::vector<int64_t> come(network.channels.size());
  for (size_t c = 0; c < come.size(); ++c) {
    come[c] = network.channels[c].initial;
    if (const int writer = writers[c]; writer >= 0)
      come[c] +=
          countIn(size_t(writer), fired[size_t(writer)], &Phase::produce,
                  placeOf(network.processes[size_t(writer)].outputs, int(c)));
  }
  return come;
}

std::vector<int64_t> leastDepths(const ProcessNetwork &network,
                                 llvm::ArrayRef<int> channels) {
  Least least(network, channels);
  std::vector<int64_t> depths(channels.size(), 0);
  for (int first : channels) {
    const std::vector<int64_t> come = least.whenFirst(first);
    for (auto [other, depth] : llvm::zip(channels, depths))
      if (other != first && least.readerOf(other) == least.readerOf(first))
        depth = std::max(depth, come[size_t(other)]);
  }
  return depths;
}
} // namespace rhizome::gen
