// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rhz_engine says with error_o, in words.
#pragma once

namespace rhz {
/// "its program is for another core"; `code` is not 0.
inline const char *mistakeOf(int code) {
  constexpr const char *kMistakes[] = {
      "its program is for another instruction set",
      "its program is for another core",
      "its program has an instruction that is none",
      "its program has no end",
      "its program uses words beyond the memory that is the core's",
      "its memory answers with an error"};
  constexpr int kCount = sizeof kMistakes / sizeof *kMistakes;
  return code >= 1 && code <= kCount ? kMistakes[code - 1]
                                     : "its program has a mistake";
}
} // namespace rhz
