// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of the network. A constant matrix becomes a dense layer, two
// tensors a product of matrices if both are integers (repeated where one lacks
// an axis of the batch); others run on the host.
#include "Network.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

/// `weights` is a constant [O, C], `bias` a constant [O] or null.
Value importer::emitDense(NodeContext &node, Value x, const TensorRef &weights,
                          const TensorRef &bias) {
  Value w = materialize(node, *weights);
  Value b = bias ? materialize(node, *bias) : Value();
  if (!x || !w || (bias && !b))
    return {};
  Shape shape(cast<RankedTensorType>(x.getType()).getShape());
  shape.back() = weights->shape[0];
  return osa::DenseOp::create(node.builder, node.loc,
                              tensorType(shape, node.f32), x, w, b);
}

LogicalResult network::gemm(NodeContext &node) {
  TensorRef a = node.input(0), b = node.input(1), c = node.input(2);
  if (failed(node.requireReal(0)) || failed(node.requireReal(1)) ||
      (c && failed(node.requireReal(2))))
    return failure();
  if (!b->isConstant())
    return node.refuse("its weights (input 1) are not constant",
                       "export the model with its parameters as initializers");
  if (node.getInt("transA", 0) != 0)
    return node.refuse("its attribute transA is 1",
                       "transpose before the node");
  bool transB = node.getInt("transB", 0) != 0;
  if (a->rank() != 2 || b->rank() != 2 ||
      a->shape[1] != b->shape[transB ? 1 : 0])
    return node.refuse(formatv("its inputs {0} and {1} (transB {2}) do not fit",
                               describe(a->shape), describe(b->shape),
                               int(transB)));
  TensorRef weights = transB ? b : transposed(b, {1, 0});
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  if (!std::isfinite(alpha) || !std::isfinite(beta))
    return node.refuse(formatv("its alpha is {0}, its beta {1}", alpha, beta));
  Shape shape = {a->shape[0], weights->shape[0]};
  if (c && broadcast(c->shape, shape) != std::optional(shape))
    return node.refuse(formatv("its input C {0} does not broadcast to {1}",
                               describe(c->shape), describe(shape)));
  if (beta == 0)
    c = nullptr;
  TensorRef bias;
  if (c && c->isConstant() && alpha == 1 && beta == 1 &&
      elementCount(c->shape) == shape[1] && c->shape.back() == shape[1])
    bias = reshaped(c, {shape[1]});
  Value v = emitDense(node, plain(node, a), weights, bias);
  if (!v)
    return failure();
  auto scaled = [&](Value x, double factor) -> Value {
    if (factor == 1)
      return x;
    auto scalar =
        DenseElementsAttr::get(tensorType({}, node.f32), float(factor));
    Value k = osa::ConstantOp::create(node.builder, node.loc, scalar.getType(),
                                      scalar);
    return emitBinary(node, "Mul", x, k, x.getType());
  };
  v = scaled(v, alpha);
  if (c && !bias) {
    Value addend = plain(node, c);
    if (!addend)
      return failure();
    v = emitBinary(node, "Add", v, scaled(addend, beta), v.getType());
  }
  return setPlain(node, v);
}

/// Whether it is quantized, or may be once the network is.
static bool isQuantized(const NodeContext &node, const TensorRef &t) {
  if (node.state.options.fixedPointFunctions)
    return true;
  Value v = t->last ? t->last : t->plain;
  while (Operation *op = v ? v.getDefiningOp() : nullptr) {
    if (isa<osa::DequantizeOp>(op))
      return true;
    if (!isa<osa::ReshapeOp, osa::TransposeOp, osa::GatherOp, osa::MaxPoolOp>(
            op))
      return false;
    v = op->getOperand(0);
  }
  return false;
}

