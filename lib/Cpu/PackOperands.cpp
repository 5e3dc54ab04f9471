// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of sums in another order: with the loop along vectors innermost, or
// with the terms of a dot product side by side. Constants are moved here,
// others by code.
#include "Vectorizer.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::cpu;

/// Whether an operand may be copied with the loop along vectors innermost: a
/// constant always, another one if that costs little beside what it is for.
bool Vectorizer::canPack(size_t operand) const {
  int64_t size = 1, iterations = 1;
  for (auto [loop, step] : llvm::zip(nest.loops, nest.in[operand].steps)) {
    iterations *= loop.extent;
    size *= step ? loop.extent : 1;
  }
  return nest.hasSums() && (isOwnConstant(operand) || size * 4 <= iterations);
}

namespace {
/// An input that the body extends to i32.
struct NarrowInput {
  unsigned operand, bits;
  bool isSigned;
};
} // namespace

/// The input that a value of the body extends to i32, if it fits 16 bits.
static std::optional<NarrowInput> narrowInput(const Nest &nest, Value v) {
  bool isSigned = false;
  if (auto s = v.getDefiningOp<arith::ExtSIOp>())
    v = s.getIn(), isSigned = true;
  else if (auto u = v.getDefiningOp<arith::ExtUIOp>())
    v = u.getIn();
  else
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(v);
  unsigned bits = v.getType().getIntOrFloatBitWidth();
  if (!argument || argument.getArgNumber() >= nest.in.size() ||
      bits > (isSigned ? 16 : 8))
    return std::nullopt;
  return NarrowInput{argument.getArgNumber(), bits, isSigned};
}

bool Vectorizer::findDots() {
  auto sum = nest.op.getBlock()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddIOp>();
  if (!sum || !sum.getType().isInteger(32) || !nest.hasSums())
    return false;
  Value out = nest.op.getBlock()->getArguments().back();
  Value product = sum.getLhs() == out   ? sum.getRhs()
                  : sum.getRhs() == out ? sum.getLhs()
                                        : Value();
  auto mul = product ? product.getDefiningOp<arith::MulIOp>() : nullptr;
  if (!mul)
    return false;
  auto l = narrowInput(nest, mul.getLhs()), r = narrowInput(nest, mul.getRhs());
  if (!l || !r || l->operand == r->operand)
    return false;
  if (nest.in[l->operand].steps[lanes] != 0)
    std::swap(l, r);
  Access &data = nest.in[l->operand];
  const Access &weights = nest.in[r->operand];
  if (data.steps[lanes] != 0 || weights.steps[lanes] == 0)
    return false;
  int summed = -1;
  for (int i = 0, n = int(nest.loops.size()); i < n; ++i)
    if (nest.loops[i].isSummed)
      summed = i;
  if (summed < 0 || data.steps[summed] != 1 || !weights.steps[summed] ||
      !canPack(r->operand))
    return false;
  // One factor of bytes is signed, the other is not; data of signed ones are
  // read 128 higher, if what that adds is known.
  bool isConstant = isOwnConstant(r->operand);
  bool isBytes =
      unit.hasByteDots && l->bits == 8 && r->bits == 8 &&
      (isConstant ? l->isSigned || r->isSigned : l->isSigned != r->isSigned) &&
      nest.loops[lanes].extent > 2;
  dotTerms = isBytes ? 4 : 2;
  dotWeights = r->operand;
  areWeightsUnsigned = !r->isSigned;
  bool isRaised = isBytes && l->isSigned && r->isSigned;
  if (isRaised)
    addExcess(summed);
  packWeights(summed);
  readForDots(data, summed, isRaised);
  Loop &loop = nest.loops[summed];
  loop.extent = llvm::divideCeil(loop.extent, dotTerms);
  data.steps[summed] = dotTerms;
  return true;
}

/// The argument that holds an operand's constant, if nothing else reads it.
static BlockArgument argumentOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>()) {
    if (!memory.hasOneUse())
      return nullptr;
    memory = view.getViewSource();
  }
  auto argument = dyn_cast<BlockArgument>(memory);
  return argument && argument.hasOneUse() ? argument : nullptr;
}

bool Vectorizer::isOwnConstant(size_t operand) const {
  if (nest.in[operand].isMoved)
    return false;
  BlockArgument argument = argumentOf(nest.in[operand].memory);
  return argument && argument.getArgNumber() >= options.firstConstant &&
         argument.getArgNumber() - options.firstConstant < constants.size();
}

