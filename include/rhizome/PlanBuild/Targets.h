// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a network is to run: the devices and links of a request, from
// their data files, in the explorer's form.
#pragma once

#include "rhizome/Explore/Explore.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/Target/Board.h"
#include "rhizome/Target/Device.h"
#include <optional>
#include <string>
#include <vector>

namespace rhizome::planbuild {
/// A user's choice of devices.
struct TargetChoice {
  std::string device; ///< a name or a .yaml file
  /// A board's name or file, which determines device and clock; "" for none.
  std::string board;
  /// A cluster's name or file, in place of device and board; "" for none.
  std::string cluster;
  std::optional<double> clockMhz; ///< kBestClock: the best of each device
  static constexpr double kBestClock = 0;
  /// Of a device alone: "" or "axi", or "wide" (gen::kWideBorder).
  std::string border;
  std::vector<std::string> generators; ///< that may offer; empty: all of them
};

struct Targets {
  std::optional<Board> board;
  std::string cluster;         ///< its name, "" if there is none
  std::vector<Device> devices; ///< of each place, at its clock
  std::vector<PlannedLink> links;
  std::string hostLink;
  explore::Cluster places;
  /// Of a request for the best clocks: a sentence for each unlike device.
  std::vector<std::string> notes;
};

/// Reads the device, board or cluster that a request names.
llvm::Expected<Targets> targetsOf(const TargetChoice &choice);
} // namespace rhizome::planbuild
