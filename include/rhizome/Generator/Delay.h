// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long an offer's units take at least between the end of a frame and the
// end of its result. Around the loop of a state these times add up: the next
// frame's state cannot be complete earlier.
#pragma once

#include "rhizome/Generator/Offer.h"

namespace rhizome::gen {
/// Cycles from the last beat of a frame on an input of a region of `inputs`
/// streams to the last beat of its first output, at the least: the firings
/// that follow the one that needs that beat, one a cycle, and the latencies of
/// the units. 0 if nothing is known.
int64_t leastDelay(const Body &body, size_t inputs, size_t input);
} // namespace rhizome::gen
