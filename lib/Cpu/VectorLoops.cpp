// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linalg on buffers to vector code. An operation is a nest of loops and, for
// each operand, how far a step of each loop moves in flat memory; loops whose
// steps fit are joined. The loop with step 1 in the result is cut into
// vectors, others into rows: a tile of rows x vectors stays in registers while
// the summed loops run. Sums of products of narrow integers with constant
// weights read fours of bytes or pairs of 16-bit numbers, for which processors
// have an instruction. What begins the sums (a bias) and what follows (a
// requantizer) are computed on the tile. At the end of a loop, lanes beyond it
// read the padding and are not stored; in the caller's memory the last vector
// is moved back, or reads and writes only what is there.
#include "Vectorizer.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::cpu;

void Vectorizer::run() {
  SmallVector<Operation *> work;
  func.walk([&](linalg::LinalgOp op) { work.push_back(op); });
  llvm::DenseSet<Operation *> done;
  groupOperations(work, done);
  // Sums first: they take what stands around them with them.
  for (bool sums : {true, false})
    for (Operation *op : work) {
      if (done.contains(op))
        continue;
      std::optional<Nest> found = nestOf(op);
      if (!found || found->hasSums() != sums)
        continue;
      if (!sums && transpose(*found)) {
        done.insert(op);
        op->erase();
        continue;
      }
      if (!plan(*found) && (!sums || !planReduction(std::move(*found))))
        continue;
      loc = op->getLoc();
      b.setInsertionPoint(end ? end->nest.op : op);
      emit();
      done.insert(op);
      for (auto *other : {&beginning, &end})
        if (*other) {
          done.insert((*other)->nest.op);
          (*other)->nest.op->erase();
        }
      op->erase();
    }
}

int Vectorizer::laneLoop(const Nest &nest) const {
  for (auto [i, loop] : llvm::enumerate(nest.loops)) {
    if (loop.isSummed || nest.out.steps[i] != 1 || int(i) == sliceLoop)
      continue;
    return int(i);
  }
  return -1;
}

/// The widest numbers that a body works on, in bits, and whether it works on
/// floats only.
static std::pair<unsigned, bool> widest(Nest &nest) {
  unsigned bits = 8;
  bool isFloat = true;
  auto see = [&](Type type) {
    isFloat &= isa<FloatType>(type) || type.isInteger(1);
    if (type.isIntOrFloat())
      bits = std::max(bits, type.getIntOrFloatBitWidth());
  };
  for (BlockArgument a : nest.op.getBlock()->getArguments())
    see(a.getType());
  for (Operation &inner : *nest.op.getBlock())
    for (Type type : inner.getResultTypes())
      see(type);
  return {bits, isFloat};
}

/// Whether an elementwise operation reads single values or vectors.
bool Vectorizer::walksLanes(const Following &f) const {
  return llvm::all_of(f.steps, [&](const SmallVector<int64_t> &steps) {
    return steps[lanes] == 0 || steps[lanes] == 1;
  });
}

/// Elements of a vector, no more than the loop along it needs.
void Vectorizer::chooseWidth() {
  auto [bits, isFloat] = widest(nest);
  vectorBits = isFloat ? unit.floatBits : unit.integerBits;
  width = std::max<int64_t>(vectorBits / bits, 4);
  while (width / 2 >= nest.loops[lanes].extent)
    width /= 2;
  narrowest = std::min<int64_t>(width, std::max<int64_t>(128 / bits, 2));
  current = width;
}

bool Vectorizer::plan(Nest given) {
  nest = std::move(given);
  join = nullptr;
  beginning = end = std::nullopt;
  pieces = 1;
  pieceLoop = -1;
  dotTerms = 1;
  excess = std::nullopt;
  toPack.clear();
  lanes = laneLoop(nest);
  if (lanes < 0 || nest.loops[lanes].extent < 2)
    return false;
  // Few results of long sums of floats: lanes are better along the sums.
  if (nest.hasSums() && nest.loops[lanes].extent < 4 && canReduce())
    return false;
  for (auto [k, a] : llvm::enumerate(nest.in))
    if (!a.isScalar() && a.steps[lanes] != 0 && a.steps[lanes] != 1) {
      // Every second element is cheaper to pick than to move.
      if (a.steps[lanes] == 2 && hasMargin(a.memory) && !isOwnConstant(k))
        continue;
      if (!canPack(k))
        return false;
      toPack.push_back(k);
    }
  if (!nest.hasSums())
    return true;
  pieces = choosePieces();
  if (pieces > 1)
    return true; // sums wait in memory, so nothing is computed on the tile
  beginning = beginningOf(nest);
  if (beginning && !walksLanes(*beginning))
    beginning = std::nullopt;
  if (beginning || !nest.readsOut)
    end = endOf(nest, beginning);
  if (end && (!walksLanes(*end) || end->out.steps[lanes] != 1))
    end = std::nullopt;
  return true;
}

