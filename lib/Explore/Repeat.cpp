// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks of a network are equal, and what a body of them computes with.
// Chains are found by what is alike at a fixed distance, for each distance from
// an operation to the next one like it. Numbers that follow from a block's own
// weights (the ranges of sums, the shifts of requantizers) become those with
// which all blocks are exact.
#include "Repeat.h"
#include "Constants.h"
#include "Menu.h"
#include "Split.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include "rhizome/Generator/Trips.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>
#include <set>

using namespace mlir;

namespace rhizome::explore {
namespace {
/// Blocks of `length` operations from the hardware operation `first` on.
struct Chain {
  size_t first = 0, length = 1, trips = 1;
  size_t given = 0; ///< which of a block gives its result
  Value taken;      ///< by the first block
  size_t end() const { return first + length * trips; }
  size_t saved() const { return length * (trips - 1); }
};

/// The attributes that each trip may have for itself.
bool isOwn(Operation *op, StringRef name) {
  if (name.starts_with("rhizome.")) // what reports say of it
    return true;
  if (isa<osa::RequantizeOp>(op))
    return name == "multiplier" || name == "offset" || name == "shift" ||
           name == "ties_even";
  if (isa<osa::ThresholdOp>(op))
    return name == "thresholds";
  if (isa<osa::TableOp>(op))
    return name == "values";
  if (isa<osa::RowSoftmaxOp>(op))
    return name == "exponentials";
  if (isa<osa::RowNormOp>(op))
    return name == "epsilon";
  return isa<osa::ScaledAddOp>(op) &&
         (name == "lhs_multiplier" || name == "rhs_multiplier");
}

/// Whether a body may have it: bodies are not inside of each other.
bool mayRepeat(Operation *op) { return !isa<flow::EnterOp, flow::LeaveOp>(op); }

class Finder {
public:
  explicit Finder(func::FuncOp network) : ops(hardwareOf(network)) {
    for (auto [i, op] : llvm::enumerate(ops))
      index[op] = i;
    for (Operation *op : ops)
      texts.push_back(textOf(op));
  }
  const std::vector<Operation *> ops;

  /// The chain of most trips of blocks that begins here.
  Chain chainAt(size_t first, size_t length) const;
  std::vector<Chain> all() const;

private:
  DenseMap<Operation *, size_t> index;
  std::vector<std::string> texts; ///< equal ones: operations of one kind

