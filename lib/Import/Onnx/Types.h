// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's requirements on a node's inputs and outputs: their number and
// their element types.
#pragma once

#include "rhizome/Support/Refusal.h"
#include <onnx/onnx_pb.h>

namespace rhizome::importer {
/// Refuses nodes with more or fewer inputs, or more outputs, than their
/// operation has.
void checkArity(const onnx::GraphProto &graph, Refusals &refusals);
/// Refuses nodes whose inputs must have the same element type and do not, or
/// have one for which the operation is not defined, or whose output type
/// differs from the file's declaration; as far as the file states the types.
void checkTypes(const onnx::GraphProto &graph, Refusals &refusals);
} // namespace rhizome::importer