/// a [batch…, M, K] by b [batch…, K, N] or, if it is `transposed`, [batch…, N,
/// K], both of one rank, gives [batch…, M, N].
static Value product(NodeContext &node, Value a, Value b, bool transposed) {
  Shape sa(cast<RankedTensorType>(a.getType()).getShape()),
      sb(cast<RankedTensorType>(b.getType()).getShape());
  size_t batch = sa.size() - 2;
  int64_t m = sa[batch], n = sb[batch + (transposed ? 0 : 1)], k = sa.back();
  Shape shape = *broadcast(Shape(sa.begin(), sa.begin() + batch),
                           Shape(sb.begin(), sb.begin() + batch));
  auto batches = elementCount(shape);
  Shape result = shape;
  result.insert(result.end(), {m, n});
  if (!batches || !elementCount(result)) {
    node.refuse(formatv("its product has the shape {0}", describe(result)),
                "give smaller input shapes with --shape");
    return {};
  }
  int64_t count = *batches, rows = m;
  if (elementCount(Shape(sb.begin(), sb.begin() + batch)) == 1) {
    rows *= count; // of one matrix
    count = 1;
  } else {
    for (size_t axis = 0; axis < batch; ++axis)
      for (auto [v, from] : {std::pair(&a, &sa), {&b, &sb}})
        if ((*from)[axis] != shape[axis])
          *v = take(node, *v, int64_t(axis), Shape(shape[axis], 0));
  }
  a = reshape(node, a, {1, count, rows, k});
  b = reshape(node, b, transposed ? Shape{count, n, k} : Shape{count, k, n});
  std::vector<int64_t> axes = {0, 1, 2};
  if (transposed)
    std::swap(axes[1], axes[2]);
  Value v = osa::MatmulOp::create(node.builder, node.loc,
                                  tensorType({1, count, rows, n}, node.f32), a,
                                  b, axes, 0, 0);
  return reshape(node, v, result);
}

static LogicalResult matMulOfTwo(NodeContext &node) {
  TensorRef a = node.input(0), b = node.input(1);
  if (!isQuantized(node, a) || !isQuantized(node, b))
    return node.refuse(
        "neither of its operands is a constant matrix, and not both "
        "are quantized",
        "put a quantizer on each operand");
  bool row = a->rank() == 1, column = b->rank() == 1;
  Value x = plain(node, a), y = plain(node, b);
  if (!x || !y)
    return failure();
  Shape sa = a->shape, sb = b->shape;
  if (row)
    sa.insert(sa.begin(), 1);
  if (column)
    sb.push_back(1);
  while (sa.size() < sb.size())
    sa.insert(sa.begin(), 1);
  while (sb.size() < sa.size())
    sb.insert(sb.begin(), 1);
  size_t rank = sa.size();
  if (sa[rank - 1] != sb[rank - 2] ||
      !broadcast(Shape(sa.begin(), sa.end() - 2),
                 Shape(sb.begin(), sb.end() - 2)))
    return node.refuse(formatv("its inputs {0} and {1} do not fit",
                               describe(a->shape), describe(b->shape)));
  Value v = product(node, reshape(node, x, sa), reshape(node, y, sb),
                    /*transposed=*/false);
  if (!v)
    return failure();
  Shape shape(cast<RankedTensorType>(v.getType()).getShape());
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return setPlain(node, reshape(node, v, shape));
}

/// The constant as a matrix if all but its last two axes are 1.
static bool isMatrix(const GraphTensor &t) {
  for (size_t i = 0; i + 2 < t.rank(); ++i)
    if (t.shape[i] != 1)
      return false;
  return t.rank() >= 2;
}

LogicalResult network::matMul(NodeContext &node) {
  TensorRef a = node.input(0), b = node.input(1);
  if (failed(node.requireReal(0)) || failed(node.requireReal(1)))
    return failure();
  if (a->rank() == 0 || b->rank() == 0)
    return node.refuse("one of its inputs is a scalar");
  auto mismatch = [&] {
    return node.refuse(formatv("its inputs {0} and {1} do not fit",
                               describe(a->shape), describe(b->shape)));
  };
  if (b->isConstant()) {
    bool vector = b->rank() == 1;
    if (!vector && !isMatrix(*b))
      return node.refuse(formatv("its constant {0} is a batch of matrices",
                                 describe(b->shape)),
                         "one matrix is supported");
    int64_t rows = vector ? b->shape[0] : b->shape[b->rank() - 2];
    if (a->shape.back() != rows)
      return mismatch();
    TensorRef matrix =
        reshaped(b, vector ? Shape{1, rows} : Shape{rows, b->shape.back()});
    Value v = emitDense(node, plain(node, a),
                        vector ? matrix : transposed(matrix, {1, 0}), nullptr);
    if (!v)
      return failure();
    Shape shape(cast<RankedTensorType>(v.getType()).getShape());
    if (vector)
      shape.pop_back();
    while (a->rank() > 1 && !vector && shape.size() < b->rank())
      shape.insert(shape.begin(), 1);
    return setPlain(node, reshape(node, v, shape));
  }
  if (a->isConstant() && a->rank() == 2 && b->rank() == 2) {
    if (a->shape[1] != b->shape[0])
      return mismatch();
    Value x = plain(node, b);
    Value v =
        x ? emitDense(node, transpose(node, x, {1, 0}), a, nullptr) : Value();
    return setPlain(node, v ? transpose(node, v, {1, 0}) : v);
  }
  return matMulOfTwo(node);
}

