// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A datapath whose constants are wired in: a graph of exact integer operations
// from the elements of one beat to those of the next stream's beat. What an
// actor of kind `circuit` is made of. It is cut into pipeline stages here, so
// that what it takes, what it costs and its gates come from one schedule.
#pragma once

#include "mlir/IR/Builders.h"
#include "rhizome/Generator/Actor.h"
#include <memory>

namespace rhizome::gen {
class Circuit : public Datapath {
public:
  enum class Op : uint8_t {
    Input,    ///< element `value` of the beat
    Constant, ///< `value`
    Add,      ///< a + (b << shift)
    Sub,      ///< a - (b << shift)
    Rsub,     ///< (b << shift) - a
    Floor,    ///< a >> shift, towards minus infinity
    Even,     ///< Floor, its lowest bit cleared where the low bits are all zero
    AtLeast,  ///< a >= value: 0 or 1
    Select,   ///< a ? b : c
    Table,    ///< tables[value][a - shift]
  };
  struct Node {
    Op op = Op::Constant;
    int a = -1, b = -1, c = -1;
    int64_t shift = 0, value = 0;
    int64_t lo = 0, hi = 0; ///< the values that occur
    /// Two's complement where lo < 0, else unsigned.
    int64_t bits() const;
    bool isSigned() const { return lo < 0; }
    bool isSum() const {
      return op == Op::Add || op == Op::Sub || op == Op::Rsub;
    }
  };

  /// Elements of the input's beat, and of what width and sign those of the
  /// output's beat are.
  int64_t inLanes = 0, inWidth = 1, outWidth = 1;
  std::vector<Node> nodes; ///< operands stand before their readers
  std::vector<int> outputs;
  std::vector<std::vector<int64_t>> tables;

  // Each gives the node's number; equal nodes are one, constants are folded.
  int input(int64_t lane, int64_t lo, int64_t hi);
  int constant(int64_t value);
  /// a ± (b << shift) of the given operation. Where both come from shared
  /// inputs the caller may know a narrower range.
  int sum(Op op, int a, int b, int64_t shift);
  int sum(Op op, int a, int b, int64_t shift, int64_t lo, int64_t hi);
  int floor(int a, int64_t shift);
  int even(int a, int64_t shift);
  int atLeast(int a, int64_t value);
  int select(int condition, int ifTrue, int ifFalse);
  int clamp(int a, int64_t lo, int64_t hi);
  int table(int a, std::vector<int64_t> values);

  /// `next`, whose beats are this one's outputs, behind this circuit.
  Circuit then(const Circuit &next) const;
  /// Adds another circuit, whose element 0 is this one's element `first`.
  void append(const Circuit &other, int64_t first);
  /// `copies` of it side by side, for beats of as many times the elements.
  Circuit repeated(int64_t copies) const;
  std::vector<int64_t> evaluate(const std::vector<int64_t> &inputs) const;

  /// What a table's node gives, by the bits of its operand as they are.
  std::vector<int64_t> entriesOf(const Node &node) const;

  /// Bits of the adder that a sum needs: what passes below a shift needs none.
  int64_t adderBits(const Node &node) const;

private:
  int add(const Node &node);
  int again(const Node &node, const Circuit &from);
  std::vector<int> known; ///< nodes by what they compute: a hash table
};

/// Which pipeline stage each node is computed in; registers stand between.
struct Schedule {
  std::vector<int> stage; ///< −1 for nodes that no output needs
  int stages = 0;         ///< registers on the way from input to output
};
/// As soon as possible. `budget` is the length of logic between registers in
/// 32nds of a LUT level (a level each operation, a 32nd each bit of a carry
/// chain: what `rhizome synth` measures).
Schedule schedule(const Circuit &circuit, int64_t budget);

/// An actor of a circuit, with the parameters that tell what it takes and
/// costs; it does not hold the circuit.
Actor describe(const Circuit &circuit, int64_t budget);

/// The model of the unit kind.
std::unique_ptr<UnitModel> makeCircuitUnit();

/// Fills an empty region with the circuit's gates: a block of (clock, beat)
/// that ends in an rtl.output.
void emitCircuit(mlir::Region &region, const Circuit &circuit, int64_t budget,
                 mlir::Location loc);
} // namespace rhizome::gen
