// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of the `dhm` generator: coverage, which family builds what, and
// the cache of circuits.
#include "Units.h"
#include <algorithm>
#include <list>
#include <mutex>

using namespace mlir;

namespace rhizome::gen {
namespace dhm {
namespace {
/// The most recent circuits, for all threads.
class Circuits {
public:
  std::optional<Kept> find(const std::vector<int64_t> &key, uint64_t hash,
                           const cost::LogicPace &pace) {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto it = entries.begin(); it != entries.end(); ++it)
      if (it->hash == hash && it->key == key) {
        if (it->pace != pace) {
          it->pace = pace;
          it->kept.described = describe(*it->kept.circuit, pace);
        }
        entries.splice(entries.begin(), entries, it);
        return it->kept;
      }
    return std::nullopt;
  }
  void add(std::vector<int64_t> key, uint64_t hash, const cost::LogicPace &pace,
           const Kept &kept) {
    std::lock_guard<std::mutex> lock(mutex);
    entries.push_front({std::move(key), hash, pace, kept});
    if (entries.size() > kMost)
      entries.pop_back();
  }

private:
  struct Entry {
    std::vector<int64_t> key;
    uint64_t hash;
    cost::LogicPace pace;
    Kept kept;
  };
  // The offers of a network of this many operations are used repeatedly.
  static constexpr size_t kMost = 512;
  std::list<Entry> entries; ///< the most recently used first
  std::mutex mutex;
};
} // namespace

Kept kept(std::vector<int64_t> key, const cost::LogicPace &pace,
          llvm::function_ref<Circuit()> make) {
  static Circuits circuits;
  uint64_t hash = 0;
  for (int64_t part : key)
    hash = (hash ^ uint64_t(part)) * 0x9e3779b97f4a7c15u + 1;
  if (auto found = circuits.find(key, hash, pace))
    return *found;
  // Two threads may make the same one; both are equal.
  Kept made{std::make_shared<const Circuit>(make()), {}};
  made.described = describe(*made.circuit, pace);
  circuits.add(std::move(key), hash, pace, made);
  return made;
}

Actor circuitActor(const Kept &one, int64_t copies, int64_t frameBeats) {
  Actor actor = one.described;
  for (auto [key, value] : one.described.params.all())
    if (key != "levels" && key != "chain" && key != "chainBit" &&
        key != "stages")
      actor.set(key, value * copies);
  actor.set("frameBeats", frameBeats);
  return actor;
}
} // namespace dhm

namespace {
using namespace dhm;

bool isLinear(Operation *op) { return isa<osa::Conv2dOp, osa::DenseOp>(op); }
bool isElementwise(Operation *op) {
  return isa<osa::RequantizeOp, osa::ThresholdOp, osa::TableOp>(op);
}

class DhmGenerator final : public Generator {
public:
  llvm::StringRef name() const override { return "dhm"; }

  std::optional<std::string> coverage(const Region &region) const override {
    if (!region.isSingle())
      return "builds one operation at a time";
    Operation *op = region.front();
    for (Value v : op->getOperands())
      if (!num::elementInt(v.getType()))
        return "computes on integers only; the operand is not quantized";
    if (!isLinear(op) && !isElementwise(op))
      return "wires constants in, of which " +
             op->getName().getStringRef().str() + " has none";
    return isLinear(op) ? linearCoverage(op) : elementwiseCoverage(op);
  }

  std::vector<Offer> offers(const Region &region, Upstream upstream,
                            const DeviceContext &device) const override {
    Operation *op = region.front();
    std::vector<Offer> offers = isLinear(op)
                                    ? linearOffers(op, device)
                                    : elementwiseOffers(op, upstream, device);
    for (Offer &offer : offers) {
      offer.generator = "dhm";
      finishOffer(offer, device);
    }
    return offers;
  }

  void prepare(const Region &region,
               const DeviceContext &device) const override {
    if (isElementwise(region.front()))
      prepareElementwise(region.front(), device);
  }

  void build(const Region &region, Offer &offer,
             MemoryImages &) const override {
    Operation *op = region.front();
    if (isLinear(op))
      buildLinear(op, offer);
    else
      buildElementwise(op, offer);
  }
};
} // namespace

std::unique_ptr<Generator> makeDhmGenerator() {
  return std::make_unique<DhmGenerator>();
}
} // namespace rhizome::gen