/// One term of an equation: every letter once.
static bool isTerm(StringRef term) {
  std::string sorted = term.str();
  llvm::sort(sorted);
  return llvm::all_of(sorted, [](char c) { return std::isalpha(c); }) &&
         std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

LogicalResult network::einsum(NodeContext &node) {
  std::string equation = node.getString("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '),
                 equation.end());
  auto [left, out] = StringRef(equation).split("->");
  auto [ta, tb] = left.split(',');
  if (node.inputs.size() != 2 || !StringRef(equation).contains("->") ||
      !isTerm(ta) || !isTerm(tb) || !isTerm(out))
    return node.refuse(
        formatv("its equation is '{0}'", equation),
        "two operands, every index once in each, and an explicit "
        "result are supported");
  for (size_t i : {0, 1})
    if (failed(node.requireReal(i)))
      return failure();
  TensorRef a = node.input(0), b = node.input(1);
  if (a->rank() != ta.size() || b->rank() != tb.size())
    return node.refuse(formatv("its equation '{0}' does not fit {1} and {2}",
                               equation, describe(a->shape),
                               describe(b->shape)));
  std::map<char, int64_t> size;
  for (auto [term, t] : {std::pair(ta, a), {tb, b}})
    for (auto [letter, n] : llvm::zip(term, t->shape))
      if (auto [it, fresh] = size.try_emplace(letter, n);
          !fresh && it->second != n)
        return node.refuse(formatv("its index '{0}' has the sizes {1} and {2}",
                                   std::string(1, letter), it->second, n));
  // In both and the result: batch; in one and the result: M or N; only in both:
  // K.
  std::string batch, m, n, k;
  for (char c : out)
    (ta.contains(c) ? tb.contains(c) ? batch : m : n).push_back(c);
  for (char c : ta)
    if (!out.contains(c) && tb.contains(c))
      k.push_back(c);
  for (char c : (ta + tb).str())
    if (!out.contains(c) && !(ta.contains(c) && tb.contains(c)))
      return node.refuse(formatv(
          "its index '{0}' is summed in one operand alone", std::string(1, c)));
  for (char c : n)
    if (!tb.contains(c))
      return node.refuse(formatv("its result's index '{0}' is in no operand",
                                 std::string(1, c)));
  auto count = [&](StringRef letters) {
    int64_t product = 1;
    for (char c : letters)
      product *= size[c];
    return product;
  };
  auto laid = [&](const TensorRef &t, StringRef term, const std::string &own,
                  TensorRef *constant) -> Value {
    std::string wanted = batch + own + k;
    std::vector<int64_t> order;
    for (char c : wanted)
      order.push_back(int64_t(term.find(c)));
    Shape shape = {count(batch), count(own), count(k)};
    if (constant) {
      *constant = reshaped(transposed(t, order), {shape[1], shape[2]});
      return {};
    }
    Value v = plain(node, t);
    return v ? reshape(node, transpose(node, v, order), shape) : v;
  };
  Value v;
  if ((a->isConstant() || b->isConstant()) && batch.empty()) {
    bool first = a->isConstant(); // the constant's axes become the last ones
    TensorRef weights;
    laid(first ? a : b, first ? ta : tb, first ? m : n, &weights);
    Value x = laid(first ? b : a, first ? tb : ta, first ? n : m, nullptr);
    v = x && weights ? emitDense(node, x, weights, nullptr) : Value();
    if (!weights)
      return node.refuse("its constant is quantized along an axis that moves");
    if (first)
      std::swap(m, n);
  } else {
    if (!isQuantized(node, a) || !isQuantized(node, b))
      return node.refuse("not both of its operands are quantized",
                         "put a quantizer on each operand");
    Value x = laid(a, ta, m, nullptr), y = laid(b, tb, n, nullptr);
    v = x && y ? product(node, x, y, /*transposed=*/true) : Value();
  }
  if (!v)
    return failure();
  std::string have = batch + m + n;
  Shape shape;
  for (char c : have)
    shape.push_back(size[c]);
  v = reshape(node, v, shape);
  std::vector<int64_t> order;
  for (char c : out)
    order.push_back(int64_t(have.find(c)));
  return setPlain(node, have == out ? v : transpose(node, v, order));
}
