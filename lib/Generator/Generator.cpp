// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared parts of generators: formats, foldings and the converter between
// formats.
#include "rhizome/Generator/Generator.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace rhizome::gen {
std::string counted(int64_t number, llvm::StringRef noun) {
  return (llvm::Twine(number) + " " + noun + (number == 1 ? "" : "s")).str();
}

std::string BeatFormat::lanesText() const {
  bool isDefault = canonical().row == count;
  return counted(lanes, "lane") +
         (isDefault ? "" : ", rows of " + std::to_string(row));
}

std::vector<std::pair<Operation *, std::string>>
Generator::refusals(llvm::ArrayRef<Operation *> ops) const {
  llvm::SmallPtrSet<Operation *, 8> inRegions;
  for (const Region &region : regions(ops))
    if (!coverage(region))
      inRegions.insert(region.ops().begin(), region.ops().end());
  std::vector<std::pair<Operation *, std::string>> refused;
  for (Operation *op : ops)
    if (auto reason = coverage(op); reason && !inRegions.contains(op))
      refused.emplace_back(op, std::move(*reason));
  return refused;
}

bool mayOffer(const Generator &generator, const DeviceContext &device) {
  return (device.generators.empty() ||
          llvm::is_contained(device.generators, generator.name())) &&
         generator.offersOn(device);
}

BeatFormat formatOf(Type tensor, int64_t lanes, int64_t row) {
  num::IntType element = num::elementInt(tensor);
  BeatFormat f;
  f.isSigned = element.getIsSigned();
  f.width = element.getWidth();
  f.lanes = lanes;
  f.row = row;
  f.count = cast<RankedTensorType>(tensor).getNumElements();
  return f.canonical();
}

int64_t channelsOf(Operation *op) {
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  return shape.empty() ? 1 : shape.back();
}

std::vector<int64_t> foldings(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t lanes = 1; lanes <= n;) {
    int64_t folds = (n + lanes - 1) / lanes;
    out.push_back(lanes);
    if (folds == 1)
      break;
    // The fewest lanes with one fold less.
    lanes = (n + folds - 2) / (folds - 1);
  }
  return out;
}

Offer Generator::join(llvm::ArrayRef<Region>, llvm::ArrayRef<const Offer *>,
                      const DeviceContext &) const {
  llvm_unreachable("a generator that offers shared units joins them");
}
} // namespace rhizome::gen
