// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scan and Loop: the body is imported, as a graph of its own, into one loop
// with a trip count, which carries the body's values from trip to trip and the
// sequences that it gives, of which each trip writes its part. If the number of
// trips or a condition is computed while the model runs, the loop becomes one
// with a condition. What the body reads from around itself are the node's last
// inputs (Graph.cpp).
#include "Host.h"
#include "Placement.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

/// As loops of MLIR files have them; loops within loops together.
static constexpr int64_t kMostTrips = 1 << 20;

namespace {
/// A sequence that the body takes or gives an element of in each trip.
struct Sequence {
  int64_t axis = 0;
  bool isReverse = false;
};

/// A node that repeats its body.
class Repetition {
public:
  Repetition(NodeContext &node, const onnx::GraphProto &proto)
      : node(node), b(node.builder), proto(proto) {}
  /// The body takes, after a Loop's number of the trip and condition, the
  /// carried values, which begin as the node's inputs from `first` on, and then
  /// an element of each sequence among the inputs after these. It gives, after
  /// a Loop's condition, the next carried values and an element of each
  /// sequence among the results.
  LogicalResult build();

  int64_t first = 0;   ///< of the node's inputs: carried values
  int64_t carried = 0; ///< values from trip to trip
  std::vector<Sequence> takes, gives;
  bool isLoop = false;          ///< begins with a number and a condition
  std::optional<int64_t> count; ///< trips at most, if that is a constant
  /// If they are computed: trips at most, and whether there is a first one.
  Value most, condition;

private:
  LogicalResult begin();
  LogicalResult enter();
  LogicalResult leave();
  /// The condition that the body computes; null if it is always true.
  FailureOr<Value> readCondition(Place &place);
  LogicalResult checkCount();
  LogicalResult dropSequences();
  /// The loop as one with a condition: a computed one, `goesOn`, or none.
  LogicalResult repeatWhile(Value goesOn, ArrayRef<Value> next);
  LogicalResult giveResults(ValueRange values);
  TensorRef tensorOf(Value v, int type);
  /// The place of a sequence's element in this trip.
  Value placeOf(const Sequence &sequence);
  Value index(int64_t v) {
    return arith::ConstantIndexOp::create(b, node.loc, v);
  }
  StringRef nameOf(int64_t output) const {
    return proto.output(int(output)).name();
  }

  NodeContext &node;
  OpBuilder &b;
  const onnx::GraphProto &proto;
  int64_t trips = 1; ///< if they are known
  std::unique_ptr<Graph> body;
  Refusals refused;
  std::optional<ImportState> inner;
  scf::ForOp loop;
  Value numbers, last; ///< of the trips, outside of the loop; of the last one
  Value number;        ///< of this trip, in the loop
  SmallVector<int> types; ///< of what the body gives
  SmallVector<Value> initial, sequences;
};
} // namespace

/// The file's type, as far as it makes a difference: all reals but those of 16
/// bits are float32.
static int heldType(MLIRContext *context, int type) {
  return HostTensor::isRealType(type) && !halfType(context, type)
             ? int(TensorProto::FLOAT)
             : type;
}

TensorRef Repetition::tensorOf(Value v, int type) {
  auto t = std::make_shared<GraphTensor>();
  auto ty = cast<RankedTensorType>(v.getType());
  t->shape.assign(ty.getShape().begin(), ty.getShape().end());
  t->element = ty.getElementType();
  t->plain = v;
  t->onnx = heldType(node.context, type);
  return t;
}

Value Repetition::placeOf(const Sequence &sequence) {
  Value now = loop.getInductionVar();
  return sequence.isReverse
             ? arith::SubIOp::create(inner->builder, node.loc, last, now)
                   .getResult()
             : now;
}

/// The axis in front, or back where it was.
static Value moved(NodeContext &node, Value v, int64_t axis, bool toFront) {
  const int64_t rank = cast<RankedTensorType>(v.getType()).getRank();
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (axis == 0)
    return v;
  permutation.erase(permutation.begin() + (toFront ? axis : 0));
  permutation.insert(permutation.begin() + (toFront ? 0 : axis),
                     toFront ? axis : 0);
  return loops(node).transpose(v, permutation);
}

/// What stands in front of the loop.
LogicalResult Repetition::begin() {
  for (int64_t i = 0; i < carried; ++i) {
    Value v = hostValue(node, size_t(first + i));
    if (!v)
      return failure();
    initial.push_back(v);
  }
  for (auto [i, sequence] : llvm::enumerate(takes)) {
    Value v = hostValue(node, size_t(first + carried) + i);
    if (!v)
      return failure();
    sequences.push_back(moved(node, v, sequence.axis, /*toFront=*/true));
  }
  if (isLoop)
    numbers =
        loops(node).each({trips}, b.getI64Type(),
                         [](Scalars &s, ValueRange) { return s.index(0); });
  last = index(trips - 1);
  loop = scf::ForOp::create(b, node.loc, index(0), index(trips), index(1),
                            initial);
  return success();
}

