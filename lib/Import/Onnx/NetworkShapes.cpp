// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of the network that move elements without computing: on constants
// they are done here (also after a quantizer, whose channel axis then moves
// along).
#include "Asked.h"
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

/// The current node's input 0 in another shape of equal size.
static LogicalResult setShape(NodeContext &node, Shape shape) {
  TensorRef x = node.input(0);
  if (elementCount(shape) != elementCount(x->shape))
    return node.refuse(
        formatv("it turns the shape {0} into {1}, which has another "
                "number of elements",
                describe(x->shape), describe(shape)));
  if (x->shape == shape)
    return passThrough(node, x);
  if (x->isConstant())
    if (TensorRef moved = reshaped(x, shape))
      return node.setResult(0, moved);
  Value v = plain(node, x);
  return v ? setPlain(node, reshape(node, v, shape)) : failure();
}

LogicalResult network::reshapeOp(NodeContext &node) {
  if (!node.input(0))
    return node.refuse("its input 0 is missing");
  auto wanted = node.constantInts(1, "shape");
  if (!wanted)
    return failure();
  const Shape &from = node.input(0)->shape;
  bool allowZero = node.getInt("allowzero", 0) != 0;
  auto invalid = [&] {
    return node.refuse(formatv("it turns the shape {0} into {1}",
                               describe(from), describe(*wanted)),
                       "an input's shape may need to be given with --shape");
  };
  Shape shape = *wanted;
  int64_t free = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allowZero) {
      if (i >= from.size())
        return invalid();
      shape[i] = from[i];
    }
    if (shape[i] == -1) {
      if (free >= 0)
        return invalid();
      free = int64_t(i);
    }
  }
  if (free >= 0) {
    shape[free] = 1;
    std::optional<int64_t> rest = elementCount(shape);
    std::optional<int64_t> all = elementCount(from);
    if (!rest || !all || *rest == 0 || *all % *rest)
      return invalid();
    shape[free] = *all / *rest;
  }
  if (!elementCount(shape))
    return invalid();
  return setShape(node, shape);
}

LogicalResult network::flatten(NodeContext &node) {
  if (!node.input(0))
    return node.refuse("its input 0 is missing");
  const Shape &from = node.input(0)->shape;
  int64_t axis = node.getInt("axis", 1), rank = int64_t(from.size());
  if (axis < -rank || axis > rank)
    return node.refuse(
        formatv("its axis {0} is out of range for rank {1}", axis, rank),
        toNameAxis(rank));
  if (axis < 0)
    axis += rank;
  Shape two = {1, 1};
  for (int64_t i = 0; i < rank; ++i)
    two[i >= axis] *= from[i];
  return setShape(node, two);
}

/// The `axes` attribute or input; `given` tells whether there is one.
std::optional<std::vector<int64_t>> importer::axesArgument(NodeContext &node,
                                                           bool &given) {
  given = true;
  if (node.input(1))
    return node.constantInts(1, "list of axes");
  if (auto axes = node.getInts("axes"))
    return axes;
  given = false;
  return std::vector<int64_t>();
}

/// Normalized axes as flags; empty if one is out of range or repeated.
static std::vector<bool> axisFlags(ArrayRef<int64_t> axes, int64_t rank) {
  std::vector<bool> flags(rank);
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank || flags[axis < 0 ? axis + rank : axis])
      return {};
    flags[axis < 0 ? axis + rank : axis] = true;
  }
  return flags;
}

LogicalResult network::squeeze(NodeContext &node) {
  if (!node.input(0))
    return node.refuse("its input 0 is missing");
  bool given;
  auto axes = axesArgument(node, given);
  if (!axes)
    return failure();
  const Shape &from = node.input(0)->shape;
  std::vector<bool> drop = axisFlags(*axes, int64_t(from.size()));
  Shape shape;
  bool good = !drop.empty() || from.empty();
  for (size_t i = 0; good && i < from.size(); ++i) {
    bool gone = given ? drop[i] : from[i] == 1;
    good = !gone || from[i] == 1;
    if (!gone)
      shape.push_back(from[i]);
  }
  if (!good)
    return node.refuse(formatv("it squeezes the axes {0} of the shape {1}",
                               describe(*axes), describe(from)));
  return setShape(node, shape);
}

