// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of circuits, by the `rtl` operations made from them.
#pragma once

#include "../RtlValues.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Units/Circuit.h"

namespace rhizome::test {
/// A circuit's logic, made once, without its registers.
class CircuitLogic {
public:
  explicit CircuitLogic(const gen::Circuit &circuit) : circuit(circuit) {
    context.loadDialect<rtl::RtlDialect>();
    mlir::Location loc = mlir::UnknownLoc::get(&context);
    mlir::OpBuilder builder(&context);
    builder.setInsertionPointToEnd(&block);
    // Elements wide enough for their range.
    wide = circuit;
    for (const gen::Circuit::Node &n : circuit.nodes)
      if (n.op == gen::Circuit::Op::Input)
        wide.inWidth = std::max(wide.inWidth, n.bits());
    for (int o : circuit.outputs)
      wide.outWidth = std::max(wide.outWidth, circuit.nodes[o].bits() + 1);
    beat = block.addArgument(
        builder.getIntegerType(unsigned(wide.inLanes * wide.inWidth)), loc);
    logic = gen::combinational(wide, builder, loc, beat);
  }

  std::vector<int64_t> operator()(const std::vector<int64_t> &inputs) {
    llvm::APInt all(unsigned(wide.inLanes * wide.inWidth), 0);
    for (size_t i = 0; i < inputs.size(); ++i)
      all.insertBits(uint64_t(inputs[i]), unsigned(int64_t(i) * wide.inWidth),
                     unsigned(wide.inWidth));
    auto values = valuesOf(block, {all});
    auto numberOf = [](const llvm::APInt &bits, bool isSigned) {
      return isSigned ? bits.getSExtValue() : int64_t(bits.getZExtValue());
    };
    for (size_t i = 0; i < circuit.nodes.size(); ++i)
      if (mlir::Value value = logic.groups[i].value) {
        const gen::Circuit::Node &n = circuit.nodes[i];
        int64_t number = numberOf(values.at(value), n.isSigned());
        EXPECT_TRUE(number >= n.lo && number <= n.hi)
            << "node " << i << " has a value outside its range";
      }
    std::vector<int64_t> out;
    const llvm::APInt &beatOut = values.at(logic.outputs);
    for (size_t i = 0; i < circuit.outputs.size(); ++i)
      out.push_back(beatOut
                        .extractBits(unsigned(wide.outWidth),
                                     unsigned(int64_t(i) * wide.outWidth))
                        .getSExtValue());
    return out;
  }

private:
  const gen::Circuit &circuit;
  gen::Circuit wide;
  mlir::MLIRContext context;
  mlir::Block block;
  mlir::Value beat;
  gen::Combinational logic;
};
} // namespace rhizome::test
