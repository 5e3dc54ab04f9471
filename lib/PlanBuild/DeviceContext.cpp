// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/PlanBuild/DeviceContext.h"
#include "rhizome/Generator/UnitModel.h"
#include "rhizome/Target/CostModel.h"
#include "llvm/ADT/STLExtras.h"

using namespace rhizome;

/// A family's model in the generators' form: terms by number.
static llvm::Expected<gen::CostModel> costModelOf(const FamilyModel &family) {
  gen::CostModel model;
  const std::vector<const char *> names = gen::characterizedUnits();
  auto bar = [](const Residuals &r) { return gen::ErrorBar{r.p90, r.least}; };
  for (const auto &[name, unit] : family.units) {
    if (!llvm::is_contained(names, llvm::StringRef(name)))
      return llvm::createStringError("the model of the family '%s' has an "
                                     "unknown unit '%s'; characterize it again",
                                     family.family.c_str(), name.c_str());
    gen::CostModel::Unit &target = model.units[name];
    for (const auto &[term, luts] : unit.lut) {
      size_t t = size_t(llvm::find(gen::kTermNames, llvm::StringRef(term)) -
                        gen::kTermNames.begin());
      if (t == gen::kTermNames.size())
        return llvm::createStringError(
            "the model of the family '%s' has an unknown term '%s'; "
            "characterize it again",
            family.family.c_str(), term.c_str());
      target.lut[t] = luts;
    }
    target.lutError = bar(unit.lutResiduals);
    target.ffError = bar(unit.ffResiduals);
  }
  return model;
}

llvm::Expected<gen::CostContext>
planbuild::costContextOf(const Device &device) {
  if (device.processor)
    return llvm::createStringError("'%s' is a CPU, for which no generator "
                                   "builds; choose an FPGA of 'rhizome "
                                   "targets'",
                                   device.name.c_str());
  gen::CostContext cost;
  cost.lutInputs = device.lutInputs;
  cost.dspWide = device.dspABits;
  cost.dspNarrow = device.dspBBits;
  cost.bramBits = device.bramBits;
  cost.bramPort = device.bramMaxWidth;
  auto family = loadFamilyModel(device.family);
  if (!family)
    return family.takeError();
  cost.shiftRegisters = family->mapping.shiftRegisters;
  cost.halfBlocks = family->mapping.halfBlocks;
  cost.lutramBits = family->mapping.lutramBits;
  cost.delays = {family->delays.level, family->delays.chain,
                 family->delays.chainBit, family->delays.reg};
  auto model = costModelOf(*family);
  if (!model)
    return model.takeError();
  cost.model = std::make_shared<const gen::CostModel>(std::move(*model));
  return cost;
}

std::vector<gen::Memory> planbuild::memoriesOf(const Device &device,
                                               double clockMhz) {
  if (!device.memory)
    return {};
  const DeviceMemory &m = *device.memory;
  gen::Memory memory;
  memory.name = m.name;
  memory.banks = m.portsAt(clockMhz);
  memory.portBits = m.portBits;
  memory.portMhz = m.portMhz;
  memory.bytesPerS = int64_t(m.bytesPerS);
  memory.latencyNs = m.latencyNs;
  memory.turnaroundNs = m.turnaroundNs;
  memory.refreshEveryNs = m.refreshEveryNs;
  memory.refreshNs = m.refreshNs;
  return {memory};
}

llvm::Expected<gen::DeviceContext> planbuild::contextOf(const Device &device,
                                                        double clockMhz) {
  gen::DeviceContext context;
  auto cost = costContextOf(device);
  if (!cost)
    return cost.takeError();
  context.cost = std::move(*cost);
  context.budget = device.budget;
  context.clockMhz = clockMhz;
  context.memories = memoriesOf(device, clockMhz);
  auto dsp = device.budget.find("dsp");
  context.hasDsp = dsp != device.budget.end() && dsp->second > 0 &&
                   device.dspABits > 0 && device.dspBBits > 0;
  if (!context.hasDsp)
    context.cost.dspWide = context.cost.dspNarrow = 0;
  // Pairs are added in cascades, for which the DSP must have room. Those of a
  // narrow one follow from the operands.
  const bool isNarrow = device.dspABits < 27;
  if (device.dspPairs &&
      (isNarrow ||
       (device.dspPairs->maxPackedSigned >= gen::kPackedSigned &&
        device.dspPairs->maxPackedUnsigned >= gen::kPackedUnsigned)))
    context.pairBits = std::min(device.dspPairs->xBits, device.dspPairs->wBits);
  return context;
}
