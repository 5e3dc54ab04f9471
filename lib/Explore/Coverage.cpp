// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a network nobody can build on the devices that were asked for.
#include "Menu.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Explore/Explore.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
/// Operations of regions that a generator builds on every place.
static llvm::SmallPtrSet<Operation *, 8>
builtRegions(ArrayRef<Operation *> ops, const Generator &generator,
             const Cluster &cluster) {
  llvm::SmallPtrSet<Operation *, 8> built;
  // Others have their offers for each region anyway.
  const bool isAnywhere = generator.offersOn(DeviceContext());
  for (const gen::Region &region : generator.regions(ops))
    if (!generator.coverage(region) &&
        (isAnywhere || llvm::all_of(cluster.places, [&](const auto &place) {
           return !generator.offers(region, {}, place.context).empty();
         })))
      built.insert(region.ops().begin(), region.ops().end());
  return built;
}

Refusals coverage(func::FuncOp network, const Cluster &cluster) {
  Refusals refusals;
  const std::vector<Operation *> ops = hardwareOf(network);
  std::vector<const Generator *> asked;
  for (const auto &generator : allGenerators())
    if (llvm::any_of(cluster.places, [&](const ClusterPlace &place) {
          return mayOffer(*generator, place.context);
        }))
      asked.push_back(generator.get());
  std::vector<Operation *> open;
  for (Operation *op : ops)
    if (llvm::all_of(asked, [&](const Generator *generator) {
          return generator->coverage(op).has_value();
        }))
      open.push_back(op);
  for (const Generator *generator : asked) {
    if (open.empty())
      break;
    const auto built = builtRegions(ops, *generator, cluster);
    llvm::erase_if(open, [&](Operation *op) { return built.contains(op); });
  }
  std::map<Operation *, std::string> reasons;
  // Those that were named and build nothing there.
  if (asked.empty() && !cluster.places.empty())
    for (Operation *op : open)
      reasons[op] = llvm::join(cluster.places[0].context.generators, ", ") +
                    " builds nothing on '" + cluster.places[0].device + "'";
  for (const Generator *generator : asked) {
    if (open.empty())
      break;
    const auto refused = generator->refusals(ops);
    for (Operation *op : open) {
      auto found = llvm::find_if(
          refused, [&](const auto &one) { return one.first == op; });
      // Others' reasons, where an operation alone is none of its.
      std::string &all = reasons[op];
      all += (all.empty() ? "" : "; ") + generator->name().str() + " " +
             (found == refused.end() ? "fits no device that was asked for"
                                     : found->second);
    }
  }
  for (Operation *op : open)
    refusals.push_back({osa::nodeName(op), op->getName().getStringRef().str(),
                        reasons[op], ""});
  return refusals;
}
} // namespace rhizome::explore