/// The body's inputs and nodes.
LogicalResult Repetition::enter() {
  inner.emplace(node.context, *body, node.state.directory, node.state.options,
                refused);
  inner->builder.setInsertionPointToStart(loop.getBody());
  inner->function = node.state.function;
  inner->trips = std::max<int64_t>(node.state.trips, 1) * trips;
  inner->foldedElements = node.state.foldedElements;
  inner->integersOnHost = node.state.integersOnHost;
  Place place(*inner, node.name, node.writtenOp);
  int input = 0;
  auto give = [&](TensorRef t) {
    inner->tensors[proto.input(input++).name()] = std::move(t);
  };
  if (isLoop) {
    number = sliceAt(place, numbers, loop.getInductionVar(), {}, {});
    give(tensorOf(number, TensorProto::INT64));
    auto truth = std::make_shared<HostTensor>();
    truth->type = TensorProto::BOOL;
    truth->ints = {1};
    give(inner->constant(truth));
  }
  for (int64_t i = 0; i < carried; ++i)
    give(tensorOf(loop.getRegionIterArgs()[size_t(i)],
                  typeOf(node.input(size_t(first + i)))));
  for (auto [i, sequence] : llvm::enumerate(takes)) {
    Value all = sequences[i];
    auto size = cast<RankedTensorType>(all.getType()).getShape().drop_front();
    give(tensorOf(sliceAt(place, all, placeOf(sequence),
                          SmallVector<int64_t>(size.size()), size),
                  typeOf(node.input(size_t(first + carried) + i))));
  }
  // A value that the body is first to ask for stands in the body.
  for (int i = proto.input_size(); i < node.proto.input_size(); ++i)
    inner->tensors[node.proto.input(i)] =
        std::make_shared<GraphTensor>(*node.input(size_t(i)));
  for (size_t i = 0; i < body->nodes.size();)
    i = importExpansion(*inner, i);
  node.state.foldedElements = inner->foldedElements;
  node.state.needsExactIntegers |= inner->needsExactIntegers;
  return success(refused.empty());
}

FailureOr<Value> Repetition::readCondition(Place &place) {
  if (!isLoop)
    return Value();
  TensorRef goesOn = inner->lookup(nameOf(0));
  if (!goesOn || goesOn->unknown)
    return failure();
  if (!goesOn->isPlainConstant()) {
    Value v = hostValue(place, goesOn, "condition '" + nameOf(0) + "'");
    if (v && elementCount(goesOn->shape) != 1)
      place.refuse(formatv("its condition '{0}' has the shape {1}, not one "
                           "element",
                           nameOf(0), describe(goesOn->shape)),
                   "export the model anew");
    llvm::append_range(node.refusals, place.refusals);
    if (!place.refusals.empty())
      return failure();
    return loops(place).reshape(v, {});
  }
  if (goesOn->constant->ints.size() != 1 || !goesOn->constant->ints.front()) {
    node.refuse(
        formatv("its condition '{0}' ends it after one trip", nameOf(0)),
        "export the model without this loop");
    return failure();
  }
  return Value();
}

/// What is known of the number of trips has a limit.
LogicalResult Repetition::checkCount() {
  const int64_t around = std::max<int64_t>(node.state.trips, 1);
  if (!count)
    return node.refuse("nothing ends it: it has neither a trip count nor a "
                       "condition that is computed",
                       "export it with one of them");
  if (*count > kMostTrips / around)
    return node.refuse(
        around > 1 ? formatv("it has {0} trips in a body that runs {1} times",
                             *count, around)
                         .str()
                   : formatv("it has {0} trips", *count).str(),
        formatv("up to {0} are supported", kMostTrips));
  return success();
}

/// How many elements they have is known only afterwards.
LogicalResult Repetition::dropSequences() {
  for (size_t i = 0; i < gives.size(); ++i)
    if (const size_t output = size_t(carried) + i; node.outputUsed(output))
      return node.refuse(
          formatv("its output {0} ('{1}') has an element for each trip, and "
                  "how many there are is computed while the model runs",
                  output, node.proto.output(int(output))),
          "export it as a loop of known length (constants folded, the "
          "condition true), or carry what is needed in a tensor of fixed "
          "shape");
  gives.clear();
  return success();
}

