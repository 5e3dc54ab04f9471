// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Package/PlannedSystem.h"
#include "PlanParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace llvm;
using namespace rhizome;

bool PlannedMover::hasWholeBursts() const {
  constexpr int64_t kPage = 4096; // bytes
  const int64_t bytes = burst * dataWidth / 8,
                group = beats() * int64_t(dataWidth) / 8;
  return isPowerOf2_32(dataWidth) && dataWidth % wordBits == 0 &&
         kPage % bytes == 0 && groupBytes % bytes == 0 && groupBytes >= group &&
         groupBytes <= group + bytes;
}

int64_t PlannedSystem::settledGroups() const {
  constexpr int64_t kAlone = 20, kShared = 120;
  std::set<int64_t> seen;
  for (const PlannedMover &port : ports)
    for (int64_t bank : port.banks)
      if (!port.isOnce && !seen.insert(bank).second)
        return kShared;
  return kAlone;
}

bool PlannedSystem::hasPortsInOrder() const {
  return all_of(enumerate(ports), [&](const auto &each) {
    const auto &[k, port] = each;
    return int64_t(port.banks.size()) == units &&
           port.offset == addressOffset(int64_t(k)) &&
           port.port == "m_axi_" + std::to_string(k);
  });
}

SystemRegisters rhizome::registersOf(const PlannedSystem &system) {
  return {system.control, system.elements};
}

void rhizome::setRegisters(PlannedSystem &system,
                           const SystemRegisters &registers) {
  system.control = registers.port;
  system.elements = registers.elements;
}
