// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The system of a kernel on a device: movers and their buffers, the banks they
// take, dies of units, and the cycles of an element with the memory.
#include "HardwareParts.h"
#include "rhizome/Generator/Circuit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <map>

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

void kernelcommands::sizeMover(hls::Mover &mover, const DeviceContext &device) {
  mover.dataWidth = systemPortBits(device);
  const rhz::MemoryTiming timing =
      timingOf(device.memories[0], mover.dataWidth, device.clockMhz);
  const double perBeat = double(timing.beatTicks) / double(rhz::kTicks);
  // The stream takes no more than its own beats.
  const double rate =
      std::min(1 / perBeat,
               double(mover.wide * mover.wordBits) / double(mover.dataWidth));
  hls::sizeMover(mover, timing.latency, rate);
}

std::vector<hls::Mover> kernelcommands::moversOf(const PlannedKernel &kernel,
                                                 const PlannedNode &node,
                                                 const DeviceContext &device) {
  std::vector<hls::Mover> movers;
  auto add = [&](const std::vector<BorderPort> &ports, bool isWrite) {
    for (const BorderPort &port : ports) {
      hls::Mover m;
      m.stream = port.port;
      m.isWrite = isWrite;
      m.isOnce = llvm::any_of(kernel.streams, [&](const PlannedStream &s) {
        return s.port == port.port && s.isOnce;
      });
      m.wordBits = port.element.width();
      m.wide = port.dataWidth / port.element.width();
      m.row = port.elements();
      m.lanes =
          layoutOf(kernel, isWrite ? kernel.outputs : kernel.inputs, port.port)
              .lanes;
      sizeMover(m, device);
      movers.push_back(std::move(m));
    }
  };
  add(node.inputs, false);
  add(node.outputs, true);
  return movers;
}

Resources kernelcommands::priceOf(llvm::ArrayRef<hls::Mover> movers,
                                  const CostContext &context) {
  Resources all = costOf(
      hls::structureOfRegisters(int64_t(movers.size()), context), context);
  for (const hls::Mover &m : movers)
    all += costOf(hls::structureOf(m, context), context);
  return all;
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

/// A serial unit waits while it reads or writes if a port is slower than its
/// stream: what the buffer holds comes at once, the rest at the port's rate.
static double waitCycles(const PlannedMover &m, int64_t streamBeats,
                         const Memory &memory, double clockMhz) {
  const rhz::MemoryTiming t = timingOf(memory, m.dataWidth, clockMhz);
  const double share =
      t.refreshEvery ? double(t.refresh) / double(t.refreshEvery) : 0;
  const double slow = double(std::max<int64_t>(0, m.beats() - m.depth)) *
                      double(t.beatTicks) / double(rhz::kTicks) / (1 - share);
  return std::max(0.0, slow - double(streamBeats));
}

void kernelcommands::addSystem(Plan &plan, llvm::ArrayRef<hls::Mover> movers,
                               int64_t units, const Device &device,
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
  // One after the other on the dies, that of the memory first.
  const auto &dies = device.dies.dies;
  for (int64_t u = 0; u < units && !dies.empty(); ++u)
    system.dies.push_back(
        dies[size_t(int64_t(device.dies.memory) + u) % dies.size()].name);

  node.memories = {{memory.name, memory.banks, memory.bytesPerS,
                    memory.latencyNs, memory.turnaroundNs,
                    memory.refreshEveryNs, memory.refreshNs}};
  node.top = kSystem;
  Prediction &p = node.predicted;
  double cycles = double(p.intervalCycles);
  if (!kernel.isDataflow)
    for (auto [port, m] : llvm::zip_equal(system.ports, movers))
      if (!port.isOnce)
        cycles += waitCycles(port, m.streamBeats(), memory, context.clockMhz);
  cycles = std::max(cycles, bankCycles(system, memory, context.clockMhz));
  if (int64_t(std::ceil(cycles)) > p.intervalCycles)
    plan.bottleneck = memory.name;
  p.intervalCycles = int64_t(std::ceil(cycles));
  p.throughputPerS = double(units * kernel.lanes) * p.clockMhz * 1e6 /
                     double(p.intervalCycles);
  plan.predicted = p;
  plan.boundPerS = p.throughputPerS;
  kernel.system = std::move(system);
}
