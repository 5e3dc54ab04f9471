// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initial contents of memories, written as $readmemh files beside the RTL so
// that code size does not grow with weights.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rhizome::gen {
/// What a read-only memory comes to in logic: columns (bits of a word over all
/// words) that are constant vanish, equal ones are one.
struct RomContents {
  double columns = 0; ///< distinct columns, and the registers behind them
  double leaves = 0;  ///< LUTs that look up parts of columns
  double muxes = 0;   ///< choices between such parts

  /// Of random contents.
  static RomContents expected(int64_t words, double width, int64_t lutInputs);
};

/// Words of `width` bits, filled element by element from the low bits on.
class MemoryImage {
public:
  MemoryImage() = default;
  MemoryImage(int64_t width, int64_t depth)
      : width(width), depth(depth), words((width + 63) / 64 * depth, 0) {}

  /// Places the low `bits` of `value` at bit `low` of word `word`.
  void set(int64_t word, int64_t low, int64_t bits, int64_t value);
  /// One line of hexadecimal digits a word.
  std::string hex() const;

  /// With LUTs of so many inputs.
  RomContents contents(int64_t lutInputs) const;

  int64_t width = 0, depth = 0;

private:
  std::vector<uint64_t> words;
};

using MemoryImages = std::map<std::string, MemoryImage>;
} // namespace rhizome::gen
