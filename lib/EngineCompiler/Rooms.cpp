// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// First fit between what is there at the same time.
#include "Rooms.h"
#include <algorithm>

using namespace rhizome;
using namespace rhizome::engine;

std::optional<int64_t> Rooms::take(int64_t size, int64_t from, int64_t to,
                                   bool isHigh, int64_t align, uint64_t avoid) {
  std::vector<Item> busy;
  for (const Item &item : items)
    if (item.from <= to && item.to >= from)
      busy.push_back(item);
  std::optional<int64_t> place;
  if (avoid != 0) {
    std::vector<Item> more = busy;
    for (int64_t bank = 0; bank * bankWords < words; ++bank)
      if (avoid >> bank & 1)
        more.push_back({bank * bankWords, (bank + 1) * bankWords, from, to});
    place = find(std::move(more), size, isHigh, align);
  }
  if (!place)
    place = find(std::move(busy), size, isHigh, align);
  if (!place)
    return std::nullopt;
  items.push_back({*place, *place + size, from, to});
  most = std::max(most, *place + size);
  return place;
}

std::optional<int64_t> Rooms::find(std::vector<Item> busy, int64_t size,
                                   bool isHigh, int64_t align) const {
  std::sort(busy.begin(), busy.end(),
            [](const Item &a, const Item &b) { return a.first < b.first; });
  busy.push_back({words, words, 0, 0});
  std::optional<int64_t> place;
  int64_t free = 0; // the end of what lies below
  for (const Item &item : busy) {
    const int64_t low = (free + align - 1) / align * align;
    if (low + size <= item.first) {
      if (!isHigh)
        return low;
      place = (item.first - size) / align * align;
    }
    free = std::max(free, item.end);
  }
  return place;
}

uint64_t Rooms::banksOf(int64_t first, int64_t size) const {
  uint64_t mask = 0;
  if (bankWords > 0 && size > 0)
    for (int64_t bank = first / bankWords;
         bank <= (first + size - 1) / bankWords; ++bank)
      mask |= uint64_t(1) << bank;
  return mask;
}
