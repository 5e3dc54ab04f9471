// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/ClassFolders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;

namespace {
struct Contents {
  std::vector<std::string> images, folders;
};

Expected<Contents> contentsOf(StringRef folder) {
  Contents found;
  std::error_code error;
  for (sys::fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    StringRef path = it->path();
    if (any_of(ArrayRef<StringRef>{".png", ".jpg", ".jpeg"},
               [&](StringRef e) { return path.ends_with_insensitive(e); }))
      found.images.push_back(path.str());
    else if (!sys::path::filename(path).starts_with(".") &&
             sys::fs::is_directory(path))
      found.folders.push_back(path.str());
  }
  if (error)
    return createStringError(error, "cannot read the folder '%s': %s",
                             folder.str().c_str(), error.message().c_str());
  llvm::sort(found.images);
  llvm::sort(found.folders);
  return found;
}
} // namespace

Expected<std::vector<ClassFolder>> rhizome::classFolders(StringRef folder) {
  Expected<Contents> own = contentsOf(folder);
  if (!own)
    return own.takeError();
  if (!own->images.empty())
    return std::vector<ClassFolder>{{"", std::move(own->images)}};
  std::vector<ClassFolder> classes;
  bool hasImages = false;
  for (const std::string &path : own->folders) {
    Expected<Contents> inside = contentsOf(path);
    if (!inside)
      return inside.takeError();
    classes.push_back(
        {sys::path::filename(path).str(), std::move(inside->images)});
    hasImages |= !classes.back().images.empty();
  }
  if (!hasImages)
    classes.clear();
  return classes;
}
