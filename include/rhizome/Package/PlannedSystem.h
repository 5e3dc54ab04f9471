// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `kernel.system`: how the unit of a kernel is connected to
// off-chip memory and to a host. Programs on the host and the connectivity of
// vendors' tools follow from it.
#pragma once

#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
/// An AXI4 master, which moves one stream of the unit from or to a buffer. The
/// buffer has a place for each group of `lanes` elements, one after the other,
/// `groupBytes` apart; a stream that is read once has one place. A place has
/// the stream's beats one after the other, little-endian, as PortLayout says.
struct PlannedMover {
  std::string port;   ///< "m_axi_0"
  std::string stream; ///< of the unit: "s_axis_0", read; "m_axis_0", written
  bool isWrite = false;
  bool isOnce = false; ///< read once after each start
  unsigned dataWidth = 512;
  unsigned wordBits = 32;
  int64_t lanes = 1;      ///< elements of a group
  int64_t words = 0;      ///< of an element, with what fills up beats
  int64_t groupBytes = 0; ///< from a group to the next, whole bursts
  int64_t burst = 1;      ///< beats of a burst; a group's last may be shorter
  int64_t depth = 2;      ///< beats of its buffer
  int64_t offset = 0;     ///< of its address register, 64 bits
  std::vector<int64_t> banks; ///< of the memory, one for each unit
  int64_t beats() const {     ///< of a group
    return (words * lanes * wordBits + dataWidth - 1) / dataWidth;
  }
  bool operator==(const PlannedMover &) const = default;
};

/// The registers are those of Vitis' protocol ap_ctrl_hs: control at 0x00,
/// interrupts at 0x04, 0x08, 0x0c, then the arguments.
struct PlannedSystem {
  std::string kernel = "rhz_kernel"; ///< its name for vendors' tools
  std::string memory;                ///< of the node's memories
  std::string control = "s_axi_control";
  int64_t elements = 0; ///< offset of the number of elements, 32 bits
  int64_t units = 1;    ///< equal kernels, each with elements of its own
  std::vector<std::string> dies; ///< of each unit; empty on a device with one
  std::vector<PlannedMover> ports;
  /// Groups of a unit after whose first half the distances settle: later where
  /// several ports share a bank.
  int64_t settledGroups() const;
  bool operator==(const PlannedSystem &) const = default;
};

/// Register offset of the address of port `index`.
constexpr int64_t addressOffset(int64_t index) { return 0x10 + 12 * index; }

/// As in plan.json.
llvm::json::Value toJSON(const PlannedSystem &system);
bool fromJSON(const llvm::json::Value &value, PlannedSystem &system,
              llvm::json::Path path);
} // namespace rhizome
