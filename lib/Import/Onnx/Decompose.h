// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that are composed of several others.
#pragma once

#include "llvm/ADT/StringMap.h"
#include <onnx/onnx_pb.h>

namespace rhizome::importer {
/// Expands the nodes of `graph` that are composed of several simpler ones: the
/// QLinear operations become DequantizeLinear, the operation on real numbers
/// and QuantizeLinear, the Integer ones the real operation on values that
/// happen to be whole. The new nodes keep the name; the operation in the file
/// is in their doc_string, which is empty on all others. Those
/// that the host can compute exactly as a whole are kept in `whole`, by their
/// output.
void decompose(onnx::GraphProto &graph,
               llvm::StringMap<onnx::NodeProto> &whole);
} // namespace rhizome::importer
