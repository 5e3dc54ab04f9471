// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast a host computes, and over what it copies to an FPGA: read from one
// data file each (data/hosts/*.yaml).
#pragma once

#include "rhizome/Target/Link.h"

namespace rhizome {
/// Classes of operations that a host computes at about one rate.
enum class HostWork {
  Macs,     ///< convolutions, dense layers, matrix products
  Elements, ///< element by element, and what only moves them
  Curves,   ///< element by element, with an elementary function
  Reduced   ///< sums and maxima, by elements read
};

struct Host {
  std::string name;
  std::string description;
  /// Of one core, by class; each operation takes `callUs` besides.
  double macsPerS = 0, elementsPerS = 0, curvesPerS = 0, reducedPerS = 0;
  double callUs = 0;
  Link link; ///< over which it reaches an FPGA
  std::vector<std::string> sources;

  double perS(HostWork work) const;
};

/// The host that is assumed where none is named.
constexpr const char *kDefaultHost = "x86-64";

/// Reads a host by its name or from a path, as loadDevice does.
llvm::Expected<Host> loadHost(llvm::StringRef nameOrPath);
} // namespace rhizome
