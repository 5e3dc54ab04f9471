// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a file says of rounding that formats of our own take the place of.
#pragma once

#include "Graph.h"

namespace rhizome::importer {
/// Replaces the codes of DynamicQuantizeLinear by the reals that they stand
/// for, where only dequantizers read them, and lets stored codes of weights in
/// float16 stand for reals of float32, which nobody rounds.
void undoRounding(Graph &graph);
} // namespace rhizome::importer
