// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The only place that defines the release number and the package schema's.
#pragma once

namespace rhizome {
/// The release, "major.minor.patch".
const char *version();
/// The version of plan.json's schema; raised when a reader must change.
constexpr int kPlanSchema = 8;
} // namespace rhizome
