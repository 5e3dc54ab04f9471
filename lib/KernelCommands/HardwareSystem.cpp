// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The system of a kernel on a device: movers and their buffers, the banks they
// take, dies of units, and the cycles of an element with the memory.
#include "HardwareParts.h"
#include "SystemModel.h"
#include "rhizome/Units/Circuit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <map>
#include <set>

using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::gen;

/// Vitis takes no wider ports of kernels.
constexpr int64_t kWidestPort = 512;

static rhz::MemoryTiming timingOf(const Memory &memory, int64_t bits,
                                  double clockMhz) {
  return rhz::MemoryTiming::of(memory, bits / 8, clockMhz);
}

int64_t kernelcommands::systemPortBits(const DeviceContext &device) {
  return std::min(kWidestPort, device.memories[0].portBitsAt(device.clockMhz));
}

void kernelcommands::sizeMover(Mover &mover, const DeviceContext &device) {
  mover.dataWidth = systemPortBits(device);
  const rhz::MemoryTiming timing =
      timingOf(device.memories[0], mover.dataWidth, device.clockMhz);
  const double perBeat = double(timing.portTicks()) / double(rhz::kTicks);
  // The stream takes no more than its own beats.
  const double rate =
      std::min(1 / perBeat,
               double(mover.wide * mover.wordBits) / double(mover.dataWidth));
  // What is read comes late after a request, and later after a refresh; what is
  // written waits in the memory's own queue.
  const int64_t late = mover.isOnce    ? 0
                       : mover.isWrite ? timing.latency
                                       : timing.latency + timing.refresh;
  gen::sizeMover(mover, late, rate);
}

unsigned kernelcommands::wordBits(llvm::ArrayRef<mlir::Value> tensors) {
  unsigned bits = 8;
  for (mlir::Value v : tensors)
    bits = std::max(
        bits, mlir::getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth());
  return bits;
}

std::vector<Mover> kernelcommands::moversOf(const loops::KernelUnit &unit,
                                            int64_t lanes,
                                            const DeviceContext &device) {
  std::vector<Mover> movers;
  for (const auto *streams : {&unit.inStreams, &unit.outStreams})
    for (const loops::UnitStream &stream : *streams) {
      Mover m;
      m.stream = stream.name;
      m.isWrite = streams == &unit.outStreams;
      m.isOnce = stream.isOnce;
      m.wordBits = wordBits(stream.tensors);
      m.lanes = stream.isOnce ? 1 : lanes;
      m.wide = unit.words * m.lanes;
      m.row = 0;
      for (mlir::Value v : stream.tensors)
        m.row += int64_t(llvm::divideCeil(
                     mlir::cast<mlir::RankedTensorType>(v.getType())
                         .getNumElements(),
                     unit.words)) *
                 m.wide;
      sizeMover(m, device);
      movers.push_back(std::move(m));
    }
  return movers;
}

Resources kernelcommands::priceOf(llvm::ArrayRef<Mover> movers,
                                  const CostContext &context) {
  Resources all = costOfRegisters(int64_t(movers.size()), context);
  for (const Mover &m : movers)
    all += costOf(m, context);
  return all;
}

SystemUnit kernelcommands::asSystemUnit(const Resources &resources,
                                        llvm::ArrayRef<Mover> movers) {
  SystemUnit unit{resources, 0, wiresOfRegisters()};
  for (const Mover &m : movers)
    unit.memoryWires += wiresOf(m);
  return unit;
}

/// Banks in turn, unit by unit; what is read once has one for all units.
static void placePorts(PlannedSystem &system, int64_t banks) {
  int64_t next = 0;
  for (int64_t u = 0; u < system.units; ++u)
    for (PlannedMover &port : system.ports)
      if (!port.isOnce)
        port.banks.push_back(next++ % banks);
  for (PlannedMover &port : system.ports)
    if (port.isOnce)
      port.banks.assign(size_t(system.units), next++ % banks);
}