  static std::string textOf(Operation *op);
  /// The place of what produces a value; none for the network's input.
  std::optional<size_t> producerOf(Value v) const {
    auto found = index.find(rootOf(v).getDefiningOp());
    if (found == index.end())
      return std::nullopt;
    return found->second;
  }
  bool isReadBeyond(Value v, size_t begin, size_t end) const;
  /// The value that a block takes; null if it takes none or several.
  Value takenBy(size_t first, size_t length) const;
  /// The operation of a block whose result is read behind it, if that is one.
  std::optional<size_t> givenBy(size_t first, size_t length) const;
  bool areEqual(size_t a, size_t b, size_t length) const;
};

std::string Finder::textOf(Operation *op) {
  std::string text = mayRepeat(op) ? "" : std::to_string(uintptr_t(op));
  llvm::raw_string_ostream os(text);
  os << op->getName();
  auto add = [&](Type type, bool width) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    num::IntType element = tensor ? num::elementInt(type) : num::IntType();
    if (!element)
      return;
    os << ' ' << element.getIsSigned();
    if (width)
      os << '.' << element.getWidth();
    for (int64_t size : tensor.getShape())
      os << 'x' << size;
  };
  for (Value v : op->getOperands()) {
    const bool isConstant = bool(v.getDefiningOp<osa::ConstantOp>());
    os << (isConstant ? " c" : " s");
    // Sums have the bits that their weights need; what is multiplied has those
    // of the block.
    add(v.getType(), weightsOf(op) && !isConstant);
  }
  for (Value v : op->getResults())
    add(v.getType(), /*width=*/isa<osa::RequantizeOp>(op));
  for (NamedAttribute attr : op->getAttrs())
    if (!isOwn(op, attr.getName()))
      os << ' ' << attr.getName().getValue() << '='
         << attr.getValue().getAsOpaquePointer();
  return text;
}

bool Finder::isReadBeyond(Value v, size_t begin, size_t end) const {
  return llvm::any_of(v.getUsers(), [&](Operation *user) {
    if (isa<osa::ReshapeOp>(user))
      return isReadBeyond(user->getResult(0), begin, end);
    auto at = index.find(user);
    return at == index.end() || at->second < begin || at->second >= end;
  });
}

Value Finder::takenBy(size_t first, size_t length) const {
  Value taken;
  for (size_t i = first; i < first + length; ++i)
    for (Value v : ops[i]->getOperands()) {
      if (rootOf(v).getDefiningOp<osa::ConstantOp>())
        continue;
      auto from = producerOf(v);
      if (from && *from >= first && *from < first + length)
        continue;
      // A reshape on the way is part of no block.
      if ((taken && taken != v) || v != rootOf(v))
        return {};
      taken = v;
    }
  return taken;
}

std::optional<size_t> Finder::givenBy(size_t first, size_t length) const {
  std::optional<size_t> given;
  for (size_t i = first; i < first + length; ++i)
    if (isReadBeyond(ops[i]->getResult(0), first, first + length)) {
      if (given)
        return std::nullopt;
      given = i;
    }
  return given;
}

bool Finder::areEqual(size_t a, size_t b, size_t length) const {
  for (size_t i = 0; i < length; ++i) {
    if (texts[a + i] != texts[b + i])
      return false;
    for (auto [x, y] : llvm::zip_equal(ops[a + i]->getOperands(),
                                       ops[b + i]->getOperands())) {
      auto inside = [&](Value v, size_t first) -> std::optional<size_t> {
        auto from = producerOf(v);
        if (!from || *from < first || *from >= first + length)
          return std::nullopt;
        return *from - first;
      };
      if (inside(x, a) != inside(y, b))
        return false;
    }
  }
  return true;
}

/// Whether a body can take one and give the other.
bool mayFollow(Value taken, Value given) {
  auto from = cast<RankedTensorType>(taken.getType()),
       to = cast<RankedTensorType>(given.getType());
  num::IntType in = num::elementInt(from), out = num::elementInt(to);
  return in && out && from.getShape() == to.getShape() &&
         in.getWidth() == out.getWidth() &&
         in.getIsSigned() == out.getIsSigned();
}

Chain Finder::chainAt(size_t first, size_t length) const {
  Chain chain{first, length, 0, 0, {}};
  Value before; // what the block before gives
  for (size_t at = first; at + length <= ops.size(); at += length) {
    Value taken = takenBy(at, length);
    std::optional<size_t> given = givenBy(at, length);
    if (!taken || !given || (before && taken != before) ||
        !mayFollow(taken, ops[*given]->getResult(0)) ||
        (chain.trips > 0 &&
         (*given - at != chain.given || !areEqual(first, at, length))))
      break;
    if (chain.trips++ == 0) {
      chain.taken = taken;
      chain.given = *given - at;
    }
    before = ops[*given]->getResult(0);
    // Nobody else reads what goes to the next block.
    if (isReadBeyond(before, at + length, at + 2 * length))
      break;
  }
  return chain;
}

std::vector<Chain> Finder::all() const {
  constexpr size_t kMostLength = 256, kMostLengths = 64;
  std::set<size_t> lengths;
  llvm::StringMap<size_t> last;
  for (auto [i, text] : llvm::enumerate(texts)) {
    auto [seen, isNew] = last.try_emplace(text, i);
    if (!isNew && i - seen->second <= kMostLength)
      lengths.insert(i - seen->second);
    seen->second = i;
  }
  std::vector<Chain> found;
  size_t tried = 0;
  for (size_t length : lengths) {
    if (++tried > kMostLengths)
      break;
    for (size_t i = 0, end; i + length < texts.size(); i = end + 1) {
      for (end = i;
           end + length < texts.size() && texts[end] == texts[end + length];)
        ++end;
      // What is alike from i to end begins blocks at one of these places.
      if (end - i < length)
        continue;
      Chain best;
      for (size_t first = i; first < i + length; ++first)
        if (Chain chain = chainAt(first, length); chain.trips > best.trips)
          best = chain;
      if (best.trips > 1)
        found.push_back(best);
    }
  }
  llvm::stable_sort(found, [](const Chain &a, const Chain &b) {
    return std::pair(b.saved(), a.length) < std::pair(a.saved(), b.length);
  });
  std::vector<Chain> taken;
  for (const Chain &chain : found)
    if (llvm::none_of(taken, [&](const Chain &other) {
          return chain.first < other.end() && other.first < chain.end();
        }))
      taken.push_back(chain);
  llvm::sort(taken,
             [](const Chain &a, const Chain &b) { return a.first < b.first; });
  return taken;
}

Type withElement(Type tensor, num::IntType element) {
  return RankedTensorType::get(cast<RankedTensorType>(tensor).getShape(),
                               element);
}

num::IntType unionOf(num::IntType a, num::IntType b) {
  return num::IntType::get(
      a.getContext(), a.getIsSigned(), std::max(a.getWidth(), b.getWidth()),
      std::min(a.getLo(), b.getLo()), std::max(a.getHi(), b.getHi()));
}

/// Makes the operations of all trips alike except for numbers in memories.
class Unifier {
public:
  Unifier(ArrayRef<Operation *> ops, const Chain &chain)
      : ops(ops), chain(chain), builder(ops[0]->getContext()) {}
  /// False if they cannot be.
  bool run();

private:
  ArrayRef<Operation *> ops; ///< of the network
  const Chain &chain;
  OpBuilder builder;