void Vectorizer::emit() {
  if (!join) {
    if (!findDots())
      for (size_t k : toPack)
        pack(k);
    cutSums();
    chooseWidth();
    repeats = mayRepeat();
    rest = chooseRest();
    chooseTile();
    packStrips();
  }
  blocks.assign(nest.loops.size(), {});
  summedIndex.assign(nest.loops.size(), Value());
  order.clear();
  for (int i = 0, n = int(nest.loops.size()); i < n; ++i)
    if (!nest.loops[i].isSummed && i != lanes && i != sliceLoop &&
        i != pieceLoop)
      order.push_back(i);
  // Sums reuse a strip of weights for all rows; else memory is walked in order.
  if (!join)
    order.insert(nest.hasSums() ? order.begin() : order.end(), lanes);
  if (pieceLoop >= 0)
    order.insert(order.begin(), pieceLoop);
  if (sliceLoop >= 0)
    blocks[sliceLoop] = {1, group.getInductionVar()};
  emitLoops(0);
}

//===----------------------------------------------------------------------===//
// The end of the loop along vectors
//===----------------------------------------------------------------------===//

bool Vectorizer::hasMargin(Value memory) const {
  Value root = rootOf(memory);
  auto argument = dyn_cast<BlockArgument>(root);
  return argument ? argument.getArgNumber() >= options.firstConstant
                  : bool(root.getDefiningOp<memref::AllocOp>());
}

/// Whether computing a place twice changes nothing.
bool Vectorizer::mayRepeat() const {
  if (nest.readsOut && !beginning)
    return false;
  Value written = rootOf(end ? end->nest.out.memory : nest.out.memory);
  auto reads = [&](const Nest &n) {
    return llvm::any_of(n.in, [&](const Access &a) {
      return !a.isScalar() && rootOf(a.memory) == written;
    });
  };
  return !reads(nest) && !(beginning && reads(beginning->nest)) &&
         !(end && reads(end->nest));
}