LogicalResult network::unsqueeze(NodeContext &node) {
  if (!node.input(0))
    return node.refuse("its input 0 is missing");
  bool given;
  auto axes = axesArgument(node, given);
  if (!axes)
    return failure();
  const Shape &from = node.input(0)->shape;
  std::vector<bool> added =
      axisFlags(*axes, int64_t(from.size() + axes->size()));
  if (!given || (added.empty() && !axes->empty()))
    return node.refuse(formatv("it adds the axes {0} to the shape {1}",
                               describe(*axes), describe(from)));
  Shape shape;
  size_t next = 0;
  for (bool fresh : added)
    shape.push_back(fresh ? 1 : from[next++]);
  return setShape(node, shape);
}

LogicalResult network::transposeOp(NodeContext &node) {
  TensorRef x = node.input(0);
  if (!x)
    return node.refuse("its input 0 is missing");
  size_t rank = x->rank();
  std::vector<int64_t> permutation(rank);
  std::iota(permutation.rbegin(), permutation.rend(), 0);
  if (auto given = node.getInts("perm"))
    permutation = *given;
  std::vector<int64_t> sorted = permutation, identity(rank);
  llvm::sort(sorted);
  std::iota(identity.begin(), identity.end(), 0);
  if (sorted != identity)
    return node.refuse(
        formatv("its perm {0} is not a permutation of the {1} axes",
                describe(permutation), rank),
        formatv("name each axis once: write perm = {0}, in the order that is "
                "meant",
                describe(identity)));
  if (permutation == identity)
    return passThrough(node, x);
  if (x->isConstant())
    return node.setResult(0, transposed(x, permutation));
  // Between ONNX's layout and channels-last, the tensor itself is unchanged.
  if (permutation == std::vector<int64_t>{0, 3, 1, 2}) {
    Shape shape = {x->shape[0], x->shape[3], x->shape[1], x->shape[2]};
    return setLast(node, plain(node, x), shape);
  }
  if (permutation == std::vector<int64_t>{0, 2, 3, 1} && x->last)
    return setPlain(node, x->last);
  if (permutation == std::vector<int64_t>{0, 2, 1} && x->last)
    return setPlain(
        node, reshape(node, x->last, {x->shape[0], x->shape[2], x->shape[1]}));
  if (permutation == std::vector<int64_t>{0, 2, 1}) {
    Value v = plain(node, x);
    if (!v)
      return failure();
    Shape image = {x->shape[0], 1, x->shape[1], x->shape[2]};
    return setLast(node, reshape(node, v, image),
                   {x->shape[0], x->shape[2], x->shape[1]});
  }
  Value v = plain(node, x);
  return v ? setPlain(node, transpose(node, v, permutation)) : failure();
}

/// The integers of two types, in as many bits as they take.
static num::IntType holding(num::IntType a, num::IntType b) {
  const int64_t lo = std::min(a.getLo(), b.getLo()),
                hi = std::max(a.getHi(), b.getHi());
  const bool isSigned = a.getIsSigned() || b.getIsSigned();
  return num::IntType::get(a.getContext(), isSigned,
                           num::bitsForRange(lo, hi) + (isSigned && lo >= 0),
                           lo, hi);
}

LogicalResult network::concat(NodeContext &node) {
  if (node.inputs.empty() || !node.inputs[0])
    return node.refuse("it has no input");
  size_t rank = node.inputs[0]->rank();
  std::optional<int64_t> axis = node.axisAttribute(1, rank);
  if (!axis)
    return failure();
  Shape shape = node.inputs[0]->shape;
  shape[*axis] = 0;
  bool last = false;
  Type element = node.inputs[0]->element;
  SmallVector<TensorRef> parts; // those that hold something
  for (auto [i, t] : llvm::enumerate(node.inputs)) {
    if (!t || !t->element || t->element.isInteger(64))
      return node.requireReal(i);
    if (t->rank() == rank && t->shape[*axis] > 0)
      parts.push_back(t);
    Shape other = t->shape;
    // Of one type of ONNX, some may be known to hold less.
    auto all = dyn_cast<num::IntType>(element),
         theirs = dyn_cast<num::IntType>(t->element);
    const bool areIntegers =
        all && theirs && typeOf(t) == typeOf(node.inputs[0]);
    if (areIntegers && all != theirs)
      element = holding(all, theirs);
    if (other.size() != rank || (!areIntegers && t->element != element))
      return node.refuse(
          formatv("its inputs 0 and {0} differ in rank or element "
                  "type",
                  i));
    shape[*axis] += other[*axis];
    other[*axis] = shape[*axis];
    if (other != shape)
      return node.refuse(
          formatv("its inputs {0} and {1} differ outside axis {2}",
                  describe(node.inputs[0]->shape), describe(t->shape), *axis));
    last |= t->last && !t->isConstant() && t->hasChannelsLast();
  }
  if (parts.size() == 1)
    return passThrough(node, parts.front());
  SmallVector<Value> values;
  for (const TensorRef &t : parts) {
    values.push_back(last ? channelsLast(node, t) : plain(node, t));
    if (!values.back())
      return failure();
  }
  auto out = tensorType(last ? lastShape(shape) : shape, element);
  Value v = osa::ConcatOp::create(
      node.builder, node.loc, out, values,
      node.builder.getI64IntegerAttr(last ? lastAxis(*axis, rank) : *axis));
  return last ? setLast(node, v, shape) : setPlain(node, v);
}

