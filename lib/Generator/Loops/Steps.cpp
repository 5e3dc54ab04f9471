// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A nest's schedule to look at: what happens in the cycles of an iteration, and
// on which unit of the datapath. Wires do nothing.
#include "Banks.h"
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace rhizome::gen::loops {
/// The kind of unit that computes an operation; "" for wires.
static StringRef unitOf(Operation &op) {
  using floats::Function;
  if (auto named = operatorOf(op)) {
    if (named->from)
      return "converter";
    switch (named->function) {
    case Function::Add:
    case Function::Sub:
      return "adder";
    case Function::Mul:
      return "multiplier";
    case Function::Fma:
      return "multiplier with adder";
    case Function::Div:
      return "divider";
    case Function::Sqrt:
      return "square root";
    case Function::Min:
    case Function::Max:
      return "comparator";
    default:
      return "logic";
    }
  }
  if (isa<arith::MulIOp>(op))
    return "multiplier";
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return "adder";
  if (isa<arith::CmpIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return "comparator";
  const bool isShift = isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
  if (op.getNumOperands() == 0 ||
      isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op) ||
      (isShift && matchPattern(op.getOperand(1), m_Constant())))
    return "";
  return isShift ? "shifter" : "logic";
}

std::vector<NestStep> stepsOf(const Nest &nest) {
  constexpr const char *kPort = "memory port";
  linalg::GenericOp op = nest.op;
  Block *body = op.getBody();
  const Lanes lanes = Lanes::of(nest);
  const std::vector<int64_t> &start = nest.schedule.start;
  const std::vector<int64_t> &latency = nest.problem.latency;
  const unsigned inputs = op.getNumDpsInputs();
  const auto copies = [&](unsigned mask) { return int64_t(lanes.count(mask)); };
  std::vector<NestStep> out;
  DenseMap<Value, unsigned> masks;
  for (unsigned i = 0; i < inputs; ++i) {
    OpOperand &operand = op->getOpOperand(i);
    BlockArgument argument = body->getArgument(i);
    if (latency[i] == 0 || !isRead(op, operand))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    unsigned mask = 0;
    for (auto [p, loop] : llvm::enumerate(nest.copied))
      mask |= map.isFunctionOfDim(loop) ? 1u << p : 0;
    masks[argument] = mask;
    out.push_back(
        {"read", kPort, operand.get(), start[i], latency[i], copies(mask)});
  }
  Value before = body->getArgument(inputs), result = op->getResult(0);
  masks[before] = lanes.all();
  if (nest.isStored && !before.use_empty())
    out.push_back({"read", kPort, result, start[inputs], latency[inputs],
                   copies(lanes.all())});
  size_t next = inputs + 1;
  for (Operation &inner : body->without_terminator()) {
    const size_t at = next++;
    unsigned mask = 0;
    for (Value v : inner.getOperands())
      mask |= masks.lookup(v);
    masks[inner.getResult(0)] = mask;
    StringRef unit = unitOf(inner);
    if (unit.empty())
      continue;
    auto named = operatorOf(inner);
    StringRef name = named && !named->from ? floats::nameOf(named->function)
                     : named               ? "convert"
                                           : inner.getName().stripDialect();
    out.push_back({name.str(), unit.str(), Value(), start[at], latency[at],
                   copies(mask)});
  }
  out.push_back({"write", kPort, result, nest.depth(), 1, copies(lanes.all())});
  return out;
}
} // namespace rhizome::gen::loops
