// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initial contents of memories: of those on chip, written as $readmemh
// files next to the RTL so that code size does not grow with weights, and of
// off-chip ones, which are the package's segments.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rhizome::gen {
/// A read-only memory as logic: columns (bits of a word over all
/// words) that are constant vanish, equal ones are merged.
struct RomContents {
  double varying = 0; ///< columns that are not constant
  double columns = 0; ///< distinct ones of these: their output registers
  double leaves = 0;  ///< LUTs that look up parts of columns
  double muxes = 0;   ///< multiplexers of such parts

  /// The expected values for random contents.
  static RomContents expected(int64_t words, double width, int64_t lutInputs);
};

/// Words of `width` bits, filled element by element from the low bits up.
class MemoryImage {
public:
  MemoryImage() = default;
  MemoryImage(int64_t width, int64_t depth)
      : width(width), depth(depth), words((width + 63) / 64 * depth, 0) {}

  /// These bytes one after another, lowest first, in whole words.
  static MemoryImage ofBytes(int64_t width, const std::vector<int8_t> &bytes);

  /// Places the low `bits` of `value` at bit `low` of word `word`.
  void set(int64_t word, int64_t low, int64_t bits, int64_t value);
  /// `bits` of word `word` from bit `low` on, at most 64; bits above the
  /// word read as zero.
  uint64_t get(int64_t word, int64_t low, int64_t bits) const;
  /// One line of hexadecimal digits per word.
  std::string hex() const;
  /// The words one after another, each of whole bytes, lowest bytes
  /// first.
  std::string bytes() const;

  /// Parses the output of hex(); fields above the width read as zero columns.
  static MemoryImage parse(std::string_view hex);
  /// With LUTs of this many inputs: for all columns, or for those in
  /// [first, first + count) modulo `period`.
  RomContents contents(int64_t lutInputs, int64_t period = 0, int64_t first = 0,
                       int64_t count = 0) const;
  /// For the columns for which `isChosen` is true.
  RomContents contents(int64_t lutInputs,
                       const std::function<bool(int64_t)> &isChosen) const;
  /// The bits of the column `at` and above, up to `bits`, that are all zero.
  int64_t zeroColumns(int64_t at, int64_t bits) const;
  /// How many of the columns at … at + bits - 1 are not zero in every word; for
  /// one word, its ones.
  int64_t usedColumns(int64_t at, int64_t bits) const;

  /// How many of them differ between words.
  int64_t varyingColumns(int64_t at, int64_t bits) const;

  int64_t width = 0, depth = 0;

private:
  std::vector<uint64_t> words;
};

using MemoryImages = std::map<std::string, MemoryImage>;
} // namespace rhizome::gen
