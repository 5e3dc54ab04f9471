// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cache of prices of computing units.
#include "KnownUnits.h"
#include "Units.h"
#include <deque>
#include <mutex>

using namespace mlir;

namespace rhizome::gen::stream {
constexpr size_t kOnChip = kResourceNames.size();

KnownUnit::KnownUnit(const PriceList::Price &price) {
  std::copy_n(price.cost.amount.begin(), kOnChip, amounts.begin());
  amounts[kOnChip] = price.error.lut();
  amounts[kOnChip + 1] = price.error.ff();
}

PriceList::Price KnownUnit::price() const {
  PriceList::Price price;
  std::copy_n(amounts.begin(), kOnChip, price.cost.amount.begin());
  price.error.lut() = amounts[kOnChip];
  price.error.ff() = amounts[kOnChip + 1];
  return price;
}

void KnownUnit::keep(const RomChoices &choices, double lutsOfABlock) {
  if (choices.size() > roms.size())
    return;
  romCount = int8_t(choices.size());
  for (auto [i, choice] : llvm::enumerate(choices)) {
    roms[i] = choice;
    isBlock[i] = choice.isBlock(lutsOfABlock);
  }
}

bool KnownUnit::holds(double lutsOfABlock) const {
  for (int8_t i = 0; i < romCount; ++i)
    if (roms[size_t(i)].isBlock(lutsOfABlock) != isBlock[size_t(i)])
      return false;
  return romCount >= 0;
}

namespace {
/// Whether both give the same price to everything.
bool isEqual(const CostModel &a, const CostModel &b) {
  return llvm::equal(a.units, b.units, [](const auto &one, const auto &other) {
    const CostModel::Unit &x = one.second, &y = other.second;
    return one.first == other.first && x.lut == y.lut &&
           x.lutError.share == y.lutError.share &&
           x.lutError.least == y.lutError.least &&
           x.ffError.share == y.ffError.share &&
           x.ffError.least == y.ffError.least;
  });
}

/// What a unit's price depends on, except the price of blocks.
struct Key {
  std::string operation;
  std::array<int64_t, 10> device;
  std::shared_ptr<const CostModel> model;
  bool operator==(const Key &other) const {
    return operation == other.operation && device == other.device &&
           (model == other.model || isEqual(*model, *other.model));
  }
};

Key keyOf(Operation *op, const DeviceContext &device) {
  const CostContext &cost = device.cost;
  return {computeDependence(op),
          {cost.lutInputs, cost.dspWide, cost.dspNarrow, cost.bramBits,
           cost.bramPort, cost.halfBlocks, cost.lutramBits, cost.shiftRegisters,
           device.hasDsp, device.pairBits},
          cost.model};
}

struct Kept {
  Key key;
  KnownUnits::Table table;
  size_t units = 0;
};
std::deque<Kept> kept; ///< the last one put back comes last
size_t units = 0;      ///< of all
std::mutex mutex;
} // namespace

KnownUnits::Table KnownUnits::take(Operation *op, const DeviceContext &device) {
  const Key key = keyOf(op, device);
  std::lock_guard<std::mutex> lock(mutex);
  auto found = llvm::find_if(kept, [&](const Kept &k) { return k.key == key; });
  if (key.operation.empty() || found == kept.end())
    return {};
  Table table = std::move(found->table);
  units -= found->units;
  kept.erase(found);
  return table;
}

void KnownUnits::put(Operation *op, const DeviceContext &device, Table table) {
  constexpr size_t kMost = 600000; // some 70 MB
  Kept one{keyOf(op, device), std::move(table)};
  if (one.key.operation.empty())
    return;
  for (const std::vector<KnownUnit> &some : one.table.byHome)
    one.units += some.size();
  std::lock_guard<std::mutex> lock(mutex);
  units += one.units;
  kept.push_back(std::move(one));
  for (; units > kMost; kept.pop_front())
    units -= kept.front().units;
}
} // namespace rhizome::gen::stream
