// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the readers of data files (devices, boards, cores of engines):
// YAML mappings whose keys are all checked, numbers within the bounds of their
// keys, mistakes with lines, and the folders of data files.
#pragma once

#include "rhizome/Support/Files.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <cassert>
#include <cstdio>
#include <limits>
#include <set>
#include <type_traits>
#include <yaml-cpp/yaml.h>

namespace rhizome::yaml {
/// A mistake in a file; loadYaml() converts it to an error.
struct Mistake {
  int line;
  std::string reason;
};

inline int lineOf(const YAML::Node &node) {
  return node.Mark().is_null() ? 1 : node.Mark().line + 1;
}

/// A YAML mapping whose keys must all be read; finish() reports others.
class Mapping {
public:
  Mapping(YAML::Node node, std::string what)
      : node(std::move(node)), what(std::move(what)) {
    if (!this->node.IsMap())
      throw Mistake{lineOf(this->node), this->what + " must be a mapping"};
  }

  YAML::Node find(const std::string &key) {
    known.insert(key);
    return static_cast<const YAML::Node &>(node)[key];
  }

  /// A text, or true or false.
  template <typename T> T get(const std::string &key) {
    return convert<T>(needed(key), key);
  }

  /// The whole number of `key`, from `least` to `most`, which T holds.
  template <typename T = int64_t>
  T whole(const std::string &key, int64_t least, int64_t most) {
    return wholeOf<T>(needed(key), key, least, most);
  }
  /// The same if there is the key; returns whether there is.
  template <typename T>
  bool wholeIf(const std::string &key, int64_t least, int64_t most, T &to) {
    YAML::Node value = find(key);
    if (value)
      to = wholeOf<T>(value, key, least, most);
    return bool(value);
  }
  template <typename T = int64_t>
  static T wholeOf(const YAML::Node &value, const std::string &key,
                   int64_t least, int64_t most) {
    static_assert(std::is_integral_v<T>);
    assert(uint64_t(most) <= uint64_t(std::numeric_limits<T>::max()) &&
           "the bounds fit the type");
    const auto number = parse<int64_t>(value, key, "a whole number");
    if (number < least || number > most)
      throw outOfBounds(value, key, std::to_string(least),
                        std::to_string(most));
    return T(number);
  }

  /// The number of `key`, from `least` to `most`.
  double real(const std::string &key, double least, double most) {
    return realOf(needed(key), key, least, most);
  }
  bool realIf(const std::string &key, double least, double most, double &to) {
    YAML::Node value = find(key);
    if (value)
      to = realOf(value, key, least, most);
    return bool(value);
  }
  static double realOf(const YAML::Node &value, const std::string &key,
                       double least, double most) {
    const auto number = parse<double>(value, key, "a number");
    // Not a number is in no bounds.
    if (!(number >= least && number <= most))
      throw outOfBounds(value, key, shown(least), shown(most));
    return number;
  }

  /// The mapping of `key`.
  Mapping section(const std::string &key) {
    YAML::Node value = find(key);
    if (!value)
      throw missing(key);
    return Mapping(value, "'" + key + "'");
  }

  /// That `key` is needed; names the key of the file that may be meant.
  Mistake missing(const std::string &key) const {
    std::string text = what + " needs '" + key + "'";
    int line = lineOf(node);
    for (const auto &entry : node)
      if (std::string other = entry.first.as<std::string>();
          !known.count(other) &&
          llvm::StringRef(other).edit_distance(key) <= 2) {
        line = lineOf(entry.first);
        text += "; is '" + other + "' meant to be it?";
        break;
      }
    return {line, text};
  }

  /// The value for the word after `key`.
  template <typename T>
  T choice(const std::string &key,
           std::initializer_list<std::pair<const char *, T>> words) {
    std::string text = get<std::string>(key);
    std::vector<std::string> known;
    for (auto &[word, value] : words) {
      if (text == word)
        return value;
      known.push_back(word);
    }
    throw Mistake{lineOf(find(key)), "'" + key + "' is '" + text +
                                         "'; known are " +
                                         llvm::join(known, ", ")};
  }

  /// A name that becomes part of paths and scripts.
  std::string plainName(const std::string &key) {
    get<std::string>(key); // must be there
    return plainName(find(key), key);
  }
  static std::string plainName(const YAML::Node &value,
                               const std::string &key) {
    auto text = convert<std::string>(value, key);
    if (!isPlainName(text))
      throw Mistake{lineOf(value), "'" + key + "' is '" + printable(text) +
                                       "'; it may have " + kNameCharacters};
    return text;
  }

  const std::string &name() const { return what; }

  void finish() {
    for (const auto &entry : node) {
      std::string key = entry.first.as<std::string>();
      if (!known.count(key))
        throw Mistake{lineOf(entry.first), what + " has an unknown key '" +
                                               key + "'; known are " +
                                               llvm::join(known, ", ")};
    }
  }

