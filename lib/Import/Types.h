// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ONNX demands of the element types of a node's inputs.
#pragma once

#include "rhizome/Support/Refusal.h"
#include <onnx/onnx_pb.h>

namespace rhizome::importer {
/// Refuses nodes whose inputs should have one element type and do not, as far
/// as the file states the types.
void checkTypes(const onnx::GraphProto &graph, Refusals &refusals);
} // namespace rhizome::importer
