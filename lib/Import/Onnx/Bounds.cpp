// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Bounds.h"
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

bool importer::readsBounds(ImportState &state, const Node &file) {
  return llvm::any_of(file.proto.input(), [&](const std::string &name) {
    auto it = state.tensors.find(name);
    return it != state.tensors.end() && it->second &&
           (it->second->ofBound || !it->second->bounds.empty());
  });
}

static Value sizeOf(Place &place, const Bound &bound) {
  return hostValue(place, place.state.lookup(bound.size), "size");
}

static TensorRef hostTensor(Place &place, Value v, int type) {
  auto t = std::make_shared<GraphTensor>();
  auto ty = cast<RankedTensorType>(v.getType());
  t->shape.assign(ty.getShape().begin(), ty.getShape().end());
  t->element = ty.getElementType();
  t->plain = v;
  t->onnx = HostTensor::isRealType(type) && !halfType(place.context, type)
                ? int(TensorProto::FLOAT)
                : type;
  return t;
}

/// The tensor with `fill` beyond a size; null if refused.
static TensorRef masked(Place &place, const TensorRef &t, const Bound &bound,
                        double fill) {
  Value v = hostValue(place, t, "bounded tensor");
  if (!v)
    return nullptr;
  Value size = sizeOf(place, bound);
  Loops l = loops(place);
  const unsigned rank = unsigned(t->rank());
  Value out = l.loop(t->shape, {}, elementOf(v), {},
                     {{v, place.builder.getMultiDimIdentityMap(rank)}},
                     [&](Scalars &s, ValueRange a) {
                       Value isThere = s.less(s.index(unsigned(bound.axis)),
                                              s.at(size, {}));
                       return s.select(isThere, a[0], s.number(fill, a[0]));
                     });
  TensorRef result = hostTensor(place, out, typeOf(t));
  result->bounds = t->bounds;
  return result;
}

TensorRef importer::withZeros(Place &place, const TensorRef &t) {
  TensorRef out = t;
  for (const Bound &bound : t->bounds)
    if (out)
      out = masked(place, out, bound, 0);
  return out;
}

/// The axis of a reshaped tensor that is this one of the tensor before; −1 if
/// there is none.
static int64_t axisAfter(const Shape &before, int64_t axis,
                         const Shape &after) {
  int64_t wanted = 1, outer = 1;
  for (int64_t size : ArrayRef(before).take_front(size_t(axis)))
    wanted *= size;
  for (auto [i, size] : llvm::enumerate(after)) {
    if (outer == wanted && size == before[size_t(axis)])
      return int64_t(i);
    outer *= size;
  }
  return -1;
}

/// The bounds of a result of which only the shape differs; false if refused.
static bool followShape(NodeContext &node, const TensorRef &from,
                        GraphTensor &to) {
  for (const Bound &bound : from->bounds) {
    const int64_t axis = axisAfter(from->shape, bound.axis, to.shape);
    TensorRef shape = node.op() == "Reshape" ? node.input(1) : nullptr;
    const bool isFixed = axis >= 0 && shape && !shape->ofBound &&
                         shape->isPlainConstant() &&
                         shape->constant->ints[size_t(axis)] > 0;
    if (axis < 0 || isFixed) {
      node.refuse(
          axis < 0 ? formatv("it joins or splits axis {0} of {1}, whose size "
                             "is bounded",
                             bound.axis, describe(from->shape))
                         .str()
                   : formatv("its shape has {0} at axis {1}, whose size is "
                             "bounded",
                             to.shape[size_t(axis)], axis)
                         .str(),
          axis < 0 ? "keep that axis apart, or give its input a fixed size"
                   : "write -1 or 0 there, or give its input a fixed size");
      return false;
    }
    to.bounds.push_back({axis, bound.size});
  }
  return true;
}

/// A mean over the largest size as one over that of the frame.
static TensorRef corrected(Place &place, const TensorRef &t, int64_t most,
                           const Bound &bound) {
  Value v = hostValue(place, t, "mean");
  if (!v)
    return nullptr;
  Value size = sizeOf(place, bound);
  Value out =
      loops(place).map({v, size}, elementOf(v), [&](Scalars &s, ValueRange a) {
        return s.mul(a[0], s.div(s.real(double(most)), s.toReal(a[1])));
      });
  return hostTensor(place, out, typeOf(t));
}

namespace {
/// Tensors under other values while a node is imported.
class Replaced {
public:
  explicit Replaced(ImportState &state) : state(state) {}
  ~Replaced() {
    for (auto &[name, t] : before)
      state.tensors[name] = t;
  }
  void set(const std::string &name, TensorRef t) {
    before.try_emplace(name, state.tensors[name]);
    state.tensors[name] = std::move(t);
  }

private:
  ImportState &state;
  std::map<std::string, TensorRef> before;
};
} // namespace

/// Sets what the node reads instead; false if refused.
static bool replaceInputs(NodeContext &node, const BoundRule &rule,
                          Replaced &replaced) {
  for (const BoundRule::Mask &mask : rule.masks) {
    const std::string &name = node.proto.input(int(mask.input));
    if (llvm::count(node.proto.input(), name) > 1) {
      node.refuse("it reads one bounded tensor twice",
                  "copy it with Identity, or give its input a fixed size");
      return false;
    }
    TensorRef t = masked(node, node.state.lookup(name), mask.bound, mask.fill);
    if (!t)
      return false;
    replaced.set(name, t);
  }
  if (rule.last) {
    const std::string &name = node.proto.input(1);
    Value size = sizeOf(node, *rule.last);
    Value index =
        loops(node).map({size}, elementOf(size), [](Scalars &s, ValueRange a) {
          return s.sub(a[0], s.whole(1));
        });
    index = loops(node).reshape(index, node.input(1)->shape);
    replaced.set(name, hostTensor(node, index, TensorProto::INT64));
  }
  return true;
}

void importer::importBounded(ImportState &state, const Node &file, Sides sides,
                             Refusals &refusals) {
  NodeContext node(state, file);
  if (!node.areInputsKnown())
    return importPlain(state, file, sides, refusals);
  auto refuse = [&] {
    giveUnknown(node);
    llvm::append_range(refusals, node.refusals);
  };
  const TensorRef first = node.input(0);
  std::optional<BoundRule> rule = boundRule(node);
  if (!rule)
    return refuse();
  const size_t before = refusals.size();
  {
    Replaced replaced(state);
    if (!replaceInputs(node, *rule, replaced))
      return refuse();
    importPlain(state, file, sides, refusals);
  }
  const std::string &name = node.proto.output(0);
  TensorRef result = state.lookup(name);
  if (refusals.size() != before || !result || result->unknown)
    return;
  auto own = std::make_shared<GraphTensor>(*result);
  own->bounds = rule->out;
  own->ofBound = rule->givesBounds;
  if (rule->keepsShape) {
    own->bounds.clear();
    if (!followShape(node, first, *own))
      return refuse();
  }
  if (rule->mean) {
    const int64_t most = first->shape[size_t(rule->mean->axis)];
    TensorRef mean = corrected(node, own, most, *rule->mean);
    if (!mean)
      return refuse();
    mean->bounds = own->bounds;
    own = mean;
  }
  state.tensors[name] = own;
  for (size_t i = 1; i < node.results.size(); ++i)
    if (node.outputUsed(i)) {
      node.refuse(formatv("its output {0} is used, and its input has a "
                          "bounded size",
                          i),
                  "give its input a fixed size");
      return refuse();
    }
}
