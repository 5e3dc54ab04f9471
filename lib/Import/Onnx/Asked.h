// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ONNX's standard asks for where a node is not valid, told with the node's
// own values, so that the model can be corrected: the remedies of refusals.
#pragma once

#include "Context.h"

namespace rhizome::importer {
/// What is wrong with the sizes of a node's window and what to write instead.
struct WindowFault {
  std::string reason, remedy;
};
/// The first of kernel_shape, strides, dilations, pads and auto_pad that is not
/// valid for `axes` spatial axes; nullopt if all are. Values above `most` are
/// none that we compute with.
std::optional<WindowFault> windowFault(const Node &node, size_t axes,
                                       int64_t most);

/// How two shapes that do not broadcast would.
std::string toBroadcast(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Which axes a tensor of this rank has.
std::string toNameAxis(size_t rank);

/// What to say of dimensions after the first that the file leaves open and
/// nobody gave; "" if there are none.
std::string toGiveDimensions(const Graph &graph, const ImportOptions &options);

/// For a refusal that has no remedy of its own.
std::string askedByOnnx(const NodeContext &node);
} // namespace rhizome::importer
