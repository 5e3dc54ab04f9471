// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The drivers there are, and what each is told of its device.
#pragma once

#include "rhizome/runtime/driver.h"
#include "rhizome/runtime/service.h"
#include "rhizome/runtime/udp.h"
#include <functional>
#include <map>
#include <memory>

namespace rhizome::runtime {
/// Takes everything and answers zeros: what a design costs without a device,
/// and the text from which a new driver is made.
std::unique_ptr<Driver> makeNullDriver();

/// One job, an entry per input and output of its region; false with a sentence.
using Compute =
    std::function<bool(size_t region, const std::vector<Bytes> &inputs,
                       std::vector<Bytes> &outputs, std::string &error)>;
/// With this region, and no inputs, a function for a design that keeps state is
/// called when the driver is opened: it begins anew.
constexpr size_t kBegin = SIZE_MAX;
/// A function, on a thread of its own. The weights are the function's: segments
/// are checked and left alone. `close` waits for a frame that is being
/// computed.
std::unique_ptr<Driver> makeCpuDriver(Compute compute);

/// A program that simulates the design: frames in files, arguments as
/// data/sim/harness.cpp has them. It runs as a child process for all jobs of
/// one region that were launched, one after the other, before a wait. Of a
/// design that keeps state it simulates all frames since `open` again.
struct SimulationOptions {
  std::string program;
  std::string folder = "."; ///< in which it runs: the design's RTL
  /// Per cent of cycles in which a source offers nothing, a sink takes nothing.
  unsigned stallsIn = 0, stallsOut = 0;
  uint64_t seed = 1;
  int64_t hangCycles = 100000; ///< without output that count as a hang
  /// Confines the thread that starts the program, and so the program, to write
  /// in this folder; what went wrong, "" if nothing. May be empty.
  std::function<std::string(const std::string &folder)> confine;
  /// Lives as long as the driver: what keeps the program where it is.
  std::shared_ptr<const void> held;
};
std::unique_ptr<Driver> makeSimulationDriver(SimulationOptions options);

/// A board behind rtl/shell/rhz_uart_shell.sv: 8 data bits, no parity. One
/// frame is on the line at a time, others wait here. A break resets the design
/// when the driver is opened; where the line has none, as a pseudo terminal, a
/// design that keeps state is refused. Of a design with several regions a byte
/// with the region's number goes before each frame, as
/// rtl/shell/rhz_uart_regions.sv has it.
struct UartOptions {
  std::string port; ///< "/dev/ttyUSB1", or a pseudo terminal
  unsigned baud = 1000000;
};
std::unique_ptr<Driver> makeUartDriver(UartOptions options);

/// Nodes on a network, boards or rhizome-node processes.
struct UdpOptions {
  link::Service service;
  /// "address:port" of each node, by its address in the service.
  std::map<uint16_t, std::string> places;
  std::string listen; ///< where the client's socket is, as in ClientOptions
  link::Mac seal;     ///< of nodes that share a key with the client
  Duration patience = std::chrono::seconds(10); ///< of `open`, for all nodes
  /// Told of nodes that fall silent, come back or start anew.
  std::function<void(const std::string &node, const std::string &line)> onEvent;
  /// Asked several times a second; true ends a call as a time-out.
  std::function<bool()> isCancelled;
};
std::unique_ptr<Driver> makeUdpDriver(UdpOptions options);

/// Nodes that run as ranks of an MPI job, which this driver starts. Rank 0
/// writes kMpiReady to its standard output when all ranks are there, then reads
/// jobs from its standard input (of each the region's inputs in order,
/// frameBytes() each; of a design with several regions the region's number goes
/// before them, kMpiRegion bytes little-endian) until that ends, and writes the
/// answers in that order, without a number. A rank that gives up says why on
/// standard error, in a line that begins with kMpiSays.
inline constexpr uint8_t kMpiReady = 'R';
inline constexpr size_t kMpiRegion = 2;
inline constexpr char kMpiSays[] = "rhizome-rank: ";
struct MpiOptions {
  /// The launcher, looked for in PATH, its arguments and the ranks' program:
  /// mpirun -n 3 rhizome-rank …
  std::vector<std::string> command;
  std::string folder;               ///< for the log, log.txt
  bool ownsFolder = false;          ///< it is removed with the driver
  std::shared_ptr<const void> held; ///< kept as long as the driver
  /// As that of SimulationOptions, for `folder`.
  std::function<std::string(const std::string &folder)> confine;
  Duration patience = std::chrono::seconds(60); ///< of `open`
};
std::unique_ptr<Driver> makeMpiDriver(MpiOptions options);

/// A design next to the processors of a Zynq, through PYNQ: the package's
/// client in Python as a child, which loads the overlay and the memories. It
/// speaks to this driver as rank 0 does above, of one region, and ends with a
/// line that begins with kPynqSays if it gives up.
inline constexpr char kPynqSays[] = "error: ";
struct PynqOptions {
  /// python3 rhizome_client.py pynq … --serve
  std::vector<std::string> command;
  std::string folder; ///< for the log, log.txt; it is removed with the driver
  Duration patience = std::chrono::seconds(60); ///< of `open`
};
std::unique_ptr<Driver> makePynqDriver(PynqOptions options);

/// A card with AMD's runtime XRT: the package's Vitis project as an .xclbin.
/// Null with a sentence in `error` where this library was built without XRT.
struct XrtOptions {
  std::string program; ///< the .xclbin
  unsigned card = 0;   ///< its number
};
std::unique_ptr<Driver> makeXrtDriver(XrtOptions options, std::string &error);

/// A device of an OpenCL platform; libOpenCL is loaded when the driver is
/// opened. Each frame has buffers of its own: written, computed and read back
/// by commands that wait for each other's events.
///
/// What computes is a program, a file of OpenCL C (.cl) or a device's binary
/// (.xclbin …), with the kernel of Design::program, or one kernel
///   rhz_frame(inputs…, outputs…, memories…), each a __global buffer,
/// (of a design with several regions rhz_frame_0, rhz_frame_1 …, each with its
/// region's inputs and outputs)
/// or the movers of a package's Vitis project: mm2s and s2mm, a compute unit
/// for each port, with the arguments memory, (stream), beats, frames, and for a
/// design with memories rhz_kernel(memories…), which is started when the last
/// segment is loaded. A memory is that of one of the design's ports, up to
/// where its last segment ends. Without a program it is `native`, a function in
/// the place of a device: for platforms that run functions of the host, as PoCL
/// does; without that too, the package's own program.
struct OpenClOptions {
  std::string platform; ///< part of its name; "": the first with a device
  std::string program;  ///< a file's path
  Compute native;
  std::string library = "libOpenCL.so.1";
};
std::unique_ptr<Driver> makeOpenClDriver(OpenClOptions options);
} // namespace rhizome::runtime
