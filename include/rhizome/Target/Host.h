// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The speed of a host, and its link to an FPGA: read from one
// data file each (data/hosts/*.yaml).
#pragma once

#include "rhizome/Target/Board.h"
#include "rhizome/Target/Device.h"
#include "rhizome/Target/Link.h"

namespace rhizome {
/// Classes of operations that a host computes at about the same rate.
enum class HostWork {
  Macs,     ///< convolutions, dense layers, matrix products
  Elements, ///< elementwise, and data movement
  Curves,   ///< elementwise, with an elementary function
  Reduced   ///< sums and maxima, by elements read
};

struct Host {
  std::string name;
  std::string description;
  /// Of one core, by class; each operation takes `callUs` in addition.
  double macsPerS = 0, elementsPerS = 0, curvesPerS = 0, reducedPerS = 0;
  double callUs = 0;
  Link link; ///< the link to an FPGA
  std::vector<std::string> sources;

  double perS(HostWork work) const;
  /// The host of a design on this device, on this board or without one: its
  /// link is the board's, or without one that of a board with the device; that
  /// of the host's own file where there is none, and where a shell or a
  /// platform is between them.
  llvm::Expected<Host> at(const Device &device, const Board *board) const;
};

/// The default host.
constexpr const char *kDefaultHost = "x86-64";

/// Reads a host by its name or from a path, like loadDevice.
llvm::Expected<Host> loadHost(llvm::StringRef nameOrPath);
} // namespace rhizome