LogicalResult Repetition::repeatWhile(Value goesOn, ArrayRef<Value> next) {
  auto whole = [&](int64_t v) { return wholeConstant(node, {}, {v}); };
  b.setInsertionPoint(loop);
  SmallVector<Value> begins{whole(0)};
  if (goesOn)
    begins.push_back(condition ? condition : whole(1));
  const size_t first = begins.size();
  llvm::append_range(begins, initial);
  auto made =
      scf::WhileOp::create(b, node.loc, ValueRange(begins).getTypes(), begins);
  const SmallVector<Location> locations(begins.size(), node.loc);
  auto blockIn = [&](Region &region) {
    return b.createBlock(&region, {}, ValueRange(begins).getTypes(), locations);
  };
  // Tensors are read in the region, so that no scalars come from other tasks.
  Block *before = blockIn(made.getBefore());
  Value holds;
  auto require = [&](Value v) {
    holds = holds ? arith::AndIOp::create(b, node.loc, holds, v) : v;
  };
  auto scalar = [&](Value tensor) -> Value {
    return tensor::ExtractOp::create(b, node.loc, tensor, ValueRange());
  };
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(b, node.loc, b.getI64IntegerAttr(v));
  };
  auto compare = [&](arith::CmpIPredicate kind, Value x, Value y) {
    require(arith::CmpIOp::create(b, node.loc, kind, x, y));
  };
  if (Value truth = goesOn ? Value(before->getArgument(1)) : condition)
    compare(arith::CmpIPredicate::ne, scalar(truth), constant(0));
  if (most || count)
    compare(arith::CmpIPredicate::slt, scalar(before->getArgument(0)),
            most ? scalar(most) : constant(*count));
  scf::ConditionOp::create(b, node.loc, holds, before->getArguments());

  Block *trip = blockIn(made.getAfter());
  IRMapping map;
  map.map(ValueRange(loop.getRegionIterArgs()),
          ValueRange(trip->getArguments()).drop_front(first));
  map.map(number, trip->getArgument(0));
  for (auto [from, to] : map.getValueMap())
    Value(from).replaceAllUsesWith(to);
  number.getDefiningOp()->erase();
  trip->getOperations().splice(trip->end(), loop.getBody()->getOperations());
  if (trip->mightHaveTerminator())
    trip->getTerminator()->erase();
  SmallVector<Value> yielded{loops(node).map(
      {trip->getArgument(0)}, b.getI64Type(),
      [](Scalars &s, ValueRange a) { return s.add(a[0], s.whole(1)); })};
  if (goesOn)
    yielded.push_back(map.lookupOrDefault(goesOn));
  for (Value v : next)
    yielded.push_back(map.lookupOrDefault(v));
  scf::YieldOp::create(b, node.loc, yielded);
  loop.erase();
  loop = {};
  // Out of a loop without trips only what cannot fail.
  moveLoopInvariantCode(
      &made.getAfter(),
      [](Value v, Region *region) {
        return !region->isAncestor(v.getParentRegion());
      },
      [](Operation *op, Region *) {
        return isMemoryEffectFree(op) && isSpeculatable(op) &&
               !op->walk([](tensor::ExtractOp) {
                    return WalkResult::interrupt();
                  }).wasInterrupted();
      },
      [&](Operation *op, Region *) { op->moveBefore(made); });
  b.setInsertionPointAfter(made);
  return giveResults(made.getResults().drop_front(first));
}

