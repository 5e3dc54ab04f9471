// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places and the media between them: what they hold and transfer, and which of
// them are equivalent.
#include "Solve.h"
#include "rhizome/Cost/Link.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <cmath>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kKinds = gen::kResources;

double Wire::secondsForFrame(int64_t bits) const {
  return gen::linkBytesPerFrame(*this, bits) * 8 / bitsPerS;
}

double Wire::answerFor(int64_t bits) const {
  return gen::linkAckBytesPerFrame(*this, bits) * 8 / bitsPerS;
}

std::vector<int64_t> Wire::datagramsOf(int64_t bits) const {
  std::vector<int64_t> words;
  for (int64_t left = (bits + 63) / 64; left > 0; left -= slotWords)
    words.push_back(std::min(left, slotWords));
  return words;
}

double Wire::busierSeconds(const std::vector<int64_t> &there,
                           const std::vector<int64_t> &back) const {
  double out = 0, in = 0;
  for (int64_t bits : there) {
    out += secondsForFrame(bits);
    in += answerFor(bits);
  }
  for (int64_t bits : back) {
    in += secondsForFrame(bits);
    out += answerFor(bits);
  }
  return std::max(in, out);
}

double Wire::cyclesFor(int64_t bits, int64_t streamBits) const {
  auto words = double((bits + 63) / 64);
  // A datagram's beats, those of its header and the gap to the next.
  int64_t whole = (slotWords * 8 + headerBytes) * 8;
  double beats = double((whole + streamBits - 1) / streamBits) + 4;
  return words / double(slotWords) * beats;
}

int64_t Solution::nodes() const {
  int64_t n = 0;
  for (const Run &run : runs)
    n += int64_t(run.places.size());
  return n;
}

double hostSeconds(const Problem &problem) {
  if (!problem.hostWire)
    return 0;
  std::vector<int64_t> there, back;
  for (const Tensor &tensor : problem.tensors) {
    if (tensor.producer < 0)
      there.push_back(tensor.bits);
    if (tensor.toHost)
      back.push_back(tensor.bits);
  }
  return problem.hostWire->busierSeconds(there, back);
}

std::pair<size_t, double> scarcest(const Resources &need,
                                   const Resources &budget) {
  std::pair<size_t, double> worst{0, 0};
  for (size_t k = 0; k < kKinds; ++k) {
    double share = need.amount[k] <= 0     ? 0
                   : budget.amount[k] <= 0 ? 1e9
                                           : need.amount[k] / budget.amount[k];
    if (share > worst.second)
      worst = {k, share};
  }
  return worst;
}

std::string nameOf(size_t resource, const Kind &kind) {
  if (resource < gen::memoryKind(0))
    return gen::kResourceNames[resource];
  // Of several kinds of devices, this one may have fewer.
  const size_t memory = resource - gen::memoryKind(0);
  return memory < kind.memories.size() ? kind.memories[memory] : "memory";
}

Limit exceeded(const Resources &need, const Resources &budget,
               const Kind &kind) {
  Limit limit;
  auto [worst, share] = scarcest(need, budget);
  if (share <= 1)
    return limit;
  const bool isMemory = worst >= gen::memoryKind(0);
  limit.kind = isMemory ? Limit::Kind::Bandwidth : Limit::Kind::Resource;
  limit.resource = nameOf(worst, kind);
  limit.needed = need.amount[worst];
  limit.available = budget.amount[worst];
  return limit;
}

bool isLarge(const Problem &problem) { return problem.stages.size() > 40; }

Limits limitsFor(const Problem &problem, Limits limits) {
  if (isLarge(problem)) {
    limits.choices = std::min<size_t>(limits.choices, 6);
    limits.partial = std::min<size_t>(limits.partial, 6);
  }
  return limits;
}

std::vector<int> copiesUpTo(const Problem &problem) {
  static const int kAll[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 32};
  static const int kFew[] = {1, 2, 4, 8, 16, 32};
  std::vector<int> copies;
  for (int r :
       isLarge(problem) ? llvm::ArrayRef<int>(kFew) : llvm::ArrayRef<int>(kAll))
    if (r <= int(problem.places.size()) && (r == 1 || problem.mayReplicate))
      copies.push_back(r);
  return copies;
}

