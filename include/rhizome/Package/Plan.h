// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json as C++ values: what was built, where, with which prediction, and
// its borders. Every step after a compile reads this and nothing else of
// the compiler. Plan.td describes it; the schema's number is kPlanSchema
// (Support/Version.h).
#pragma once

#include "rhizome/Package/HostBorder.h"
#include "rhizome/Package/PlannedKernel.h"
#include "rhizome/Package/PlannedTasks.h"
#include "rhizome/Support/Medium.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rhizome {
/// The client's name as an end of a channel, and its address.
constexpr const char *kHost = "host";
constexpr uint16_t kHostAddress = 0;

#include "rhizome/Package/Plan.h.inc"

/// The text of plan.json: keys in a fixed order, two spaces, the same
/// plan gives the same bytes.
std::string printPlan(const Plan &plan);

/// Reads plan.json's text. Refuses, with the path: invalid JSON, another
/// schema, a missing or mistyped member, an invalid border (no elements, a
/// width outside 1..64, a data width that is not whole bytes), names or numbers
/// that are duplicated, a channel whose ends or link do not exist or do not
/// fit.
llvm::Expected<Plan> parsePlan(llvm::StringRef text);
} // namespace rhizome
