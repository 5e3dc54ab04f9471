// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a package with one of the runtime's drivers; the compiler's side adds
// the CPU function and the simulator program.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/runtime/drivers.h"
#include <functional>
#include <memory>
#include <optional>

namespace rhizome::deploy {
/// What computes a package's frames.
enum class DriverKind {
  Null,
  Cpu,
  Simulation,
  Uart,
  Udp,
  Mpi,
  OpenCl,
  Pynq,
  Xrt
};

struct DriverOptions {
  std::string port;        ///< uart: the serial line
  unsigned baud = 1000000; ///< uart
  /// Simulation: percent of cycles in which a source offers nothing, a sink
  /// takes nothing.
  unsigned stallsIn = 0, stallsOut = 0;
  uint64_t seed = 1;    ///< simulation
  std::string hostfile; ///< mpi: where the ranks run; "": here
  std::string platform; ///< opencl: part of a platform's name
  /// opencl: the device's, "": the CPU in its place; pynq: the overlay, "":
  /// the package's; xrt: the .xclbin.
  std::string program;
  unsigned card = 0; ///< xrt
  /// Told in words of what takes a while, such as building a simulator.
  std::function<void(const std::string &what)> onWait;
};

/// The properties of a package that a driver needs. The package is as it was
/// compiled: its files' checksums are taken now.
llvm::Expected<runtime::Design> designOf(const Package &package);

/// What computes in a device's place on this CPU.
using ComputeOf = std::function<llvm::Expected<runtime::Compute>()>;
/// The regions of a package's network as machine code, on frames of bytes.
llvm::Expected<runtime::Compute> computeOf(const Package &package);

/// A driver for the package, not yet open. Refuses unsuitable ones: a
/// simulation of several nodes, ranks of a single one, a serial line without a
/// name, a card without a program. Nodes on a network have their own client
/// (makeClient).
llvm::Expected<std::unique_ptr<runtime::Driver>>
makeDriver(const Package &package, DriverKind kind,
           const DriverOptions &options, const ComputeOf &computeOf);
} // namespace rhizome::deploy
