// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each operation does to bounded axes: passes them on, reduces them with a
// mask, or cannot be said to do either.
#include "Bounds.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

static const char *const kFixed = "give its input a fixed size";

/// Operations of one tensor, element by element; others of their inputs are
/// parameters.
static bool isUnary(StringRef op) {
  static const llvm::StringSet<> ops = {"Abs",
                                        "Acos",
                                        "Acosh",
                                        "Asin",
                                        "Asinh",
                                        "Atan",
                                        "Atanh",
                                        "BiasGelu",
                                        "BitwiseNot",
                                        "Cast",
                                        "CastLike",
                                        "Ceil",
                                        "Celu",
                                        "Clip",
                                        "Cos",
                                        "Cosh",
                                        "DequantizeLinear",
                                        "Dropout",
                                        "Elu",
                                        "Erf",
                                        "Exp",
                                        "FastGelu",
                                        "Floor",
                                        "Gelu",
                                        "HardSigmoid",
                                        "HardSwish",
                                        "Identity",
                                        "IsInf",
                                        "IsNaN",
                                        "LeakyRelu",
                                        "Log",
                                        "Mish",
                                        "Neg",
                                        "Not",
                                        "Quant",
                                        "QuantizeLinear",
                                        "QuickGelu",
                                        "Reciprocal",
                                        "Relu",
                                        "Round",
                                        "Selu",
                                        "Shrink",
                                        "Sigmoid",
                                        "Sign",
                                        "Sin",
                                        "Sinh",
                                        "Softplus",
                                        "Softsign",
                                        "Sqrt",
                                        "Swish",
                                        "Tan",
                                        "Tanh",
                                        "ThresholdedRelu"};
  return ops.contains(op);
}

/// Operations of several tensors, element by element, with broadcasting.
static bool isElementwise(StringRef op) {
  static const llvm::StringSet<> ops = {
      "Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
      "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
      "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
      "Mod",        "Mul",         "Or",       "Pow",        "PRelu",
      "Sub",        "Sum",         "Where",    "Xor"};
  return ops.contains(op);
}

/// Arithmetic on sizes.
static bool isOfShapes(StringRef op) {
  static const llvm::StringSet<> ops = {
      "Add", "Cast",    "Concat", "Div",     "Gather", "Identity",
      "Mul", "Reshape", "Slice",  "Squeeze", "Sub",    "Unsqueeze"};
  return ops.contains(op);
}

namespace {
class Rules {
public:
  explicit Rules(NodeContext &node) : node(node), op(node.op()) {}
  std::optional<BoundRule> find();

private:
  std::nullopt_t refuse(std::string reason, std::string remedy = kFixed) {
    node.refuse(std::move(reason), std::move(remedy));
    return std::nullopt;
  }
  const std::vector<Bound> &boundsOf(size_t i) const {
    static const std::vector<Bound> none;
    return node.input(i) ? node.input(i)->bounds : none;
  }
  const Bound *boundAt(size_t i, int64_t axis) const {
    for (const Bound &bound : boundsOf(i))
      if (bound.axis == axis)
        return &bound;
    return nullptr;
  }
  int64_t rank(size_t i) const { return int64_t(node.input(i)->rank()); }
  std::optional<int64_t> axis(int64_t fallback) {
    return node.axisAttribute(fallback, node.input(0)->rank());
  }
  /// Only input 0 has bounds, or none but these.
  bool hasOnly(size_t input) {
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (i != input && !boundsOf(i).empty()) {
        refuse(formatv("the size of its input {0} is bounded", i));
        return false;
      }
    return true;
  }
  bool mergeInto(std::vector<Bound> &out, const Bound &bound);
  std::optional<BoundRule> broadcasts(size_t dropped, int64_t outRank);
  std::optional<BoundRule> passes();
  std::optional<BoundRule> matMul();
  std::optional<BoundRule> gemm();
  std::optional<BoundRule> along(int64_t axis, double fill, bool keeps);
  std::optional<BoundRule> reduces();
  std::optional<BoundRule> concat();
  std::optional<BoundRule> gather();
  std::optional<BoundRule> slice();

