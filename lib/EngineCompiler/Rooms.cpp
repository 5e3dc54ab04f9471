// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// First fit between what is there at the same time.
#include "Rooms.h"
#include <algorithm>

using namespace rhizome;
using namespace rhizome::engine;

std::optional<int64_t> Rooms::take(int64_t size, int64_t from, int64_t to,
                                   bool isHigh, int64_t align) {
  std::vector<Item> busy;
  for (const Item &item : items)
    if (item.from <= to && item.to >= from)
      busy.push_back(item);
  std::sort(busy.begin(), busy.end(),
            [](const Item &a, const Item &b) { return a.first < b.first; });
  busy.push_back({words, words, from, to});
  std::optional<int64_t> place;
  int64_t free = 0; // the end of what lies below
  for (const Item &item : busy) {
    const int64_t low = (free + align - 1) / align * align;
    if (low + size <= item.first && (isHigh || !place))
      place = isHigh ? (item.first - size) / align * align : low;
    free = std::max(free, item.end);
  }
  if (!place)
    return std::nullopt;
  items.push_back({*place, *place + size, from, to});
  most = std::max(most, *place + size);
  return place;
}