Vectorizer::Rest Vectorizer::chooseRest() const {
  bool within = nest.readsOut && !beginning ? hasMargin(nest.out.memory) : true;
  for (const Access &a : nest.in)
    within &= a.isScalar() || !a.steps[lanes] || hasMargin(a.memory);
  for (const auto *other : {&beginning, &end})
    if (*other)
      for (auto [a, steps] : llvm::zip((*other)->nest.in, (*other)->steps))
        within &= a.isScalar() || !steps[lanes] || hasMargin(a.memory);
  int64_t extent = nest.loops[lanes].extent;
  if (extent % width == 0)
    return Rest::Beyond;
  bool canMove = repeats && extent > width;
  // A part of a vector takes several stores, which later loads wait for; a
  // vector that is moved back takes one. Constants then lie in no strips.
  bool hasStrips = llvm::any_of(llvm::seq(nest.in.size()), [&](size_t k) {
    return !nest.in[k].isScalar() && nest.in[k].steps[lanes] &&
           isOwnConstant(k);
  });
  if (canMove && nest.hasSums() && !hasStrips)
    return Rest::MoveBack;
  if (within)
    return Rest::Beyond;
  return canMove ? Rest::MoveBack : Rest::Masked;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Value Vectorizer::loadLanes(Value flat, Type element, Value at,
                            ArrayRef<int64_t> place, int64_t step) {
  if (step == 2) {
    Value both = loadVector(flat, element, at, 2 * current);
    return vector::DeinterleaveOp::create(b, loc, both).getRes1();
  }
  int64_t valid = blocks[lanes].size - place[lanes];
  if (rest != Rest::Masked || valid >= current)
    return loadVector(flat, element, at, current);
  return loadPart(flat, element, at, valid);
}

/// Vectors and rows of a tile: what wastes least, loads counted half.
void Vectorizer::chooseTile() {
  tile.clear();
  vectors = 1;
  int64_t all = llvm::divideCeil(nest.loops[lanes].extent, width);
  // A vector of wide numbers takes several registers.
  int64_t per =
      std::max<int64_t>(1, width * widest(nest).first / int64_t(vectorBits));
  int64_t most = std::max<int64_t>(
      1, (unit.registers - std::max(unit.registers / 4, 4u)) / per);
  auto reuses = [&](int i) {
    return llvm::any_of(nest.in, [&](const Access &a) {
      return !a.isScalar() && a.steps[lanes] && !a.steps[i];
    });
  };
  if (!nest.hasSums()) {
    vectors = std::min<int64_t>(all, 4);
    return;
  }
  SmallVector<int> rows;
  for (int i = int(nest.loops.size()); i-- > 0;)
    if (!nest.loops[i].isSummed && i != lanes && i != sliceLoop &&
        i != pieceLoop && reuses(i))
      rows.push_back(i);
  int64_t extent = rows.empty() ? 1 : nest.loops[rows[0]].extent;
  double bestCost = std::numeric_limits<double>::infinity();
  int64_t best = 1;
  for (int64_t v = 1; v <= std::min<int64_t>(all, 4); ++v)
    for (int64_t r = 1; r <= std::min(extent, std::max<int64_t>(1, most / v));
         ++r) {
      double cost = double(llvm::divideCeil(extent, r)) *
                    double(llvm::divideCeil(all, v)) *
                    (double(r * v) + 0.5 * double(r + v) + 1);
      // A rest of vectors is code of its own.
      cost *= all % v ? 1.02 : 1;
      if (cost < bestCost)
        bestCost = cost, vectors = v, best = r;
    }
  if (rows.empty())
    return;
  if (best > 1)
    tile[rows[0]] = best;
  // Few columns: several lines at a time.
  if (best == extent && rows.size() > 1) {
    int64_t room = most / (best * vectors);
    int64_t n = nest.loops[rows[1]].extent, lines = 1;
    for (int64_t r = 2; r <= std::min(room, n); ++r)
      if (llvm::divideCeil(n, r) < llvm::divideCeil(n, lines))
        lines = r;
    if (lines > 1)
      tile[rows[1]] = lines;
  }
}

/// The one loop of a nest's sums, -1 if there are several.
static int onlySum(const Nest &nest) {
  int found = -1;
  for (auto [i, loop] : llvm::enumerate(nest.loops)) {
    if (!loop.isSummed)
      continue;
    if (found >= 0)
      return -1;
    found = int(i);
  }
  return found;
}

/// Long sums are cut where a strip of an operand, as wide as a tile, would not
/// stay in the cache while all rows read it. Each sum's terms keep their order.
int64_t Vectorizer::choosePieces() {
  constexpr int64_t kStripBytes = 192 << 10;
  int sum = onlySum(nest);
  if (sum < 0 || !nest.readsOut)
    return 1;
  chooseWidth();
  chooseTile();
  int64_t extent = nest.loops[sum].extent, bytes = 0;
  for (const Access &a : nest.in) {
    if (a.isScalar() || !a.steps[lanes] || !a.steps[sum])
      continue;
    int64_t rows = 1;
    for (auto [i, loop] : llvm::enumerate(nest.loops))
      if (!loop.isSummed && int(i) != lanes && int(i) != sliceLoop &&
          !a.steps[i])
        rows *= llvm::divideCeil(loop.extent,
                                 tile.count(int(i)) ? tile.at(int(i)) : 1);
    if (rows >= 4)
      bytes = std::max(
          bytes, extent * width * vectors *
                     std::max(2u, a.element().getIntOrFloatBitWidth() / 8));
  }
  int64_t least = llvm::divideCeil(bytes, kStripBytes);
  for (int64_t n = least; n > 1 && n < 2 * least; ++n)
    if (extent % (4 * n) == 0 && extent / n >= 64) // dot products stay whole
      return n;
  return 1;
}

/// The loop over the pieces of the sums, which is no sum itself: each piece
/// goes on from what is in memory.
void Vectorizer::cutSums() {
  if (pieces == 1)
    return;
  int sum = onlySum(nest);
  nest.loops[sum].extent /= pieces;
  auto extend = [&](Access &a) {
    a.steps.push_back(a.steps[sum] * nest.loops[sum].extent);
  };
  for (Access &a : nest.in)
    extend(a);
  extend(nest.out);
  if (excess)
    excess->steps.push_back(excessOfPiece);
  pieceLoop = int(nest.loops.size());
  nest.loops.push_back({pieces, false});
}

Value Vectorizer::flat(const Access &access) {
  int64_t size = access.offset + 1;
  for (auto [loop, step] : llvm::zip(nest.loops, access.steps))
    size += (loop.extent - 1) * step;
  return flatMemory(b, loc, access.memory, size);
}

/// The loops that are no sums, tile by tile, in the chosen order.
void Vectorizer::emitLoops(size_t next) {
  if (next == order.size()) {
    join ? emitReductionTile() : emitTile();
    return;
  }
  int i = order[next];
  bool isLanes = i == lanes;
  int64_t extent = nest.loops[i].extent;
  int64_t step = isLanes ? width * vectors : tile.count(i) ? tile[i] : 1;
  step = std::min(step, extent);
  // A block that does not fit at the end is moved back, where computing places
  // twice changes nothing.
  bool movesBack = isLanes ? rest == Rest::MoveBack : repeats;
  int64_t whole = movesBack ? extent : extent / step * step;
  if (whole) {
    OpBuilder::InsertionGuard guard(b);
    Value at = number(0);
    if (whole > step) {
      Value to = number(whole), by = number(step);
      auto loop = scf::ForOp::create(b, loc, at, to, by);
      b.setInsertionPointToStart(loop.getBody());
      at = loop.getInductionVar();
      if (whole % step)
        at = arith::MinSIOp::create(b, loc, at, number(extent - step));
    }
    blocks[i] = {step, at};
    emitLoops(next + 1);
  }
  if (whole < extent) {
    blocks[i] = {extent - whole, number(whole)};
    emitLoops(next + 1);
  }
}

/// Where an access begins in the tile; of the summed loops alone, or without
/// them.
Value Vectorizer::address(const Access &access, bool summed) {
  Value sum;
  for (auto [i, loop] : llvm::enumerate(nest.loops)) {
    if (!access.steps[i] || loop.isSummed != summed)
      continue;
    Value index = summed ? summedIndex[i] : blocks[i].at;
    int64_t step = int(i) == lanes && access.stripStep ? access.stripStep
                                                       : access.steps[i];
    Value moved =
        step == 1 ? index
                  : Value(arith::MulIOp::create(b, loc, index, number(step)));
    sum = sum ? Value(arith::AddIOp::create(b, loc, sum, moved)) : moved;
  }
  return sum ? sum : number(0);
}

Value Vectorizer::spread(Value v) {
  if (isa<VectorType>(v.getType()))
    return v;
  return vector::BroadcastOp::create(
      b, loc, VectorType::get({current}, v.getType()), v);
}

/// A body on these values; scalars stay scalars among themselves.
Value Vectorizer::body(linalg::LinalgOp op, ArrayRef<Value> arguments,
                       Value out) {
  mlir::Block *block = op.getBlock();
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(block->getArguments(), arguments))
    if (to)
      mapping.map(from, to);
  if (out)
    mapping.map(block->getArguments().back(), out);
  for (Operation &inner : block->without_terminator()) {
    bool isVector = llvm::any_of(inner.getOperands(), [&](Value v) {
      return isa<VectorType>(mapping.lookupOrDefault(v).getType());
    });
    if (!isVector) {
      b.clone(inner, mapping);
      continue;
    }
    SmallVector<Value> operands;
    for (Value v : inner.getOperands())
      operands.push_back(spread(mapping.lookupOrDefault(v)));
    Operation *made = inner.clone(mapping);
    made->setOperands(operands);
    for (Value result : made->getResults())
      result.setType(VectorType::get({current}, result.getType()));
    // A product goes into its sum unrounded, as processors do it at once, and
    // a contraction's products and sums have no order.
    auto flags = arith::FastMathFlags::none;
    if (options.contracts)
      flags = arith::FastMathFlags::contract;
    else if (!isa<linalg::GenericOp>(op))
      flags = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
    if (nest.hasSums() && op == nest.op &&
        isa<arith::AddFOp, arith::MulFOp>(made)) {
      auto fast = cast<arith::ArithFastMathInterface>(made);
      made->setAttr(
          fast.getFastMathAttrName(),
          arith::FastMathFlagsAttr::get(
              b.getContext(), fast.getFastMathFlagsAttr().getValue() | flags));
    }
    b.insert(made);
    mapping.map(inner.getResults(), made->getResults());
  }
  return spread(mapping.lookupOrDefault(block->getTerminator()->getOperand(0)));
}

