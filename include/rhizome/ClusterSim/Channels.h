// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan's channels in the runtime's form: for a party's link endpoint, for
// its ports, and for a client.
#pragma once

#include "rhizome/Package/Plan.h"
#include "rhizome/runtime/service.h"

namespace rhizome::clustersim {
/// The address of a node, or the host's.
uint16_t addressOf(const Plan &plan, llvm::StringRef name);

/// The channels of the party `name` (a node's, or kHost) for its endpoint.
std::vector<link::ChannelConfig> channelsOf(const Plan &plan,
                                            llvm::StringRef name);

/// The channels of the ports at which a party receives, or sends. The host
/// receives at its ports "output0", "output1", …
std::vector<link::Route> routesOf(const Plan &plan, llvm::StringRef name,
                                  bool receives);

/// Which of a party's channels the next frame uses.
link::Router routerOf(const Plan &plan, llvm::StringRef name, bool receives);

/// The regions of the FPGA, by the ports of host and FPGA in the plan's tasks;
/// none if there is one.
std::vector<runtime::Region> regionsOf(const Plan &plan);

/// What a client needs to know. `inputs` and `outputs` are the host's tensors.
link::Service serviceOf(const Plan &plan, const std::vector<BorderPort> &inputs,
                        const std::vector<BorderPort> &outputs);
} // namespace rhizome::clustersim
