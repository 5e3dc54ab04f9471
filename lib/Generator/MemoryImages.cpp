// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Generator/MemoryImages.h"
#include <cassert>

namespace rhizome::gen {
void MemoryImage::set(int64_t word, int64_t low, int64_t bits, int64_t value) {
  assert(word >= 0 && word < depth && low >= 0 && low + bits <= width &&
         bits <= 64 && "outside the memory");
  uint64_t *base = words.data() + (width + 63) / 64 * word;
  uint64_t v = uint64_t(value);
  if (bits < 64)
    v &= (uint64_t(1) << bits) - 1;
  int64_t shift = low % 64;
  base[low / 64] |= v << shift;
  if (shift + bits > 64)
    base[low / 64 + 1] |= v >> (64 - shift);
}

std::string MemoryImage::hex() const {
  static const char digits[] = "0123456789abcdef";
  int64_t nibbles = (width + 3) / 4, stride = (width + 63) / 64;
  std::string out;
  out.reserve(size_t((nibbles + 1) * depth));
  for (int64_t w = 0; w < depth; ++w) {
    for (int64_t n = nibbles - 1; n >= 0; --n)
      out += digits[(words[stride * w + n / 16] >> (n % 16 * 4)) & 15];
    out += '\n';
  }
  return out;
}
} // namespace rhizome::gen
