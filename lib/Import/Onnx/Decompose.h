// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that are short for several others.
#pragma once

#include "llvm/ADT/StringMap.h"
#include <onnx/onnx_pb.h>

namespace rhizome::importer {
/// Writes out the nodes of `graph` that stand for several simpler ones: the
/// QLinear operations become DequantizeLinear, the operation on real numbers
/// and QuantizeLinear, the Integer ones the real operation on values that
/// happen to be whole. The new nodes keep the name; the operation as the file
/// wrote it stands in their doc_string, which is empty on all others. Those
/// that the host can compute as a whole, exactly, are kept in `whole`, by their
/// output.
void decompose(onnx::GraphProto &graph,
               llvm::StringMap<onnx::NodeProto> &whole);
} // namespace rhizome::importer
