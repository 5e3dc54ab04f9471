// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/packing.h"
#include <algorithm>
#include <cassert>

namespace rhizome::link {
std::vector<uint8_t> packElements(std::span<const int64_t> values,
                                  unsigned width) {
  assert(width >= 1 && width <= 64 && "elements have 1 to 64 bits");
  std::vector<uint8_t> bytes((values.size() * width + 7) / 8);
  size_t at = 0;
  for (int64_t value : values)
    for (unsigned left = width; left > 0;) {
      unsigned taken = std::min<unsigned>(left, 8 - at % 8);
      auto part = uint8_t(uint64_t(value) & ((1u << taken) - 1));
      bytes[at / 8] |= uint8_t(part << at % 8);
      value = int64_t(uint64_t(value) >> taken);
      at += taken;
      left -= taken;
    }
  return bytes;
}

std::vector<int64_t> unpackElements(std::span<const uint8_t> frame,
                                    unsigned width, bool isSigned,
                                    size_t count) {
  assert(width >= 1 && width <= 64 && "elements have 1 to 64 bits");
  assert(frame.size() * 8 >= count * width && "the frame is too short");
  std::vector<int64_t> values(count);
  size_t at = 0;
  for (int64_t &value : values) {
    uint64_t bits = 0;
    for (unsigned got = 0; got < width;) {
      unsigned taken = std::min<unsigned>(width - got, 8 - at % 8);
      uint64_t part = (frame[at / 8] >> at % 8) & ((1u << taken) - 1);
      bits |= part << got;
      at += taken;
      got += taken;
    }
    if (isSigned && width < 64 && (bits >> (width - 1)) & 1)
      bits |= ~uint64_t(0) << width;
    value = int64_t(bits);
  }
  return values;
}
} // namespace rhizome::link
