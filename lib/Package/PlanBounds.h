// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plan may say at all, whoever wrote it: names that stay inside the
// package and are inert in every script, numbers for which there is room.
#pragma once

#include "rhizome/Package/Plan.h"

namespace rhizome {
/// Refuses, with the field's path, a name that is none (names of the model, and
/// sentences for people, may be anything), a path that leads out of its folder,
/// and a number beyond what hardware and programs could hold.
llvm::Error checkBounds(const Plan &plan);
} // namespace rhizome
