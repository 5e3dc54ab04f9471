// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products on the host, of any rank.
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

using S = Scalars;
using R = ValueRange;

/// ONNX's MatMul: vectors become matrices and lose the axis again; null if the
/// shapes do not fit.
Value importer::hostProduct(NodeContext &node, Value x, Value y, Type sums,
                            Loops::Body product) {
  Loops l = loops(node);
  Loops::Shape p(Loops::shapeOf(x)), q(Loops::shapeOf(y));
  bool row = p.size() == 1, column = q.size() == 1;
  if (row)
    p.insert(p.begin(), 1);
  if (column)
    q.push_back(1);
  if (p.empty() || q.empty() || p.back() != q[q.size() - 2] ||
      !Loops::broadcast(ArrayRef(p).drop_back(2), ArrayRef(q).drop_back(2)))
    return {};
  Value v = l.matmul(l.reshape(x, p), l.reshape(y, q), sums, product);
  Loops::Shape shape(Loops::shapeOf(v));
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return l.reshape(v, shape);
}

LogicalResult importer::onePerChannel(NodeContext &node, Value bias,
                                      int64_t channels) {
  ArrayRef<int64_t> shape = Loops::shapeOf(bias);
  if (ShapedType::getNumElements(shape) == channels)
    return success();
  return node.refuse(formatv("its bias has the shape {0}, not {1}",
                             describe(shape), describe({channels})));
}

std::optional<Factors> importer::hostFactors(NodeContext &node,
                                             bool takesWide) {
  for (size_t i : {0, 1}) {
    if (!node.input(i)) {
      node.refuse(formatv("its input {0} is missing", i));
      return std::nullopt;
    }
    int type = typeOf(node.input(i));
    bool isWide = type == TensorProto::INT32 || type == TensorProto::UINT32 ||
                  type == TensorProto::INT64 || type == TensorProto::UINT64;
    if (!HostTensor::isRealType(type) && !(takesWide && isWide)) {
      node.refuse(
          formatv("its input {0} has the type {1}, for which {2} is not "
                  "defined",
                  i, typeName(type), node.op()),
          "put a DequantizeLinear or Cast before it");
      return std::nullopt;
    }
  }
  Factors f = {hostValue(node, 0), hostValue(node, 1),
               node.input(2) ? hostValue(node, 2) : Value()};
  if (!f.x || !f.y || (node.input(2) && !f.addend))
    return std::nullopt;
  if (f.addend && Loops::isReal(f.addend) != Loops::isReal(f.x)) {
    node.refuse(
        formatv("its inputs 0 and 2 have the types {0} and {1}, which must "
                "be one",
                typeName(typeOf(node.input(0))),
                typeName(typeOf(node.input(2)))),
        "put a Cast before one of them");
    return std::nullopt;
  }
  return f;
}

LogicalResult onhost::matMul(NodeContext &node) {
  auto factors = hostFactors(node, /*takesWide=*/true);
  if (!factors)
    return failure();
  Value x = factors->x, y = factors->y;
  Value v =
      Loops::isReal(x) == Loops::isReal(y) ? hostProduct(node, x, y) : Value();
  if (!v)
    return node.refuse(formatv("its inputs {0} and {1} do not fit",
                               describe(node.input(0)->shape),
                               describe(node.input(1)->shape)));
  int type = typeOf(node.input(0));
  return give(node, 0, wrapped(node, v, type), type);
}

LogicalResult onhost::gemm(NodeContext &node) {
  auto factors = hostFactors(node, /*takesWide=*/true);
  if (!factors)
    return failure();
  Value a = factors->x, b = factors->y, c = factors->addend;
  if (node.input(0)->rank() != 2 || node.input(1)->rank() != 2)
    return node.refuse("its inputs are no matrices");
  Loops l = loops(node);
  if (node.getInt("transA", 0))
    a = l.transpose(a, {1, 0});
  if (node.getInt("transB", 0))
    b = l.transpose(b, {1, 0});
  Value v =
      Loops::isReal(a) == Loops::isReal(b) ? hostProduct(node, a, b) : Value();
  if (!v || (c && Loops::broadcast(Loops::shapeOf(v), Loops::shapeOf(c)) !=
                      Loops::Shape(Loops::shapeOf(v))))
    return node.refuse(formatv("its inputs {0} and {1} do not fit",
                               describe(node.input(0)->shape),
                               describe(node.input(1)->shape)));
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  int type = typeOf(node.input(0));
  auto scaled = [&](Value x, double factor) {
    if (factor == 1)
      return x;
    return eachOf(node, {x}, type, [&](S &s, R e) {
      return s.mul(e[0], s.number(factor, e[0]));
    });
  };
  v = scaled(v, alpha);
  if (c && beta != 0)
    v = computeBinary(node, "Add", v, scaled(c, beta), type);
  return give(node, 0, wrapped(node, v, type), type);
}
