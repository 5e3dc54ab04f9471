// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Generator/MemoryImages.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>

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

RomContents RomContents::expected(int64_t words, double width,
                                  int64_t lutInputs) {
  RomContents c;
  if (words <= 1)
    return c;
  // Short columns repeat: of 2^words patterns so many are met.
  double patterns = words < 20 ? std::exp2(double(words)) : 1e9;
  c.varying = width;
  c.columns = patterns * (1 - std::exp(-width / patterns));
  int64_t leaf = int64_t(1) << lutInputs;
  int64_t parts = (words + leaf - 1) / leaf;
  c.leaves = words > 2 ? c.columns * double(parts) : 0;
  c.muxes = c.columns * double(parts - 1);
  return c;
}

MemoryImage MemoryImage::parse(std::string_view hex) {
  int64_t digits = int64_t(hex.find('\n'));
  int64_t lines = std::count(hex.begin(), hex.end(), '\n');
  MemoryImage image(4 * digits, lines);
  for (int64_t w = 0; w < lines; ++w)
    for (int64_t n = 0; n < digits; ++n) {
      char c = hex[size_t(w * (digits + 1) + digits - 1 - n)];
      image.set(w, 4 * n, 4, c <= '9' ? c - '0' : c - 'a' + 10);
    }
  return image;
}

int64_t MemoryImage::zeroColumns(int64_t at, int64_t bits) const {
  int64_t stride = (width + 63) / 64;
  for (int64_t i = 0; i < bits; ++i)
    for (int64_t word = 0; word < depth; ++word)
      if (words[stride * word + (at + i) / 64] >> ((at + i) % 64) & 1)
        return i;
  return bits;
}

RomContents MemoryImage::contents(int64_t lutInputs, int64_t period,
                                  int64_t first, int64_t count) const {
  RomContents c;
  if (depth <= 1)
    return c;
  int64_t stride = (width + 63) / 64;
  auto bit = [&](int64_t word, int64_t column) {
    return words[stride * word + column / 64] >> (column % 64) & 1;
  };
  // Distinct columns, complements apart: registers hold them.
  std::set<std::vector<bool>> columns, parts;
  int64_t leaf = int64_t(1) << lutInputs;
  for (int64_t at = 0; at < width; ++at) {
    if (period > 0 && (at % period < first || at % period >= first + count))
      continue;
    std::vector<bool> column(depth);
    bool varies = false;
    for (int64_t word = 0; word < depth; ++word) {
      column[word] = bit(word, at);
      varies |= column[word] != column[0];
    }
    c.varying += varies;
    if (varies)
      columns.insert(std::move(column));
  }
  c.columns = double(columns.size());
  for (const std::vector<bool> &column : columns) {
    std::set<std::vector<bool>> chosen;
    for (int64_t low = 0; low < depth; low += leaf) {
      int64_t high = std::min(depth, low + leaf);
      std::vector<bool> part(column.begin() + low, column.begin() + high);
      // Behind a choice a complement is the same function.
      if (depth > leaf && part[0])
        part.flip();
      if (std::find(part.begin(), part.end(), true) != part.end() ||
          depth <= leaf)
        parts.insert(part);
      chosen.insert(std::move(part));
    }
    c.muxes += double(chosen.size() - 1);
  }
  c.leaves = double(parts.size());
  return c;
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