/// sum + Σ of two or four products a lane, as processors compute them. LLVM
/// knows the form of two (pmaddwd, vpdpwssd); four are vpdpbusd, which does not
/// saturate.
Value Vectorizer::dotProduct(Value data, Value weights, Value sum) {
  if (dotTerms == 4) {
    if (areWeightsUnsigned)
      std::swap(data, weights);
    std::string name =
        "llvm.x86.avx512.vpdpbusd." + std::to_string(32 * current);
    return LLVM::CallIntrinsicOp::create(b, loc, sum.getType(),
                                         b.getStringAttr(name),
                                         ValueRange{sum, data, weights})
        .getResults();
  }
  auto wide = VectorType::get({2 * current}, b.getI32Type());
  Value products = arith::MulIOp::create(
      b, loc, arith::ExtSIOp::create(b, loc, wide, data).getResult(),
      arith::ExtSIOp::create(b, loc, wide, weights).getResult());
  auto halves = vector::DeinterleaveOp::create(b, loc, products);
  Value both =
      arith::AddIOp::create(b, loc, halves.getRes1(), halves.getRes2());
  return arith::AddIOp::create(b, loc, sum, both);
}

/// Stores the first `valid` lanes.
void Vectorizer::store(Value v, Value flat, Value at, int64_t valid) {
  if (valid >= current) {
    vector::StoreOp::create(b, loc, v, flat, at);
    return;
  }
  for (int64_t from = 0; from < valid;) {
    int64_t size = int64_t(llvm::bit_floor(uint64_t(valid - from)));
    Value part = vector::ExtractStridedSliceOp::create(
        b, loc, v, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{size},
        ArrayRef<int64_t>{1});
    vector::StoreOp::create(b, loc, part, flat, plus(at, from));
    from += size;
  }
}

