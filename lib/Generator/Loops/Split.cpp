// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large units become several modules: one for every datapath, memory and side
// of the border, or a few of each, and a module that ties them together. Every
// operation is in one of them, so that nothing changes in any cycle.
#include "mlir/IR/IRMapping.h"
#include "rhizome/Generator/Loops/KernelUnit.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;

namespace rhizome::gen::loops {
namespace {
/// What becomes a module.
struct Piece {
  std::string name;
  rtl::ModuleOp module;
  std::vector<Operation *> ops;
  /// What comes from outside, with its argument; what is needed outside.
  llvm::MapVector<Value, Value> inputs;
  llvm::SetVector<Value> outputs;
  /// Constants and extensions are repeated where they are read.
  DenseMap<Value, Value> repeated;
};

class Splitter {
public:
  Splitter(KernelUnit &unit, OpBuilder &b, const ModuleSizes &sizes)
      : unit(unit), b(b), sizes(sizes), body(unit.module.getBody().front()) {}
  void run();

private:
  KernelUnit &unit;
  OpBuilder &b;
  const ModuleSizes &sizes;
  Block &body;
  std::vector<Piece> pieces;
  DenseMap<Operation *, size_t> home; ///< by operation, its piece

  static bool isRepeated(Operation *op) {
    return isa_and_nonnull<rtl::ConstantOp, rtl::SignExtendOp>(op);
  }
  void choosePieces();
  void build(size_t piece);
  Value valueIn(size_t piece, Value v);
  void addNeeds(Value v);
  std::string nameOf(Value input, size_t number) const;
};

void Splitter::choosePieces() {
  // Ports are with their memory.
  auto partOf = [&](Operation *op) -> std::optional<size_t> {
    if (auto read = dyn_cast<rtl::ReadOp>(op))
      op = read.getMemory().getDefiningOp();
    else if (auto write = dyn_cast<rtl::WriteOp>(op))
      op = write.getMemory().getDefiningOp();
    auto it = unit.partOf.find(op);
    return it == unit.partOf.end() ? std::optional<size_t>() : it->second;
  };
  const std::string prefix = unit.module.getSymName().str() + "_";
  std::map<size_t, size_t> open; ///< by part, the piece that is not full
  std::map<size_t, size_t> count;
  size_t loose = 0;
  for (Operation &op : body.without_terminator())
    loose += !isRepeated(&op) && !partOf(&op);
  const size_t rest = unit.parts.size(); ///< ties that are too many
  auto pieceFor = [&](size_t part) {
    auto it = open.find(part);
    if (it != open.end() && pieces[it->second].ops.size() < sizes.part)
      return it->second;
    std::string name =
        prefix + (part == rest ? std::string("control") : unit.parts[part]);
    if (const size_t number = count[part]++)
      name += "_" + std::to_string(number);
    open[part] = pieces.size();
    pieces.emplace_back().name = std::move(name);
    return pieces.size() - 1;
  };
  for (Operation &op : body.without_terminator()) {
    if (isRepeated(&op))
      continue;
    auto part = partOf(&op);
    if (!part && loose <= sizes.whole)
      continue;
    Operation *memory = nullptr;
    if (isa<rtl::ReadOp, rtl::WriteOp>(op))
      memory = op.getOperand(0).getDefiningOp();
    const size_t piece = memory && home.count(memory)
                             ? home[memory]
                             : pieceFor(part.value_or(rest));
    home[&op] = piece;
    pieces[piece].ops.push_back(&op);
  }
}

void Splitter::addNeeds(Value v) {
  if (Operation *from = v.getDefiningOp())
    if (auto it = home.find(from); it != home.end())
      pieces[it->second].outputs.insert(v);
}

Value Splitter::valueIn(size_t number, Value v) {
  Piece &piece = pieces[number];
  Operation *from = v.getDefiningOp();
  if (auto it = home.find(from);
      from && it != home.end() && it->second == number)
    return v;
  if (isRepeated(from)) {
    if (auto it = piece.repeated.find(v); it != piece.repeated.end())
      return it->second;
    IRMapping with;
    for (Value operand : from->getOperands())
      with.map(operand, valueIn(number, operand));
    Value made = b.clone(*from, with)->getResult(0);
    return pieces[number].repeated[v] = made;
  }
  Value &argument = piece.inputs[v];
  if (!argument) {
    argument =
        piece.module.getBody().front().addArgument(v.getType(), v.getLoc());
    addNeeds(v);
  }
  return argument;
}

/// The module of a piece, with its operations, but for its ports' names.
void Splitter::build(size_t number) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(unit.module);
  Piece &piece = pieces[number];
  piece.module = rtl::ModuleOp::create(b, unit.module.getLoc(), piece.name,
                                       b.getArrayAttr({}), b.getArrayAttr({}),
                                       StringAttr());
  Block *block = b.createBlock(&piece.module.getBody());
  for (Operation *op : piece.ops)
    op->moveBefore(block, block->end());
  b.setInsertionPointToStart(block);
  for (Operation *op : piece.ops)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(valueIn(number, operand.get()));
}

std::string Splitter::nameOf(Value input, size_t number) const {
  // Ports of the unit keep their names.
  if (auto argument = dyn_cast<BlockArgument>(input)) {
    ArrayAttr names = const_cast<KernelUnit &>(unit).module.getInputNames();
    return cast<StringAttr>(names[argument.getArgNumber()]).str();
  }
  return "a" + std::to_string(number) + "_i";
}

void Splitter::run() {
  choosePieces();
  for (size_t p = 0; p < pieces.size(); ++p)
    build(p);
  for (Operation &op : body)
    for (Value v : op.getOperands())
      if (!isRepeated(&op) || !op.use_empty())
        addNeeds(v);
  // Instances first read what the pieces define, then each other's results.
  OpBuilder::InsertionGuard guard(b);
  DenseMap<Value, Value> results;
  Location loc = unit.module.getLoc();
  for (Piece &piece : pieces) {
    SmallVector<Attribute> ins, outs;
    SmallVector<Value> operands,
        values(piece.outputs.begin(), piece.outputs.end());
    for (auto [n, input] : llvm::enumerate(piece.inputs)) {
      ins.push_back(b.getStringAttr(nameOf(input.first, n)));
      operands.push_back(input.first);
    }
    for (size_t n = 0; n < values.size(); ++n)
      outs.push_back(b.getStringAttr("y" + std::to_string(n) + "_o"));
    piece.module.setInputNamesAttr(b.getArrayAttr(ins));
    piece.module.setOutputNamesAttr(b.getArrayAttr(outs));
    b.setInsertionPointToEnd(&piece.module.getBody().front());
    rtl::OutputOp::create(b, loc, values);
    b.setInsertionPoint(body.getTerminator());
    auto instance = rtl::InstanceOp::create(
        b, loc, TypeRange(ValueRange(values)), operands,
        b.getStringAttr(StringRef(piece.name)
                            .drop_front(unit.module.getSymName().size() + 1)),
        b.getStringAttr(piece.name), b.getDictionaryAttr({}),
        b.getArrayAttr(ins), b.getArrayAttr(outs));
    for (auto [v, result] : llvm::zip_equal(values, instance.getOutputs()))
      results[v] = result;
  }
  for (Operation &op : body)
    for (OpOperand &operand : op.getOpOperands())
      if (Value result = results.lookup(operand.get()))
        operand.set(result);
  // What every reader has repeated.
  for (bool isAny = true; isAny;) {
    isAny = false;
    for (Operation &op : llvm::make_early_inc_range(body))
      if (isRepeated(&op) && op.use_empty()) {
        op.erase();
        isAny = true;
      }
  }
  unit.partOf.clear();
}
} // namespace

void splitModule(KernelUnit &unit, OpBuilder &b, const ModuleSizes &sizes) {
  Block &body = unit.module.getBody().front();
  size_t count = 0;
  for (Operation &op : body)
    count += !isa<rtl::ConstantOp>(op);
  if (count > sizes.whole)
    Splitter(unit, b, sizes).run();
}
} // namespace rhizome::gen::loops
