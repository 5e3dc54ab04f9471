// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each former spelling is as long as today's, so it is replaced in place.
#include "Spellings.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>

using namespace rhizome;
using llvm::StringRef;

namespace {

struct Spelling {
  StringRef former;
  StringRef today;
};

constexpr Spelling kCommands[] = {{"analyse", "analyze"},
                                  {"characterise", "characterize"}};
constexpr Spelling kOptions[] = {
    {"--normalise", "--normalize"},
    {"--calibration-normalise", "--calibration-normalize"}};
constexpr Spelling kPhases[] = {{"normalise", "normalize"},
                                {"quantise", "quantize"},
                                {"integerise", "integerize"}};

} // namespace

/// Replaces the word at `text` if it is one of `spellings`.
template <size_t N>
static void replace(char *text, StringRef word,
                    const Spelling (&spellings)[N]) {
  for (const Spelling &each : spellings)
    if (word == each.former)
      std::memcpy(text, each.today.data(), each.today.size());
}

void cli::respell(int argc, char **argv) {
  if (argc > 1)
    replace(argv[1], argv[1], kCommands);
  StringRef option;
  for (int i = 2; i < argc; ++i) {
    StringRef word = argv[i];
    if (word == "--")
      return;
    char *value = argv[i];
    if (word.starts_with("--")) {
      option = word.split('=').first;
      replace(argv[i], option, kOptions);
      if (option.size() == word.size())
        continue;
      value += option.size() + 1;
    }
    if (option == "--compile-to" || option == "--compile-from")
      replace(value, value, kPhases);
    option = "";
  }
}