std::vector<char> &Vectorizer::constantBytes(size_t operand) {
  BlockArgument argument = argumentOf(nest.in[operand].memory);
  return constants[argument.getArgNumber() - options.firstConstant];
}

/// Puts other bytes in a constant's place; the access is the caller's to mend.
void Vectorizer::replaceConstant(size_t operand, Type element,
                                 std::vector<char> bytes) {
  Value memory = nest.in[operand].memory;
  BlockArgument argument = argumentOf(memory);
  int64_t size = int64_t(bytes.size()) * 8 / element.getIntOrFloatBitWidth();
  constantBytes(operand) = std::move(bytes);
  for (OpOperand &use : llvm::make_early_inc_range(memory.getUses()))
    use.set(argument);
  while (memory != argument) {
    Operation *view = memory.getDefiningOp();
    memory = cast<ViewLikeOpInterface>(view).getViewSource();
    view->erase();
  }
  argument.setType(MemRefType::get({size}, element));
  nest.in[operand].memory = argument;
}

/// Where an access stands as these loops run, the first one slowest.
SmallVector<int64_t> Vectorizer::offsetsOf(const Access &access,
                                           ArrayRef<int> loops) {
  SmallVector<int64_t> offsets{access.offset};
  for (int i : loops) {
    SmallVector<int64_t> more;
    for (int64_t offset : offsets)
      for (int64_t k = 0; k < nest.loops[i].extent; ++k)
        more.push_back(offset + k * access.steps[i]);
    offsets = std::move(more);
  }
  return offsets;
}

Value Vectorizer::allocate(int64_t size, Type element) {
  OpBuilder::InsertionGuard guard(b);
  Operation *around = b.getInsertionBlock()->getParentOp();
  if (around != func)
    b.setInsertionPoint(func.getBody().front().findAncestorOpInBlock(*around));
  return memref::AllocOp::create(b, loc, MemRefType::get({size}, element));
}

/// Copies an operand with the loop along vectors innermost.
void Vectorizer::pack(size_t operand) {
  Access &access = nest.in[operand];
  // A slice at a time, if it is no constant.
  bool isSliced =
      sliceLoop >= 0 && access.steps[sliceLoop] && !isOwnConstant(operand);
  SmallVector<int> loops;
  for (int i = 0, n = int(nest.loops.size()); i < n; ++i)
    if (access.steps[i] && i != lanes && !(isSliced && i == sliceLoop))
      loops.push_back(i);
  loops.push_back(lanes);
  Access packed;
  packed.steps.assign(nest.loops.size(), 0);
  int64_t size = 1;
  for (int i : llvm::reverse(loops)) {
    packed.steps[i] = size;
    size *= nest.loops[i].extent;
  }
  if (isOwnConstant(operand)) {
    const std::vector<char> &bytes = constantBytes(operand);
    size_t each = access.element().getIntOrFloatBitWidth() / 8;
    std::vector<char> moved;
    moved.reserve(size_t(size) * each);
    for (int64_t from : offsetsOf(access, loops))
      moved.insert(moved.end(), bytes.begin() + from * int64_t(each),
                   bytes.begin() + (from + 1) * int64_t(each));
    replaceConstant(operand, access.element(), std::move(moved));
    packed.memory = access.memory;
    access = packed;
    return;
  }
  OpBuilder::InsertionGuard guard(b);
  if (group)
    b.setInsertionPoint(group);
  packed.memory = allocate(size, access.element());
  if (group && isSliced)
    b.setInsertionPoint(group.getBody()->getTerminator());
  Value flatFrom = flat(access);
  Value from = number(access.offset), to = number(0);
  if (isSliced)
    from = arith::AddIOp::create(
        b, loc, from,
        arith::MulIOp::create(b, loc, group.getInductionVar(),
                              number(access.steps[sliceLoop])));
  for (int i : loops) {
    Value zero = number(0), end = number(nest.loops[i].extent), one = number(1);
    auto loop = scf::ForOp::create(b, loc, zero, end, one);
    b.setInsertionPointToStart(loop.getBody());
    auto moved = [&](Value base, int64_t step) {
      Value far =
          arith::MulIOp::create(b, loc, loop.getInductionVar(), number(step));
      return Value(arith::AddIOp::create(b, loc, base, far));
    };
    from = moved(from, access.steps[i]);
    to = moved(to, packed.steps[i]);
  }
  Value v = memref::LoadOp::create(b, loc, flatFrom, from);
  memref::StoreOp::create(b, loc, v, packed.memory, to);
  access = packed;
}

