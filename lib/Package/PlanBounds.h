// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds on what a plan may contain, whoever wrote it: names that stay inside
// the package and are inert in every script, numbers within limits.
#pragma once

#include "rhizome/Package/Plan.h"

namespace rhizome {
/// Refuses, with the field's path, an invalid name (names of the model, and
/// sentences for people, may be anything), a path that leads out of its folder,
/// and a number beyond what hardware and programs could hold.
llvm::Error checkBounds(const Plan &plan);
} // namespace rhizome