  NodeContext &node;
  const StringRef op;
};
} // namespace

/// One more bound of the result; false (refused) if it has another one there.
bool Rules::mergeInto(std::vector<Bound> &out, const Bound &bound) {
  for (const Bound &known : out)
    if (known.axis == bound.axis) {
      if (known.size == bound.size)
        return true;
      refuse(formatv("it combines the bounded sizes '{0}' and '{1}'",
                     known.size, bound.size));
      return false;
    }
  out.push_back(bound);
  return true;
}

/// NumPy's broadcasting of all axes but the last `dropped`.
std::optional<BoundRule> Rules::broadcasts(size_t dropped, int64_t outRank) {
  BoundRule rule;
  auto outAxis = [&](size_t i, int64_t axis) {
    return axis + outRank - rank(i);
  };
  for (size_t i = 0; i < node.inputs.size(); ++i)
    for (const Bound &bound : boundsOf(i))
      if (bound.axis < rank(i) - int64_t(dropped) &&
          !mergeInto(rule.out, {outAxis(i, bound.axis), bound.size}))
        return std::nullopt;
  for (const Bound &bound : rule.out)
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.input(i))
        continue;
      const int64_t own = bound.axis - outRank + rank(i);
      if (own >= 0 && own < rank(i) - int64_t(dropped) && !boundAt(i, own) &&
          node.input(i)->shape[size_t(own)] != 1)
        return refuse(formatv("its input {0} has the fixed size {1} where "
                              "another one is bounded by '{2}'",
                              i, node.input(i)->shape[size_t(own)],
                              bound.size));
    }
  llvm::sort(rule.out,
             [](const Bound &a, const Bound &b) { return a.axis < b.axis; });
  return rule;
}

std::optional<BoundRule> Rules::passes() {
  if (!hasOnly(0))
    return std::nullopt;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.input(i) || node.input(i)->rank() == 0)
      continue;
    // Parameters for each element of an axis are of a fixed number of them.
    const int64_t at = node.getInt("axis", 1);
    for (const Bound &bound : boundsOf(0)) {
      const int64_t own = op.ends_with("Linear") && rank(i) == 1
                              ? (at < 0 ? at + rank(0) : at)
                              : bound.axis;
      const int64_t other = op.ends_with("Linear") && rank(i) == 1
                                ? 0
                                : bound.axis - rank(0) + rank(i);
      if (own == bound.axis && other >= 0 &&
          node.input(i)->shape[size_t(other)] != 1)
        return refuse(formatv("its input {0} has a value for each place of an "
                              "axis whose size is bounded",
                              i));
    }
  }
  BoundRule rule;
  rule.out = boundsOf(0);
  return rule;
}

std::optional<BoundRule> Rules::matMul() {
  if (rank(0) < 2 || rank(1) < 2)
    return refuse("it multiplies vectors of a bounded size");
  const int64_t outRank = std::max(rank(0), rank(1));
  auto rule = broadcasts(2, outRank);
  if (!rule)
    return std::nullopt;
  if (const Bound *rows = boundAt(0, rank(0) - 2))
    rule->out.push_back({outRank - 2, rows->size});
  if (const Bound *columns = boundAt(1, rank(1) - 1))
    rule->out.push_back({outRank - 1, columns->size});
  const Bound *x = boundAt(0, rank(0) - 1), *y = boundAt(1, rank(1) - 2);
  if (!x && !y)
    return rule;
  if (!x || !y || x->size != y->size)
    return refuse("it sums over an axis whose size is bounded in one of its "
                  "inputs only");
  rule->masks = {{0, *x, 0}, {1, *y, 0}};
  return rule;
}

std::optional<BoundRule> Rules::gemm() {
  if (!hasOnly(0))
    return std::nullopt;
  if (node.getInt("transA", 0) || boundAt(0, 1))
    return refuse("it sums over an axis whose size is bounded");
  if (node.input(2) && rank(2) == 2 && node.input(2)->shape[0] != 1)
    return refuse("it adds a matrix of a fixed size");
  BoundRule rule;
  rule.out = boundsOf(0);
  return rule;
}

