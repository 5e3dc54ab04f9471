// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutations of MLIR as text that often leave it a module: numbers, types,
// values, attributes and operations are exchanged for others that some input
// had, lines are dropped, moved, copied with new names, or taken from another
// input.
#include <cctype>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {
using Lines = std::vector<std::string>;

/// What a word is, by how it begins and what follows.
enum class Kind { Number, Value, Type, Operation, Attribute, Other };

struct Word {
  size_t begin = 0, length = 0;
  Kind kind = Kind::Other;
};

bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$';
}

/// The length of a type that begins at `at` with < ... >, as tensor<1x4xf32>.
size_t typeLength(std::string_view text, size_t at) {
  size_t open = text.find('<', at);
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '<';
    depth -= text[i] == '>' && text[i - 1] != '-';
    if (depth == 0)
      return i + 1 - at;
  }
  return text.size() - at;
}

std::vector<Word> wordsOf(std::string_view line) {
  std::vector<Word> words;
  for (size_t i = 0; i < line.size();) {
    const bool sigil =
        line[i] == '%' || line[i] == '#' || line[i] == '!' || line[i] == '-';
    if (!isWordChar(line[i]) &&
        !(sigil && i + 1 < line.size() && isWordChar(line[i + 1]))) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < line.size() && isWordChar(line[end]))
      ++end;
    std::string_view text = line.substr(i, end - i);
    Word word{i, end - i, Kind::Other};
    const char first = text[0] == '-' && text.size() > 1 ? text[1] : text[0];
    if (text == "tensor" || text == "affine_map" || text == "dense" ||
        text[0] == '!') {
      if (end < line.size() && line[end] == '<')
        word.length = typeLength(line, i);
      word.kind = Kind::Type;
    } else if (std::isdigit(static_cast<unsigned char>(first))) {
      word.kind = Kind::Number;
    } else if (text[0] == '%') {
      word.kind = Kind::Value;
    } else if (text.find('.') != std::string_view::npos) {
      word.kind = Kind::Operation;
    } else if (text[0] != '#') {
      word.kind = Kind::Attribute;
    }
    words.push_back(word);
    i += word.length;
  }
  return words;
}

Lines linesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string joined(const Lines &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + '\n';
  return text;
}

/// Words met so far, by kind.
class Vocabulary {
public:
  void remember(Kind kind, const std::string &word) {
    auto &[known, list] = words[kind];
    if (word.size() < 80 && known.size() < 500 && known.insert(word).second)
      list.push_back(word);
  }
  const std::vector<std::string> &of(Kind kind) { return words[kind].second; }

private:
  std::map<Kind, std::pair<std::set<std::string>, std::vector<std::string>>>
      words;
};
Vocabulary &vocabulary() {
  static Vocabulary known;
  return known;
}

class Mutator {
public:
  explicit Mutator(unsigned seed) : rng(seed) {}
  void mutate(Lines &lines);

private:
  size_t draw(size_t n) { return rng() % n; }
  std::string number(const std::string &old);
  void changeWord(Lines &lines);
  void changeEverywhere(Lines &lines);
  void copyLine(Lines &lines);

  std::mt19937 rng;
};
} // namespace

std::string Mutator::number(const std::string &old) {
  static const char *const odd[] = {"0",
                                    "1",
                                    "2",
                                    "3",
                                    "7",
                                    "8",
                                    "16",
                                    "17",
                                    "64",
                                    "255",
                                    "256",
                                    "-1",
                                    "-2",
                                    "-8",
                                    "65536",
                                    "0.0",
                                    "1.0e300",
                                    "2147483648",
                                    "-9223372036854775808",
                                    "0x7FC00000",
                                    "9223372036854775807"};
  if (old.find('.') == std::string::npos && old.size() < 9 && draw(2))
    return std::to_string(std::atoll(old.c_str()) + int64_t(draw(5)) - 2);
  return odd[draw(std::size(odd))];
}

