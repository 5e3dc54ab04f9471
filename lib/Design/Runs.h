// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the timing of a design and the depths of its buffers ask of networks and
// runs.
#pragma once

#include "rhizome/Design/Design.h"
#include "rhizome/Timing/EventSim.h"

namespace rhizome::gen {
/// The frames of most runs; those of them before the first interval.
inline constexpr int kWarmUp = 3, kShort = 5;

/// Cycles of frames that each take seconds to simulate.
inline constexpr double kHuge = 1e7;

/// Does a process read a memory while frames pass? Weights are loaded before.
bool readsMemory(const ProcessNetwork &network);
/// Frames by which readers may be ahead.
int aheadOf(const ProcessNetwork &network);
/// How a network is simulated that is known to wait for memories, or not.
Simulation::Memories memoriesOf(bool waits);
/// The firings of a process in a frame.
int64_t firingsIn(const Process &process);
/// Those of the busiest process: in the long run no interval is shorter.
double leastInterval(const ProcessNetwork &network);
/// The timing of a network that reads no memory while frames pass; nothing if
/// that needs frames that have not been simulated and may not be.
std::optional<Timing> timingOf(Simulation &simulation, bool simulates);
/// The latency of a design whose readers have filled all their buffers before
/// the frame comes: of this run, whose readers begin with the frame, if it may
/// tell.
int64_t latencyFrom(const Simulation &simulation, const SimResult &run,
                    const ProcessNetwork &network);
/// The timing of a network that reads memories while frames pass, some of which
/// have been simulated, with the latency of one for which all buffers are full.
Timing timingOfReading(Simulation &simulation, const ProcessNetwork &network,
                       int64_t latency);
/// A run of a network that is asked for no spans.
Simulation withoutSpans(const ProcessNetwork &network);
} // namespace rhizome::gen