/// An operation that mixes elements along an axis, which stays if `keeps`.
std::optional<BoundRule> Rules::along(int64_t axis, double fill, bool keeps) {
  if (!hasOnly(0))
    return std::nullopt;
  BoundRule rule;
  for (const Bound &bound : boundsOf(0))
    if (bound.axis == axis)
      rule.masks.push_back({0, bound, fill});
  for (const Bound &bound : boundsOf(0))
    if (bound.axis != axis || keeps)
      rule.out.push_back(bound);
  if (!rule.masks.empty() && std::isinf(fill) &&
      !HostTensor::isRealType(typeOf(node.input(0))))
    return refuse("it compares integers along an axis whose size is bounded");
  return rule;
}

/// What changes nothing in a reduction.
static std::optional<double> neutral(StringRef op) {
  if (op == "ReduceMax" || op == "ReduceLogSumExp" || op == "ArgMax")
    return -INFINITY;
  if (op == "ReduceMin" || op == "ArgMin")
    return INFINITY;
  if (op == "ReduceProd")
    return 1;
  return 0;
}

std::optional<BoundRule> Rules::reduces() {
  if (!hasOnly(0))
    return std::nullopt;
  SmallVector<bool> flagged(size_t(rank(0)), false);
  std::vector<int64_t> axes;
  if (op.starts_with("Arg")) {
    auto given = axis(0);
    if (!given)
      return std::nullopt;
    axes = {*given};
  } else if (node.input(1)) {
    auto given = node.constantInts(1, "axes");
    if (!given)
      return std::nullopt;
    axes = *given;
  } else {
    axes = node.getInts("axes").value_or(std::vector<int64_t>());
  }
  for (int64_t one : axes) {
    if (one < -rank(0) || one >= rank(0))
      return refuse(formatv("its axis {0} is out of range", one));
    flagged[size_t(one < 0 ? one + rank(0) : one)] = true;
  }
  if (axes.empty() && !node.getInt("noop_with_empty_axes", 0))
    flagged.assign(size_t(rank(0)), true);
  const bool keeps = node.getInt("keepdims", 1) != 0;
  const bool isReal = HostTensor::isRealType(typeOf(node.input(0)));
  BoundRule rule;
  int64_t place = 0;
  for (int64_t i = 0; i < rank(0); ++i) {
    const Bound *bound = boundAt(0, i);
    if (bound && flagged[size_t(i)]) {
      const double fill = *neutral(op);
      if (!isReal && (std::isinf(fill) || op == "ReduceMean"))
        return refuse("it reduces integers along an axis whose size is "
                      "bounded");
      if (op == "ReduceMean" && rule.mean)
        return refuse("it is a mean over two axes of bounded size");
      rule.masks.push_back({0, *bound, fill});
      if (op == "ReduceMean")
        rule.mean = *bound;
    } else if (bound) {
      rule.out.push_back({place, bound->size});
    }
    place += !flagged[size_t(i)] || keeps;
  }
  return rule;
}

std::optional<BoundRule> Rules::concat() {
  auto at = axis(1);
  if (!at)
    return std::nullopt;
  BoundRule rule;
  rule.out = boundsOf(0);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (boundAt(i, *at))
      return refuse(formatv(
          "it joins tensors along axis {0}, whose size is bounded", *at));
    if (boundsOf(i) != rule.out)
      return refuse("some of its inputs have a bounded size where others have "
                    "a fixed one");
  }
  return rule;
}

std::optional<BoundRule> Rules::gather() {
  auto at = axis(0);
  if (!at)
    return std::nullopt;
  BoundRule rule;
  for (const Bound &bound : boundsOf(0))
    if (bound.axis != *at)
      rule.out.push_back(
          {bound.axis < *at ? bound.axis : bound.axis + rank(1) - 1,
           bound.size});
  // Beyond its size there may be any index: 0 is one of the table.
  for (const Bound &bound : boundsOf(1)) {
    rule.out.push_back({bound.axis + *at, bound.size});
    rule.masks.push_back({1, bound, 0});
  }
  llvm::sort(rule.out,
             [](const Bound &a, const Bound &b) { return a.axis < b.axis; });
  const Bound *from = boundAt(0, *at);
  if (!from)
    return rule;
  TensorRef which = node.input(1);
  if (!which->isPlainConstant() || which->constant->size() != 1 ||
      which->constant->isReal() || which->constant->ints[0] > 0 ||
      which->constant->ints[0] < -1)
    return refuse("it takes other elements than the first or the last one "
                  "along an axis whose size is bounded");
  if (which->constant->ints[0] < 0)
    rule.last = *from;
  return rule;
}