/// The cycles in which the busiest bank moves a group of every unit, after
/// refreshes. Bursts of several ports at a bank interrupt each other.
static double bankCycles(const PlannedSystem &system, const Memory &memory,
                         double clockMhz) {
  std::map<int64_t, double> ticks;
  std::map<int64_t, int64_t> ports;
  for (const PlannedMover &m : system.ports)
    for (int64_t bank : m.banks)
      ports[bank] += !m.isOnce;
  double most = 0;
  for (const PlannedMover &m : system.ports) {
    const rhz::MemoryTiming t = timingOf(memory, m.dataWidth, clockMhz);
    for (int64_t bank : m.banks) {
      if (m.isOnce)
        continue;
      const double bursts = double(llvm::divideCeil(m.beats(), m.burst));
      double &at = ticks[bank];
      at += double(m.beats() * t.beatTicks) +
            (ports[bank] > 1 ? bursts * double(t.turnTicks) : 0);
      const double share =
          t.refreshEvery ? double(t.refresh) / double(t.refreshEvery) : 0;
      most = std::max(most, at / double(rhz::kTicks) / (1 - share));
    }
  }
  return most;
}

/// The cycles in which a port alone moves so many beats, after refreshes.
static double portCycles(int64_t beats, const PlannedMover &m,
                         const Memory &memory, double clockMhz) {
  const rhz::MemoryTiming t = timingOf(memory, m.dataWidth, clockMhz);
  const double share =
      t.refreshEvery ? double(t.refresh) / double(t.refreshEvery) : 0;
  return double(beats * t.portTicks()) / double(rhz::kTicks) / (1 - share);
}

/// A unit waits while it reads or writes if a port is slower than its stream,
/// but for what a buffer holds.
static double waitCycles(const PlannedMover &m, int64_t streamBeats,
                         int64_t buffered, const Memory &memory,
                         double clockMhz) {
  const int64_t beats = std::max<int64_t>(0, m.beats() - buffered);
  return std::max(0.0,
                  portCycles(beats, m, memory, clockMhz) - double(streamBeats));
}

/// What a single group takes from the start's register to the interrupt, beyond
/// the unit's own latency: the reset, the memory's answers to the first request
/// and the last burst, that burst, and ports that are slower than streams.
static double moreLatency(const PlannedKernel &kernel,
                          const PlannedSystem &system,
                          llvm::ArrayRef<Mover> movers, const Memory &memory,
                          double clockMhz) {
  constexpr double kStart = 30, kRegisters = 8;
  double once = 0, reads = 0, writes = 0, burst = 0;
  int64_t latency = 0;
  // Ports that read from one bank wait for each other.
  std::map<int64_t, double> busy;
  std::map<int64_t, int64_t> readers;
  for (const PlannedMover &port : system.ports)
    for (int64_t bank : port.banks)
      readers[bank] += !port.isOnce && !port.isWrite;
  for (const PlannedMover &port : system.ports)
    for (int64_t bank : port.banks)
      if (!port.isOnce && !port.isWrite)
        busy[bank] +=
            portCycles(port.beats(), port, memory, clockMhz) +
            (readers[bank] > 1
                 ? double(
                       llvm::divideCeil(port.beats(), port.burst) *
                       timingOf(memory, port.dataWidth, clockMhz).turnTicks) /
                       double(rhz::kTicks)
                 : 0);
  for (auto [port, m] : llvm::zip_equal(system.ports, movers)) {
    latency = timingOf(memory, m.dataWidth, clockMhz).latency;
    if (port.isOnce) {
      once += double(m.streamBeats());
      continue;
    }
    if (port.isWrite)
      writes = std::max(writes,
                        waitCycles(port, m.streamBeats(), 0, memory, clockMhz));
    else
      for (int64_t bank : port.banks)
        reads = std::max(reads, busy[bank] - double(m.streamBeats()));
    const int64_t last = std::min(port.burst, port.beats());
    if (port.isWrite)
      burst = std::max(burst,
                       double(last) + portCycles(last, port, memory, clockMhz));
  }
  return kStart + kRegisters + double(2 * latency) + burst + reads + writes +
         (kernel.isDataflow ? 0 : once);
}