  SmallVector<Operation *> eachOf(size_t place) const {
    SmallVector<Operation *> each;
    for (size_t t = 0; t < chain.trips; ++t)
      each.push_back(ops[chain.first + t * chain.length + place]);
    return each;
  }
  bool mayWiden(Operation *op, num::IntType to) const;
  bool unifyScales(ArrayRef<Operation *> each);
  bool unifyTables(ArrayRef<Operation *> each, ArrayRef<num::IntType> inputs);
  bool unifyThresholds(ArrayRef<Operation *> each);
  bool unifyExponentials(ArrayRef<Operation *> each);
  void unifyWeights(ArrayRef<Operation *> each);
};

/// The values of an attribute of [C or 1, K] for `channels`.
std::vector<int64_t> rowsFor(ElementsAttr attr, int64_t channels) {
  std::vector<int64_t> values = osa::intValues(attr), all;
  const int64_t rows = attr.getShapedType().getShape()[0];
  for (int64_t c = 0; c < channels; c += rows)
    all.insert(all.end(), values.begin(), values.end());
  return all;
}

std::vector<int64_t> entriesFor(ArrayRef<int64_t> values, size_t channels) {
  std::vector<int64_t> all(values);
  all.resize(channels, values.back());
  return all;
}

/// Whether a result that is bounded by its type's range may be of a wider one:
/// the narrower bounds are never met.
bool Unifier::mayWiden(Operation *op, num::IntType to) const {
  num::IntType own = num::elementInt(op->getResult(0).getType());
  if (own.getLo() == to.getLo() && own.getHi() == to.getHi())
    return true;
  if (isa<osa::RowSoftmaxOp, osa::RowNormOp>(op))
    return false;
  auto r = dyn_cast<osa::RequantizeOp>(op);
  if (!r)
    return true;
  num::IntType in = num::elementInt(r.getInput().getType());
  const size_t channels =
      std::max(r.getMultiplier().size(), r.getOffset().size());
  for (auto [m, o] : llvm::zip_equal(entriesFor(r.getMultiplier(), channels),
                                     entriesFor(r.getOffset(), channels)))
    for (int64_t x : {in.getLo(), in.getHi()}) {
      const __int128 sum = __int128(x) * m + o;
      __int128 level = sum >> r.getShift();
      if (r.getTiesEven() && level << r.getShift() == sum)
        level -= level & 1;
      if ((to.getHi() > own.getHi() && level > own.getHi()) ||
          (to.getLo() < own.getLo() && level < own.getLo()))
        return false;
    }
  return true;
}

bool Unifier::unifyScales(ArrayRef<Operation *> each) {
  int64_t shift = 0;
  size_t channels = 1;
  bool hasTies = false;
  for (Operation *op : each) {
    auto r = cast<osa::RequantizeOp>(op);
    shift = std::max<int64_t>(shift, r.getShift());
    hasTies |= r.getTiesEven();
    channels =
        std::max({channels, r.getMultiplier().size(), r.getOffset().size()});
  }
  // Where some trips round ties to even, others have no ties: they get one bit
  // more, which is set.
  auto lacksBit = [&](Operation *op) {
    auto r = cast<osa::RequantizeOp>(op);
    return hasTies && !r.getTiesEven() && int64_t(r.getShift()) == shift;
  };
  if (llvm::any_of(each, lacksBit))
    ++shift;
  num::IntType in = num::elementInt(each[0]->getOperand(0).getType());
  for (Operation *op : each) {
    auto r = cast<osa::RequantizeOp>(op);
    const bool isFloor = hasTies && !r.getTiesEven();
    const int64_t by = shift - r.getShift();
    std::vector<int64_t> m = entriesFor(r.getMultiplier(), channels),
                         o = entriesFor(r.getOffset(), channels);
    for (auto [factor, offset] : llvm::zip_equal(m, o)) {
      for (int64_t x : {in.getLo(), in.getHi()}) {
        const __int128 sum = __int128(x) * factor + offset,
                       most = (__int128(1) << 62) >> by;
        if (sum >= most || sum < -most)
          return false;
      }
      if (std::abs(double(factor)) * double(int64_t(1) << by) >= 4e18 ||
          std::abs(double(offset)) * double(int64_t(1) << by) >= 4e18)
        return false;
      factor = int64_t(uint64_t(factor) << by);
      offset = int64_t(uint64_t(offset) << by) + isFloor;
    }
    r.setMultiplier(m);
    r.setOffset(o);
    r.setShift(uint64_t(shift));
    r.setTiesEven(hasTies);
  }
  return true;
}

bool Unifier::unifyThresholds(ArrayRef<Operation *> each) {
  int64_t channels = 1, count = 0;
  for (Operation *op : each) {
    auto shape =
        cast<osa::ThresholdOp>(op).getThresholds().getShapedType().getShape();
    if (count > 0 && shape[1] != count)
      return false;
    count = shape[1];
    channels = std::max(channels, shape[0]);
  }
  for (Operation *op : each) {
    auto t = cast<osa::ThresholdOp>(op);
    if (t.getThresholds().getShapedType().getShape()[0] != channels)
      t.setThresholdsAttr(
          osa::makeIntAttr(op->getContext(), "thresholds", {channels, count},
                           num::IntType::getFull(op->getContext(), true, 64),
                           rowsFor(t.getThresholds(), channels)));
  }
  return true;
}

/// Tables have an entry for each value of the common range; the ones beyond a
/// trip's own are never read.
bool Unifier::unifyTables(ArrayRef<Operation *> each,
                          ArrayRef<num::IntType> inputs) {
  constexpr int64_t kMost = 1 << 16;
  num::IntType all = num::elementInt(each[0]->getOperand(0).getType());
  const int64_t entries = all.getHi() - all.getLo() + 1;
  int64_t channels = 1;
  for (Operation *op : each)
    channels = std::max(
        channels,
        cast<osa::TableOp>(op).getValues().getShapedType().getShape()[0]);
  if (entries > kMost)
    return false;
  for (auto [op, in] : llvm::zip_equal(each, inputs)) {
    auto t = cast<osa::TableOp>(op);
    const int64_t own = in.getHi() - in.getLo() + 1;
    std::vector<int64_t> values = rowsFor(t.getValues(), channels), wide;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t x = all.getLo(); x <= all.getHi(); ++x)
        wide.push_back(values[size_t(
            c * own + std::clamp(x, in.getLo(), in.getHi()) - in.getLo())]);
    t.setValuesAttr(osa::makeIntAttr(
        op->getContext(), "values", {channels, entries},
        num::IntType::getFull(op->getContext(), true, 64), wide));
  }
  return true;
}

