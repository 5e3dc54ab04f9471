// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Config.h"
#include "Spellings.h"
#include "rhizome/Support/Files.h"
#include "rhizome/Support/Spelling.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <yaml-cpp/yaml.h>

using namespace rhizome;
using llvm::StringRef;

namespace {
constexpr const char *kModel = "model"; ///< the key of the MODEL
/// Files that belong to the compile: named from the file's folder.
constexpr StringRef kPaths[] = {kModel,        "output", "steer",      "plan",
                                "constraints", "input",  "calibration"};
/// Names of data files, or paths.
constexpr StringRef kTargets[] = {"device", "board", "cluster"};
/// What a call is for is not in the file.
constexpr StringRef kNotHere[] = {"config", "dump-config", "help", "json"};

struct Mistake {
  int line;
  std::string reason;
};

int lineOf(const YAML::Node &node) {
  return node.Mark().is_null() ? 1 : node.Mark().line + 1;
}

/// The text of a single value.
std::string textOf(const YAML::Node &node, const std::string &key) {
  if (!node.IsScalar() || node.Scalar().empty())
    throw Mistake{lineOf(node), node.IsScalar() || node.IsNull()
                                    ? "'" + key + "' has no value"
                                    : "'" + key + "' is not a single value"};
  if (llvm::any_of(node.Scalar(), [](unsigned char c) { return c < 0x20; }))
    throw Mistake{lineOf(node), "'" + key + "' has control characters"};
  return node.Scalar();
}

/// A value, or a list of them with commas between.
std::string joined(const YAML::Node &node, const std::string &key) {
  if (!node.IsSequence())
    return textOf(node, key);
  std::vector<std::string> parts;
  for (const YAML::Node &part : node)
    parts.push_back(textOf(part, key));
  return llvm::join(parts, ",");
}

/// The values of an option: one, a list, or NAME: VALUE for NAME=VALUE. Of an
/// option that is given once, a list has commas between.
std::vector<std::string> valuesOf(const YAML::Node &node,
                                  const std::string &key, bool mayRepeat) {
  std::vector<std::string> values;
  if (node.IsMap())
    for (const auto &entry : node)
      values.push_back(textOf(entry.first, key) + "=" +
                       joined(entry.second, key));
  else if (node.IsSequence())
    for (const YAML::Node &value : node)
      values.push_back(textOf(value, key));
  else
    values.push_back(textOf(node, key));
  if (values.size() > 1 && !mayRepeat)
    values = {llvm::join(values, ",")};
  return values;
}

std::string inFolder(const std::string &folder, const std::string &value) {
  if (folder.empty() || llvm::sys::path::is_absolute(value))
    return value;
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, value);
  return path.str().str();
}

/// A path of the file as the command line would have it.
std::string placed(const std::string &folder, StringRef key,
                   const std::string &value) {
  const bool isTarget =
      llvm::is_contained(kTargets, key) &&
      (StringRef(value).ends_with(".yaml") || StringRef(value).contains('/'));
  if (isTarget || llvm::is_contained(kPaths, key))
    return inFolder(folder, value);
  // May be a file of widths.
  if (key == "bits" && llvm::sys::fs::exists(inFolder(folder, value)))
    return inFolder(folder, value);
  return value;
}

bool isFlag(const CLI::Option &option) {
  return option.get_items_expected_max() == 0;
}

bool mayRepeat(const CLI::Option &option) {
  return option.get_items_expected_max() > 1;
}

const CLI::Option *findOption(const CLI::App &command, const std::string &key) {
  return command.get_option_no_throw("--" + key);
}

/// What the words after the command say themselves.
struct Given {
  std::vector<const CLI::Option *> options;
  bool hasModel = false;
  std::string config;
};

Given givenOf(const CLI::App &command, llvm::ArrayRef<char *> words) {
  Given given;
  for (size_t i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    if (word == "--") {
      given.hasModel |= i + 1 < words.size();
      return given;
    }
    if (!word.starts_with("-") || word == "-") {
      given.hasModel = true;
      continue;
    }
    auto [name, value] = word.split('=');
    if (!word.starts_with("--")) { // -oDIR, -o DIR
      name = word.take_front(2);
      value = word.drop_front(2);
    }
    const CLI::Option *option = command.get_option_no_throw(name.str());
    if (!option)
      continue; // the parser says so
    given.options.push_back(option);
    if (!isFlag(*option) && value.empty() && i + 1 < words.size())
      value = words[++i];
    if (name == "--config")
      given.config = value.str();
  }
  return given;
}

