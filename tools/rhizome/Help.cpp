// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The headings are tables here, since each command adds its options in several
// files. An entry is indented by two columns and its text by 26; manual pages
// and docs/commands.md are made from that form.
#include "Help.h"
#include "Output.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Locale.h"
#include "llvm/Support/raw_ostream.h"
#include <regex>
#include <utility>
#include <vector>

using namespace rhizome;
using llvm::StringRef;

namespace {

constexpr size_t kWidth = 100;
constexpr size_t kText = 26;

/// Headings for commands.
const std::pair<const char *, std::vector<StringRef>> kCommandGroups[] = {
    {"Build", {"explore", "compile", "embed", "precision"}},
    {"Check", {"simulate", "evaluate", "trace", "synth"}},
    {"Use", {"run", "report"}},
    {"Look up", {"coverage", "analyze", "formats", "targets"}},
    {"Maintain", {"doctor", "characterize"}}};

/// Headings for the help of commands with many options.
const std::pair<const char *, std::vector<StringRef>> kOptionGroups[] = {
    {"Hardware",
     {"--device", "--board", "--cluster", "--max-nodes", "--clock-mhz",
      "--border"}},
    {"Goal and plan",
     {"--goal", "--accuracy", "--accuracy-loss", "--accept-nearest", "--steer",
      "--plan", "--generators", "--core", "--weights", "--fifos",
      "--state-home", "--hide-states", "--constraints"}},
    {"Model",
     {"--shape", "--input-type", "--state", "--number-format",
      "--tensor-format", "--raw-integers", "--fixed-point-functions"}},
    {"Quantization after training",
     {"--calibration", "--calibration-normalize", "--calibration-images",
      "--calibration-method", "--calibration-frames", "--bits", "--max-loss",
      "--min-snr"}},
    {"Data",
     {"--data", "--labels", "--input", "--expect", "--normalize", "--images",
      "--input-range", "--frames", "--predictions", "--top", "--seed",
      "--golden"}},
    {"Drivers",
     {"--driver", "--port", "--baud", "--stalls-in", "--stalls-out",
      "--hostfile", "--platform", "--program", "--card", "--at", "--manifest",
      "--listen", "--key"}}};
/// Commands with fewer options have no headings.
constexpr size_t kMany = 15;

/// Breaks `text` into lines that end before column kWidth and begin, all but
/// the first, at column `indent`; `used` columns of the first are taken.
std::string wrapped(StringRef text, size_t used, size_t indent) {
  std::string out;
  bool isFirst = true;
  llvm::SmallVector<StringRef> words;
  llvm::SplitString(text, words, " \n");
  for (StringRef word : words) {
    const size_t length = llvm::sys::locale::columnWidth(word);
    if (!isFirst && used + 1 + length > kWidth) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!isFirst) {
      out += " ";
      ++used;
    }
    out += word;
    used += length;
    isFirst = false;
  }
  return out;
}

/// The name of an option's value where the option gives none of its own: the
/// parser's names of types are not for people.
StringRef valueName(const CLI::Option &option, StringRef type) {
  const std::string name =
      option.get_lnames().empty() ? "" : option.get_lnames().front();
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"device", "family"}, "NAME")
      .Case("goal", "GOAL")
      .Case("rounding", "DIRECTION")
      .Cases({"output", "input", "expect", "picture", "data"}, "FILE")
      .EndsWith("-mhz", "MHZ")
      .EndsWith("-us", "US")
      .EndsWith("-s", "S")
      .Default(type == "TEXT"                    ? "NAME"
               : type == "FLOAT"                 ? "NUMBER"
               : type == "INT" || type == "UINT" ? "N"
                                                 : type);
}

/// What an entry says of an option: the value's name, then words that follow
/// the description.
struct Value {
  std::string name;
  std::string notes;
};

std::string namesOf(const std::set<CLI::Option *> &options) {
  std::vector<std::string> names;
  for (const CLI::Option *option : options)
    names.push_back(option->get_name());
  llvm::sort(names);
  return llvm::join(names, ", ");
}

Value valueOf(const CLI::Option &option) {
  Value value;
  std::string standard = option.get_default_str();
  const std::string own = option.get_option_text();
  StringRef text = own;
  if (!text.empty()) {
    // "N [4]": with its default.
    if (auto [name, last] = text.rsplit(" [");
        last.size() < text.size() && last.consume_back("]")) {
      standard = last.str();
      text = name;
    }
    value.name = text.str();
  } else if (option.get_type_size() != 0) {
    const std::string whole = option.get_type_name();
    auto [type, check] = StringRef(whole).split(':');
    value.name = valueName(option, type).str();
    if (option.get_expected_max() == CLI::detail::expected_max_vector_size)
      value.name += " ...";
    // "INT in [1 - 256]"
    if (auto [before, range] = check.split(" in [");
        !range.empty() && range.consume_back("]")) {
      auto [least, most] = range.split(" - ");
      value.notes += ("; from " + least + " to " + most).str();
    } else if (check.consume_front("{")) {
      value.notes += "; one of " + check.split('}').first.str();
    }
  }
  if (!standard.empty())
    value.notes += "; default " + standard;
  if (!option.get_needs().empty())
    value.notes += "; needs " + namesOf(option.get_needs());
  if (!option.get_excludes().empty())
    value.notes += "; not with " + namesOf(option.get_excludes());
  if (option.get_required() && !option.get_positional())
    value.notes += "; required";
  return value;
}