/// The body's outputs, and the node's.
LogicalResult Repetition::leave() {
  Place place(*inner, node.name, node.writtenOp);
  FailureOr<Value> goesOn = readCondition(place);
  if (failed(goesOn))
    return failure();
  const bool isCounted = !most && !condition && !*goesOn;
  // A first condition that is computed does not end it.
  if ((!most && !*goesOn && failed(checkCount())) ||
      (!isCounted && failed(dropSequences())))
    return failure();
  auto given = [&](int64_t output) -> TensorRef {
    TensorRef t = inner->lookup(nameOf(output));
    return t && !t->unknown ? t : nullptr;
  };
  SmallVector<Value> results;
  const int64_t before = isLoop,
                outputs = before + carried + int64_t(gives.size());
  for (int64_t i = before; i < outputs; ++i) {
    TensorRef t = given(i);
    Value v =
        t ? hostValue(place, t, "body's output '" + nameOf(i) + "'") : Value();
    if (!v) {
      llvm::append_range(node.refusals, place.refusals);
      return failure();
    }
    results.push_back(v);
    types.push_back(typeOf(t));
  }
  for (auto [i, v] : llvm::enumerate(initial)) {
    const int type = typeOf(node.input(size_t(first) + i));
    if (results[i].getType() == v.getType() &&
        heldType(node.context, type) == heldType(node.context, types[i]))
      continue;
    auto text = [](int onnx, Value value) {
      ArrayRef<int64_t> shape = host::Loops::shapeOf(value);
      return typeName(onnx) + describe(shape);
    };
    return node.refuse(
        formatv("its value '{0}' begins as {1} and is {2} after a trip",
                nameOf(before + int64_t(i)), text(type, v),
                text(types[i], results[i])),
        "export it with shapes and types that stay from trip to trip");
  }
  if (!isCounted)
    return repeatWhile(*goesOn, results);
  OpBuilder &in = inner->builder;
  if (carried)
    scf::YieldOp::create(in, node.loc, ArrayRef(results).take_front(carried));
  // Now that their shapes are known, the sequences.
  b.setInsertionPoint(loop);
  SmallVector<Value> empty;
  for (int64_t i = carried; i < int64_t(results.size()); ++i) {
    auto type = cast<RankedTensorType>(results[size_t(i)].getType());
    Shape shape{trips};
    llvm::append_range(shape, type.getShape());
    if (!elementCount(shape))
      return node.refuse(
          formatv("its output {0} of shape {1} has more than {2} elements", i,
                  describe(shape), kMaxElements),
          "give smaller input shapes with --shape");
    Sequence &sequence = gives[size_t(i - carried)];
    const int64_t rank = type.getRank() + 1;
    if (sequence.axis < -rank || sequence.axis >= rank)
      return node.refuse(formatv("its output axis {0} is out of range for rank "
                                 "{1}",
                                 sequence.axis, rank));
    sequence.axis += sequence.axis < 0 ? rank : 0;
    empty.push_back(
        tensor::EmptyOp::create(b, node.loc, shape, type.getElementType()));
  }
  IRRewriter rewriter(b);
  rewriter.setInsertionPoint(loop);
  auto written = [&](OpBuilder &at, Location, ArrayRef<BlockArgument> args) {
    in.setInsertionPoint(at.getInsertionBlock(), at.getInsertionPoint());
    SmallVector<Value> next;
    for (auto [i, all] : llvm::enumerate(args)) {
      Value v = results[size_t(carried) + i];
      SmallVector<int64_t> zeros(
          size_t(cast<RankedTensorType>(v.getType()).getRank()));
      next.push_back(insertAt(place, all, placeOf(gives[i]), v, zeros));
    }
    return next;
  };
  if (!empty.empty()) {
    FailureOr<LoopLikeOpInterface> grown =
        cast<LoopLikeOpInterface>(loop.getOperation())
            .replaceWithAdditionalYields(rewriter, empty, false, written);
    if (failed(grown))
      return node.refuse("its sequences cannot be carried");
    loop = cast<scf::ForOp>(grown->getOperation());
  }
  moveLoopInvariantCode(cast<LoopLikeOpInterface>(loop.getOperation()));
  b.setInsertionPointAfter(loop);
  return giveResults(loop.getResults());
}

LogicalResult Repetition::giveResults(ValueRange values) {
  for (auto [i, result] : llvm::enumerate(values)) {
    Value v = result;
    if (int64_t(i) >= carried)
      v = moved(node, v, gives[i - size_t(carried)].axis, /*toFront=*/false);
    if (failed(node.setResult(i, tensorOf(v, types[i]))))
      return failure();
  }
  return success();
}

LogicalResult Repetition::build() {
  // Whether the body computes a condition is known at its end.
  if (!most && !condition && count &&
      *count <= kMostTrips / std::max<int64_t>(node.state.trips, 1))
    trips = *count;
  body = readBody(proto, node.state.graph, refused);
  if (!body) {
    llvm::append_range(node.refusals, refused);
    return failure();
  }
  if (failed(begin()))
    return failure();
  if (succeeded(enter()) && succeeded(leave()))
    return success();
  llvm::append_range(node.refusals, refused);
  inner.reset();
  if (loop) {
    b.setInsertionPointAfter(loop);
    loop.erase();
  }
  return failure();
}

