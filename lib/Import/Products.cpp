// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of two tensors of the network: both are laid out as [batch,
// M, N, K] (repeated where they lack an axis), multiplied element by element
// and summed along K. Only where both are integers; others are the host's.
#include "Importer.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

bool Importer::isQuantised(const TensorRef &t) const {
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

/// a [batch…, M, K] by b [batch…, N, K], both of one rank, gives [batch…, M,
/// N].
Value Importer::product(Value a, Value b) {
  Shape sa(cast<RankedTensorType>(a.getType()).getShape()),
      sb(cast<RankedTensorType>(b.getType()).getShape());
  size_t batch = sa.size() - 2;
  int64_t m = sa[batch], n = sb[batch], k = sa.back();
  Shape shape = *broadcast(Shape(sa.begin(), sa.begin() + batch),
                           Shape(sb.begin(), sb.begin() + batch));
  Shape result = shape;
  result.insert(result.end(), {m, n});
  sa.insert(sa.begin() + batch + 1, 1);
  sb.insert(sb.begin() + batch, 1);
  shape.insert(shape.end(), {m, n, k});
  if (!elementCount(shape)) {
    refuse(formatv("its product has the shape {0}", describe(shape)),
           "give smaller input shapes with --shape");
    return {};
  }
  Value v = emitBinary("Mul", reshape(a, sa), reshape(b, sb), type(shape, f32));
  auto ones = DenseElementsAttr::get(type({1, k}, f32), 1.0f);
  Value w = osa::ConstantOp::create(builder, loc, ones.getType(), ones);
  shape.back() = 1;
  v = osa::DenseOp::create(builder, loc, type(shape, f32), v, w, Value());
  return reshape(v, result);
}

LogicalResult Importer::matMulOfTwo() {
  TensorRef a = input(0), b = input(1);
  if (!isQuantised(a) || !isQuantised(b))
    return refuse("neither of its operands is a constant matrix, and not both "
                  "are quantised",
                  "put a quantiser on each operand");
  bool row = a->rank() == 1, column = b->rank() == 1;
  Value x = plain(a), y = plain(b);
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
    return refuse(formatv("its inputs {0} and {1} do not fit",
                          describe(a->shape), describe(b->shape)));
  std::vector<int64_t> turn(rank);
  std::iota(turn.begin(), turn.end(), 0);
  std::swap(turn[rank - 1], turn[rank - 2]);
  Value v = product(reshape(x, sa), transpose(reshape(y, sb), turn));
  if (!v)
    return failure();
  Shape shape(cast<RankedTensorType>(v.getType()).getShape());
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return setPlain(reshape(v, shape));
}

/// One term of an equation: every letter once.
static bool isTerm(StringRef term) {
  std::string sorted = term.str();
  llvm::sort(sorted);
  return llvm::all_of(sorted, [](char c) { return std::isalpha(c); }) &&
         std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

LogicalResult Importer::einsum() {
  std::string equation = node->getString("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '),
                 equation.end());
  auto [left, out] = StringRef(equation).split("->");
  auto [ta, tb] = left.split(',');
  if (inputs.size() != 2 || !StringRef(equation).contains("->") ||
      !isTerm(ta) || !isTerm(tb) || !isTerm(out))
    return refuse(formatv("its equation is '{0}'", equation),
                  "two operands, every index once in each, and an explicit "
                  "result are supported");
  for (size_t i : {0, 1})
    if (failed(requireReal(i)))
      return failure();
  TensorRef a = input(0), b = input(1);
  if (a->rank() != ta.size() || b->rank() != tb.size())
    return refuse(formatv("its equation '{0}' does not fit {1} and {2}",
                          equation, describe(a->shape), describe(b->shape)));
  std::map<char, int64_t> size;
  for (auto [term, t] : {std::pair(ta, a), {tb, b}})
    for (auto [letter, n] : llvm::zip(term, t->shape))
      if (auto [it, fresh] = size.try_emplace(letter, n);
          !fresh && it->second != n)
        return refuse(formatv("its index '{0}' has the sizes {1} and {2}",
                              std::string(1, letter), it->second, n));
  // Of both and the result: batch; of one: M or N; of both alone: K.
  std::string batch, m, n, k;
  for (char c : out)
    (ta.contains(c) ? tb.contains(c) ? batch : m : n).push_back(c);
  for (char c : ta)
    if (!out.contains(c) && tb.contains(c))
      k.push_back(c);
  for (char c : (ta + tb).str())
    if (!out.contains(c) && !(ta.contains(c) && tb.contains(c)))
      return refuse(formatv("its index '{0}' is summed in one operand alone",
                            std::string(1, c)));
  for (char c : n)
    if (!tb.contains(c))
      return refuse(formatv("its result's index '{0}' is in no operand",
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
    Value v = plain(t);
    return v ? reshape(transpose(v, order), shape) : v;
  };
  Value v;
  if ((a->isConstant() || b->isConstant()) && batch.empty()) {
    bool first = a->isConstant(); // the constant's axes become the last ones
    TensorRef weights;
    laid(first ? a : b, first ? ta : tb, first ? m : n, &weights);
    Value x = laid(first ? b : a, first ? tb : ta, first ? n : m, nullptr);
    v = x && weights ? emitDense(x, weights, nullptr) : Value();
    if (!weights)
      return refuse("its constant is quantised along an axis that moves");
    if (first)
      std::swap(m, n);
  } else {
    if (!isQuantised(a) || !isQuantised(b))
      return refuse("not both of its operands are quantised",
                    "put a quantiser on each operand");
    Value x = laid(a, ta, m, nullptr), y = laid(b, tb, n, nullptr);
    v = x && y ? product(x, y) : Value();
  }
  if (!v)
    return failure();
  std::string have = batch + m + n;
  Shape shape;
  for (char c : have)
    shape.push_back(size[c]);
  v = reshape(v, shape);
  std::vector<int64_t> order;
  for (char c : out)
    order.push_back(int64_t(have.find(c)));
  return setPlain(have == out ? v : transpose(v, order));
}
