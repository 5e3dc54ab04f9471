// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places of words that are needed for some time, in the scratchpad or a memory:
// none that is needed at the same time shares one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace rhizome::engine {
class Rooms {
public:
  explicit Rooms(int64_t words) : words(words) {}

  /// The lowest or the highest free place for `size` words from time `from` to
  /// `to`, both included; it is a multiple of `align`. Nothing if there is
  /// none.
  std::optional<int64_t> take(int64_t size, int64_t from, int64_t to,
                              bool isHigh = false, int64_t align = 1);

  /// The end of the highest place so far.
  int64_t used() const { return most; }

private:
  struct Item {
    int64_t first, end, from, to;
  };
  std::vector<Item> items;
  int64_t words, most = 0;
};
} // namespace rhizome::engine
