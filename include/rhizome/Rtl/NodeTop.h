// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module around a design that connects it to the node's links.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Dialect/Rtl/Rtl.h"

namespace rhizome {
/// A channel in hardware: parameters of rhz_link_rx or rhz_link_tx.
struct EndpointChannel {
  bool transmit = false;
  int64_t port = 0;       ///< of rhz_top's s_axis_… or m_axis_…
  int64_t frameBeats = 1; ///< of the stream
  int64_t every = 1; ///< frames of the port after which its channels repeat
  int64_t slotWords = 128, slots = 16;
  bool retain = true;
  int64_t waitTicks = 200, ackTicks = 40; ///< of 16 cycles
};

/// A port of rhz_top to a memory outside the chip.
struct EndpointMemory {
  std::string port; ///< "m_axi_ddr4_0"
  int64_t bits = 64;
  bool writes = false; ///< it also writes
};

struct EndpointOptions {
  int64_t streamBits = 64;
  int64_t inputs = 1, outputs = 1; ///< of rhz_top
  bool countsErrors = true;        ///< rhz_top has s_axis_0_err_o
  /// Receiving channels by port, then transmitting ones by port.
  std::vector<EndpointChannel> channels;
  std::vector<EndpointMemory> memories;
};

/// Adds `rtl.module @rhz_node` at the end of `parent`: an instance of
/// @rhz_top, the link endpoint between its streams and the shell's
/// (docs/spec/link.md, "The endpoint in hardware"), and guards between each of
/// its memory ports and the shell's: the endpoint resets rhz_top alone.
rtl::ModuleOp buildNodeTop(const EndpointOptions &options,
                           mlir::ModuleOp parent);
} // namespace rhizome
