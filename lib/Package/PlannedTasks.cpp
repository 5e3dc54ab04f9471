// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Package/PlannedTasks.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;

const PlannedState *PlannedTasks::keptByHost() const {
  for (const PlannedState &state : states)
    if (!state.onFpga)
      return &state;
  return nullptr;
}

bool PlannedTasks::isKeptByFpga() const {
  return any_of(states, [](const PlannedState &s) { return s.onFpga; });
}

double PlannedTasks::outsideUs() const {
  double us = 0;
  for (const PlannedTask &task : tasks)
    us += task.hostUs;
  for (const PlannedCopy &copy : copies)
    us += copy.us;
  return us;
}
