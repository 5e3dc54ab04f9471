// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model's own functions (FunctionProto), written out.
#pragma once

#include "rhizome/Import/OnnxImport.h"
#include <onnx/onnx_pb.h>

namespace rhizome::importer {
/// Puts the body of a function in place of every node of the graph that calls
/// it, to any depth. The new nodes are named CALL/NODE, after the calling node
/// and the one of the body; tensors of the body likewise. A function takes
/// precedence over an operation of the same name. What cannot be written out
/// (a function that calls itself, arguments that it does not take) is refused.
void inlineFunctions(onnx::ModelProto &model,
                     const ImportOptions::Limits &limits, Refusals &refusals);
} // namespace rhizome::importer
