// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memories of a unit and their ports: who reads and who writes when, and
// which slot an element of a stage has.
#include "Unit.h"

using namespace mlir;

namespace rhizome::gen::loops {
void Unit::makeMemories() {
  // Synthesis finds places by shape, unless one is named.
  const bool isStyled = llvm::any_of(unit.memories, [](const UnitMemory &m) {
    return m.kind == MemoryKind::Ultra;
  });
  for (const UnitMemory &memory : unit.memories) {
    InPart part(*this, memory.name);
    for (Value tensor : memory.tensors)
      memories[tensor] = banks.size();
    auto type =
        rtl::MemoryType::get(b.getContext(), memory.words * memory.slots,
                             cast<IntegerType>(bits(memory.width)));
    std::vector<Bank> &of = banks.emplace_back();
    for (int64_t k = 0; k < memory.banks; ++k) {
      std::string name =
          memory.name + (memory.banks > 1 ? "_" + std::to_string(k) : "");
      of.emplace_back().op =
          rtl::MemoryOp::create(b, loc, type, b.getStringAttr(name),
                                ElementsAttr(), rtl::StyleAttr());
      if (auto style = styleOf(memory.kind); style && isStyled)
        of.back().op.setStyle(*style);
    }
  }
}

int64_t Unit::depthOf(Value tensor) {
  return banks[memories.at(tensor)].front().op.getType().getDepth();
}

Unit::Slots Unit::slotsOf(Value tensor) {
  const UnitMemory &memory = unit.memories[memories.at(tensor)];
  if (memory.slots == 1)
    return {};
  Value &isLast = lastSlots[{stage, memory.slots}];
  if (!isLast)
    isLast =
        isEqual(state(addressBits(memory.slots), Value()), memory.slots - 1);
  return {memory.words, memory.slots, isLast};
}

Value Unit::read(Value tensor, const Access &access, size_t lane, Walk &w,
                 Value turn, int64_t cycles, Value enable) {
  const Access::Lane &from = access.lanes[lane];
  const int64_t spread = access.spread;
  auto [address, low] = divide(
      after(addressOf(w, from.reach, tensor, spread), cycles), tensor, spread);
  std::vector<Value> words;
  for (size_t each = 0; each < from.banks.size() * size_t(spread); ++each) {
    const int64_t number = from.banks[each / size_t(spread)] * spread +
                           int64_t(each % size_t(spread));
    Bank &bank = banks[memories.at(tensor)][size_t(number)];
    // A port that this phase does not use, or at the same address.
    size_t port = 0;
    bool isKnown = false;
    for (; port < bank.ports.size(); ++port) {
      if (bank.ports[port].stage != stage)
        continue;
      auto used = llvm::find_if(bank.ports[port].addresses,
                                [&](auto &use) { return use.first == turn; });
      isKnown = used != bank.ports[port].addresses.end();
      if (!isKnown || used->second == address)
        break;
    }
    if (port == bank.ports.size())
      bank.ports.emplace_back().stage = stage;
    Bank::Port &p = bank.ports[port];
    if (!p.read)
      p.read = rtl::ReadOp::create(b, loc, bank.op.getType().getWord(), bank.op,
                                   address, clock, Value());
    else if (!isKnown)
      p.read.getAddressMutable().assign(
          choose(turn, address, p.read.getAddress()));
    if (enable && !isKnown) {
      Value reads = either(inverse(turn), enable);
      if (Value others = p.read.getEnable())
        reads = both(others, reads);
      p.read.getEnableMutable().assign(reads);
    }
    if (!isKnown || p.addresses.empty())
      p.addresses.push_back({turn, address});
    Value word = p.read.getResult();
    if (word.getType() != bits(widthOf(tensor)))
      word = rtl::ExtractOp::create(b, loc, bits(widthOf(tensor)), word, 0);
    words.push_back(word);
  }
  // Choices wait with the words.
  auto hold = [&](Value v) -> Value {
    if (!enable)
      return after(v, 1);
    return rtl::RegisterOp::create(b, loc, v.getType(), clock, v, enable,
                                   Value(), IntegerAttr());
  };
  if (spread > 1) {
    Value number = hold(low);
    std::vector<Value> chosen;
    for (auto part = words.begin(); part != words.end(); part += spread)
      chosen.push_back(pick(number, {part, part + spread}));
    words = std::move(chosen);
  }
  if (!enable)
    return select(w, access, words, cycles + 1);
  Walk held = w;
  for (size_t c : access.selectors)
    held.counts[c] = hold(w.counts[c]);
  return select(held, access, words, 0);
}

void Unit::fill(Value tensor, const Access &access, Walk &w,
                ArrayRef<Value> words, int64_t cycles, Value enable) {
  // By bank: the words that may come, when, and where to.
  struct Source {
    Value isChosen, address, word;
  };
  std::vector<Bank> &stores = banks[memories.at(tensor)];
  std::vector<std::vector<Source>> sources(stores.size());
  // Is the count of a selector this one?
  std::vector<std::vector<Value>> isCount(access.selectors.size());
  for (auto [s, c] : llvm::enumerate(access.selectors))
    for (int64_t count = 0; count < w.loops.trips[c]; ++count)
      isCount[s].push_back(isEqual(after(w.counts[c], cycles), count));
  std::vector<Value> chosen;
  const size_t choices = access.lanes[0].banks.size();
  for (size_t choice = 0; choice < choices; ++choice) {
    Value all = enable;
    size_t rest = choice;
    for (size_t s = access.selectors.size(); s-- > 0;) {
      const auto trips = size_t(w.loops.trips[access.selectors[s]]);
      all = both(all, isCount[s][rest % trips]);
      rest /= trips;
    }
    chosen.push_back(all);
  }
  const int64_t spread = access.spread;
  for (auto [lane, word] : llvm::zip_equal(access.lanes, words)) {
    auto [address, low] =
        divide(after(addressOf(w, lane.reach, tensor, spread), cycles), tensor,
               spread);
    for (auto [choice, bank] : llvm::enumerate(lane.banks))
      for (int64_t s = 0; s < spread; ++s)
        sources[size_t(bank * spread + s)].push_back(
            {low ? both(chosen[choice], isEqual(low, s)) : chosen[choice],
             address, word});
  }
  for (auto [bank, from] : llvm::zip_equal(stores, sources)) {
    if (from.empty())
      continue;
    Source all = from[0];
    for (size_t i = 1; i < from.size(); ++i) {
      all.address = choose(from[i].isChosen, from[i].address, all.address);
      all.word = choose(from[i].isChosen, from[i].word, all.word);
      all.isChosen = either(all.isChosen, from[i].isChosen);
    }
    if (all.word.getType() != bank.op.getType().getWord())
      all.word = rtl::SignExtendOp::create(b, loc, bank.op.getType().getWord(),
                                           all.word);
    bank.writes.push_back({all.isChosen, all.address, all.word});
  }
}
void Unit::finishWrites() {
  for (auto [memory, planned] : llvm::zip_equal(banks, unit.memories)) {
    InPart part(*this, planned.name);
    for (Bank &bank : memory) {
      if (bank.writes.empty())
        continue;
      Bank::Write all = bank.writes.front();
      for (const Bank::Write &w : llvm::drop_begin(bank.writes)) {
        all.address = choose(w.enable, w.address, all.address);
        all.data = choose(w.enable, w.data, all.data);
        all.enable = either(all.enable, w.enable);
      }
      rtl::WriteOp::create(b, loc, bank.op, all.address, all.data, clock,
                           all.enable);
    }
  }
}
} // namespace rhizome::gen::loops