/// As for tables: the differences beyond a trip's own never occur.
bool Unifier::unifyExponentials(ArrayRef<Operation *> each) {
  num::IntType all = num::elementInt(each[0]->getOperand(0).getType());
  const int64_t entries = all.getHi() - all.getLo() + 1,
                first = cast<osa::RowSoftmaxOp>(each[0]).getExponentials()[0];
  if (entries > 1 << 16)
    return false;
  for (Operation *op : each) {
    auto softmax = cast<osa::RowSoftmaxOp>(op);
    std::vector<int64_t> table =
        entriesFor(softmax.getExponentials(), size_t(entries));
    if (table[0] != first)
      return false;
    softmax.setExponentials(table);
  }
  return true;
}

void Unifier::unifyWeights(ArrayRef<Operation *> each) {
  num::IntType all;
  for (Operation *op : each) {
    num::IntType own = num::elementInt(weightsOf(op)->get().getType());
    all = all ? unionOf(all, own) : own;
  }
  for (Operation *op : each) {
    OpOperand &weights = *weightsOf(op);
    Value v = weights.get();
    if (num::elementInt(v.getType()) == all)
      continue;
    auto type = cast<RankedTensorType>(withElement(v.getType(), all));
    builder.setInsertionPoint(op);
    weights.set(osa::ConstantOp::create(
        builder, v.getLoc(), type,
        osa::makeIntAttr(op->getContext(), "weights", type.getShape(), all,
                         *osa::constantInts(v))));
  }
}

