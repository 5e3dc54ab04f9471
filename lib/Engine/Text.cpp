// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs as text: printer and parser over the tables of fields.
#include "rhizome/Engine/Program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

static std::string unitsOf(uint8_t mask) {
  std::vector<std::string> names;
  for (unsigned unit = 0; unit < kUnits; ++unit)
    if (mask >> unit & 1)
      names.push_back(nameOf(Unit(unit)));
  return join(names, ",");
}

std::string engine::print(const Instruction &instruction) {
  const InstructionInfo &info = infoOf(instruction.opcode);
  std::string text = info.name;
  if (instruction.waits)
    text += " wait(" + unitsOf(instruction.waits) + ")";
  if (instruction.gives)
    text += " give(" + unitsOf(instruction.gives) + ")";
  for (auto [n, field] : enumerate(info.fields)) {
    int64_t value = instruction.values[n];
    if (value == field.preset)
      continue;
    text += std::string(" ") + field.name + "=";
    if (value >= 0 && size_t(value) < field.values.size())
      text += field.values[size_t(value)];
    else
      text += std::to_string(value);
  }
  return text;
}

std::string engine::print(const Program &program) {
  std::string text = print(Instruction(program.head)) + "\n";
  for (const Instruction &instruction : program.instructions)
    text += print(instruction) + "\n";
  return text;
}

namespace {
/// Reads one line. After the first mistake nothing more is read.
class LineParser {
public:
  LineParser(StringRef line, unsigned number) : line(line), number(number) {}

  /// The instruction of the line, if it has one.
  Expected<std::optional<Instruction>> parse() {
    if (rest().empty())
      return std::optional<Instruction>();
    const size_t first = at;
    StringRef name = word();
    const InstructionInfo *info =
        find_if(instructions(), [&](const InstructionInfo &known) {
          return name == known.name;
        });
    if (info == instructions().end())
      return mistake(first,
                     "'" + shown(name) + "' is no instruction; known are " +
                         known(instructions(), [](auto &i) { return i.name; }));
    Instruction result;
    result.opcode = info->opcode;
    for (auto [n, field] : enumerate(info->fields))
      result.values[n] = field.preset;
    std::vector<bool> isSet(info->fields.size());
    bool waits = false, gives = false;
    while (!rest().empty()) {
      const size_t start = at;
      StringRef key = word();
      Error error = Error::success();
      if (accept('(')) {
        const bool isWait = key == "wait";
        if (!isWait && key != "give")
          error = mistake(start, "'" + shown(key) +
                                     "' has no list of units; 'wait' and "
                                     "'give' have");
        else if (std::exchange(isWait ? waits : gives, true))
          error = mistake(start, "'" + shown(key) + "' stands here twice");
        else
          error = units(isWait ? result.waits : result.gives);
      } else {
        error = field(*info, key, start, result, isSet);
      }
      if (error)
        return std::move(error);
    }
    return std::optional<Instruction>(result);
  }

private:
  template <typename Range, typename Name>
  static std::string known(const Range &range, Name name) {
    std::vector<std::string> names;
    for (const auto &each : range)
      names.push_back(name(each));
    return join(names, ", ");
  }

  /// What follows the cursor, without blanks before it.
  StringRef rest() {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t'))
      ++at;
    return line.substr(at);
  }
  StringRef word() {
    StringRef found = rest().take_while(
        [](char c) { return isAlnum(c) || c == '_' || c == '-'; });
    at += found.size();
    return found;
  }
  bool accept(char c) {
    if (!rest().starts_with(StringRef(&c, 1)))
      return false;
    ++at;
    return true;
  }
  /// A word, or the sign that stands where one should.
  std::string shown(StringRef word) {
    return toString(word.empty() ? line.substr(at, 1) : word);
  }
  static std::string toString(StringRef text) {
    std::string printed;
    for (unsigned char c : text)
      printed += c < 0x20 || c >= 0x7f ? '?' : char(c);
    return printed;
  }
  Error mistake(size_t column, const std::string &reason) {
    return createStringError(std::to_string(number) + ":" +
                             std::to_string(column + 1) + ": " + reason);
  }

  Error units(uint8_t &mask) {
    do {
      rest();
      const size_t start = at;
      StringRef name = word();
      unsigned unit = 0;
      while (unit < kUnits && name != nameOf(Unit(unit)))
        ++unit;
      if (unit == kUnits)
        return mistake(start, "'" + shown(name) + "' is no unit; known are " +
                                  known(seq(kUnits), [](unsigned u) {
                                    return nameOf(Unit(u));
                                  }));
      if (mask >> unit & 1)
        return mistake(start, "'" + shown(name) + "' stands here twice");
      mask |= uint8_t(1 << unit);
    } while (accept(','));
    if (!accept(')'))
      return mistake(at, "')' is missing");
    return Error::success();
  }

  Error field(const InstructionInfo &info, StringRef key, size_t start,
              Instruction &result, std::vector<bool> &isSet) {
    const FieldInfo *field = find_if(
        info.fields, [&](const FieldInfo &known) { return key == known.name; });
    if (field == info.fields.end())
      return mistake(start,
                     "'" + std::string(info.name) + "' has no field '" +
                         shown(key) + "'; known are " +
                         known(info.fields, [](auto &f) { return f.name; }));
    const size_t n = size_t(field - info.fields.begin());
    if (isSet[n])
      return mistake(start, "'" + shown(key) + "' stands here twice");
    isSet[n] = true;
    if (!accept('='))
      return mistake(at, "'=' is missing after '" + shown(key) + "'");
    rest();
    const size_t place = at;
    StringRef text = word();
    if (!field->values.empty()) {
      auto *name = find_if(field->values,
                           [&](const char *value) { return text == value; });
      if (name != field->values.end()) {
        result.values[n] = name - field->values.begin();
        return Error::success();
      }
    }
    if (text.getAsInteger(0, result.values[n]))
      return mistake(
          place,
          "'" + shown(text) + "' is no " +
              (field->values.empty()
                   ? std::string("number")
                   : "value of '" + shown(key) + "'; known are " +
                         known(field->values, [](auto *v) { return v; })));
    if (result.values[n] < field->leastHeld() ||
        result.values[n] > field->mostHeld())
      return mistake(place, "'" + shown(key) + "' is " + shown(text) +
                                ", not from " +
                                std::to_string(field->leastHeld()) + " to " +
                                std::to_string(field->mostHeld()));
    return Error::success();
  }

  StringRef line;
  unsigned number;
  size_t at = 0;
};
} // namespace

Expected<Program> engine::parse(StringRef text) {
  Program program;
  unsigned number = 0;
  bool isFirst = true;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.take_until([](char c) { return c == '#'; }).rtrim("\r \t");
    Expected<std::optional<Instruction>> instruction =
        LineParser(line, ++number).parse();
    if (!instruction)
      return instruction.takeError();
    if (!*instruction)
      continue;
    if (std::exchange(isFirst, false) && (*instruction)->opcode == Opcode::Head)
      program.head = (*instruction)->as<isa::Head>();
    else
      program.instructions.push_back(**instruction);
  }
  return program;
}
