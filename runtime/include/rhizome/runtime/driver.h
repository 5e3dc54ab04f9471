// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What computes a compiled design, behind few calls: nothing (null), a function
// on the CPU, a simulation, a board at a serial line, nodes on a network or in
// an MPI job, an OpenCL device. A driver moves frames of bytes; what their bits
// mean is border.h's. Order and sizes of calls are checked here, once for all
// drivers, so that each of them behaves alike when it is misused.
#pragma once

#include "rhizome/runtime/metrics.h"
#include "rhizome/runtime/region.h"
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rhizome::runtime {
/// Why a call failed.
enum class Fault {
  None,
  Order,       ///< not now: not open, open already, nothing written, …
  Size,        ///< bytes or a number that the design does not have
  File,        ///< a file of the package is missing, short or altered
  Segment,     ///< there is no such segment, or one was not loaded
  Unsupported, ///< this driver cannot do it for this design
  TimeOut,     ///< no answer yet; the frame is still on its way
  Gone,        ///< the device is lost; only `close` helps
  Device,      ///< the device answers, but not as it should
};

/// True if all is well; else the reason for programs and for people.
struct Status {
  Fault fault = Fault::None;
  std::string text;
  explicit operator bool() const { return fault == Fault::None; }
};

using Bytes = std::vector<uint8_t>;
using Duration = std::chrono::nanoseconds;

/// A stream into a design or out of it.
struct Port {
  std::string name;
  uint64_t frameBits = 0;
  unsigned beatBits = 8; ///< a frame on the wires is padded to whole beats
  /// Of a frame as `write` and `read` have it: bit-packed, whole bytes.
  size_t frameBytes() const { return size_t((frameBits + 7) / 8); }
  uint64_t beats() const { return (frameBits + beatBits - 1) / beatBits; }
  /// Of a frame in whole beats.
  size_t paddedBytes() const { return size_t(beats()) * (beatBits / 8); }
};

/// A file of the package that the device needs.
struct File {
  std::string path; ///< below the design's folder
  uint64_t bytes = 0;
  uint64_t checksum = 0; ///< rhz_checksum of its bytes
};

/// A file that lies in a bank of a memory before the first frame.
struct Segment : File {
  std::string memory;
  int64_t bank = 0, address = 0;
  size_t port = 0; ///< which of the design's ports to memories reads it
};

/// A program in OpenCL C that the package brings: one kernel, with the
/// arguments inputs…, outputs…, memories…, space, each a __global buffer. Four
/// bytes after the last output, or less, where four-byte words begin, it
/// reports two of them: a Report, and what the memory says instead.
struct Program {
  std::string file;        ///< below the design's folder
  std::string kernel;      ///< its name, which no other program has
  uint64_t spaceBytes = 0; ///< that it works in; it keeps nothing there
};
/// What a program of the package says of what lies in the memory.
enum class Report : uint32_t {
  Done,
  OtherSet,  ///< it is for another instruction set
  OtherCore, ///< it is for another core
  TooLong,   ///< it ends where its memory ends
  TooMany,   ///< of its blocks of weights more have to wait than there is room
};

/// What a driver has to know of a compiled package.
struct Design {
  std::string name;
  std::string folder; ///< the package's
  std::vector<Port> inputs, outputs;
  std::vector<File> images; ///< of memories on the chip
  std::vector<Segment> segments;
  std::vector<Region> regions; ///< none: one of all ports
  std::optional<Program> program;
  /// Whether it keeps something from frame to frame: each frame depends on
  /// those before it, back to `open`, with which it begins anew.
  bool keepsState = false;
  /// Of each port to memories, up to where its last segment ends.
  std::vector<uint64_t> memoryBytes() const;
  size_t regionCount() const { return regions.empty() ? 1 : regions.size(); }
  /// Of that number, below regionCount().
  Region region(size_t number) const {
    return regions.empty() ? Region{0, inputs.size(), 0, outputs.size()}
                           : regions[number];
  }
  std::span<const Port> inputsOf(size_t number) const {
    const Region r = region(number);
    return std::span(inputs).subspan(r.firstInput, r.inputs);
  }
  std::span<const Port> outputsOf(size_t number) const {
    const Region r = region(number);
    return std::span(outputs).subspan(r.firstOutput, r.outputs);
  }
};

/// The bytes of a file of the design, or Fault::File with its name.
Status readFile(const Design &design, const File &file, Bytes &bytes);
/// Whether all images are as they were compiled.
Status checkImages(const Design &design);

struct Statistics {
  uint64_t launched = 0, done = 0;   ///< jobs
  uint64_t timeOuts = 0, faults = 0; ///< of launches and waits
  /// Of nodes on a network: frames that were sent again after a node had
  /// started anew, datagrams that were sent again.
  uint64_t repeated = 0, resent = 0;
  /// Frames that the design found too short or too long at its border, where
  /// the driver can read that: the simulation.
  uint64_t frameErrors = 0;
  uint64_t bytesWritten = 0, bytesRead = 0;
  /// From launch to the end of the wait, of frames that are done.
  Duration shortest{0}, longest{0}, sum{0};
  Histogram latency; ///< the same durations
  /// The rest is of nodes on a network.
  struct Node {
    std::string name, place;
    bool isUp = false;
    uint64_t silences = 0; ///< times that it fell silent
  };
  std::vector<Node> nodes;
  /// Of a network that several replicas compute, each of them whole.
  size_t replicas = 0, replicasUp = 0;
  uint64_t failovers = 0; ///< a replica's frames went to the others
  uint64_t datagramsSent = 0, datagramsReceived = 0;
};

/// The calls in order: open, allocate, load, then of each job write (every
/// input), launch, wait, read (every output), at last close. One thread at a
/// time. A job is a frame of one region; most designs have one region, and then
/// a job is a frame. Jobs are answered in the order in which they were
/// launched, whatever their regions.
class Driver {
public:
  virtual ~Driver() = default;
  virtual const char *name() const = 0;

  /// Takes the device. Fault::Order if it is open, File, Unsupported, Gone.
  Status open(Design design);
  /// Room for so many jobs on their way; one unless it is called. Not while
  /// jobs are on their way.
  Status allocate(size_t frames);
  /// Gives the device a segment's content. Fault::Segment, Size, File.
  Status load(size_t segment, std::span<const uint8_t> bytes);
  /// Reads all segments from the package and loads them.
  Status loadAll();
  /// One input of its region's next job: exactly its port's frameBytes().
  Status write(size_t input, std::span<const uint8_t> frame);
  /// Starts the job of a region whose inputs were written. Fault::Segment,
  /// Order, Size.
  Status launch(size_t region = 0);
  /// Waits until the oldest job is done, `patience` at most.
  Status wait(Duration patience);
  /// Spends up to so long on what the device needs while nothing is on its way
  /// and the caller has other things to wait for.
  Status tend(Duration longest);
  /// One output, of the design's numbers, of the job that the last `wait` was
  /// for.
  Status read(size_t output, std::span<uint8_t> frame);
  /// Counted since `open`.
  Statistics statistics() const {
    Statistics result = counts;
    refine(result);
    return result;
  }
  /// Lets go of the device, whatever it does. Harmless if it is not open.
  void close();

  const Design &design() const { return theDesign; }
  size_t onTheirWay() const { return started.size(); }
  size_t room() const { return allocated; }

protected:
  // What a driver does; all arguments have been checked.
  virtual Status doOpen() = 0;
  /// A design without segments never calls it.
  virtual Status doLoad(const Segment &segment,
                        std::span<const uint8_t> bytes) = 0;
  /// Takes one job, an entry per input of its region.
  virtual Status doLaunch(size_t region, std::vector<Bytes> inputs) = 0;
  /// The answer of the oldest job, which is one of `region`: an entry per
  /// output of that, each of frameBytes().
  virtual Status doWait(size_t region, Duration patience,
                        std::vector<Bytes> &outputs) = 0;
  virtual void doClose() = 0;
  /// Needed by devices that take a silent program for one that has gone.
  virtual Status doTend(Duration longest);
  /// Enters what the driver knows better, such as when a frame really left.
  virtual void refine(Statistics &) const {}

private:
  Design theDesign;
  bool isOpen = false, isGone = false;
  size_t allocated = 1;
  std::vector<bool> loaded;    ///< by segment
  std::vector<Bytes> written;  ///< by input
  std::vector<bool> isWritten; ///< by input
  struct Job {
    size_t region;
    std::chrono::steady_clock::time_point launched;
  };
  std::deque<Job> started;   ///< on their way
  std::vector<Bytes> answer; ///< of the last job's region; empty: none
  Region answered;           ///< the region
  Statistics counts;

  Status usable() const;
  Status noted(Status status);
};
} // namespace rhizome::runtime
