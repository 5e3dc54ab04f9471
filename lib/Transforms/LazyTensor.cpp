// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout bookkeeping of lazy tensors: transposes and reshapes cancel
// symbolically before any becomes hardware.
#include "LazyTensor.h"

using namespace mlir;
using namespace rhizome;

std::pair<int64_t, int64_t> LazyTensor::range() const {
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (const PiecewiseLinear &g : f) {
    lo = std::min(lo, g.lo());
    hi = std::max(hi, g.hi());
  }
  return {lo, hi};
}

bool LazyTensor::isAffine() const {
  return !curve && llvm::all_of(f, [](auto &g) { return g.isAffine(); });
}

void LazyTensor::expand() {
  if (f.size() == 1)
    f.resize(channels(), f[0]);
}

void LazyTensor::refine(size_t axes) {
  const SmallVector<int64_t> before = physicalShape;
  const size_t kept = before.size() - axes;
  const size_t own = f.size();
  physicalShape.resize(kept);
  physicalShape.push_back(
      llvm::product_of(ArrayRef<int64_t>(before).drop_front(kept)));
  if (own > 1) {
    const std::vector<PiecewiseLinear> each = f;
    f.clear();
    for (int64_t c = 0; c < channels(); ++c)
      f.push_back(each[size_t(c) % own]);
  }
  // A reshape that follows does for both.
  if (layout.empty() || !layout.front().permutation.empty())
    layout.insert(layout.begin(), LayoutStep{{}, before});
}

/// True if the permutation only moves axes of size 1.
static bool isReshape(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (shape[axis] == 1)
      continue;
    if (axis < last)
      return false;
    last = axis;
  }
  return true;
}

void LazyTensor::transpose(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> out;
  for (int64_t axis : permutation)
    out.push_back(shape[axis]);
  if (isReshape(shape, permutation))
    return reshape(out);
  if (!layout.empty() && !layout.back().permutation.empty()) {
    SmallVector<int64_t> composed;
    for (int64_t axis : permutation)
      composed.push_back(layout.back().permutation[axis]);
    layout.pop_back();
    shape = layout.empty() ? physicalShape : layout.back().shape;
    if (isReshape(shape, composed))
      return reshape(out);
    layout.push_back({composed, out});
  } else {
    layout.push_back({SmallVector<int64_t>(permutation), out});
  }
  shape = out;
}

void LazyTensor::reshape(ArrayRef<int64_t> to) {
  if (!layout.empty() && layout.back().permutation.empty())
    layout.pop_back();
  shape = layout.empty() ? physicalShape : layout.back().shape;
  if (ArrayRef<int64_t>(shape) != to)
    layout.push_back({{}, SmallVector<int64_t>(to)});
  shape = SmallVector<int64_t>(to);
  // A map that is the identity needs at most one reshape.
  if (layout.size() > 1 && !elementMap()) {
    layout.clear();
    if (physicalShape != shape)
      layout.push_back({{}, shape});
  }
}

std::optional<std::vector<int64_t>> LazyTensor::elementMap() const {
  std::vector<int64_t> map;
  SmallVector<int64_t> current = physicalShape;
  for (const LayoutStep &step : layout) {
    if (!step.permutation.empty()) {
      std::vector<int64_t> next = transposeMap(current, step.permutation);
      if (!map.empty())
        for (int64_t &i : next)
          i = map[i];
      map = std::move(next);
    }
    current = step.shape;
  }
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != int64_t(i))
      return map;
  return std::nullopt;
}

std::optional<std::vector<int64_t>>
LazyTensor::perChannel(ArrayRef<int64_t> map) const {
  std::vector<int64_t> out(channels(), -1);
  auto elements = elementMap();
  for (size_t i = 0; i < map.size(); ++i) {
    int64_t &slot = out[(elements ? (*elements)[i] : int64_t(i)) % channels()];
    if (slot >= 0 && slot != map[i])
      return std::nullopt;
    slot = map[i];
  }
  return out;
}