Resources Place::budgetFor(double seconds) const {
  Resources all = budget;
  for (size_t m = 0; m < gen::kMemories; ++m)
    if (bandwidth[m] > 0)
      all.amount[gen::memoryKind(m)] = bandwidth[m] * seconds;
  return all;
}

void Place::unlimit() {
  dies = {};
  budget.amount.fill(INFINITY);
  bandwidth.fill(INFINITY);
}

std::vector<Place> Place::widths() const {
  std::vector<Place> all;
  for (int64_t bits = leastBits > 0 ? leastBits : streamBits; bits < streamBits;
       bits *= 2) {
    all.push_back(*this);
    all.back().streamBits = bits;
  }
  all.push_back(*this);
  return all;
}

bool Place::covers(const Place &other) const {
  if (kind != other.kind || clockHz != other.clockHz ||
      streamBits != other.streamBits || leastBits != other.leastBits ||
      wire.has_value() != other.wire.has_value())
    return false;
  for (size_t k = 0; k < kKinds; ++k)
    if (budget.amount[k] < other.budget.amount[k])
      return false;
  for (size_t m = 0; m < gen::kMemories; ++m)
    if (bandwidth[m] < other.bandwidth[m])
      return false;
  // A design is laid out for its dies.
  if (dies.count() != other.dies.count() || dies.border != other.dies.border ||
      dies.memory != other.dies.memory ||
      dies.registers != other.dies.registers || dies.wires < other.dies.wires)
    return false;
  for (size_t d = 0; d < dies.count(); ++d)
    for (size_t k = 0; k < kKinds; ++k)
      if (dies.budgets[d].amount[k] < other.dies.budgets[d].amount[k])
        return false;
  if (!wire)
    return true;
  Wire as = *other.wire;
  as.bitsPerS = wire->bitsPerS;
  as.latencyNs = wire->latencyNs;
  return as == *wire && wire->bitsPerS >= other.wire->bitsPerS &&
         wire->latencyNs <= other.wire->latencyNs;
}

/// The largest place that both cover, if there is one.
static std::optional<Place> meetOf(const Place &a, const Place &b) {
  Place meet = a;
  for (size_t k = 0; k < kKinds; ++k)
    meet.budget.amount[k] = std::min(a.budget.amount[k], b.budget.amount[k]);
  for (size_t m = 0; m < gen::kMemories; ++m)
    meet.bandwidth[m] = std::min(a.bandwidth[m], b.bandwidth[m]);
  if (a.dies.count() == b.dies.count()) {
    meet.dies.wires = std::min(a.dies.wires, b.dies.wires);
    for (size_t d = 0; d < a.dies.count(); ++d)
      for (size_t k = 0; k < kKinds; ++k)
        meet.dies.budgets[d].amount[k] =
            std::min(a.dies.budgets[d].amount[k], b.dies.budgets[d].amount[k]);
  }
  if (a.wire && b.wire) {
    meet.wire->bitsPerS = std::min(a.wire->bitsPerS, b.wire->bitsPerS);
    meet.wire->latencyNs = std::max(a.wire->latencyNs, b.wire->latencyNs);
  }
  if (a.covers(meet) && b.covers(meet))
    return meet;
  return std::nullopt;
}

std::vector<Sort> sortsOf(const Problem &problem) {
  // Replicas need what their places have in common: of two places, the larger
  // may have less of one thing.
  constexpr size_t kMost = 16;
  std::vector<Sort> sorts;
  auto add = [&](const Place &place) {
    for (const Sort &sort : sorts)
      if (sort.place == place)
        return;
    sorts.push_back({place, {}});
    for (int p = 0; p < int(problem.places.size()); ++p)
      if (problem.places[p].covers(place))
        sorts.back().members.push_back(p);
  };
  for (const Place &place : problem.places)
    add(place);
  for (size_t b = 1; problem.mayReplicate && b < sorts.size(); ++b)
    for (size_t a = 0; a < b && sorts.size() < kMost; ++a)
      if (auto meet = meetOf(sorts[a].place, sorts[b].place))
        add(*meet);
  return sorts;
}
} // namespace rhizome::explore
