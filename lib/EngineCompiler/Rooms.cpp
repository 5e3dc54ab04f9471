// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// First fit between what is there at the same time.
#include "Rooms.h"
#include <algorithm>

using namespace rhizome;
using namespace rhizome::engine;

std::optional<int64_t> Rooms::take(int64_t size, int64_t from, int64_t to,
                                   bool isHigh, int64_t align) {
  std::optional<int64_t> place;
  int64_t free = 0; // the end of what lies below
  auto tryGap = [&](int64_t end) {
    const int64_t low = (free + align - 1) / align * align;
    if (low + size > end || (place && !isHigh))
      return;
    place = isHigh ? (end - size) / align * align : low;
  };
  for (const Item &item : items) {
    if (item.from > to || item.to < from)
      continue;
    tryGap(item.first);
    free = std::max(free, item.end);
  }
  tryGap(words);
  if (!place)
    return std::nullopt;
  const Item item = {*place, *place + size, from, to};
  items.insert(std::upper_bound(items.begin(), items.end(), item,
                                [](const Item &a, const Item &b) {
                                  return a.first < b.first;
                                }),
               item);
  most = std::max(most, item.end);
  return place;
}
