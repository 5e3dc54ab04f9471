// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Determines the kind of a target, and calls that kind's reader.
#include "rhizome/Target/Target.h"
#include "rhizome/Support/Yaml.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Spelling.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::yaml;

namespace {
/// A kind's reader, which takes a name or a path, and a key that identifies its
/// files.
struct Reader {
  const char *folder;
  const char *key; ///< which no file of another kind has
  std::function<Expected<Target>(StringRef)> load;
  std::function<Error(std::vector<Target> &)> list;
};

template <typename T>
Reader readerOf(const char *folder, const char *key,
                Expected<T> load(StringRef), Expected<std::vector<T>> list()) {
  return {folder, key,
          [load](StringRef name) -> Expected<Target> {
            Expected<T> loaded = load(name);
            if (!loaded)
              return loaded.takeError();
            return Target(std::move(*loaded));
          },
          [list](std::vector<Target> &all) -> Error {
            Expected<std::vector<T>> some = list();
            if (!some)
              return some.takeError();
            std::move(some->begin(), some->end(), std::back_inserter(all));
            return Error::success();
          }};
}

const std::vector<Reader> &readers() {
  static const std::vector<Reader> all = {
      readerOf<Device>("devices", "family", loadDevice, listDevices),
      readerOf<Board>("boards", "device", loadBoard, listBoards),
      readerOf<Link>("links", "bits_per_s", loadLink, listLinks),
      readerOf<Cluster>("clusters", "nodes", loadCluster, listClusters)};
  return all;
}
} // namespace

Expected<Target> rhizome::loadTarget(StringRef nameOrPath) {
  if (formsCluster(nameOrPath)) {
    Expected<Cluster> formed = loadCluster(nameOrPath);
    if (!formed)
      return formed.takeError();
    return Target(std::move(*formed));
  }
  if (namesPath(nameOrPath)) {
    // A file of unknown kind is read as a device, whose reader reports the
    // errors.
    auto kindOf = [](const YAML::Node &root) {
      for (const Reader &reader : readers())
        if (root.IsMap() && root[reader.key])
          return &reader;
      return &readers().front();
    };
    auto reader = loadYaml<const Reader *>(nameOrPath, kindOf);
    if (!reader)
      return reader.takeError();
    return (*reader)->load(nameOrPath);
  }
  std::vector<std::string> known;
  for (const Reader &reader : readers()) {
    Expected<std::vector<std::string>> paths = yamlPaths(reader.folder);
    if (!paths)
      return paths.takeError();
    for (const std::string &path : *paths) {
      if (sys::path::stem(path).equals_insensitive(nameOrPath))
        return reader.load(nameOrPath);
      known.push_back(sys::path::stem(path).str());
    }
  }
  return ofKind(Failure::Kind::Usage,
                createStringError(unknownName("target", nameOrPath, known) +
                                  ", or give the path of a .yaml file"));
}

Expected<std::vector<Target>> rhizome::listTargets() {
  std::vector<Target> all;
  for (const Reader &reader : readers())
    if (Error error = reader.list(all))
      return error;
  return all;
}