class HelpFormatter : public CLI::Formatter {
public:
  std::string make_option(const CLI::Option *option,
                          bool isPositional) const override {
    const Value value = valueOf(*option);
    std::string name = option->get_name(isPositional, true);
    for (size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2)
      name.replace(at, 1, ", ");
    if (!isPositional && !value.name.empty())
      name += " " + value.name;
    return entry(name, option->get_description() + value.notes);
  }

  std::string make_subcommand(const CLI::App *command) const override {
    return entry(command->get_name(), command->get_description());
  }

  std::string make_subcommands(const CLI::App *app,
                               CLI::AppFormatMode) const override {
    std::string out;
    for (const auto &[name, members] : kCommandGroups) {
      const std::string group = name;
      out += "\n" + group + ":\n";
      for (const CLI::App *command :
           app->get_subcommands([&](const CLI::App *each) {
             return each->get_group() == group;
           }))
        out += make_subcommand(command);
    }
    return app->get_subcommands({}).empty() ? "" : out;
  }

  std::string make_description(const CLI::App *app) const override {
    return wrapped(app->get_description(), 0, 0) + "\n";
  }

  std::string make_usage(const CLI::App *app, std::string name) const override {
    std::string usage = "\nUsage: " + name;
    const bool isTop = !app->get_subcommands({}).empty();
    usage += isTop ? " COMMAND [OPTIONS]" : " [OPTIONS]";
    for (const CLI::Option *option : app->get_options(
             [](const CLI::Option *each) { return each->get_positional(); }))
      usage += " " + make_option_usage(option);
    return usage + "\n";
  }

  std::string make_help(const CLI::App *app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const std::string text = CLI::Formatter::make_help(app, name, mode);
    std::string out;
    for (char each : text)
      if (each != '\n' || !StringRef(out).ends_with("\n\n"))
        out += each;
    return out;
  }

private:
  static std::string entry(const std::string &name, StringRef text) {
    std::string line = "  " + name;
    if (line.size() + 2 > kText)
      line += "\n" + std::string(kText, ' ');
    else
      line.resize(kText, ' ');
    return line + wrapped(text, kText, kText) + "\n";
  }
};

void groupOptions(CLI::App &command) {
  const std::vector<CLI::Option *> options = command.get_options();
  if (options.size() < kMany)
    return;
  const std::string standard = command.get_help_ptr()->get_group();
  const bool hasDrivers = command.get_option_no_throw("--driver");
  for (CLI::Option *option : options)
    for (const auto &[name, members] : kOptionGroups)
      if (option->get_group() == standard &&
          llvm::is_contained(members, option->get_name()) &&
          (hasDrivers || name != StringRef("Drivers")))
        option->group(name);
}

} // namespace

void cli::arrangeHelp(CLI::App &app) {
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Arguments");
  app.formatter(formatter);
  app.get_help_ptr()->description("print this help");
  app.get_version_ptr()->description("print the version");
  for (CLI::App *command : app.get_subcommands({})) {
    command->formatter(formatter);
    command->get_help_ptr()->description("print this help");
    groupOptions(*command);
    if (command->get_group().empty())
      continue; // hidden
    bool isListed = false;
    for (const auto &[name, members] : kCommandGroups)
      if (llvm::is_contained(members, command->get_name())) {
        command->group(name);
        isListed = true;
      }
    assert(isListed && "kCommandGroups lacks a command");
    (void)isListed;
  }
}

void cli::printHelp(const CLI::App &app) {
  const std::string text = app.help();
  StringRef rest = text;
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    const bool isHeading = !line.starts_with(" ") && line.ends_with(":");
    llvm::outs() << (isHeading ? cli::bold(line.str()) : line.str());
    if (line.size() < rest.size())
      llvm::outs() << "\n";
    rest = after;
  }
}

std::string cli::otherWord(StringRef word) {
  return llvm::StringSwitch<std::string>(word)
      .Cases({"build", "convert", "generate", "export"},
             "; 'compile' makes a package, 'synth' synthesizes it")
      .Cases({"quantize", "quantise", "calibrate"},
             "; 'compile --calibration DATA' quantizes a float network")
      .Cases({"csim", "cosim", "sim"}, "; 'simulate' runs the package's RTL")
      .Cases({"estimate", "dse", "plan"}, "; 'explore' finds a plan")
      .Cases({"devices", "boards", "list"}, "; 'targets' lists them")
      .Cases({"predict", "infer"}, "; 'run' sends inputs to a package")
      .Cases({"-v", "-V"}, "; '--version' tells it")
      .Default("");
}

std::string cli::parseMessage(const CLI::ParseError &error) {
  static const std::pair<std::regex, const char *> forms[] = {
      {std::regex("(.+): At Most 1 required but received (.+)"),
       "'$1' is given $2 times; it takes one value"},
      {std::regex("(.+): \\d+ required .+ missing"), "'$1' needs a value"},
      {std::regex("A subcommand is required"), "a command is missing"},
      {std::regex("The following arguments? (?:was|were) not expected: (.+)"),
       "unexpected argument '$1'"},
      {std::regex("(\\S+) is required"), "'$1' is missing"},
      {std::regex("(--\\S+) excludes (--\\S+)"),
       "'$1' and '$2' cannot be combined"},
      {std::regex("(--\\S+) requires (--\\S+)"), "'$1' needs '$2'"},
      {std::regex("Could not convert: (.+) = (.+)"),
       "'$1': '$2' is not a number that it takes"},
      {std::regex("(.+): Value (.+) not in range (.+) to (.+)"),
       "'$1': $2 is not from $3 to $4"}};
  const std::string said = error.what();
  for (const auto &[form, ours] : forms)
    if (std::smatch match; std::regex_match(said, match, form))
      return match.format(ours);
  return said;
}
