// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model's tasks as a table, in order, with the copies between them.
#pragma once

#include "rhizome/Package/PlannedTasks.h"

namespace rhizome::cli {
/// A table of tasks and copies in the order in which they run, and of the
/// model's states. A rate is printed only if the device's latency is known.
void printTasks(const PlannedTasks &tasks, double latencyUs = 0);
} // namespace rhizome::cli
