// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Generator/OfferCache.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Parallel.h"
#include <set>

using namespace mlir;

namespace rhizome::gen {
OfferCache::Key OfferCache::keyOf(const Region &region,
                                  const DeviceContext &device) {
  Key key{&device};
  for (Operation *op : region.ops()) {
    key.push_back(op->getName().getAsOpaquePointer());
    key.push_back(op->getAttrDictionary().getAsOpaquePointer());
    key.push_back(op->getResult(0).getType().getAsOpaquePointer());
    for (Value v : op->getOperands()) {
      key.push_back(v.getType().getAsOpaquePointer());
      auto constant = v.getDefiningOp<osa::ConstantOp>();
      key.push_back(constant
                        ? constant->getAttrDictionary().getAsOpaquePointer()
                        : nullptr);
      // The region's operation that it comes from.
      auto inside = llvm::find(region.ops(), rootOf(v).getDefiningOp());
      key.push_back(reinterpret_cast<const void *>(
          uintptr_t(inside - region.ops().begin())));
    }
  }
  return key;
}

static std::vector<int64_t> numbersOf(const OfferCache::Upstream &upstream) {
  std::vector<int64_t> numbers;
  for (const auto &f : upstream)
    if (f)
      llvm::append_range(numbers,
                         std::array<int64_t, 5>{f->isSigned, f->width, f->lanes,
                                                f->row, f->count});
    else
      numbers.push_back(-1);
  return numbers;
}

std::vector<Offer> &OfferCache::of(const Region &region,
                                   const Upstream &upstream,
                                   const DeviceContext &device) {
  auto [it, isNew] =
      known[keyOf(region, device)].try_emplace(numbersOf(upstream));
  if (isNew)
    for (const auto &generator : allGenerators())
      if (mayOffer(*generator, device) && !generator->coverage(region))
        llvm::move(generator->offers(region, upstream, device),
                   std::back_inserter(it->second));
  return it->second;
}

void OfferCache::prepare(llvm::ArrayRef<Operation *> ops,
                         const DeviceContext &device, Choose choose) {
  std::set<Key> seen;
  std::vector<Key> keys;
  std::vector<Operation *> missing;
  for (Operation *op : ops) {
    Key key = keyOf(op, device);
    if (known.count(key) || !seen.insert(key).second)
      continue;
    keys.push_back(std::move(key));
    missing.push_back(op);
  }
  auto parts = offersFor(missing, device, [&](std::vector<Offer> &all) {
    std::vector<Offer> chosen;
    for (int o : choose(all))
      chosen.push_back(std::move(all[o]));
    all = std::move(chosen);
  });
  for (auto [key, byGenerator] : llvm::zip_equal(keys, parts)) {
    std::vector<Offer> &all = known[std::move(key)][{}];
    for (std::vector<Offer> &part : byGenerator)
      llvm::move(part, std::back_inserter(all));
  }
}

void OfferCache::prepare(llvm::ArrayRef<Operation *> ops,
                         const DeviceContext &device) {
  std::set<Key> seen;
  std::vector<Operation *> distinct;
  for (Operation *op : ops)
    if (seen.insert(keyOf(op, device)).second)
      distinct.push_back(op);
  llvm::parallelFor(0, distinct.size(), [&](size_t i) {
    for (const auto &generator : allGenerators())
      if (mayOffer(*generator, device) && !generator->coverage(distinct[i]))
        generator->prepare(distinct[i], device);
  });
}

std::vector<std::vector<std::vector<Offer>>>
offersFor(llvm::ArrayRef<Operation *> ops, const DeviceContext &device,
          llvm::function_ref<void(std::vector<Offer> &)> take) {
  llvm::ArrayRef<std::unique_ptr<Generator>> generators = allGenerators();
  size_t count = generators.size();
  // For every operation and generator, the first equal query.
  std::vector<size_t> asked(ops.size() * count), distinct;
  std::vector<llvm::StringMap<size_t>> known(count);
  for (size_t i = 0; i < asked.size(); ++i) {
    std::string on = generators[i % count]->dependence(ops[i / count]);
    asked[i] =
        on.empty() ? i : known[i % count].try_emplace(on, i).first->second;
    if (asked[i] == i)
      distinct.push_back(i);
  }
  std::vector<std::vector<std::vector<Offer>>> all(
      ops.size(), std::vector<std::vector<Offer>>(count));
  llvm::parallelFor(0, distinct.size(), [&](size_t n) {
    size_t i = distinct[n];
    const Generator &generator = *generators[i % count];
    if (!mayOffer(generator, device) || generator.coverage(ops[i / count]))
      return;
    std::vector<Offer> offers = generator.sketches(ops[i / count], {}, device);
    take(offers);
    all[i / count][i % count] = std::move(offers);
  });
  for (size_t i = 0; i < asked.size(); ++i)
    if (asked[i] != i)
      all[i / count][i % count] = all[asked[i] / count][i % count];
  return all;
}
} // namespace rhizome::gen
