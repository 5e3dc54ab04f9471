// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Cost/MemoryImages.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

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

uint64_t MemoryImage::get(int64_t word, int64_t low, int64_t bits) const {
  assert(word >= 0 && word < depth && low >= 0 && bits >= 1 && bits <= 64 &&
         "outside the memory");
  int64_t stride = (width + 63) / 64, at = low / 64, shift = low % 64;
  const uint64_t *base = words.data() + stride * word;
  uint64_t value = at < stride ? base[at] >> shift : 0;
  if (shift && at + 1 < stride)
    value |= base[at + 1] << (64 - shift);
  return bits < 64 ? value & ((uint64_t(1) << bits) - 1) : value;
}

RomContents RomContents::expected(int64_t words, double width,
                                  int64_t lutInputs) {
  RomContents c;
  if (words <= 1)
    return c;
  // Short columns repeat: of 2^words patterns, this many occur.
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
  const int64_t inside = std::clamp<int64_t>(width - at, 0, bits);
  for (int64_t i = 0; i < inside; ++i)
    for (int64_t word = 0; word < depth; ++word)
      if (words[stride * word + (at + i) / 64] >> ((at + i) % 64) & 1)
        return i;
  return bits;
}

int64_t MemoryImage::usedColumns(int64_t at, int64_t bits) const {
  int64_t used = 0;
  for (int64_t i = 0; i < bits; ++i)
    used += zeroColumns(at + i, 1) == 0;
  return used;
}

int64_t MemoryImage::varyingColumns(int64_t at, int64_t bits) const {
  int64_t stride = (width + 63) / 64, varying = 0;
  for (int64_t i = at; i < std::min(at + bits, width); ++i) {
    uint64_t ones = 0, zeros = 0;
    for (int64_t word = 0; word < depth; ++word) {
      uint64_t bit = words[stride * word + i / 64] >> (i % 64) & 1;
      ones |= bit;
      zeros |= bit ^ 1;
    }
    varying += int64_t(ones & zeros);
  }
  return varying;
}

/// Bit i of word j becomes bit j of word i.
static void transpose(std::array<uint64_t, 64> &m) {
  uint64_t mask = 0x00000000ffffffff;
  for (int step = 32; step > 0; step /= 2, mask ^= mask << step)
    for (int i = 0; i < 64; i = (i + step + 1) & ~step) {
      uint64_t swap = (m[i] >> step ^ m[i + step]) & mask;
      m[i + step] ^= swap;
      m[i] ^= swap << step;
    }
}

RomContents MemoryImage::contents(int64_t lutInputs, int64_t period,
                                  int64_t first, int64_t count) const {
  return contents(lutInputs, [=](int64_t at) {
    return period == 0 || (at % period >= first && at % period < first + count);
  });
}

RomContents
MemoryImage::contents(int64_t lutInputs,
                      const std::function<bool(int64_t)> &isChosen) const {
  RomContents c;
  if (depth <= 1)
    return c;
  // Columns as rows of `pieces` words.
  int64_t stride = (width + 63) / 64, pieces = (depth + 63) / 64;
  std::vector<uint64_t> bits(size_t(64 * stride * pieces));
  std::array<uint64_t, 64> block;
  for (int64_t group = 0; group < stride; ++group)
    for (int64_t piece = 0; piece < pieces; ++piece) {
      for (int64_t i = 0; i < 64; ++i) {
        int64_t word = 64 * piece + i;
        block[i] = word < depth ? words[stride * word + group] : 0;
      }
      transpose(block);
      for (int64_t i = 0; i < 64; ++i)
        bits[size_t((64 * group + i) * pieces + piece)] = block[i];
    }
  // Distinct columns, with complements counted separately: registers hold them.
  std::vector<const uint64_t *> columns;
  uint64_t top = ~uint64_t(0) >> (64 * pieces - depth);
  for (int64_t at = 0; at < width; ++at) {
    if (!isChosen(at))
      continue;
    const uint64_t *column = &bits[size_t(at * pieces)];
    uint64_t all = column[0] & 1 ? ~uint64_t(0) : 0;
    bool varies = (column[pieces - 1] ^ all) & top;
    for (int64_t piece = 0; piece + 1 < pieces; ++piece)
      varies |= column[piece] != all;
    c.varying += varies;
    if (varies)
      columns.push_back(column);
  }
  std::sort(columns.begin(), columns.end(),
            [&](const uint64_t *x, const uint64_t *y) {
              return std::lexicographical_compare(x, x + pieces, y, y + pieces);
            });
  columns.erase(std::unique(columns.begin(), columns.end(),
                            [&](const uint64_t *x, const uint64_t *y) {
                              return std::equal(x, x + pieces, y);
                            }),
                columns.end());
  c.columns = double(columns.size());
  // A block of memory has no parts.
  if (lutInputs == 0)
    return c;
  // Parts of a column, each with its length: a LUT has up to six inputs.
  assert(lutInputs <= 6 && "a part fits a word");
  int64_t leaf = int64_t(1) << lutInputs;
  using Part = std::pair<uint64_t, int64_t>;
  std::vector<Part> parts, chosen;
  auto distinct = [](std::vector<Part> &all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  };
  for (const uint64_t *column : columns) {
    chosen.clear();
    for (int64_t low = 0; low < depth; low += leaf) {
      int64_t length = std::min(depth - low, leaf);
      uint64_t mask = ~uint64_t(0) >> (64 - length);
      uint64_t part = column[low / 64] >> (low % 64) & mask;
      // After a multiplexer, a complement is the same function.
      if (depth > leaf && part & 1)
        part ^= mask;
      if (part || depth <= leaf)
        parts.push_back({part, length});
      chosen.push_back({part, length});
    }
    distinct(chosen);
    c.muxes += double(chosen.size() - 1);
  }
  distinct(parts);
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

MemoryImage MemoryImage::ofBytes(int64_t width,
                                 const std::vector<int8_t> &bytes) {
  assert(width % 8 == 0 && int64_t(bytes.size()) % (width / 8) == 0 &&
         "whole words of whole bytes");
  MemoryImage image(width, int64_t(bytes.size()) / (width / 8));
  const int64_t stride = (width + 63) / 64;
  for (int64_t i = 0; i < int64_t(bytes.size()); ++i) {
    const int64_t word = i / (width / 8), at = i % (width / 8);
    image.words[size_t(stride * word + at / 8)] |= uint64_t(uint8_t(bytes[i]))
                                                   << (at % 8 * 8);
  }
  return image;
}

std::string MemoryImage::bytes() const {
  assert(width % 8 == 0 && "words of a segment are whole bytes");
  int64_t stride = (width + 63) / 64;
  std::string out;
  out.reserve(size_t(width / 8 * depth));
  for (int64_t w = 0; w < depth; ++w)
    for (int64_t b = 0; b < width / 8; ++b)
      out += char(words[stride * w + b / 8] >> (b % 8 * 8));
  return out;
}
} // namespace rhizome::gen