/// An elementwise operation on the tile's values; without values it begins
/// them.
SmallVector<Value> Vectorizer::onTile(const Following &f,
                                      ArrayRef<Value> sums) {
  SmallVector<Value> bases, memories;
  SmallVector<Access> walks;
  SmallVector<bool> areSums;
  Value root = rootOf(nest.out.memory);
  for (auto [a, steps] : llvm::zip(f.nest.in, f.steps)) {
    Access place = a;
    place.steps = steps;
    bool isSum = !sums.empty() && !a.isScalar() && rootOf(a.memory) == root;
    bool isRead = !a.isScalar() && !isSum;
    bases.push_back(isRead ? plus(address(place, false), a.offset) : Value());
    memories.push_back(isRead ? flat(place) : a.memory);
    areSums.push_back(isSum);
    walks.push_back(place);
  }
  std::map<std::tuple<size_t, int64_t, int64_t>, Value> loaded;
  SmallVector<Value> results;
  size_t position = 0;
  for (const SmallVector<int64_t> &at : places) {
    current = widthAt(blocks[lanes].size - at[lanes]);
    SmallVector<Value> arguments;
    for (size_t k = 0; k < f.nest.in.size(); ++k) {
      const Access &a = f.nest.in[k];
      if (areSums[k]) {
        arguments.push_back(sums[position]);
        continue;
      }
      if (a.isScalar()) {
        arguments.push_back(a.memory);
        continue;
      }
      int64_t offset = 0;
      for (auto [step, steps] : llvm::zip(walks[k].steps, at))
        offset += step * steps;
      bool isVector = walks[k].steps[lanes] != 0;
      Value &value = loaded[{k, offset, isVector ? current : 1}];
      if (!value) {
        Value where = plus(bases[k], offset);
        value = isVector
                    ? loadLanes(memories[k], a.element(), where, at)
                    : Value(memref::LoadOp::create(b, loc, memories[k], where));
      }
      arguments.push_back(value);
    }
    results.push_back(body(f.nest.op, arguments, Value()));
    ++position;
  }
  return results;
}