void kernelcommands::addSystem(Plan &plan, const loops::KernelUnit &unit,
                               llvm::ArrayRef<Mover> movers, int64_t units,
                               const DeviceContext &context) {
  PlannedNode &node = plan.nodes[0];
  PlannedKernel &kernel = *plan.kernel;
  const Memory &memory = context.memories[0];
  PlannedSystem system;
  system.memory = memory.name;
  system.units = units;
  for (auto [k, m] : llvm::enumerate(movers)) {
    PlannedMover port;
    port.port = "m_axi_" + std::to_string(k);
    port.stream = m.stream;
    port.isWrite = m.isWrite;
    port.isOnce = m.isOnce;
    port.dataWidth = unsigned(m.dataWidth);
    port.wordBits = unsigned(m.wordBits);
    port.lanes = m.lanes;
    port.words = m.row / m.lanes;
    const int64_t bytes = m.burst * m.dataWidth / 8;
    port.groupBytes = int64_t(llvm::divideCeil(m.beats(), m.burst)) * bytes;
    port.burst = m.burst;
    port.depth = m.depth;
    port.offset = addressOffset(int64_t(k));
    system.ports.push_back(std::move(port));
  }
  system.elements = addressOffset(int64_t(movers.size()));
  placePorts(system, memory.banks);

  node.memories = {{memory.name, memory.banks, memory.bytesPerS,
                    memory.latencyNs, memory.turnaroundNs,
                    memory.refreshEveryNs, memory.refreshNs}};
  node.top = kSystem;
  Prediction &p = node.predicted;
  const double busy = bankCycles(system, memory, context.clockMhz);
  double cycles = std::max(double(p.intervalCycles), busy);
  int64_t latency =
      p.latencyCycles + int64_t(std::llround(moreLatency(
                            kernel, system, movers, memory, context.clockMhz)));
  if (auto timing =
          timeSystem(unit, movers, system,
                     timingOf(memory, movers[0].dataWidth, context.clockMhz))) {
    cycles = timing->interval;
    latency = timing->latency;
  }
  // Refreshes and turns alone do not make a memory the bottleneck.
  constexpr double kSlower = 1.1;
  if (cycles > kSlower * double(p.intervalCycles) ||
      busy > double(p.intervalCycles)) {
    plan.bottleneck = memory.name;
    plan.bottleneckKind = "memory";
  }
  p.intervalCycles = int64_t(std::llround(cycles));
  p.latencyCycles = latency;
  p.latencyUs = double(p.latencyCycles) / p.clockMhz;
  p.throughputPerS = double(units * kernel.lanes) * p.clockMhz * 1e6 /
                     double(p.intervalCycles);
  plan.predicted = p;
  kernel.system = std::move(system);
}

double kernelcommands::boundOf(const Plan &plan, const DeviceContext &device) {
  const PlannedKernel &kernel = *plan.kernel;
  const PlannedNode &node = plan.nodes[0];
  std::set<std::string> residents;
  for (const PlannedStream &stream : kernel.streams)
    if (stream.isOnce)
      residents.insert(stream.tensors.begin(), stream.tensors.end());
  double longest = 0, all = 0;
  for (const auto *tensors : {&kernel.inputs, &kernel.outputs})
    for (const PlannedTensor &tensor : *tensors) {
      if (residents.count(tensor.name))
        continue;
      const double bits =
          double(tensor.words()) * double(std::max(8, tensor.format.width()));
      longest = std::max(longest, bits);
      all += bits;
    }
  int64_t beat = loops::UnitOptions().beatBits;
  for (const auto *ports : {&node.inputs, &node.outputs})
    for (const BorderPort &port : *ports)
      beat = std::max(beat, int64_t(port.dataWidth));
  double bound = double(beat) * device.clockMhz * 1e6 / longest;
  if (kernel.system)
    bound = std::min(
        bound * double(kMostUnits),
        8 * device.memories[0].sustainedBytesPerS(device.clockMhz) / all);
  return std::max(bound, plan.predicted.throughputPerS);
}

void kernelcommands::addDies(Plan &plan, const SystemUnit &unit,
                             const SystemLayout &layout,
                             const SystemRoom &room) {
  PlannedNode &node = plan.nodes[0];
  for (auto [die, has] : llvm::zip_equal(room.dies, layout.dies)) {
    PlannedDie &planned = node.dies.emplace_back();
    planned.name = die.name;
    for (size_t k = 0; k < kResourceNames.size(); ++k) {
      const std::string name = kResourceNames[k];
      if (die.routable.amount[k] > 0)
        planned.budget[name] = int64_t(die.routable.amount[k]);
      if (const double used = double(has.units) * unit.resources.amount[k];
          used > 0)
        planned.resources[name] = std::round(1e6 * used) / 1e6;
    }
    if (node.dies.size() < room.dies.size()) {
      planned.wires = has.wires;
      planned.wiresAvailable = room.wires;
    }
  }
  for (size_t die : layout.dieOf)
    plan.kernel->system->dies.push_back(room.dies[die].name);
}
