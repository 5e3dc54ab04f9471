// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A datapath with wired-in constants during the search: a graph of
// exact integer operations from the elements of one beat to those of the next
// stream's beat, in the compact form that the cost model counts
// (rhizome/Cost/Words.h). lib/Solvers cuts it into stages, and the chosen
// circuit becomes `rtl` operations with registers between them.
#pragma once

#include "mlir/IR/Builders.h"
#include "rhizome/Cost/Words.h"
#include "rhizome/Generator/Actor.h"
#include "rhizome/Units/Registers.h"
#include <memory>

namespace rhizome::gen {
struct DeviceContext;

class Circuit : public Datapath, public cost::WordGraph {
public:
  using Node = cost::Word;
  using Op = cost::Word::Op;

  // Each returns the node's number; equal nodes are merged, constants are
  // folded.
  int input(int64_t lane, int64_t lo, int64_t hi);
  int constant(int64_t value);
  /// a ± (b << shift) with the given operation. If both come from shared
  /// inputs the caller may know a narrower range.
  int sum(Op op, int a, int b, int64_t shift);
  int sum(Op op, int a, int b, int64_t shift, int64_t lo, int64_t hi);
  /// a + (~b << shift), the complement of `bits` bits; both are unsigned.
  int addNot(int a, int b, int64_t shift, int64_t bits, int64_t lo, int64_t hi);
  int floor(int a, int64_t shift);
  int even(int a, int64_t shift);
  int atLeast(int a, int64_t value);
  int select(int condition, int ifTrue, int ifFalse);
  int clamp(int a, int64_t lo, int64_t hi);
  int table(int a, std::vector<int64_t> values);

  /// Appends `next`, whose input beats are this circuit's outputs.
  Circuit then(const Circuit &next) const;
  /// Adds another circuit, whose element 0 is this circuit's element `first`.
  void append(const Circuit &other, int64_t first);
  /// `copies` of it in parallel, for beats of as many times the elements.
  Circuit repeated(int64_t copies) const;

private:
  int add(const Node &node);
  int again(const Node &node, const Circuit &from);
  std::vector<int> known; ///< nodes by their operation: a hash table
};

/// The positions of its registers: as soon as possible.
cost::WordStages stagesOf(const cost::WordGraph &circuit,
                          const cost::LogicPace &pace);

/// An actor for a circuit, with the parameters that determine its timing and
/// cost; it does not contain the circuit.
Actor describe(const Circuit &circuit, const cost::LogicPace &pace);
/// The logic between two registers at the device's clock.
cost::LogicPace paceFor(const DeviceContext &device);
/// The pace with which it was described.
cost::LogicPace paceOf(const unit::Instance &actor);

/// The model of the unit kind.
std::unique_ptr<UnitModel> makeCircuitUnit();

/// A circuit as `rtl` operations without registers.
struct Combinational {
  /// The values of every node, none if no output needs it, and of the
  /// beat of the outputs.
  std::vector<LogicGroup> groups;
  mlir::Value outputs;
};
/// Appends it to a block; `beat` is its input.
Combinational combinational(const cost::WordGraph &circuit,
                            mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value beat);

/// Fills an empty region with the circuit's gates: a block of (clock, beat)
/// that ends in an rtl.output.
void emitCircuit(mlir::Region &region, const Circuit &circuit,
                 const cost::LogicPace &pace, mlir::Location loc);
} // namespace rhizome::gen
