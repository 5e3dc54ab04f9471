// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Judges traced layers: which of them saturate or leave bits unused, and what
// would be better.
#pragma once

#include "rhizome/Evaluate/Trace.h"

namespace rhizome::evaluate {
/// Who says how the model rounds, which decides what a user can change.
enum class Rounder { File, NumberFormat, Calibration, Kernel };

/// Fills `finding` and the formats that are `better` and `wider`.
void findFaults(TracedLayer &layer);
/// Fills `reason` and, unless a kernel rounds, `remedy`, once gains are known.
void explainFault(TracedLayer &layer, Rounder rounder);
} // namespace rhizome::evaluate
