// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitted data movers as a program: frames go through mm2s and s2mm and
// come out unchanged, with TLAST on every frame's last beat only.
#include "mm2s.cpp"
#include "s2mm.cpp"
#include <cstdio>
#include <vector>

int main() {
  const unsigned beats = 5, frames = 3;
  std::vector<Word> sent(beats * frames), received(beats * frames);
  for (unsigned i = 0; i < sent.size(); ++i)
    sent[i] = Word(1000 + i);
  hls::stream<Beat> first, second;
  mm2s(sent.data(), first, beats, frames);
  for (unsigned i = 0; i < sent.size(); ++i) {
    Beat beat = first.read();
    if (beat.last != ap_uint<1>(i % beats == beats - 1) ||
        beat.keep != decltype(beat.keep)(-1))
      return std::printf("beat %u is marked wrongly\n", i), 1;
    second.write(beat);
  }
  if (!first.empty())
    return std::printf("mm2s sends too much\n"), 1;
  s2mm(received.data(), second, beats, frames);
  if (!second.empty() || received != sent)
    return std::printf("s2mm writes something else\n"), 1;
}
