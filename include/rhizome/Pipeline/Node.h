// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The link endpoint of a planned node: its description for cost and emission,
// and its files.
#pragma once

#include "rhizome/Conversion/NodeTop.h"
#include "rhizome/Generator/Link.h"
#include "rhizome/Package/NodeChannels.h"
#include "rhizome/Package/Package.h"

namespace rhizome {
/// The node's channels as the cost model and the hardware builder see them;
/// windows cover the rate that the plan predicts.
gen::LinkEndpoint linkEndpointOf(const Plan &plan, const PlannedNode &node);

/// Writes rhz_node.sv and the cells of the endpoint beside the node's rtl and
/// enters them in `node`, with its `nodeTop`. For nodes with channels, after
/// writeNode.
llvm::Error writeNodeTop(PackageWriter &writer, const Plan &plan,
                         PlannedNode &node, mlir::MLIRContext &context);
} // namespace rhizome
