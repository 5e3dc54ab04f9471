/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * What the headers of compiled kernels share: how an array is passed. C99 and
 * C++17. All strides count elements, not bytes. */
#ifndef RHIZOME_KERNEL_H
#define RHIZOME_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An array of a kernel: element [i, j, …] of application e lies at
 * data + e * element_stride + i * strides[0] + j * strides[1] + … An element
 * stride of 0 means that all applications share the array. */
typedef struct rhz_array {
  void *data;
  int64_t element_stride;
  int64_t strides[8];
} rhz_array;

#ifdef __cplusplus
} /* extern "C" */

#include <array>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <type_traits>

namespace rhizome {
/// A view of an array in other memory, in the manner of std::mdspan with
/// strides.
template <typename T, std::size_t Rank> class view {
public:
  using extents_type = std::array<std::int64_t, Rank>;

  view(T *data, extents_type extents, extents_type strides)
      : data_(data), extents_(extents), strides_(strides) {}
  /// Row-major and dense: the last index is contiguous.
  view(T *data, extents_type extents) : data_(data), extents_(extents) {
    std::int64_t stride = 1;
    for (std::size_t d = Rank; d-- > 0; stride *= extents[d])
      strides_[d] = stride;
  }
  /// Column-major and dense, as in Fortran: the first index is contiguous.
  static view column_major(T *data, extents_type extents) {
    extents_type strides{};
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < Rank; stride *= extents[d++])
      strides[d] = stride;
    return view(data, extents, strides);
  }
  /// A view for reading of one for writing.
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  view(const view<std::remove_const_t<U>, Rank> &other)
      : data_(other.data_handle()), extents_(other.extents()),
        strides_(other.strides()) {}

  T *data_handle() const { return data_; }
  const extents_type &extents() const { return extents_; }
  const extents_type &strides() const { return strides_; }
  std::int64_t extent(std::size_t d) const { return extents_[d]; }
  std::int64_t stride(std::size_t d) const { return strides_[d]; }

  template <typename... Index> T &operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "one index for each dimension");
    std::int64_t at = 0;
    std::size_t d = 0;
    ((at += static_cast<std::int64_t>(index) * strides_[d++]), ...);
    return data_[at];
  }

  /// The array for a kernel; throws if the extents are wrong.
  rhz_array array(std::initializer_list<std::int64_t> wanted,
                  std::int64_t element_stride = 0) const {
    rhz_array out{};
    out.data = const_cast<std::remove_const_t<T> *>(data_);
    out.element_stride = element_stride;
    std::size_t d = 0;
    for (std::int64_t extent : wanted) {
      if (extents_[d] != extent)
        throw std::invalid_argument("an array has other extents than the "
                                    "kernel's");
      out.strides[d] = strides_[d];
      ++d;
    }
    return out;
  }

private:
  T *data_;
  extents_type extents_{}, strides_{};
};

/// The arrays of a batch: the first one's view and the distance from
/// one to the next, 0 for a shared one.
template <typename T, std::size_t Rank> struct batch {
  view<T, Rank> first;
  std::int64_t element_stride = 0;

  template <typename View, typename = std::enable_if_t<std::is_constructible_v<
                               view<T, Rank>, const View &>>>
  batch(const View &first, std::int64_t element_stride = 0)
      : first(first), element_stride(element_stride) {}
};
} // namespace rhizome
#endif /* __cplusplus */
#endif /* RHIZOME_KERNEL_H */
