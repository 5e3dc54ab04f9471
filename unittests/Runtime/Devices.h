// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands at the far end of each driver in the conformance suite: a device
// that computes a function on frames and can be told to fail. All of them have
// one face, so that the suite does not know which one it has.
#pragma once

#include "rhizome/runtime/drivers.h"
#include <memory>
#include <string>

namespace rhizome::test {
/// What computes a job: bytes of its region's only input, of its only output.
using Function =
    std::function<runtime::Bytes(size_t region, const runtime::Bytes &)>;

class Device {
public:
  virtual ~Device() = default;
  /// A driver for the device as it stands.
  virtual std::unique_ptr<runtime::Driver> driver() = 0;
  /// Takes frames and answers none of them, or goes on.
  virtual void stall(bool) {}
  /// Is gone, e.g. pulled out.
  virtual void die() {}
  /// Stands there again, as after power on.
  virtual void revive() {}

  // What can be asked of it.
  bool computes = true;   ///< its answers are the function's
  bool isMortal = true;   ///< `stall` and `die` do something
  bool hasMemory = true;  ///< it takes segments
  bool readsFiles = true; ///< it looks at the package's images
  /// How its death shows, and how long that may take to be noticed.
  runtime::Fault death = runtime::Fault::Gone;
  runtime::Duration deathPatience = std::chrono::seconds(20);
  /// Why there is none on this machine, "" if there is.
  std::string missing;
};

std::unique_ptr<Device> nullDevice();
std::unique_ptr<Device> cpuDevice(Function function);
/// A pseudo terminal with a thread at its other end, which gives its answers in
/// pieces.
std::unique_ptr<Device> uartDevice(Function function,
                                   const runtime::Design &design);
/// Where the far end's other end is.
std::string uartPort(const Device &uart);
/// A node's endpoint on the loopback interface, on a thread.
std::unique_ptr<Device> udpDevice(Function function,
                                  const runtime::Design &design);
/// A simulator's program, which looks at RHZ_TOY, and the folder in which it
/// runs.
std::unique_ptr<Device> simulationDevice(const std::string &program,
                                         const std::string &folder);
/// Ranks of an MPI job, started by `command`; its rank 1 is stopped and killed.
std::unique_ptr<Device> mpiDevice(const std::vector<std::string> &command);
/// A function in the place of a device of an OpenCL platform. Its death is that
/// of `library`, which looks at RHZ_OPENCL as BrokenOpenCl does.
std::unique_ptr<Device> openClDevice(Function function,
                                     const std::string &library);
/// The beginning of a launcher's command on this machine, up to -n.
std::vector<std::string> mpiLauncher();
} // namespace rhizome::test