/// Slices of axes whose size is fixed.
std::optional<BoundRule> Rules::slice() {
  if (!hasOnly(0))
    return std::nullopt;
  std::optional<std::vector<int64_t>> axes;
  if (node.input(3))
    axes = node.constantInts(3, "axes");
  else if (!node.input(1))
    axes = node.getInts("axes");
  if (node.input(3) && !axes)
    return std::nullopt;
  for (const Bound &bound : boundsOf(0))
    if (!axes || llvm::is_contained(*axes, bound.axis) ||
        llvm::is_contained(*axes, bound.axis - rank(0)))
      return refuse(
          formatv("it slices axis {0}, whose size is bounded", bound.axis));
  BoundRule rule;
  rule.out = boundsOf(0);
  return rule;
}

std::optional<BoundRule> Rules::find() {
  bool hasSizes = false, hasBounds = false;
  for (const TensorRef &t : node.inputs) {
    hasSizes |= t && t->ofBound;
    hasBounds |= t && !t->bounds.empty();
  }
  BoundRule rule;
  if (hasSizes && op != "Reshape") {
    if (hasBounds || !isOfShapes(op))
      return refuse("it reads a size that is bounded", kFixed);
    rule.givesBounds = true;
    return rule;
  }
  if (op == "Reshape") {
    if (node.input(0)->ofBound || !hasBounds) {
      if (!node.input(0)->ofBound)
        return refuse("its shape has a size that is bounded, and its data "
                      "have not");
      rule.givesBounds = true;
      return rule;
    }
    rule.keepsShape = true;
    return rule;
  }
  if (op == "Shape") {
    rule.givesBounds = true;
    return rule;
  }
  if (op == "Flatten" || op == "Squeeze" || op == "Unsqueeze") {
    rule.keepsShape = true;
    return rule;
  }
  if (isUnary(op))
    return passes();
  if (isElementwise(op)) {
    int64_t most = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      most = std::max(most, node.input(i) ? rank(i) : 0);
    return broadcasts(0, most);
  }
  if (op == "MatMul")
    return matMul();
  if (op == "Gemm")
    return gemm();
  if (op == "Transpose") {
    auto perm = node.getInts("perm");
    for (int64_t i = 0; i < rank(0); ++i) {
      const int64_t from = perm && i < int64_t(perm->size())
                               ? (*perm)[size_t(i)]
                               : rank(0) - 1 - i;
      if (const Bound *bound = boundAt(0, from))
        rule.out.push_back({i, bound->size});
    }
    return rule;
  }
  if ((op == "Softmax" || op == "LogSoftmax") && node.state.graph.opset >= 13) {
    auto at = axis(-1);
    return at ? along(*at, -INFINITY, /*keeps=*/true) : std::nullopt;
  }
  if (op.starts_with("Reduce") || op == "ArgMax" || op == "ArgMin")
    return reduces();
  if (op == "LayerNormalization" || op == "RMSNormalization" ||
      op == "SimplifiedLayerNormalization") {
    auto at = axis(-1);
    if (!at || !hasOnly(0))
      return std::nullopt;
    for (const Bound &bound : boundsOf(0))
      if (bound.axis >= *at)
        return refuse("it normalizes over an axis whose size is bounded");
    rule.out = boundsOf(0);
    return rule;
  }
  if (op == "Concat")
    return concat();
  if (op == "Gather")
    return gather();
  if (op == "Slice")
    return slice();
  return refuse(
      formatv("{0} is not supported on inputs of a bounded size", op));
}

std::optional<BoundRule> importer::boundRule(NodeContext &node) {
  return Rules(node).find();
}