/// Reads a constant's integers of at most 16 bits.
static std::function<int64_t(int64_t)> reader(const std::vector<char> &bytes,
                                              unsigned bits, bool isSigned) {
  return [&bytes, bits, isSigned](int64_t i) -> int64_t {
    if (bits == 16)
      return reinterpret_cast<const int16_t *>(bytes.data())[i];
    return isSigned ? int8_t(bytes[i]) : int64_t(uint8_t(bytes[i]));
  };
}

/// The loops of an access that are not summed, but for the one along vectors.
SmallVector<int> Vectorizer::outerLoops(const Access &access) const {
  SmallVector<int> loops;
  for (int i = 0, n = int(nest.loops.size()); i < n; ++i)
    if (access.steps[i] && !nest.loops[i].isSummed && i != lanes)
      loops.push_back(i);
  return loops;
}

/// What sums are too large by if data are read 128 higher: 128 times the sum
/// of the weights, for each piece of a sum apart.
void Vectorizer::addExcess(int summed) {
  Access &weights = nest.in[dotWeights];
  auto read = reader(constantBytes(dotWeights), 8, true);
  SmallVector<int> loops = outerLoops(weights), sums;
  loops.push_back(lanes);
  for (int i = 0, n = int(nest.loops.size()); i < n; ++i)
    if (nest.loops[i].isSummed)
      sums.push_back(i);
  int64_t depth = nest.loops[summed].extent / pieces;
  std::vector<int32_t> values;
  for (int64_t piece = 0; piece < pieces; ++piece)
    for (int64_t from : offsetsOf(weights, loops)) {
      Access part = weights;
      part.offset = from + piece * depth * weights.steps[summed];
      int64_t whole = std::exchange(nest.loops[summed].extent, depth), sum = 0;
      for (int64_t at : offsetsOf(part, sums))
        sum += read(at);
      nest.loops[summed].extent = whole;
      values.push_back(int32_t(uint32_t(sum) * 128));
    }
  auto *first = reinterpret_cast<const char *>(values.data());
  constants.emplace_back(first, first + values.size() * 4);
  auto type = MemRefType::get({int64_t(values.size())}, b.getI32Type());
  (void)func.insertArgument(func.getNumArguments(), type, {}, loc);
  excess.emplace();
  excess->memory = func.getArguments().back();
  excess->steps.assign(nest.loops.size(), 0);
  int64_t step = 1;
  for (int i : llvm::reverse(loops)) {
    excess->steps[i] = step;
    step *= nest.loops[i].extent;
  }
  excessOfPiece = step;
}

/// The weights with the terms side by side that one instruction adds in a lane:
/// two of 16 bits or four of 8.
void Vectorizer::packWeights(int summed) {
  Access &access = nest.in[dotWeights];
  // Loops from the outermost to the innermost: others, groups, lanes.
  SmallVector<int> loops;
  for (int i = 0, n = int(nest.loops.size()); i < n; ++i)
    if (access.steps[i] && i != summed && i != lanes)
      loops.push_back(i);
  int64_t groups = llvm::divideCeil(nest.loops[summed].extent, dotTerms);
  Access packed;
  packed.steps.assign(nest.loops.size(), 0);
  packed.steps[lanes] = dotTerms;
  packed.steps[summed] = dotTerms * nest.loops[lanes].extent;
  int64_t size = packed.steps[summed] * groups;
  for (int i : llvm::reverse(loops)) {
    packed.steps[i] = size;
    size *= nest.loops[i].extent;
  }
  Type element = b.getIntegerType(32 / unsigned(dotTerms));
  if (isOwnConstant(dotWeights)) {
    replaceConstant(dotWeights, element, packedWeights(summed, loops));
    packed.memory = access.memory;
  } else {
    packed.memory = allocate(size, element);
    packByCode(packed, summed, loops);
  }
  access = packed;
}

