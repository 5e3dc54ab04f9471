// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model's tasks for people: in order, with the copies between them.
#pragma once

#include "rhizome/Package/PlannedTasks.h"

namespace rhizome::cli {
/// A table of tasks and copies in the order in which they run.
void printTasks(const PlannedTasks &tasks);
} // namespace rhizome::cli
