// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources of a device, its clock and arithmetic blocks, read from
// one data file each (data/devices/*.yaml). A new device is a new file.
#pragma once

#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rhizome {
/// Two products with one shared factor in one DSP block: which operands fit,
/// and how many such products may be added before the two sums must be
/// separated.
struct DspPairs {
  unsigned xBits = 0;             ///< width of the shared factor
  unsigned wBits = 0;             ///< width of the two (signed) weights
  unsigned maxPackedSigned = 0;   ///< sums of a signed x
  unsigned maxPackedUnsigned = 0; ///< sums of an unsigned x
  bool operator==(const DspPairs &) const = default;
};

/// The device's names for nextpnr.
struct Router {
  std::string program; ///< "nextpnr-ice40", "nextpnr-ecp5"
  std::string chip;    ///< "hx8k", "85k": the program's option
  std::string package; ///< as the program names it
  unsigned speed = 0;  ///< speed grade, 0 if the chip has only one
  bool operator==(const Router &) const = default;
};

/// Off-chip memory.
struct DeviceMemory {
  std::string name;   ///< "ddr4", "hbm2"; as its kind if none is given
  std::string kind;   ///< "hbm" or "ddr"
  unsigned banks = 0; ///< pseudo channels or channels, numbered from 0
  /// Ports of one bank that a design may use at once, each of which reaches all
  /// of it. Only a memory of one bank has several: that of processors on the
  /// same chip.
  unsigned ports = 1;
  double bytesPerS = 0;   ///< of all banks together, at most
  unsigned portBits = 64; ///< of a beat at a bank's port
  /// The port's own clock: a design with a slower one has a port as many times
  /// wider. 0: the design's.
  double portMhz = 0;
  // Omitted times are zero.
  int64_t latencyNs = 0;      ///< from a request to its first data
  int64_t turnaroundNs = 0;   ///< lost if a burst does not continue the last
  int64_t refreshEveryNs = 0; ///< between refreshes of a bank, 0: never
  int64_t refreshNs = 0;      ///< during which nothing is read

  /// How many ports a design with this clock has: as many banks, or of the
  /// ports of one bank those that this can serve at their full rate, at least
  /// one.
  unsigned portsAt(double clockMhz) const;
  bool operator==(const DeviceMemory &) const = default;
};

/// The compute resources of a CPU.
struct Processor {
  unsigned cores = 0;
  /// Products of two 8-bit integers that a core can accumulate per cycle.
  unsigned macsPerCycle = 0;
  int64_t cacheBytes = 0; ///< of the last level, which holds weights
  bool operator==(const Processor &) const = default;
};

/// One of several dies in a package (AMD: super logic region).
struct Die {
  std::string name; ///< as the vendor's tools name it: "SLR0"
  std::map<std::string, int64_t> budget; ///< its part of the device's
  bool operator==(const Die &) const = default;
};

/// The dies of a device, in the order of their row, and what is between
/// neighbors.
struct DeviceDies {
  std::vector<Die> dies; ///< empty for a device with one
  int64_t wires = 0;     ///< between two neighbors
  int registers = 0;     ///< that a beat passes on its way
  int border = 0;        ///< the die next to the host, or to the shell
  int memory = 0;        ///< the die with the ports to off-chip memory
  bool operator==(const DeviceDies &) const = default;
};

struct Device {
  std::string name;
  std::string description;
  /// Set for a CPU, for which only clock and memory of the following are used;
  /// no generator builds for one yet.
  std::optional<Processor> processor;
  std::string family;    ///< "ultrascale", "ultrascale+", "7series", "ecp5", …
  std::string part;      ///< the vendor's part number
  std::string dspKind;   ///< "dsp48e2", "dsp48e1", "mult18x18"
  unsigned dspABits = 0; ///< the multiplier's wider signed operand
  unsigned dspBBits = 0; ///< the multiplier's narrower signed operand
  std::optional<DspPairs> dspPairs;
  /// The network shell around the region, whose ports a design must have; ""
  /// if there is none.
  std::string shell;
  std::string platform; ///< the vendor's platform for kernels, "" if none
  std::optional<DeviceMemory> memory;
  /// What a design may use, by resource name: lut, ff, dsp, bram, uram, lutram.
  std::map<std::string, int64_t> budget;
  DeviceDies dies;
  /// The shares of the budget that route in practice, by resource name; those
  /// that are left out route whole.
  std::map<std::string, double> routable;
  int64_t bramBits = 0;      ///< bits of one unit of `bram`
  unsigned bramMaxWidth = 0; ///< widest word of one unit of `bram`
  double clockMhz = 0;       ///< the default clock
  /// The maximum clock that the vendor specifies for block RAM or the clock
  /// network; 0 if no source gives it. Designs rarely come near it.
  double maxClockMhz = 0;
  unsigned streamBits = 0; ///< data width of the AXI4-Stream border
  unsigned lutInputs = 0;
  std::optional<Router> router;     ///< if nextpnr supports the device
  std::vector<std::string> sources; ///< where the figures come from
  bool operator==(const Device &) const = default;
};

/// The default device of commands: that of the DOSA paper's
/// cluster, whose published figures ours are compared with.
inline constexpr const char *kDefaultDevice = "xcku060-role";

/// Reads a device by its name (a file of data/devices without ".yaml") or, if
/// `nameOrPath` ends in ".yaml" or holds a "/", from that file. A malformed
/// file is refused with its path, line and reason; an unknown name with the
/// known ones.
llvm::Expected<Device> loadDevice(llvm::StringRef nameOrPath);

/// All devices of the data folder, by name in ascending order.
llvm::Expected<std::vector<Device>> listDevices();
} // namespace rhizome
