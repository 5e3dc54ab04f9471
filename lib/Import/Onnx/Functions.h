// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inlines a model's own functions (FunctionProto).
#pragma once

#include "rhizome/Import/OnnxImport.h"
#include <onnx/onnx_pb.h>

namespace rhizome::importer {
/// Replaces every node of the graph that calls a function by its
/// body, to any depth. The new nodes are named CALL/NODE, after the calling
/// node and the one of the body; likewise tensors of the body. A function takes
/// precedence over an operation of the same name. What cannot be inlined
/// (a function that calls itself, arguments that it does not take) is refused.
void inlineFunctions(onnx::ModelProto &model,
                     const ImportOptions::Limits &limits, Refusals &refusals);
} // namespace rhizome::importer