bool Unifier::run() {
  constexpr int64_t kMostDigits = 30; // to the base 4, of an osa.row_norm
  std::vector<num::IntType> results;
  std::vector<std::vector<num::IntType>> inputs(chain.length);
  for (size_t i = 0; i < chain.length; ++i) {
    num::IntType all;
    if (i == chain.given)
      all = num::elementInt(chain.taken.getType());
    for (Operation *op : eachOf(i)) {
      num::IntType own = num::elementInt(op->getResult(0).getType());
      all = all ? unionOf(all, own) : own;
      inputs[i].push_back(num::elementInt(op->getOperand(0).getType()));
    }
    for (Operation *op : eachOf(i))
      if (!mayWiden(op, all))
        return false;
    results.push_back(all);
  }
  for (size_t i = 0; i < chain.length; ++i)
    for (Operation *op : eachOf(i)) {
      Value result = op->getResult(0);
      result.setType(withElement(result.getType(), results[i]));
    }
  for (Operation &op : *ops[0]->getBlock())
    if (auto reshape = dyn_cast<osa::ReshapeOp>(op))
      reshape.getResult().setType(cast<RankedTensorType>(
          withElement(reshape.getResult().getType(),
                      num::elementInt(reshape.getInput().getType()))));
  // From here on, the first trip takes what the others do, too.
  for (size_t i = 0; i < chain.length; ++i) {
    SmallVector<Operation *> each = eachOf(i);
    if (weightsOf(each[0]))
      unifyWeights(each);
    if ((isa<osa::RequantizeOp>(each[0]) && !unifyScales(each)) ||
        (isa<osa::ThresholdOp>(each[0]) && !unifyThresholds(each)) ||
        (isa<osa::TableOp>(each[0]) && !unifyTables(each, inputs[i])) ||
        (isa<osa::RowSoftmaxOp>(each[0]) && !unifyExponentials(each)))
      return false;
    // Its largest number is that of the common range.
    for (Operation *op : each)
      if (auto norm = dyn_cast<osa::RowNormOp>(op))
        if (osa::rowNormShape(norm).digits > kMostDigits)
          return false;
  }
  return true;
}

