// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Users' decisions, from their files.
#pragma once

#include "rhizome/Explore/Explore.h"
#include "rhizome/Package/Plan.h"

namespace rhizome::planbuild {
/// --steer: pins by node, splits. A malformed file is refused with path, line
/// and reason.
llvm::Expected<explore::Steering> readSteering(const std::string &path);
/// Adds the given homes of weights: "HOME" or "NAME=HOME".
llvm::Error addHomes(const std::vector<std::string> &asked,
                     explore::Steering &steering);

/// Adds the given places of FIFOs: "PLACE" or "NAME=PLACE".
llvm::Error addFifos(const std::vector<std::string> &asked,
                     explore::Steering &steering);
/// Refuses those that no FIFO of the result can meet.
llvm::Error checkFifos(const explore::Steering &steering,
                       const explore::Result &result);

/// --plan: the options, devices, replicas, widths and splits of a plan.json (or
/// of a package), edited or not, as pins.
llvm::Expected<explore::Steering> steeringOf(const std::string &path,
                                             const explore::Cluster &cluster);

/// The plan of a plan.json, or of a package.
llvm::Expected<Plan> planAt(const std::string &path);

/// The goal of a plan that is built again unchanged: with the resource bounds
/// of its own goal.
llvm::Expected<std::string> goalOf(const std::string &path);
} // namespace rhizome::planbuild