/// Elements of a vector that begins `left` elements before the end: no more
/// than it needs. Processors that split wide vectors take less time for it.
int64_t Vectorizer::widthAt(int64_t left) const {
  auto needed = int64_t(llvm::bit_ceil(uint64_t(left)));
  return std::min(width, std::max(narrowest, needed));
}

/// The places of a tile's vectors, as steps of each loop.
std::vector<SmallVector<int64_t>> Vectorizer::placesOfTile() const {
  std::vector<SmallVector<int64_t>> all{{}};
  for (auto [i, loop] : llvm::enumerate(nest.loops)) {
    bool isLanes = int(i) == lanes;
    int64_t step = isLanes ? width : 1;
    int64_t end = loop.isSummed ? 1 : blocks[i].size;
    std::vector<SmallVector<int64_t>> more;
    for (const SmallVector<int64_t> &place : all)
      for (int64_t k = 0; k < end; k += step) {
        more.push_back(place);
        bool isMoved = isLanes && rest == Rest::MoveBack;
        more.back().push_back(isMoved ? std::min(k, end - widthAt(end - k))
                                      : k);
      }
    all = std::move(more);
  }
  return all;
}

/// Asks for what the tile reads and writes after its sums in the caller's
/// memory, while they run: rows of a tile lie apart, and no processor foresees
/// such a walk.
void Vectorizer::fetchEnd() {
  int64_t terms = 1;
  for (const Loop &loop : nest.loops)
    terms *= loop.isSummed ? loop.extent : 1;
  if (terms < 8)
    return;
  auto fetch = [&](Access access, ArrayRef<int64_t> steps, bool isWrite) {
    auto argument = access.isScalar()
                        ? BlockArgument()
                        : dyn_cast<BlockArgument>(rootOf(access.memory));
    if (!argument || argument.getArgNumber() >= options.firstConstant ||
        !steps[lanes])
      return;
    access.steps.assign(steps.begin(), steps.end());
    Value base = address(access, false), memory = flat(access);
    for (const SmallVector<int64_t> &place : places) {
      int64_t last = widthAt(blocks[lanes].size - place[lanes]) - 1;
      int64_t offset = access.offset + last * steps[lanes];
      for (auto [step, at] : llvm::zip(steps, place))
        offset += step * at;
      memref::PrefetchOp::create(b, loc, memory, plus(base, offset), isWrite,
                                 /*localityHint=*/3, /*isDataCache=*/true);
    }
  };
  if (end)
    for (auto [access, steps] : llvm::zip(end->nest.in, end->steps))
      fetch(access, steps, /*isWrite=*/false);
  const Access &to = end ? end->out : nest.out;
  if (end || !nest.readsOut || beginning)
    fetch(to, to.steps, /*isWrite=*/true);
}