  template <typename T>
  static T convert(const YAML::Node &value, const std::string &key) {
    constexpr bool isText = std::is_same_v<T, std::string>;
    static_assert(isText || std::is_same_v<T, bool>,
                  "numbers have bounds: whole() and real()");
    T result = parse<T>(value, key, isText ? "text" : "true or false");
    // Texts are printed on terminals.
    if constexpr (isText)
      if (llvm::any_of(result,
                       [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
        throw Mistake{lineOf(value), "'" + key + "' is '" + printable(result) +
                                         "', which has control characters"};
    return result;
  }

private:
  YAML::Node needed(const std::string &key) {
    YAML::Node value = find(key);
    if (!value || value.IsNull())
      throw missing(key);
    return value;
  }

  template <typename T>
  static T parse(const YAML::Node &value, const std::string &key,
                 const char *kind) {
    try {
      return value.as<T>();
    } catch (const YAML::BadConversion &) {
      std::string text = value.IsScalar()
                             ? "'" + printable(value.Scalar()) + "'"
                             : std::string("not a single value");
      throw Mistake{lineOf(value),
                    "'" + key + "' is " + text + ", which is not " + kind};
    }
  }

  static Mistake outOfBounds(const YAML::Node &value, const std::string &key,
                             const std::string &least,
                             const std::string &most) {
    return {lineOf(value), "'" + key + "' is " + printable(value.Scalar()) +
                               ", not from " + least + " to " + most};
  }

  /// "0.001", "1e+15".
  static std::string shown(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
  }

  YAML::Node node;
  std::string what;
  std::set<std::string> known;
};

/// Bounds that several kinds of files share. Nobody has more than these.
inline constexpr double kLeastMhz = 0.001, kMostMhz = 10000, kLeastPerS = 1000,
                        kMostPerS = 1e15;
inline constexpr int64_t kMostLatencyNs = 1'000'000'000;
inline constexpr int64_t kMostResources = 1'000'000'000;

/// The list 'sources', which every file needs.
std::vector<std::string> readSources(Mapping &map, const YAML::Node &root);

/// Parses the YAML file at `path` and calls `read` with its root. A Mistake
/// becomes an error "path:line: reason" and is not propagated.
template <typename T>
llvm::Expected<T> loadYaml(llvm::StringRef path,
                           llvm::function_ref<T(const YAML::Node &root)> read) {
  llvm::Expected<std::string> text = readText(path);
  if (!text)
    return text.takeError();
  auto refuse = [&](int line, const std::string &reason) {
    return llvm::createStringError("%s:%d: %s", path.str().c_str(), line,
                                   reason.c_str());
  };
  try {
    return read(YAML::Load(*text));
  } catch (const Mistake &mistake) {
    return refuse(mistake.line, mistake.reason);
  } catch (const YAML::Exception &error) {
    return refuse(error.mark.is_null() ? 1 : error.mark.line + 1, error.msg);
  }
}

/// The .yaml files of data/<folder>, in ascending order.
llvm::Expected<std::vector<std::string>> yamlPaths(llvm::StringRef folder);

/// Whether a target is given by its file: the text ends in ".yaml" or contains
/// a
/// '/'.
inline bool namesPath(llvm::StringRef nameOrPath) {
  return nameOrPath.ends_with(".yaml") || nameOrPath.contains('/');
}

/// Whether a cluster is given by its devices and their link ("a:2,b:2@c").
inline bool formsCluster(llvm::StringRef text) {
  return text.contains('@') && !namesPath(text.rsplit('@').second);
}

/// The path for `nameOrPath`: itself if it is a path, otherwise "<name>.yaml"
/// in data/<folder>. `what` names the kind in errors.
llvm::Expected<std::string> yamlPath(llvm::StringRef nameOrPath,
                                     llvm::StringRef folder,
                                     llvm::StringRef what);

/// The contents of the file for `nameOrPath`.
template <typename T>
llvm::Expected<T>
loadNamed(llvm::StringRef nameOrPath, llvm::StringRef folder,
          llvm::StringRef what,
          llvm::function_ref<T(const YAML::Node &root)> read) {
  llvm::Expected<std::string> path = yamlPath(nameOrPath, folder, what);
  if (!path)
    return path.takeError();
  return loadYaml<T>(*path, read);
}

/// The contents of all files of data/<folder>, by name in ascending order.
template <typename T>
llvm::Expected<std::vector<T>>
loadAll(llvm::StringRef folder,
        llvm::function_ref<T(const YAML::Node &root)> read) {
  llvm::Expected<std::vector<std::string>> paths = yamlPaths(folder);
  if (!paths)
    return paths.takeError();
  std::vector<T> all;
  for (const std::string &path : *paths) {
    llvm::Expected<T> one = loadYaml<T>(path, read);
    if (!one)
      return one.takeError();
    all.push_back(std::move(*one));
  }
  llvm::sort(all, [](const T &a, const T &b) { return a.name < b.name; });
  return all;
}
} // namespace rhizome::yaml
