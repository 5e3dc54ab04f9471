// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as the bytes of a frame: elements of any width from 1 to 64 bits,
// little-endian, without gaps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rhizome::link {
/// The frame of `values`: the low `width` bits of each; the last byte's unused
/// bits are zero.
std::vector<uint8_t> packElements(std::span<const int64_t> values,
                                  unsigned width);

/// `count` elements of `width` bits from a frame of at least as many bits;
/// sign-extended if `isSigned`.
std::vector<int64_t> unpackElements(std::span<const uint8_t> frame,
                                    unsigned width, bool isSigned,
                                    size_t count);
} // namespace rhizome::link