/// True if all readers of the current node's output transpose it from
/// channels-last: it already has this layout.
static bool endsLast(NodeContext &node) {
  bool any = false;
  for (const Node &n : node.state.graph.nodes)
    if (llvm::is_contained(n.proto.input(), node.proto.output(0))) {
      any = true;
      if (n.op() != "Transpose" ||
          n.getInts("perm") != std::vector<int64_t>{0, 3, 1, 2})
        return false;
    }
  return any;
}

LogicalResult network::pad(NodeContext &node) {
  TensorRef x = node.input(0);
  if (!x)
    return node.refuse("its input 0 is missing");
  if (!isa_and_nonnull<num::IntType>(x->element) && failed(node.requireReal(0)))
    return failure();
  std::string mode = node.getString("mode", "constant");
  if (mode != "constant")
    return node.refuse(formatv("its mode is '{0}'", mode),
                       "only 'constant' is supported");
  auto pads = node.input(1) ? node.constantInts(1, "list of pads")
                            : node.getInts("pads");
  if (!pads)
    return node.input(1) ? failure()
                         : LogicalResult(node.refuse("its pads are missing"));
  double value = node.getFloat("value", 0);
  if (TensorRef given = node.input(2)) {
    if (!given->isPlainConstant() || given->constant->size() != 1)
      return node.refuse("its value is not one constant");
    value = given->constant->isReal() ? given->constant->reals[0]
                                      : double(given->constant->ints[0]);
  }
  std::vector<int64_t> axes(x->rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (node.input(3)) {
    auto given = node.constantInts(3, "list of axes");
    if (!given)
      return failure();
    axes = *given;
  }
  int64_t rank = int64_t(x->rank());
  bool good = pads->size() == 2 * axes.size() && std::isfinite(value) &&
              (axes.empty() || !axisFlags(axes, rank).empty());
  for (int64_t p : *pads)
    good &= p >= 0 && p <= (int64_t(1) << 30);
  if (!good)
    return node.refuse(
        formatv("its pads are {0} with the value {1} for the shape "
                "{2}",
                describe(*pads), value, describe(x->shape)),
        "one value ≥ 0 per side and axis is supported");
  // Next to the convolution that is to do the padding itself.
  bool last =
      x->hasChannelsLast() && !x->isConstant() && (x->last || !endsLast(node));
  Shape shape = x->shape, low(last ? 4 : rank), high(last ? 4 : rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    int64_t to = last ? lastAxis(axis, rank) : axis;
    low[to] = (*pads)[i];
    high[to] = (*pads)[i + axes.size()];
    shape[axis] += low[to] + high[to];
  }
  if (shape == x->shape)
    return passThrough(node, x);
  Value v = last ? channelsLast(node, x) : plain(node, x);
  if (!v)
    return failure();
  Type element = x->element;
  if (auto integers = dyn_cast<num::IntType>(element);
      integers && value == std::floor(value) && std::abs(value) < 0x1p62)
    element =
        holding(integers, num::IntType::getForRange(
                              node.context, int64_t(value), int64_t(value)));
  v = osa::PadOp::create(node.builder, node.loc,
                         tensorType(last ? lastShape(shape) : shape, element),
                         v, node.builder.getDenseI64ArrayAttr(low),
                         node.builder.getDenseI64ArrayAttr(high),
                         node.builder.getF64FloatAttr(value));
  return last ? setLast(node, v, shape) : setPlain(node, v);
}

LogicalResult network::identity(NodeContext &node) {
  return node.input(0) ? passThrough(node, node.input(0))
                       : node.refuse("its input 0 is missing");
}

LogicalResult network::dropout(NodeContext &node) {
  if (!node.input(0))
    return node.refuse("its input 0 is missing");
  TensorRef training = node.input(2);
  bool off = !training ||
             (training->isPlainConstant() && !training->constant->isReal() &&
              llvm::all_of(training->constant->ints,
                           [](int64_t v) { return v == 0; }));
  if (!off || node.outputUsed(1))
    return node.refuse("it is in training mode, or its mask is used",
                       "export the model in inference mode");
  return passThrough(node, node.input(0));
}

/// A cast of reals, which may be whole numbers. ONNX truncates reals towards
/// zero. Only where the type holds whatever may come does the network stand for
/// it: elsewhere the host's integers wrap around.
static LogicalResult castReal(NodeContext &node, const TensorRef &x, int to) {
  auto same = std::make_shared<GraphTensor>(*x);
  same->whole.reset();
  same->host = {};
  same->onnx = 0;
  if (HostTensor::isRealType(to))
    return node.setResult(0, same);
  std::pair<int64_t, int64_t> bounds = kWideIntegers;
  if (num::IntType integer = integerType(node.context, to))
    bounds = {integer.getLo(), integer.getHi()};
  else if (to != TensorProto::INT64)
    return node.refuse(formatv("it casts an activation to {0}", typeName(to)),
                       "casts to floats and to integers of 8 to 64 bits are "
                       "supported");
  if (node.state.integersOnHost)
    return node.refuse("the host computes the model's integers, which float32 "
                       "does not hold");
  RealInterval range =
      x->whole ? RealInterval{double(x->whole->first), double(x->whole->second)}
               : boundsOf(node, x);
  if (!range.isWithin(double(bounds.first), double(bounds.second)))
    return node.refuse(
        formatv("it casts numbers from {0} to {1} to {2}, which does not hold "
                "them all",
                range.lo, range.hi, typeName(to)),
        "put a Clip, or a quantizer, before it");
  if (!x->whole) {
    TensorRef out = rounded(node, x, osa::Rounding::TowardZero, bounds);
    if (!out)
      return failure();
    out->onnx = to;
    out->whole = {int64_t(std::floor(range.lo)), int64_t(std::ceil(range.hi))};
    return node.setResult(0, out);
  }
  same->whole = x->whole;
  same->onnx = to;
  return node.setResult(0, same);
}

LogicalResult network::castOp(NodeContext &node) {
  TensorRef x = node.input(0);
  int to = int(node.getInt("to", 0));
  if (!x)
    return node.refuse("its input 0 is missing");
  num::IntType integer = dyn_cast_or_null<num::IntType>(x->element);
  if (x->element == node.f32 && !x->isConstant())
    return castReal(node, x, to);
  if ((x->element == node.f32 && to == TensorProto::FLOAT) ||
      (integer && integer == integerType(node.context, to)))
    return passThrough(node, x);
  if (x->element == node.builder.getI64Type() && to == TensorProto::INT64) {
    // The host holds narrower integers in as many bits.
    auto same = std::make_shared<GraphTensor>(*x);
    same->onnx = to;
    return node.setResult(0, same);
  }
  if (integer && to == TensorProto::FLOAT && integer.getWidth() <= 24)
    return applySteps(node, x, {{false, {1.0}, {0}, -1, integer}});
  return node.refuse(formatv("it casts an activation to {0}", typeName(to)),
                     "only casts to float32 are supported");
}

LogicalResult network::shapeOf(NodeContext &node) {
  if (!node.input(0))
    return node.refuse("its input 0 is missing");
  const Shape &shape = node.input(0)->shape;
  int64_t rank = int64_t(shape.size());
  auto bound = [&](int64_t v) {
    return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  int64_t start = bound(node.getInt("start", 0));
  int64_t end = std::max(bound(node.getInt("end", rank)), start);
  auto host = std::make_shared<HostTensor>();
  host->type = TensorProto::INT64;
  host->ints.assign(shape.begin() + start, shape.begin() + end);
  host->shape = {end - start};
  return node.setResult(0, constantTensor(node.context, host));
}