void Vectorizer::emitTile() {
  places = placesOfTile();
  auto offsetOf = [&](const Access &a, ArrayRef<int64_t> place) {
    int64_t offset = a.offset;
    for (auto [step, steps] : llvm::zip(a.steps, place))
      offset += step * steps;
    return offset;
  };
  Value outBase = address(nest.out, false), outFlat = flat(nest.out);
  SmallVector<Value> carried;
  if (beginning) {
    carried = onTile(*beginning, {});
  } else if (nest.readsOut) {
    for (const auto &place : places) {
      current = widthAt(blocks[lanes].size - place[lanes]);
      carried.push_back(loadLanes(outFlat, nest.out.element(),
                                  plus(outBase, offsetOf(nest.out, place)),
                                  place));
    }
  }
  SmallVector<Value> flats, bases;
  for (const Access &a : nest.in) {
    flats.push_back(a.isScalar() ? Value() : flat(a));
    bases.push_back(a.isScalar() ? Value() : address(a, false));
  }
  if (nest.hasSums())
    fetchEnd();
  SmallVector<scf::ForOp> summed;
  for (auto [i, loop] : llvm::enumerate(nest.loops)) {
    if (!loop.isSummed)
      continue;
    Value from = number(0), to = number(loop.extent), by = number(1);
    auto made = scf::ForOp::create(b, loc, from, to, by, carried);
    summed.push_back(made);
    b.setInsertionPointToStart(made.getBody());
    summedIndex[i] = made.getInductionVar();
    carried.assign(made.getRegionIterArgs().begin(),
                   made.getRegionIterArgs().end());
  }
  for (auto [base, a] : llvm::zip(bases, nest.in))
    if (base && !summed.empty())
      base = arith::AddIOp::create(b, loc, base, address(a, true));
  std::map<std::tuple<size_t, int64_t, int64_t>, Value> loaded;
  auto operand = [&](size_t k, ArrayRef<int64_t> place) -> Value {
    const Access &a = nest.in[k];
    if (a.isScalar())
      return a.memory;
    int64_t offset = offsetOf(a, place);
    bool isVector = a.steps[lanes] || dotTerms > 1;
    Value &value = loaded[{k, offset, isVector ? current : 1}];
    if (value)
      return value;
    Value at = plus(bases[k], offset);
    if (dotTerms > 1 && k == dotWeights)
      return value = loadVector(flats[k], a.element(), at, dotTerms * current);
    if (dotTerms > 1) {
      Value terms = loadVector(flats[k], a.element(), at, dotTerms);
      terms = vector::BitCastOp::create(
          b, loc, VectorType::get({1}, b.getI32Type()), terms);
      terms = spread(vector::ExtractOp::create(b, loc, terms, 0));
      return value = vector::BitCastOp::create(
                 b, loc, VectorType::get({dotTerms * current}, a.element()),
                 terms);
    }
    if (a.steps[lanes])
      return value =
                 loadLanes(flats[k], a.element(), at, place, a.steps[lanes]);
    return value = memref::LoadOp::create(b, loc, flats[k], at);
  };
  SmallVector<Value> results;
  for (auto [t, place] : llvm::enumerate(places)) {
    current = widthAt(blocks[lanes].size - place[lanes]);
    Value so_far = carried.empty() ? Value() : carried[t];
    if (dotTerms > 1) {
      results.push_back(dotProduct(operand(1 - dotWeights, place),
                                   operand(dotWeights, place), so_far));
      continue;
    }
    SmallVector<Value> arguments;
    for (size_t k = 0; k < nest.in.size(); ++k)
      arguments.push_back(operand(k, place));
    results.push_back(body(nest.op, arguments, so_far));
  }
  for (scf::ForOp loop : llvm::reverse(summed)) {
    scf::YieldOp::create(b, loc, results);
    results.assign(loop.getResults().begin(), loop.getResults().end());
    b.setInsertionPointAfter(loop);
  }
  if (excess) {
    Value memory = flat(*excess), base = address(*excess, false);
    for (auto [place, value] : llvm::zip(places, results)) {
      current = widthAt(blocks[lanes].size - place[lanes]);
      Value at = plus(base, offsetOf(*excess, place));
      value = arith::SubIOp::create(
          b, loc, value, loadVector(memory, b.getI32Type(), at, current));
    }
  }
  const Access &to = end ? end->out : nest.out;
  if (end) {
    results = onTile(*end, results);
    outBase = address(to, false);
    outFlat = flat(to);
  }
  for (auto [place, value] : llvm::zip(places, results)) {
    int64_t valid = blocks[lanes].size - place[lanes];
    current = widthAt(valid);
    store(value, outFlat, plus(outBase, offsetOf(to, place)), valid);
  }
}

/// Functions of vectors of floats as polynomials of MLIR; others are calls of
/// libm for each lane.
static void approximate(func::FuncOp func) {
  auto isKnown = [](Operation *op) {
    return isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp>(op);
  };
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (!isKnown(op))
      return;
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (type && type.getElementType().isF32())
      ops.push_back(op);
  });
  RewritePatternSet patterns(func.getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::ExpOp::getOperationName() ||
           name == math::LogOp::getOperationName() ||
           name == math::TanhOp::getOperationName() ||
           name == math::ErfOp::getOperationName();
  });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  (void)applyOpPatternsGreedily(ops, std::move(patterns), config);
}

void cpu::vectorizeLoops(func::FuncOp func, const VectorOptions &options,
                         Constants &constants) {
  Vectorizer(func, options, constants).run();
  // Constants in another order have other types.
  func.setType(FunctionType::get(func.getContext(),
                                 func.getBody().getArgumentTypes(),
                                 func.getResultTypes()));
  if (options.unit.hasFma)
    approximate(func);
}
