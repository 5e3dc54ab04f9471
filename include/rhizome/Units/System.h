// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The system around a kernel's unit: AXI4 masters that move its streams from
// and to buffers in off-chip memory, and AXI4-Lite registers for a host.
#pragma once

#include "mlir/IR/Builders.h"
#include "rhizome/Cost/CostModel.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include <string>

namespace rhizome::gen {
/// What moves a stream (rhz_move_in, rhz_move_out).
struct Mover {
  std::string stream; ///< of the unit: "s_axis_0"
  bool isWrite = false;
  bool isOnce = false;     ///< one round after a start
  int64_t dataWidth = 512; ///< bits of a beat at the memory
  int64_t wordBits = 32;
  int64_t wide = 1;     ///< words of a beat of the stream
  int64_t row = 1;      ///< words of a round
  int64_t burst = 1;    ///< beats
  int64_t lanes = 1;    ///< elements of a round
  int64_t depth = 2;    ///< beats of its buffer
  int64_t inFlight = 1; ///< bursts without an answer, if it writes

  int64_t busWords() const { return dataWidth / wordBits; }
  int64_t beats() const { return (row + busWords() - 1) / busWords(); }
  int64_t streamBeats() const { return (row + wide - 1) / wide; }
};

/// The beats of rows at either side of a rhz_gearbox_ring, in the units in
/// which it moves elements, and what it can hold.
struct RingTiming {
  struct Side {
    int64_t most = 1, last = 1; ///< of a beat, and of a row's last one
    int64_t beats = 1;          ///< of a row if the last one is partial, or 1
    bool isLate = false;        ///< a register more
  };
  Side in, out;
  int64_t store = 0;
};
RingTiming ringBetween(int64_t elementBits, int64_t lanesIn, int64_t lanesOut,
                       int64_t rowIn, int64_t rowOut);

/// Burst and buffer of a mover, whose other members are set. The buffer takes
/// what the stream moves in so many cycles, and two bursts.
void sizeMover(Mover &mover, int64_t lateCycles, double beatsPerCycle);

/// The module around `unit`, a unit or its lanes: ports m_axi_0, … in the order
/// of the movers, s_axi_control and interrupt_o.
rtl::ModuleOp addSystem(rtl::ModuleOp unit, llvm::ArrayRef<Mover> movers,
                        llvm::StringRef name, mlir::OpBuilder &b);

/// The wires of a mover's port, and those of the registers' with the interrupt.
int64_t wiresOf(const Mover &mover);
int64_t wiresOfRegisters();

/// The resources of a mover, and of the registers for so many of them.
Resources costOf(const Mover &mover, const CostContext &context);
Resources costOfRegisters(int64_t movers, const CostContext &context);
} // namespace rhizome::gen
