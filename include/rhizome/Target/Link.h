// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A medium between nodes: its rate, latency and reliability, read from
// one data file each (data/links/*.yaml).
#pragma once

#include "rhizome/Support/Medium.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
struct Link : Medium {
  std::string name;
  std::string description;
  std::vector<std::string> sources; ///< where the figures come from
};

/// Reads a link by its name or from a path, like loadDevice.
llvm::Expected<Link> loadLink(llvm::StringRef nameOrPath);

/// All links of the data folder, by name in ascending order.
llvm::Expected<std::vector<Link>> listLinks();
} // namespace rhizome
