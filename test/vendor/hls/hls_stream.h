// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of an HLS tool's streams that the emitted data movers use.
#pragma once

#include <cassert>
#include <deque>

namespace hls {
template <typename T> class stream {
public:
  void write(const T &word) { words.push_back(word); }
  T read() {
    assert(!words.empty() && "reads what nobody wrote");
    T word = words.front();
    words.pop_front();
    return word;
  }
  bool empty() const { return words.empty(); }

private:
  std::deque<T> words;
};
} // namespace hls