/// The signed bits of a number.
unsigned bitsOf(int64_t v) {
  return num::bitsForRange(std::min<int64_t>(v, -1), std::max<int64_t>(v, 0));
}

/// The numbers of which an operation's unit must hold all: of each, the one
/// with most bits.
void takeWidest(Operation *op, ArrayRef<Operation *> each) {
  auto widest = [&](auto valuesOf) {
    std::vector<int64_t> all = valuesOf(each[0]);
    for (Operation *other : each)
      for (auto [mine, its] : llvm::zip_equal(all, valuesOf(other)))
        if (bitsOf(its) > bitsOf(mine))
          mine = its;
    return all;
  };
  auto one = [](int64_t v) { return std::vector<int64_t>{v}; };
  if (auto r = dyn_cast<osa::RequantizeOp>(op)) {
    auto isOne = [](int64_t m) { return m == 1; };
    std::vector<int64_t> m = widest([](Operation *o) {
      return std::vector<int64_t>(cast<osa::RequantizeOp>(o).getMultiplier());
    });
    // Only where nobody multiplies there is no multiplier: -2 has as many bits.
    if (llvm::all_of(m, isOne) && !llvm::all_of(each, [&](Operation *o) {
          return llvm::all_of(cast<osa::RequantizeOp>(o).getMultiplier(),
                              isOne);
        }))
      m[0] = -2;
    r.setMultiplier(m);
    r.setOffset(widest([](Operation *o) {
      return std::vector<int64_t>(cast<osa::RequantizeOp>(o).getOffset());
    }));
  } else if (auto add = dyn_cast<osa::ScaledAddOp>(op)) {
    add.setLhsMultiplier(widest([&](Operation *o) {
      return one(cast<osa::ScaledAddOp>(o).getLhsMultiplier());
    })[0]);
    add.setRhsMultiplier(widest([&](Operation *o) {
      return one(cast<osa::ScaledAddOp>(o).getRhsMultiplier());
    })[0]);
  } else if (auto norm = dyn_cast<osa::RowNormOp>(op)) {
    norm.setEpsilon(uint64_t(widest([&](Operation *o) {
      return one(int64_t(cast<osa::RowNormOp>(o).getEpsilon()));
    })[0]));
  }
}

func::FuncOp copyOf(func::FuncOp base, func::FuncOp after, StringRef name) {
  auto copy = cast<func::FuncOp>(base->clone());
  copy->removeAttr(flow::kPlace); // it is not a task of the model
  auto module = base->getParentOfType<ModuleOp>();
  std::string unique = name.str();
  for (int n = 1; module.lookupSymbol(unique); ++n)
    unique = name.str() + std::to_string(n);
  copy.setSymName(unique);
  after->getBlock()->getOperations().insertAfter(after->getIterator(), copy);
  return copy;
}

/// Those of a value that nothing else reads.
void eraseReshapes(Value v) {
  for (Operation *user : llvm::make_early_inc_range(v.getUsers())) {
    eraseReshapes(user->getResult(0));
    user->erase();
  }
}

/// What a block takes from outside.
Value takenBy(ArrayRef<Operation *> block) {
  for (Operation *op : block)
    for (Value v : op->getOperands()) {
      Operation *from = rootOf(v).getDefiningOp();
      if (!isa_and_nonnull<osa::ConstantOp>(from) &&
          !llvm::is_contained(block, from))
        return v;
    }
  llvm_unreachable("a block takes something");
}

