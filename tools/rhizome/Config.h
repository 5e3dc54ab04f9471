// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome.yaml: the options of a compile in a file, under the names that they
// have on the command line. What the command line says goes before the file.
#pragma once

#include <CLI/CLI.hpp>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace rhizome::cli {
/// The file that compile and explore read where no model is named.
inline constexpr const char *kConfigFile = "rhizome.yaml";

/// Adds --config and --dump-config.
void addConfig(CLI::App &command, bool &dump);

/// The options of a file as words of a command line.
class ConfigFile {
public:
  /// For compile and explore: reads the file of --config or, if no model is
  /// named, rhizome.yaml in the working folder, and enters into the arguments
  /// what they do not say themselves. False with a message.
  bool enter(const CLI::App &app, int &argc, char **&argv, std::string &error);
  /// "FILE:LINE: " of the option that a message of the parser is about; "" if
  /// that is none of the file's.
  std::string placeOf(const std::string &message) const;

private:
  struct Entry {
    std::string option; ///< "--goal", or "MODEL"
    int line;
  };
  std::string path;
  std::vector<Entry> entries;
  std::list<std::string> words; ///< that `argv` points to
  std::vector<char *> arguments;
};

/// The file for the options that were given, with the others as comments.
std::string dumpConfig(const CLI::App &command);

/// The same for options of another command that `compile` has too, with these
/// values in place of what was given; without comments. Paths are absolute if
/// the file is for another folder.
std::string
configFor(const CLI::App &command, const CLI::App &compile,
          const std::map<std::string, std::vector<std::string>> &changed,
          bool isElsewhere);
} // namespace rhizome::cli