std::vector<char> Vectorizer::packedWeights(int summed, ArrayRef<int> loops) {
  const Access &access = nest.in[dotWeights];
  auto read =
      reader(constantBytes(dotWeights),
             access.element().getIntOrFloatBitWidth(), !areWeightsUnsigned);
  int64_t depth = nest.loops[summed].extent;
  std::vector<char> packed;
  for (int64_t from : offsetsOf(access, loops))
    for (int64_t k = 0; k < depth; k += dotTerms)
      for (int64_t c = 0; c < nest.loops[lanes].extent; ++c)
        for (int64_t term = k; term < k + dotTerms; ++term) {
          int64_t v = term < depth ? read(from + term * access.steps[summed] +
                                          c * access.steps[lanes])
                                   : 0;
          packed.push_back(char(v));
          if (dotTerms == 2)
            packed.push_back(char(v >> 8));
        }
  return packed;
}

/// Weights that are not constant: rows of `dotTerms` terms are interleaved.
void Vectorizer::packByCode(const Access &packed, int summed,
                            ArrayRef<int> loops) {
  const Access &access = nest.in[dotWeights];
  Type element = packed.element();
  OpBuilder::InsertionGuard guard(b);
  Value flatFrom = flat(access), from = number(access.offset), to = number(0);
  // A loop, in which `from` and `to` move with its index.
  auto enter = [&](int64_t extent, int64_t step, int64_t fromStep,
                   int64_t toStep) {
    Value zero = number(0), end = number(extent), by = number(step);
    auto loop = scf::ForOp::create(b, loc, zero, end, by);
    b.setInsertionPointToStart(loop.getBody());
    for (auto [place, each] :
         {std::pair(&from, fromStep), std::pair(&to, toStep)})
      *place = arith::AddIOp::create(
          b, loc, *place,
          arith::MulIOp::create(b, loc, loop.getInductionVar(), number(each)));
  };
  /// `count` lanes from the column on, of a group of so many terms.
  auto move = [&](int64_t column, int64_t count, int64_t terms) {
    auto type = VectorType::get({count}, element);
    SmallVector<Value> rows;
    for (int64_t term = 0; term < dotTerms; ++term) {
      if (term >= terms) {
        rows.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
        continue;
      }
      Value v = loadVector(flatFrom, access.element(),
                           plus(from, term * access.steps[summed] +
                                          column * access.steps[lanes]),
                           count);
      if (v.getType() != type)
        v = areWeightsUnsigned ? Value(arith::ExtUIOp::create(b, loc, type, v))
                               : Value(arith::ExtSIOp::create(b, loc, type, v));
      rows.push_back(v);
    }
    while (rows.size() > 1) { // those that end up side by side last
      size_t half = rows.size() / 2;
      for (size_t i = 0; i < half; ++i)
        rows[i] = vector::InterleaveOp::create(b, loc, rows[i], rows[i + half]);
      rows.resize(half);
    }
    vector::StoreOp::create(b, loc, rows[0], packed.memory,
                            plus(to, column * dotTerms));
  };
  auto group = [&](int64_t terms) {
    int64_t columns = nest.loops[lanes].extent;
    int64_t step = access.steps[lanes] == 1 ? unit.integerBits / 32 : 1;
    int64_t whole = columns / step * step;
    if (whole) {
      OpBuilder::InsertionGuard inner(b);
      Value fromBefore = from, toBefore = to;
      enter(whole, step, access.steps[lanes], dotTerms);
      move(0, step, terms);
      from = fromBefore, to = toBefore;
    }
    for (int64_t at = whole; at < columns;) {
      auto count = int64_t(llvm::bit_floor(uint64_t(columns - at)));
      move(at, count, terms);
      at += count;
    }
  };
  for (int i : loops)
    enter(nest.loops[i].extent, 1, access.steps[i], packed.steps[i]);
  int64_t depth = nest.loops[summed].extent, whole = depth / dotTerms;
  if (whole) {
    OpBuilder::InsertionGuard inner(b);
    Value fromBefore = from, toBefore = to;
    enter(whole, 1, dotTerms * access.steps[summed], packed.steps[summed]);
    group(dotTerms);
    from = fromBefore, to = toBefore;
  }
  if (depth % dotTerms) {
    from = plus(from, whole * dotTerms * access.steps[summed]);
    to = plus(to, whole * packed.steps[summed]);
    group(depth % dotTerms);
  }
}

