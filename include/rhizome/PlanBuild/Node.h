// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The link endpoint of a planned node: its description for cost and emission,
// and its files.
#pragma once

#include "rhizome/Cost/Link.h"
#include "rhizome/Package/NodeChannels.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Rtl/NodeTop.h"

namespace rhizome::planbuild {
/// The node's channels in the form of the cost model and the hardware builder;
/// windows cover the rate that the plan predicts.
gen::LinkEndpoint linkEndpointOf(const Plan &plan, const PlannedNode &node);

/// Adds the endpoint's modules of RTL to `holder`, which then names its top.
/// For nodes with channels.
llvm::Error lowerNodeTop(const Plan &plan, const PlannedNode &node,
                         mlir::ModuleOp holder);

/// Enters in a replica what it shares with its owner: the files of RTL, and what
/// they say.
void shareFiles(PlannedNode &replica, const PlannedNode &owner);

/// Enters the ports of the node's endpoint: registers and the link's streams.
void describeEndpoint(const Plan &plan, PlannedNode &node);
/// Writes the files of `holder` and the cells of the endpoint next to the
/// node's rtl and enters them in `node`, with its `nodeTop`. After writeNode.
llvm::Error writeNodeTop(PackageWriter &writer, PlannedNode &node,
                         mlir::ModuleOp holder);
/// The same for an endpoint that is lowered and printed first.
llvm::Error writeNodeTop(PackageWriter &writer, const Plan &plan,
                         PlannedNode &node, mlir::MLIRContext &context);
} // namespace rhizome::planbuild
