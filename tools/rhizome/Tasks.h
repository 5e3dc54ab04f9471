// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model's tasks for people: in order, with the copies between them.
#pragma once

#include "rhizome/Package/PlannedTasks.h"

namespace rhizome::cli {
/// A table of tasks and copies in the order in which they run, and what the
/// model keeps. Without a latency of the device no rate is told.
void printTasks(const PlannedTasks &tasks, double latencyUs = 0);
} // namespace rhizome::cli