/// Constants in strips as wide as a tile: what the summed loops read of a strip
/// is one piece of memory. Rows of a large matrix would be a page each.
void Vectorizer::packStrips() {
  int64_t step = width * vectors, extent = nest.loops[lanes].extent;
  if (!nest.hasSums() || extent <= step ||
      (rest == Rest::MoveBack && extent % step))
    return;
  for (size_t k = 0; k < nest.in.size(); ++k) {
    Access &access = nest.in[k];
    int64_t each = k == dotWeights ? dotTerms : 1; // elements of a lane
    if (access.isScalar() || access.steps[lanes] != each || !isOwnConstant(k))
      continue;
    SmallVector<int> outer, summed;
    for (int i = 0, n = int(nest.loops.size()); i < n; ++i)
      if (access.steps[i] && i != lanes)
        (nest.loops[i].isSummed ? summed : outer).push_back(i);
    Access strips;
    strips.steps.assign(nest.loops.size(), 0);
    strips.steps[lanes] = each;
    int64_t size = step * each;
    auto place = [&](ArrayRef<int> loops) {
      for (int i : llvm::reverse(loops)) {
        strips.steps[i] = size;
        size *= nest.loops[i].extent;
      }
    };
    place(summed);
    strips.stripStep = size / step;
    size *= llvm::divideCeil(extent, step);
    place(outer);
    const std::vector<char> &bytes = constantBytes(k);
    auto wide = int64_t(access.element().getIntOrFloatBitWidth() / 8);
    if (size * wide > 2 * int64_t(bytes.size()))
      continue; // the same elements again and again
    std::vector<char> moved;
    moved.reserve(size_t(size * wide));
    for (int64_t from : offsetsOf(access, outer))
      for (int64_t at = 0; at < extent; at += step) {
        Access strip = access;
        strip.offset = from + at * each;
        int64_t count = std::min(step, extent - at) * each * wide;
        for (int64_t start : offsetsOf(strip, summed)) {
          auto row = bytes.begin() + start * wide;
          moved.insert(moved.end(), row, row + count);
          moved.resize(moved.size() + size_t(step * each * wide - count));
        }
      }
    replaceConstant(k, access.element(), std::move(moved));
    strips.memory = access.memory;
    access = strips;
  }
}

/// Reads a copy instead, of 16 bits or 128 higher, unless the terms of a lane
/// can be read as they lie.
void Vectorizer::readForDots(Access &access, int summed, bool isRaised) {
  Type element = b.getIntegerType(32 / unsigned(dotTerms));
  bool changes = access.element() != element || isRaised;
  // The last terms of a sum may lie beyond its end, where weights are zero.
  if (!changes &&
      (hasMargin(access.memory) || nest.loops[summed].extent % dotTerms == 0))
    return;
  bool isSigned = false;
  size_t index = size_t(&access - nest.in.data());
  for (Operation *user :
       nest.op.getBlock()->getArgument(unsigned(index)).getUsers())
    isSigned |= isa<arith::ExtSIOp>(user);
  int64_t size = access.offset + 1;
  for (auto [loop, step] : llvm::zip(nest.loops, access.steps))
    size += (loop.extent - 1) * step;
  Value from = flat(access);
  Value copy = allocate(size, element);
  auto convert = [&](int64_t count, Value at) {
    Value v = loadVector(from, access.element(), at, count);
    auto type = VectorType::get({count}, element);
    if (v.getType() != type)
      v = isSigned ? Value(arith::ExtSIOp::create(b, loc, type, v))
                   : Value(arith::ExtUIOp::create(b, loc, type, v));
    if (isRaised) {
      auto top = DenseElementsAttr::get(type, b.getI8IntegerAttr(-128));
      v = arith::XOrIOp::create(b, loc, v,
                                arith::ConstantOp::create(b, loc, top));
    }
    vector::StoreOp::create(b, loc, v, copy, at);
  };
  int64_t step =
      int64_t(unit.integerBits) / int64_t(element.getIntOrFloatBitWidth());
  int64_t whole = size / step * step;
  if (whole) {
    Value zero = number(0), to = number(whole), by = number(step);
    auto loop = scf::ForOp::create(b, loc, zero, to, by);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    convert(step, loop.getInductionVar());
  }
  for (int64_t at = whole; at < size;) {
    int64_t count = int64_t(llvm::bit_floor(uint64_t(size - at)));
    convert(count, number(at));
    at += count;
  }
  access.memory = copy;
}