/// Whether the command line has this option, or one that excludes it.
bool isOverridden(const Given &given, CLI::Option *option) {
  return llvm::any_of(given.options, [&](const CLI::Option *other) {
    return other == option ||
           option->get_excludes().count(const_cast<CLI::Option *>(other)) ||
           other->get_excludes().count(option);
  });
}

std::vector<std::string> keysOf(const CLI::App &command) {
  std::vector<std::string> keys = {kModel};
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      if (!llvm::is_contained(kNotHere, name))
        keys.push_back(name);
  return keys;
}
} // namespace

void cli::addConfig(CLI::App &command, bool &dump) {
  // The file was read before the command line is.
  command
      .add_option_function<std::string>(
          "--config", [](const std::string &) {},
          "read options from this file; without MODEL, rhizome.yaml is read. "
          "What the command line says goes first")
      ->option_text("FILE");
  command.add_flag("--dump-config", dump,
                   "print the options as such a file, and do nothing else");
}

bool cli::ConfigFile::enter(const CLI::App &app, int &argc, char **&argv,
                            std::string &error) {
  const StringRef name = argc > 1 ? argv[1] : "";
  if (name != "compile" && name != "explore")
    return true;
  const CLI::App &command = *app.get_subcommand(name.str());
  // One file for both: explore passes over what it does not take.
  const CLI::App &compile = *app.get_subcommand("compile");
  const llvm::ArrayRef<char *> rest = llvm::ArrayRef(argv, argc).drop_front(2);
  if (llvm::any_of(rest, [](StringRef word) {
        return word == "--help" || word == "-h";
      }))
    return true;
  const Given given = givenOf(command, rest);
  path = given.config;
  if (path.empty() && !given.hasModel && llvm::sys::fs::exists(kConfigFile))
    path = kConfigFile;
  if (path.empty())
    return true;
  llvm::Expected<std::string> text = readText(path);
  if (!text) {
    error = llvm::toString(text.takeError());
    return false;
  }
  const std::string folder = llvm::sys::path::parent_path(path).str();
  try {
    const YAML::Node root = YAML::Load(*text);
    if (!root.IsMap())
      throw Mistake{lineOf(root), "it must be a mapping from the names of "
                                  "options to their values"};
    for (const auto &item : root) {
      const YAML::Node first = item.first, value = item.second;
      std::string key = textOf(first, "a key");
      // Former spellings are as long as today's.
      std::string word = "--" + key;
      char *spelled[] = {argv[0], argv[1], word.data()};
      respell(3, spelled);
      key = word.substr(2);
      const bool isModel = key == kModel;
      CLI::Option *known = const_cast<CLI::Option *>(findOption(compile, key));
      if (!isModel && (!known || llvm::is_contained(kNotHere, key)))
        throw Mistake{lineOf(first), "'compile' has no option '" +
                                         withoutControls(key) + "'" +
                                         meant(key, keysOf(compile))};
      for (const Entry &entry : entries)
        if (entry.option == (isModel ? "MODEL" : word))
          throw Mistake{lineOf(first), "'" + key +
                                           "' is there twice, first "
                                           "in line " +
                                           std::to_string(entry.line)};
      if (value.IsNull()) // whose own mark is behind it
        throw Mistake{lineOf(first), "'" + key + "' has no value"};
      entries.push_back({isModel ? "MODEL" : word, lineOf(first)});
      if (isModel) {
        if (!given.hasModel)
          words.push_back(placed(folder, key, textOf(value, key)));
        continue;
      }
      CLI::Option *option = const_cast<CLI::Option *>(findOption(command, key));
      if (isFlag(*known)) {
        const std::string answer = textOf(value, key);
        if (answer != "true" && answer != "false")
          throw Mistake{lineOf(value),
                        "'" + key + "' is '" + answer + "', not true or false"};
        if (answer == "true" && option && !isOverridden(given, option))
          words.push_back(word);
        continue;
      }
      for (const std::string &each : valuesOf(value, key, mayRepeat(*known)))
        if (option && !isOverridden(given, option))
          words.push_back(word + "=" + placed(folder, key, each));
    }
  } catch (const Mistake &mistake) {
    error = path + ":" + std::to_string(mistake.line) + ": " + mistake.reason;
    return false;
  } catch (const YAML::Exception &problem) {
    error = path + ":" +
            std::to_string(problem.mark.is_null() ? 1 : problem.mark.line + 1) +
            ": " + problem.msg;
    return false;
  }
  arguments.assign(argv, argv + 2);
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.insert(arguments.end(), argv + 2, argv + argc);
  arguments.push_back(nullptr);
  argc = int(arguments.size()) - 1;
  argv = arguments.data();
  return true;
}