void Mutator::changeWord(Lines &lines) {
  std::string &line = lines[draw(lines.size())];
  std::vector<Word> words = wordsOf(line);
  if (words.empty())
    return;
  const Word &word = words[draw(words.size())];
  std::string old = line.substr(word.begin, word.length), fresh = old;
  const auto &others = vocabulary().of(word.kind);
  if (word.kind == Kind::Number) {
    fresh = number(old);
  } else if (word.kind == Kind::Type && draw(2)) {
    // Another number inside.
    std::vector<Word> inner;
    for (const Word &w : wordsOf(old.substr(old.find('<') + 1)))
      inner.push_back(w);
    if (!inner.empty()) {
      const Word &w = inner[draw(inner.size())];
      size_t at = old.find('<') + 1 + w.begin, end = at;
      while (end < old.size() &&
             std::isdigit(static_cast<unsigned char>(old[end])))
        ++end;
      if (end > at)
        fresh = old.substr(0, at) + number(old.substr(at, end - at)) +
                old.substr(end);
    }
  } else if (!others.empty()) {
    fresh = others[draw(others.size())];
  }
  line.replace(word.begin, word.length, fresh);
}

/// One type exchanged for another wherever it stands.
void Mutator::changeEverywhere(Lines &lines) {
  const std::string &line = lines[draw(lines.size())];
  std::vector<Word> words = wordsOf(line);
  const auto &types = vocabulary().of(Kind::Type);
  if (words.empty() || types.empty())
    return;
  const Word &word = words[draw(words.size())];
  if (word.kind != Kind::Type)
    return;
  const std::string old = line.substr(word.begin, word.length);
  const std::string fresh = types[draw(types.size())];
  for (std::string &each : lines)
    for (size_t at = each.find(old); at != std::string::npos;
         at = each.find(old, at + fresh.size()))
      each.replace(at, old.size(), fresh);
}

/// A copy of a line, its result under a new name that later lines read.
void Mutator::copyLine(Lines &lines) {
  size_t from = draw(lines.size());
  std::string copy = lines[from];
  size_t at = copy.find('%'), equals = copy.find('=');
  if (at == std::string::npos || equals == std::string::npos || at > equals)
    return;
  std::string old = copy.substr(at, copy.find_first_of(" :,=", at) - at);
  std::string fresh = old + "_" + std::to_string(draw(1000));
  copy.replace(at, old.size(), fresh);
  lines.insert(lines.begin() + from + 1, copy);
  for (size_t i = from + 2; i < lines.size(); ++i)
    if (size_t use = lines[i].find(old + ","); use != std::string::npos) {
      lines[i].replace(use, old.size(), fresh);
      break;
    }
}

void Mutator::mutate(Lines &lines) {
  for (const std::string &line : lines)
    for (const Word &word : wordsOf(line))
      vocabulary().remember(word.kind, line.substr(word.begin, word.length));
  for (size_t times = 1 + draw(3); times-- && !lines.empty();) {
    switch (draw(8)) {
    case 0:
      lines.erase(lines.begin() + draw(lines.size()));
      break;
    case 1:
      std::swap(lines[draw(lines.size())], lines[draw(lines.size())]);
      break;
    case 2:
      changeEverywhere(lines);
      break;
    case 3:
      copyLine(lines);
      break;
    default:
      changeWord(lines);
    }
  }
}

static size_t write(const Lines &lines, uint8_t *data, size_t maxSize) {
  std::string text = joined(lines);
  if (text.size() > maxSize)
    return 0;
  text.copy(reinterpret_cast<char *>(data), text.size());
  return text.size();
}

static std::string_view textOf(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  if (seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  Lines lines = linesOf(textOf(data, size));
  if (lines.empty())
    return LLVMFuzzerMutate(data, size, maxSize);
  Mutator(seed).mutate(lines);
  size_t made = write(lines, data, maxSize);
  return made ? made : LLVMFuzzerMutate(data, size, maxSize);
}

/// A few lines of one input in the middle of another.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t sizeOfA,
                                            const uint8_t *b, size_t sizeOfB,
                                            uint8_t *out, size_t maxSize,
                                            unsigned seed) {
  Lines first = linesOf(textOf(a, sizeOfA)),
        second = linesOf(textOf(b, sizeOfB));
  if (first.empty() || second.empty())
    return 0;
  size_t at = seed % first.size(), from = seed / 7 % second.size();
  size_t count = std::min<size_t>(1 + seed / 49 % 4, second.size() - from);
  first.insert(first.begin() + at, second.begin() + from,
               second.begin() + from + count);
  return write(first, out, maxSize);
}
