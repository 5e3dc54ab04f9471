// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which die of a device holds which of a system's equal units: what fits into
// the shares that route, and into the wires between dies.
#pragma once

#include "rhizome/Generator/Generator.h"
#include "rhizome/PlanBuild/Targets.h"
#include "rhizome/Target/Device.h"
#include <string>
#include <vector>

namespace rhizome::kernelcommands {
/// What a device has for a system: its dies in the order of their row, or
/// itself as the only one.
struct SystemRoom {
  struct Die {
    std::string name;
    gen::Resources routable; ///< what a design may use of it
  };
  std::vector<Die> dies;
  gen::Resources all; ///< what a goal allows in all
  int64_t wires = 0;  ///< between two neighbors; 0: any number
  size_t memory = 0;  ///< the die next to off-chip memory
  size_t border = 0;  ///< the die next to the host
};
/// Of a device without a goal, or within the goal's parts.
SystemRoom roomOf(const explore::Cluster &places, const Device &device,
                  const explore::Goal *goal);

/// One unit with its movers and registers, which is on one die as a whole.
struct SystemUnit {
  gen::Resources resources;
  int64_t memoryWires = 0;  ///< of its ports to memory
  int64_t controlWires = 0; ///< of its registers' port and its interrupt
};

/// Where the units are, if there is no obstacle.
struct SystemLayout {
  struct Die {
    int64_t units = 0;
    double share = 0;  ///< the largest of its routable resources that is used
    size_t kind = 0;   ///< which resource that is
    int64_t wires = 0; ///< to the next die
  };
  std::vector<Die> dies;
  std::vector<size_t> dieOf; ///< by unit, those next to the memory first
  double share = 0;          ///< the largest of all dies
  /// Why there is no place for so many; "": there is.
  std::string obstacle;
};

/// The layout with the smallest largest share; for a tenth more of it, that
/// with the fewest borders between units and the memory. All are tried.
SystemLayout layOut(const SystemUnit &unit, int64_t units,
                    const SystemRoom &room);
} // namespace rhizome::kernelcommands