std::string cli::ConfigFile::placeOf(const std::string &message) const {
  for (const Entry &entry : entries) {
    size_t at = message.find(entry.option);
    // Not --goal in --goals.
    if (at != std::string::npos &&
        !llvm::isAlnum(message.c_str()[at + entry.option.size()]) &&
        message.c_str()[at + entry.option.size()] != '-')
      return path + ":" + std::to_string(entry.line) + ": ";
  }
  return "";
}

/// A value as YAML has it in one line.
static std::string scalar(const std::string &value) {
  YAML::Emitter out;
  out << YAML::Flow << value;
  return out.c_str();
}

/// Words in lines of at most 78 columns, as comments.
static std::string commented(StringRef text, StringRef indent) {
  std::string out, line = ("#" + indent).str();
  llvm::SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    if (line.size() + 1 + word.size() > 78) {
      out += line + "\n";
      line = ("#" + indent).str();
    }
    line += (" " + word).str();
  }
  return out + line + "\n";
}

/// An option with its values.
static std::string line(const std::string &key,
                        const std::vector<std::string> &values) {
  if (values.size() == 1)
    return key + ": " + scalar(values.front()) + "\n";
  std::string text = key + ":\n";
  for (const std::string &value : values)
    text += "  - " + scalar(value) + "\n";
  return text;
}

std::string
cli::configFor(const CLI::App &command, const CLI::App &compile,
               const std::map<std::string, std::vector<std::string>> &changed,
               bool isElsewhere) {
  auto placedElsewhere = [&](StringRef key, std::string value) {
    const bool isTarget =
        llvm::is_contained(kTargets, key) &&
        (StringRef(value).ends_with(".yaml") || StringRef(value).contains('/'));
    llvm::SmallString<128> path(value);
    if (isElsewhere && (isTarget || llvm::is_contained(kPaths, key)) &&
        !llvm::sys::fs::make_absolute(path))
      return path.str().str();
    return value;
  };
  std::string text;
  for (const CLI::Option *option : command.get_options()) {
    const std::string key = option->get_positional() ? kModel
                            : option->get_lnames().empty()
                                ? ""
                                : option->get_lnames().front();
    if (!option->count() || key.empty() || key == "output" ||
        changed.count(key) || llvm::is_contained(kNotHere, key) ||
        (key != kModel && !findOption(compile, key)))
      continue;
    std::vector<std::string> values = option->results();
    for (std::string &value : values)
      value = placedElsewhere(key, value);
    const std::string words =
        isFlag(*option) ? key + ": true\n" : line(key, values);
    text = key == kModel ? words + text : text + words;
  }
  for (const auto &[key, values] : changed)
    if (!values.empty())
      text += line(key, values);
  return text;
}

std::string cli::dumpConfig(const CLI::App &command) {
  std::string given, others;
  for (const CLI::Option *option : command.get_options()) {
    if (option->get_positional()) {
      if (option->count())
        given = line(kModel, option->results()) + given;
      else
        others +=
            "# model: FILE\n" + commented(option->get_description(), "  ");
      continue;
    }
    const std::string key =
        option->get_lnames().empty() ? "" : option->get_lnames().front();
    if (key.empty() || llvm::is_contained(kNotHere, key))
      continue;
    if (option->count()) {
      given +=
          isFlag(*option) ? key + ": true\n" : line(key, option->results());
      continue;
    }
    const std::string standard = option->get_default_str();
    others += "# " + key + ": " +
              (isFlag(*option)    ? "true"
               : standard.empty() ? "…"
                                  : scalar(standard)) +
              "\n" + commented(option->get_description(), "  ");
  }
  return "# Options of 'rhizome compile', which reads this file with --config, "
         "or without\n# a MODEL if it is rhizome.yaml in the working "
         "folder.\n" +
         given + "\n# The others:\n" + others;
}
