// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A target of any kind by its name, for commands that explain them all.
#pragma once

#include "rhizome/Target/Board.h"
#include "rhizome/Target/Cluster.h"
#include <variant>

namespace rhizome {
using Target = std::variant<Device, Board, Link, Cluster>;

/// The target with this name, searched among devices, boards, links and
/// clusters in this order, or the one in a file, whose keys determine its kind.
/// Errors as in loadDevice().
llvm::Expected<Target> loadTarget(llvm::StringRef nameOrPath);

/// Every target of the data folder: devices, boards, links, clusters, each kind
/// by name in ascending order.
llvm::Expected<std::vector<Target>> listTargets();
} // namespace rhizome
