// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a network nobody can build on the devices that were asked for.
#include "Menu.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Explore/Explore.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
/// What a generator can't build, and why.
using Reasons = llvm::DenseMap<Operation *, std::string>;

static Reasons reasonsOf(const Generator &generator, ArrayRef<Operation *> ops,
                         const Cluster &cluster) {
  Reasons reasons;
  for (const ClusterPlace &place : cluster.places)
    if (!mayOffer(generator, place.context)) {
      for (Operation *op : ops)
        reasons[op] = "builds nothing on '" + place.device + "'";
      return reasons;
    }
  for (auto &[op, reason] : generator.refusals(ops))
    reasons[op] = std::move(reason);
  // Where it builds only some regions, a device may be too small for each.
  if (!generator.offersAnywhere())
    for (const gen::Region &region : generator.regions(ops))
      for (const ClusterPlace &place : cluster.places)
        if (generator.offers(region, {}, place.context).empty())
          for (Operation *op : region.ops())
            reasons[op] = generator.whyNone(region, place.context);
  return reasons;
}

Refusals coverage(func::FuncOp network, const Cluster &cluster) {
  const std::vector<Operation *> ops = hardwareOf(network);
  const std::vector<std::string> &named =
      cluster.places.front().context.generators;
  // Those that build single operations everywhere come first, and are mostly
  // enough.
  std::vector<const Generator *> asked;
  for (bool isAnywhere : {true, false})
    for (const auto &generator : allGenerators())
      if (generator->offersAnywhere() == isAnywhere &&
          (named.empty() ? isAnywhere
                         : llvm::is_contained(named, generator->name())))
        asked.push_back(generator.get());
  std::vector<Operation *> open = ops;
  Reasons reasons;
  for (const Generator *generator : asked) {
    if (open.empty())
      break;
    Reasons own = reasonsOf(*generator, ops, cluster);
    llvm::erase_if(open, [&](Operation *op) { return !own.contains(op); });
    for (Operation *op : open) {
      std::string &all = reasons[op];
      all +=
          (all.empty() ? "" : "; ") + generator->name().str() + " " + own[op];
    }
  }
  Refusals refusals;
  for (Operation *op : open)
    refusals.push_back({osa::nodeName(op), op->getName().getStringRef().str(),
                        reasons[op],
                        named.empty() ? ""
                                      : "leave out --generators, or name more "
                                        "of them"});
  return refusals;
}
} // namespace rhizome::explore
