// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ONNX demands of a node's inputs and outputs: how many there are, and
// their element types.
#pragma once

#include "rhizome/Support/Refusal.h"
#include <onnx/onnx_pb.h>

namespace rhizome::importer {
/// Refuses nodes with more or fewer inputs, or more outputs, than their
/// operation has.
void checkArity(const onnx::GraphProto &graph, Refusals &refusals);
/// Refuses nodes whose inputs should have one element type and do not, or have
/// one for which the operation is not defined, or whose output the file
/// declares with another than they give; as far as the file states the types.
void checkTypes(const onnx::GraphProto &graph, Refusals &refusals);
} // namespace rhizome::importer
