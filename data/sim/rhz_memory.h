// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a memory outside the chip takes: one bank, which reads burst after
// burst. The event simulator predicts with these rules and the simulated memory
// (harness.cpp) answers by them, so that there is one place that decides them.
// Plain C++ without the compiler: it is compiled into simulated designs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace rhz {
/// A memory as a device file gives it.
struct MemoryFigures {
  int64_t banks = 1;          ///< channels, each with a port of its own
  int64_t bytesPerS = 0;      ///< of all banks together, at best
  int64_t latencyNs = 0;      ///< from a burst's request to its first data
  int64_t turnaroundNs = 0;   ///< lost where a burst does not follow the last
  int64_t refreshEveryNs = 0; ///< a bank refreshes as often, 0: never
  int64_t refreshNs = 0;      ///< and reads nothing for so long
};

/// Parts of a cycle in which banks are timed.
constexpr int64_t kTicks = 1 << 16;

/// One bank behind a port, in a design's cycles. A port takes or brings a beat a
/// cycle in each direction; the bank may be faster, and then has time left to
/// turn between bursts.
struct MemoryTiming {
  int64_t beatTicks = kTicks; ///< of a beat in the bank
  int64_t latency = 1;        ///< cycles, at least 1
  int64_t turnTicks = 0;
  int64_t refreshEvery = 0, refresh = 0; ///< cycles

  /// Of beats of so many bytes.
  static MemoryTiming of(const MemoryFigures &f, int64_t beatBytes,
                         double clockMhz) {
    double cyclesPerNs = clockMhz / 1000;
    auto cycles = [&](int64_t ns) {
      return int64_t(std::ceil(double(ns) * cyclesPerNs));
    };
    MemoryTiming t;
    if (f.bytesPerS > 0) {
      double bytesPerCycle =
          double(f.bytesPerS) / double(f.banks) / (clockMhz * 1e6);
      t.beatTicks =
          std::max<int64_t>(1, std::llround(double(beatBytes) * double(kTicks) /
                                            bytesPerCycle));
    }
    t.latency = std::max<int64_t>(1, cycles(f.latencyNs));
    t.turnTicks = cycles(f.turnaroundNs) * kTicks;
    t.refreshEvery = cycles(f.refreshEveryNs);
    t.refresh = t.refreshEvery ? cycles(f.refreshNs) : 0;
    return t;
  }
  /// Of a beat of long bursts in one direction.
  int64_t portTicks() const { return std::max(beatTicks, kTicks); }
};

/// Says when a bank has each beat of the bursts that it accepts, in the order
/// in which it accepts them. Cycle 0 is the first after reset.
class MemoryServer {
public:
  explicit MemoryServer(const MemoryTiming &timing = {}) : timing(timing) {}

  /// A burst that is accepted in that cycle; `turns` if it does not go on where
  /// the last one ended.
  void begin(int64_t cycle, bool turns) {
    tick = std::max(tick + (turns ? timing.turnTicks : 0),
                    (cycle + timing.latency) * kTicks);
  }
  /// The first cycle in which the bank has its next beat.
  int64_t next() {
    if (timing.refreshEvery > 0) {
      int64_t cycle = tick / kTicks, since = cycle % timing.refreshEvery;
      if (cycle >= timing.refreshEvery && since < timing.refresh)
        tick = (cycle - since + timing.refresh) * kTicks;
    }
    int64_t cycle = (tick + kTicks - 1) / kTicks;
    tick += timing.beatTicks;
    return cycle;
  }

private:
  MemoryTiming timing;
  int64_t tick = 0; ///< before it the bank is busy
};
} // namespace rhz
