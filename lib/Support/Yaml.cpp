// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folders of data files, and their common entries.
#include "rhizome/Support/Yaml.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;

std::vector<std::string> yaml::readSources(Mapping &map,
                                           const YAML::Node &root) {
  YAML::Node sources = map.find("sources");
  if (!sources || !sources.IsSequence() || sources.size() == 0)
    throw Mistake{sources ? lineOf(sources) : lineOf(root),
                  map.name() + " needs a list 'sources'"};
  std::vector<std::string> list;
  for (const YAML::Node &source : sources)
    list.push_back(Mapping::convert<std::string>(source, "sources"));
  return list;
}

Expected<std::vector<std::string>> yaml::yamlPaths(StringRef folder) {
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  std::vector<std::string> paths;
  std::error_code error;
  for (sys::fs::directory_iterator it(*data + "/" + folder, error), end;
       it != end && !error; it.increment(error))
    if (sys::path::extension(it->path()) == ".yaml")
      paths.push_back(it->path());
  if (error)
    return createStringError(error, "cannot list '%s/%s': %s", data->c_str(),
                             folder.str().c_str(), error.message().c_str());
  llvm::sort(paths);
  return paths;
}

namespace {
/// What has a name: "a board", asked for by "--board kv260".
struct Named {
  StringRef kind;
  std::string option;
};
} // namespace

/// What else has this name, or a near one, if anything has.
static std::optional<Named> otherKind(StringRef name, StringRef folder,
                                      bool isNear) {
  static constexpr std::tuple<StringLiteral, StringLiteral, StringLiteral>
      kKinds[] = {{"devices", "a device", "--device"},
                  {"boards", "a board", "--board"},
                  {"clusters", "a cluster", "--cluster"},
                  {"links", "a link", "DEVICE:COUNT@"}};
  for (const auto &[other, what, option] : kKinds) {
    if (other == folder)
      continue;
    Expected<std::vector<std::string>> paths = yaml::yamlPaths(other);
    if (!paths) {
      consumeError(paths.takeError());
      continue;
    }
    std::vector<std::string> names;
    for (const std::string &path : *paths)
      names.push_back(sys::path::stem(path).str());
    auto it = llvm::find_if(names, [&](const std::string &known) {
      return StringRef(known).equals_insensitive(name);
    });
    const std::string found = it != names.end() ? *it
                              : isNear ? nearest(name, names, /*letters=*/1)
                                       : "";
    if (!found.empty())
      return Named{what,
                   (option + (option.ends_with("@") ? "" : " ") + found).str()};
  }
  return std::nullopt;
}

Expected<std::string> yaml::yamlPath(StringRef nameOrPath, StringRef folder,
                                     StringRef what) {
  if (namesPath(nameOrPath))
    return nameOrPath.str();
  Expected<std::vector<std::string>> paths = yamlPaths(folder);
  if (!paths)
    return paths.takeError();
  std::vector<std::string> names;
  for (const std::string &path : *paths) {
    names.push_back(sys::path::stem(path).str());
    if (StringRef(names.back()).equals_insensitive(nameOrPath))
      return path;
  }
  // A name of another kind, or a device by the end of its name.
  if (auto other = otherKind(nameOrPath, folder, /*isNear=*/false))
    return ofKind(Failure::Kind::Usage,
                  createStringError("'" + nameOrPath.str() + "' is " +
                                    other->kind.str() + ": " + other->option));
  auto near = otherKind(nameOrPath, folder, /*isNear=*/true);
  return ofKind(Failure::Kind::Usage,
                createStringError(unknownName(what, nameOrPath, names,
                                              near ? near->option : "") +
                                  ", or give the path of a .yaml file"));
}
