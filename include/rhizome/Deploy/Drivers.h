// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A package behind one of the runtime's drivers: what the compiler's side adds
// is the CPU's function and the simulator's program.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/runtime/driver.h"
#include <memory>
#include <optional>

namespace rhizome::deploy {
/// What computes a package's frames.
enum class DriverKind { Null, Cpu, Simulation, Uart, Udp, Mpi, OpenCl };

struct DriverOptions {
  std::string port;        ///< uart: the serial line
  unsigned baud = 1000000; ///< uart
  /// Simulation: per cent of cycles in which a source offers nothing, a sink
  /// takes nothing.
  unsigned stallsIn = 0, stallsOut = 0;
  uint64_t seed = 1;    ///< simulation
  std::string hostfile; ///< mpi: where the ranks run; "": here
  std::string platform; ///< opencl: part of a platform's name
  std::string program;  ///< opencl: the device's; "": the CPU in its place
};

/// What a driver has to know of a package, which is as it was compiled: its
/// files' checksums are taken now.
llvm::Expected<runtime::Design> designOf(const Package &package);

/// A driver for the package, not yet open. Refuses what it is not for: a
/// simulation of several nodes, ranks of one, a serial line that is not named.
/// Nodes on a network have a client of their own (runService).
llvm::Expected<std::unique_ptr<runtime::Driver>>
makeDriver(const Package &package, DriverKind kind,
           const DriverOptions &options);
} // namespace rhizome::deploy
