// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant tensors on the host: decoding from ONNX, and reshaped or
// transposed copies.
#pragma once

#include "Graph.h"
#include "llvm/ADT/ArrayRef.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rhizome::importer {
using Shape = std::vector<int64_t>;

/// Element types that are newer than the protobuf classes that we use.
enum LaterType { kUint4 = 21, kInt4 = 22 };

/// Maximum number of elements of a tensor.
constexpr int64_t kMaxElements = int64_t(1) << 31;
/// Maximum number of elements of a constant computed by a node.
constexpr int64_t kMaxFoldedElements = int64_t(1) << 27;

/// The number of elements; nullopt if a size is negative or the product is
/// above kMaxElements.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape);

/// "[1, 3, 32, 32]".
std::string describe(llvm::ArrayRef<int64_t> shape);

/// The shape after NumPy broadcasting; nullopt if the two do not match.
std::optional<Shape> broadcast(llvm::ArrayRef<int64_t> a,
                               llvm::ArrayRef<int64_t> b);

/// A constant: `reals` for floating types, `ints` for integers and booleans.
struct HostTensor {
  int type = onnx::TensorProto::FLOAT;
  Shape shape;
  std::vector<double> reals;
  std::vector<int64_t> ints;

  bool isReal() const { return isRealType(type); }
  size_t size() const { return isReal() ? reals.size() : ints.size(); }
  static bool isRealType(int type);
};
using HostRef = std::shared_ptr<const HostTensor>;

/// The name of an ONNX element type, e.g. "float16".
std::string typeName(int type);

/// Checks that a tensor's data has the size required by its shape and type,
/// without decoding it. Returns the reason if not, otherwise "".
std::string checkTensor(const onnx::TensorProto &proto);

/// Decodes a tensor that checkTensor accepts. External data is read from
/// `directory`. On failure returns null and sets `error`.
HostRef decodeTensor(const onnx::TensorProto &proto, llvm::StringRef directory,
                     std::string &error);

/// The elements of a tensor in the order of another one, whose axis i is this
/// one's axis permutation[i].
class PermutedOrder {
public:
  PermutedOrder(const Shape &from, llvm::ArrayRef<int64_t> permutation);
  const Shape &shape() const { return sizes; }
  /// The place of the next element.
  int64_t next() {
    const int64_t now = at;
    for (size_t axis = sizes.size(); axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < sizes[axis])
        break;
      at -= strides[axis] * sizes[axis];
      index[axis] = 0;
    }
    return now;
  }

private:
  Shape sizes;
  std::vector<int64_t> strides, index;
  int64_t at = 0;
};

/// Output axis i is input axis permutation[i].
HostRef permute(const HostTensor &in, llvm::ArrayRef<int64_t> permutation);

/// The same elements in another shape of equal size.
HostRef withShape(const HostTensor &in, Shape shape);
} // namespace rhizome::importer