/// The node's body and its numbers of inputs and outputs; null if refused.
static const onnx::GraphProto *checkBody(NodeContext &node, int64_t leastInputs,
                                         int64_t leastOutputs) {
  const onnx::GraphProto *proto = bodyOf(node.proto);
  if (!proto) {
    node.refuse("it has no body", "export the model anew");
    return nullptr;
  }
  if (proto->input_size() < leastInputs ||
      proto->output_size() < leastOutputs) {
    node.refuse(formatv("its body has {0} inputs and {1} outputs, fewer than "
                        "{2} and {3}",
                        proto->input_size(), proto->output_size(), leastInputs,
                        leastOutputs),
                "export the model anew");
    return nullptr;
  }
  return proto;
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// The axes and directions of sequences; false if refused.
static bool readSequences(NodeContext &node, StringRef axes,
                          StringRef directions, int64_t count,
                          std::vector<Sequence> &sequences) {
  sequences.assign(size_t(count), {});
  for (StringRef name : {axes, directions}) {
    auto given = node.getInts(name);
    if (!given)
      continue;
    if (int64_t(given->size()) != count) {
      node.refuse(formatv("its attribute '{0}' has {1} entries for {2} "
                          "sequences",
                          name, given->size(), count));
      return false;
    }
    for (auto [sequence, value] : llvm::zip_equal(sequences, *given)) {
      if (name == axes)
        sequence.axis = value;
      else
        sequence.isReverse = value != 0;
    }
  }
  return true;
}

LogicalResult onhost::scan(NodeContext &node) {
  if (node.state.graph.opset < 9)
    return node.refuse("before opset 9 it runs once per sample of a batch",
                       "convert the model with onnx.version_converter to "
                       "opset 9 or later");
  const int64_t scanned = node.getInt("num_scan_inputs", 0);
  if (scanned < 1)
    return node.refuse("it has no input to scan", "export the model anew");
  const onnx::GraphProto *proto = checkBody(node, scanned, 0);
  if (!proto)
    return failure();
  Repetition repetition(node, *proto);
  repetition.carried = proto->input_size() - scanned;
  const int64_t given = proto->output_size() - repetition.carried;
  if (!checkBody(node, scanned, repetition.carried) ||
      !readSequences(node, "scan_input_axes", "scan_input_directions", scanned,
                     repetition.takes) ||
      !readSequences(node, "scan_output_axes", "scan_output_directions", given,
                     repetition.gives))
    return failure();
  std::optional<int64_t> &trips = repetition.count;
  for (auto [i, sequence] : llvm::enumerate(repetition.takes)) {
    const size_t number = size_t(repetition.carried) + i;
    TensorRef t = node.input(number);
    if (!t)
      return node.refuse(formatv("its input {0} is missing", number));
    const int64_t rank = int64_t(t->rank());
    if (sequence.axis < -rank || sequence.axis >= rank)
      return node.refuse(formatv("the axis {0} of its input {1} is out of "
                                 "range for rank {2}",
                                 sequence.axis, number, rank));
    sequence.axis += sequence.axis < 0 ? rank : 0;
    const int64_t length = t->shape[size_t(sequence.axis)];
    if (trips && *trips != length)
      return node.refuse(formatv("its inputs have {0} and {1} elements to "
                                 "scan, which must be one number",
                                 *trips, length));
    trips = length;
  }
  return repetition.build();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

LogicalResult onhost::loop(NodeContext &node) {
  const onnx::GraphProto *proto = checkBody(node, 2, 1);
  if (!proto)
    return failure();
  Repetition repetition(node, *proto);
  repetition.isLoop = true;
  repetition.first = 2;
  repetition.carried = proto->input_size() - 2;
  if (!checkBody(node, 2, repetition.carried + 1))
    return failure();
  repetition.gives.resize(
      size_t(proto->output_size() - 1 - repetition.carried));
  bool isRun = true;
  for (size_t i : {0, 1}) {
    TensorRef t = node.input(i);
    if (!t)
      continue;
    if (elementCount(t->shape) != 1 || HostTensor::isRealType(typeOf(t)))
      return node.refuse(formatv("its {0} is {1}{2}, not one {3}",
                                 i ? "first condition" : "trip count",
                                 typeName(typeOf(t)), describe(t->shape),
                                 i ? "truth" : "integer"),
                         "export the model anew");
    if (!t->isPlainConstant()) {
      Value v = hostValue(node, i);
      if (!v)
        return failure();
      (i ? repetition.condition : repetition.most) = loops(node).reshape(v, {});
    } else if (i) {
      isRun = t->constant->ints.front();
    } else {
      repetition.count = t->constant->ints.front();
    }
  }
  if (isRun && repetition.count.value_or(1) > 0)
    return repetition.build();
  if (!repetition.gives.empty())
    return node.refuse("it has no trips, so that its sequences have no "
                       "elements",
                       "export the model without it");
  for (int64_t i = 0; i < repetition.carried; ++i)
    if (TensorRef t = node.input(size_t(i) + 2);
        !t || failed(node.setResult(size_t(i), t)))
      return node.refuse(formatv("its input {0} is missing", i + 2));
  return success();
}