/// Makes the blocks of a chain one body; `ops` are those of the folded copy,
/// and `all` the same ones of the function with all blocks.
void fold(ArrayRef<Operation *> ops, ArrayRef<Operation *> all,
          const Chain &chain, StringRef function) {
  auto block = ops.slice(chain.first, chain.length);
  Value taken = takenBy(block);
  const std::string name = osa::nodeName(block[0]);
  const auto trips = int64_t(chain.trips);
  Value end = block[chain.given]->getResult(0);
  OpBuilder b(block[0]);
  auto borderOf = [&](StringRef kind, Location loc, Value input) {
    OperationState state(loc, kind);
    state.addOperands(input);
    state.addTypes(end.getType());
    state.addAttribute("body", b.getStringAttr(name));
    state.addAttribute("trips", b.getI64IntegerAttr(trips));
    return b.create(state)->getResult(0);
  };
  Value entry =
      borderOf(flow::EnterOp::getOperationName(), block[0]->getLoc(), taken);
  for (auto [i, op] : llvm::enumerate(block)) {
    op->replaceUsesOfWith(taken, entry);
    const size_t at = chain.first + i;
    SmallVector<Operation *> each;
    for (size_t t = 0; t < chain.trips; ++t)
      each.push_back(all[at + t * chain.length]);
    if (!gen::areAlike(each))
      takeWidest(op, each);
    gen::setTrips(op, trips, function, int64_t(at), int64_t(chain.length));
  }
  b.setInsertionPointAfter(block.back());
  Value left = borderOf(flow::LeaveOp::getOperationName(),
                        block[chain.given]->getLoc(), end);
  ops[chain.end() - chain.length + chain.given]
      ->getResult(0)
      .replaceAllUsesWith(left);
  for (size_t i = chain.end(); i-- > chain.first + chain.length;) {
    eraseReshapes(ops[i]->getResult(0));
    ops[i]->erase();
  }
}
} // namespace

std::vector<Repeat> findRepeats(func::FuncOp network) {
  if (!flow::keptBy(network).empty())
    return {};
  Finder finder(network);
  std::vector<OperationId> ids = idsOf(finder.ops);
  std::vector<Repeat> repeats;
  for (const Chain &chain : finder.all())
    repeats.push_back({ids[chain.first], int(chain.length), int(chain.trips)});
  return repeats;
}

/// Whether `wanted` names this operation.
static bool names(const OperationId &wanted, const OperationId &id) {
  return wanted.node == id.node && (wanted.op.empty() || wanted.op == id.op) &&
         (wanted.nth < 0 || wanted.nth == id.nth);
}

/// Where a repeat's blocks are, none if there are no such blocks.
static std::optional<Chain> chainOf(const Finder &finder,
                                    const Repeat &wanted) {
  std::vector<OperationId> ids = idsOf(finder.ops);
  const std::vector<Chain> known =
      wanted.length > 0 ? std::vector<Chain>() : finder.all();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!names(wanted.of, ids[i]))
      continue;
    Chain chain;
    if (wanted.length > 0)
      chain = finder.chainAt(i, size_t(wanted.length));
    // A user names any node of the first block.
    for (const Chain &one : known)
      if (i >= one.first && i < one.end())
        chain = finder.chainAt(i - (i - one.first) % one.length, one.length);
    if (chain.trips >= size_t(std::max(wanted.trips, 2))) {
      chain.trips = size_t(wanted.trips);
      return chain;
    }
  }
  return std::nullopt;
}

std::vector<Repeat> wholeIds(func::FuncOp network,
                             const std::vector<Repeat> &repeats) {
  Finder finder(network);
  std::vector<OperationId> ids = idsOf(finder.ops);
  std::vector<Repeat> whole;
  for (const Repeat &repeat : repeats)
    if (auto chain = repeat.trips > 1 ? chainOf(finder, repeat) : std::nullopt)
      whole.push_back(
          {ids[chain->first], int(chain->length), int(chain->trips)});
  return whole;
}

