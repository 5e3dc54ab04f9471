// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel's nests need, and the offers of `loops` for each: copies and
// terms that a device could hold.
#include "rhizome/KernelCommands/Analyze.h"
#include "HardwareParts.h"
#include "Steps.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Generator/Loops/Choose.h"
#include "rhizome/Generator/Loops/Views.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Transforms/Algebra.h"
#include "rhizome/Units/Circuit.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
namespace loops = rhizome::gen::loops;

static int64_t bitsOf(Value v) {
  return analysis::bitsOf(analysis::carriedBy(v.getType()));
}

Result<KernelAnalysis> kernelcommands::analyzeKernel(ModuleOp module) {
  auto numbered = numberedOf(module, {});
  if (!numbered)
    return failureOf(numbered.takeError(), Failure::Kind::Input);
  if (Refusals refusals = whyNoHardware(*numbered); !refusals.empty())
    return Failure::refused(std::move(refusals));
  KernelAnalysis out;
  const loops::KernelParts parts = loops::partsOf(numbered->integers);
  auto formats = matchingFormats(*numbered);
  auto inFormat = [&](Value v) -> Value {
    if (auto result = dyn_cast<OpResult>(v))
      return formats.at(result.getOwner())->getResult(result.getResultNumber());
    return numbered->formats.func.getArgument(
        cast<BlockArgument>(v).getArgNumber());
  };
  llvm::DenseMap<Operation *, kernel::Work> work;
  for (const auto &[op, counted] :
       kernel::workByOperation(numbered->formats.func))
    work[op] = counted;
  llvm::DenseMap<Value, int64_t> producer;
  analysis::Needs &needs = out.needs;
  for (auto [i, v] : llvm::enumerate(parts.inputs)) {
    producer[v] = -1 - int64_t(i);
    needs.inputs.push_back(analysis::carriedBy(inFormat(v).getType()));
    needs.border.in += bitsOf(inFormat(v));
  }
  const std::vector<std::string> names = namesOf(parts.nests);
  for (auto [n, op] : llvm::enumerate(parts.nests)) {
    linalg::GenericOp nest = op;
    analysis::Operation entry;
    entry.node = names[n];
    entry.op = "nest";
    const kernel::Work counted = work.lookup(formats.at(nest));
    entry.work.macs = counted.macs;
    entry.work.flops = counted.operations;
    entry.work.ops = counted.operations - 2 * counted.macs;
    // Parts of a tensor may overlap: no more is read than it has.
    llvm::MapVector<Value, int64_t> read;
    for (Value v : nest.getDpsInputs())
      if (isa<RankedTensorType>(v.getType()))
        read[loops::baseOf(v)] += bitsOf(inFormat(v));
    for (auto [base, bits] : read) {
      entry.work.inputBits += std::min(bits, bitsOf(inFormat(base)));
      auto from = producer.find(base);
      if (from != producer.end())
        entry.from.push_back(from->second);
    }
    const Value result = nest->getResult(0);
    entry.work.outputBits = bitsOf(inFormat(result));
    entry.result = analysis::carriedBy(inFormat(result).getType());
    producer[result] = int64_t(needs.operations.size());
    needs.total.macs += entry.work.macs;
    needs.total.ops += entry.work.ops;
    needs.total.flops += entry.work.flops;
    needs.operations.push_back(std::move(entry));
  }
  for (Value v : parts.outputs) {
    if (auto from = producer.find(loops::baseOf(v)); from != producer.end())
      needs.outputs.push_back(from->second);
    needs.border.out += bitsOf(inFormat(v));
  }
  needs.total.inputBits = needs.border.in;
  needs.total.outputBits = needs.border.out;
  out.kernel = std::make_unique<NumberedKernel>(std::move(*numbered));
  return out;
}

KernelAnalysis::KernelAnalysis() = default;
KernelAnalysis::KernelAnalysis(KernelAnalysis &&) = default;
KernelAnalysis::~KernelAnalysis() = default;

analysis::Offers
KernelAnalysis::offersFor(const gen::DeviceContext &device) const {
  constexpr size_t kMost = 200;
  kernel->formats.inContext()->loadDialect<rtl::RtlDialect>();
  const loops::KernelParts parts = loops::partsOf(kernel->integers);
  auto formats = matchingFormats(*kernel);
  loops::ParallelLimits limits;
  for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
    limits.most.amount[k] = gen::available(device.budget, k);
  analysis::Offers offers;
  auto &every = offers["loops"];
  for (linalg::GenericOp nest : parts.nests) {
    auto format =
        num::formatOf(getElementTypeOrSelf(formats.at(nest)->getResult(0)));
    const loops::OpenNest open{nest, /*maySplit=*/format && format->isFixed()};
    std::vector<gen::Offer> &some = every.emplace_back();
    for (const loops::ParallelChoice &choice : loops::chooseCopies(
             open, limits, gen::paceFor(device), device.cost, kMost)) {
      gen::Offer &offer = some.emplace_back();
      offer.busyCycles = choice.cycles;
      offer.resources = choice.resources;
    }
    analysis::takeFigures(some, device.budget);
  }
  return offers;
}