void eraseFolded(func::FuncOp copy) {
  if (auto blocks = copy->getAttrOfType<StringAttr>(marks::kBlocks))
    if (auto *other = copy->getParentOfType<ModuleOp>().lookupSymbol(blocks))
      other->erase();
  copy.erase();
}

func::FuncOp foldAs(func::FuncOp network, const std::vector<Repeat> &repeats,
                    Refusals &refused) {
  if (repeats.empty())
    return network;
  auto refuse = [&](const Repeat &repeat, StringRef why) {
    refused.push_back(
        {repeat.of.node, repeat.of.op, why.str(),
         "blocks have equal operations, shapes and bits, and each "
         "takes one value, from the one before"});
    return network;
  };
  if (!flow::keptBy(network).empty())
    return refuse(repeats[0], "is in a network that keeps states, whose blocks "
                              "cannot be one body");
  func::FuncOp blocks = copyOf(network, network, "network.blocks");
  std::vector<Chain> chains;
  auto fail = [&](const Repeat &repeat, StringRef why) {
    blocks.erase();
    return refuse(repeat, why);
  };
  for (const Repeat &repeat : repeats) {
    Finder finder(blocks);
    std::optional<Chain> chain = chainOf(finder, repeat);
    if (!chain || llvm::any_of(chains, [&](const Chain &other) {
          return chain->first < other.end() && other.first < chain->end();
        }))
      return fail(repeat, "begins no chain of " + std::to_string(repeat.trips) +
                              " equal blocks");
    if (!Unifier(finder.ops, *chain).run())
      return fail(repeat, "begins blocks whose numbers no common unit computes "
                          "exactly");
    chains.push_back(*chain);
  }
  std::vector<Operation *> all = hardwareOf(blocks);
  func::FuncOp folded = copyOf(blocks, blocks, "network.folded");
  std::vector<Operation *> ops = hardwareOf(folded);
  OpBuilder b(network.getContext());
  for (auto [i, op] : llvm::enumerate(all))
    op->setAttr(marks::kTrip, b.getI64IntegerAttr(int64_t(i)));
  for (const Chain &chain : chains) {
    fold(ops, all, chain, blocks.getSymName());
    // The first trip takes what the others take.
    auto block = ArrayRef(all).slice(chain.first, chain.length);
    Value taken = takenBy(block);
    Type type = block[chain.given]->getResult(0).getType();
    if (taken.getType() == type)
      continue;
    b.setInsertionPoint(block[0]);
    auto cast = flow::EnterOp::create(b, block[0]->getLoc(), type, taken,
                                      b.getStringAttr(""),
                                      b.getI64IntegerAttr(chain.trips));
    for (Operation *op : block)
      op->replaceUsesOfWith(taken, cast.getOutput());
  }
  folded->setAttr(marks::kBlocks, blocks.getSymNameAttr());
  return folded;
}

func::FuncOp alteredAs(func::FuncOp network, const std::vector<Split> &splits,
                       const std::vector<Repeat> &repeats, Refusals &refused) {
  func::FuncOp split = splitAs(network, splits, refused);
  std::vector<Repeat> bodies;
  for (const Repeat &repeat : repeats) {
    const bool isThere =
        llvm::any_of(idsOf(hardwareOf(network)), [&](const OperationId &id) {
          return names(repeat.of, id);
        });
    if (repeat.trips > 1)
      bodies.push_back(repeat);
    else if (!isThere)
      refused.push_back({repeat.of.node, repeat.of.op,
                         "the network has no such node",
                         "'rhizome explore --full' lists the nodes"});
  }
  if (!refused.empty() || bodies.empty())
    return split;
  func::FuncOp folded = foldAs(split, bodies, refused);
  if (split != network && folded != split)
    split.erase();
  return folded;
}
} // namespace rhizome::explore
