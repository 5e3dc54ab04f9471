// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens a package and reports what is missing.
#include "rhizome/Package/Package.h"
#include "RtlCheck.h"
#include "Written.h"
#include "rhizome/Package/Checksums.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <set>

using namespace llvm;
using namespace rhizome;

std::string Package::path(StringRef relative) const {
  SmallString<256> result(root);
  sys::path::append(result, relative);
  return result.str().str();
}

std::string Package::results(StringRef relative) const {
  SmallString<256> result(resultsRoot);
  if (!relative.empty())
    sys::path::append(result, relative);
  return result.str().str();
}

/// A path of a result as seen from the folder that is there.
static std::string below(StringRef base, StringRef path) {
  return path.substr(base.size()).ltrim('/').str();
}

Error Package::makeResults(StringRef relative) const {
  return makeFolders(resultsBase, below(resultsBase, results(relative)));
}

Error Package::emptyResults(StringRef relative) const {
  if (Error error = removeResult(relative))
    return error;
  return makeResults(relative);
}

Error Package::removeResult(StringRef relative) const {
  return removeTree(resultsBase, below(resultsBase, results(relative)));
}

Error Package::writeResult(StringRef relative, StringRef text) const {
  if (Error error = makeResults(sys::path::parent_path(relative)))
    return error;
  return writeAtomically(results(relative), text);
}

Expected<std::string> Package::readResult(StringRef relative) const {
  return readFileBelow(resultsBase, below(resultsBase, results(relative)));
}

Error Package::checkUnchanged() const {
  std::string file = path(kChecksums), now;
  if (sys::fs::exists(file)) {
    Expected<std::string> text = readFile(file);
    if (!text)
      return text.takeError();
    now = std::move(*text);
  }
  return now == checksums
             ? Error::success()
             : createStringError("the package '%s' was compiled again while it "
                                 "was in use; repeat the command",
                                 root.c_str());
}

/// The files that a plan names, below the package.
static std::vector<std::string> filesOf(const Plan &plan) {
  std::vector<std::string> files = {"plan.json"};
  for (const PlannedNode &node : plan.nodes) {
    for (const PlannedSegment &segment : node.segments)
      files.push_back(segment.file);
    if (!node.rtlOf.empty())
      continue;
    for (const auto *list : {&node.rtl, &node.simulationModels})
      for (const std::string &file : *list)
        files.push_back("nodes/" + node.name + "/rtl/" + file);
  }
  return files;
}

/// Those of them for which there is no checksum.
static std::vector<std::string>
unlistedOf(const Plan &plan, const std::vector<FileChecksum> &listed) {
  StringSet<> known;
  for (const FileChecksum &file : listed)
    known.insert(file.path);
  std::vector<std::string> found;
  for (const std::string &file : filesOf(plan))
    if (known.insert(file).second)
      found.push_back("'" + std::string(kChecksums) + "' does not list '" +
                      file + "'");
  return found;
}

/// Compares all files with checksums.json.
Error Package::check(Changes changes) {
  constexpr size_t kMost = 8; // of the files listed in a message
  std::string file = path(kChecksums);
  std::vector<std::string> found;
  if (sys::fs::exists(file)) {
    Expected<std::string> text = readFile(file);
    if (!text)
      return text.takeError();
    checksums = std::move(*text);
    if (changes == Changes::Ignore)
      return Error::success();
    Expected<std::vector<FileChecksum>> files = parseChecksums(checksums);
    if (files) {
      found = changesOf(root, *files);
      llvm::append_range(found, unlistedOf(thePlan, *files));
    } else
      found.push_back("'" + std::string(kChecksums) + "' cannot be used (" +
                      toString(files.takeError()) + ")");
  } else if (changes != Changes::Ignore) {
    found.push_back("'" + std::string(kChecksums) + "' is missing");
  }
  if (found.empty())
    return Error::success();
  if (changes == Changes::Accept || changes == Changes::Trust) {
    for (const std::string &change : found)
      theNotes.push_back(change + "; it is taken as it is");
    return Error::success();
  }
  size_t more = found.size() - std::min(found.size(), kMost);
  found.resize(found.size() - more);
  return createStringError(
      "the package '%s' is not as it was compiled: %s%s. Compile the model "
      "again, or take the files as they are with --accept-changes",
      root.c_str(), join(found, "; ").c_str(),
      more ? (", and " + Twine(more) + " more").str().c_str() : "");
}

/// Segments of the plan that are missing or have another size; checked
/// even if changed files are accepted.
Error Package::checkSegments() const {
  for (const PlannedNode &node : thePlan.nodes)
    for (const PlannedSegment &segment : node.segments) {
      uint64_t bytes = 0;
      if (!sys::fs::is_regular_file(path(segment.file)) ||
          sys::fs::file_size(path(segment.file), bytes))
        return createStringError("the package '%s' is damaged: its plan names "
                                 "the segment '%s', which is missing; copy the "
                                 "package again, or compile anew",
                                 root.c_str(), segment.file.c_str());
      if (int64_t(bytes) != segment.bytes)
        return createStringError("the package '%s' is damaged: the segment "
                                 "'%s' has %llu bytes, its plan says %lld; "
                                 "copy the package again, or compile anew",
                                 root.c_str(), segment.file.c_str(),
                                 static_cast<unsigned long long>(bytes),
                                 static_cast<long long>(segment.bytes));
    }
  return Error::success();
}

/// For tests, which show that confinement holds by itself.
static bool isUnscanned() {
  const char *set = std::getenv("RHIZOME_UNSCANNED");
  return set && StringRef(set) == "1";
}

Error Package::checkSource(StringRef name, StringRef text) const {
  if (trusted || isUnscanned())
    return Error::success();
  Error error = checkRtl(name, text);
  return error ? createStringError("the package '%s': %s", root.c_str(),
                                   toString(std::move(error)).c_str())
               : Error::success();
}

Expected<std::optional<Confinement>>
Package::confinement(Confinement wanted) const {
  if (trusted)
    return std::nullopt;
  if (wallHere() != Wall::None)
    return std::optional<Confinement>(std::move(wanted));
  std::vector<std::string> texts;
  for (const std::string &file : rtlOf(thePlan)) {
    Expected<std::string> text = readFileBelow(root, file);
    if (!text)
      return text.takeError();
    texts.push_back(std::move(*text));
  }
  if (isWrittenHere(texts))
    return std::nullopt;
  return createStringError(
      "nothing on this machine confines the programs that work on the RTL of "
      "'%s' (the kernel has no Landlock, and bubblewrap is missing or not "
      "allowed), and it was not compiled here by you; if you trust the "
      "package, say --trust",
      root.c_str());
}

Error Package::checkRtlFiles() const {
  for (const PlannedNode &node : thePlan.nodes) {
    if (!node.rtlOf.empty())
      continue;
    for (const auto *files : {&node.rtl, &node.simulationModels})
      for (const std::string &file : *files) {
        Expected<std::string> text = readFile(rtlPath(node) + "/" + file);
        if (!text)
          return text.takeError();
        if (Error error = checkSource(file, *text))
          return error;
      }
  }
  return Error::success();
}

Error Package::copyImages(const PlannedNode &node, StringRef folder) const {
  const std::string rtl = rtlPath(node);
  auto isImage = [](StringRef name) {
    return name.ends_with(".hex") || name.ends_with(".mem");
  };
  // Build files list images by patterns, so other names stay behind, too.
  std::set<std::string> images;
  for (const std::string &name : namesIn(rtl))
    if (isImage(name) && isPlainName(name) &&
        sys::fs::is_regular_file(rtl + "/" + name))
      images.insert(name);
  for (const PlannedActor &actor : thePlan.owner(node).actors)
    for (const auto &[key, value] : actor.config)
      if (auto text = value.getAsString();
          text && isImage(*text) && isPlainPath(*text) &&
          sys::fs::is_regular_file(rtl + "/" + text->str()))
        images.insert(text->str());
  for (const std::string &image : images) {
    if (Error error = makeFolders(folder, sys::path::parent_path(image)))
      return error;
    if (Error error = copyFile(rtl + "/" + image, (folder + "/" + image).str()))
      return error;
  }
  return Error::success();
}

Error Package::chooseResults() {
  resultsRoot = path("results");
  resultsBase = root;
  std::string parent = sys::fs::exists(resultsRoot) ? resultsRoot : root;
  if (sys::fs::can_write(parent))
    return Error::success();
  Expected<std::string> cache = userCache();
  if (!cache) // a later write will report the error
    return consumeError(cache.takeError()), Error::success();
  if (Error error = makeFolders(*cache))
    return consumeError(std::move(error)), Error::success();
  resultsBase = *cache;
  resultsRoot = *cache + "/results/" + hashOf({root, checksums});
  theNotes.push_back("'" + root + "' cannot be written; results go to '" +
                     resultsRoot + "'");
  return Error::success();
}

/// What the tools of vendors and of the user's own builds leave is theirs, and
/// nothing of it is followed: neither what lies below a vendor's results, nor
/// what has become of a node's build files or of the drivers.
static bool isOthers(StringRef relative) {
  SmallVector<StringRef> parts;
  relative.split(parts, '/');
  if (parts.size() >= 3 && parts[0] == "results")
    return parts[1] != "sim" && parts[1] != "nextpnr";
  if (parts.size() >= 4 && parts[0] == "nodes")
    return parts[2] != "rtl" && parts[2] != "board";
  return parts.size() >= 3 && parts[0] == "host" && parts[1] == "build";
}

Error Package::checkFiles(StringRef dir) {
  Error error = checkPlainTree(dir, isOthers);
  return error ? createStringError("the package '%s' cannot be used: %s",
                                   root.c_str(),
                                   toString(std::move(error)).c_str())
               : Error::success();
}

Expected<Package> Package::open(StringRef dir, Changes changes) {
  Package package;
  package.root = dir.str();
  package.trusted = changes == Changes::Trust;
  if (!sys::fs::is_directory(dir))
    return createStringError("'%s' is not a folder; a package is what "
                             "'rhizome compile MODEL -o DIR' writes",
                             dir.str().c_str());
  std::string planPath = package.path("plan.json");
  if (!sys::fs::exists(planPath))
    return createStringError("'%s' holds no plan.json, so it is no compiled "
                             "package",
                             dir.str().c_str());
  if (Error error = package.checkFiles(dir))
    return std::move(error);
  Expected<std::string> text = readFile(planPath);
  if (!text)
    return text.takeError();
  Expected<Plan> plan = parsePlan(*text);
  if (!plan)
    return createStringError("'%s' cannot be used: %s", planPath.c_str(),
                             toString(plan.takeError()).c_str());
  package.thePlan = std::move(*plan);
  if (Error error = package.check(changes))
    return std::move(error);
  for (const PlannedNode &node : package.thePlan.nodes)
    for (const std::string &file : node.rtl)
      if (!sys::fs::exists(package.rtlPath(node) + "/" + file))
        return createStringError("the package '%s' is damaged: its plan names "
                                 "'nodes/%s/rtl/%s', which is missing",
                                 dir.str().c_str(), node.name.c_str(),
                                 file.c_str());
  if (Error error = package.checkSegments())
    return std::move(error);
  if (changes != Changes::Trust && changes != Changes::Ignore)
    if (Error error = package.checkRtlFiles())
      return std::move(error);
  if (Error error = package.chooseResults())
    return std::move(error);
  return package;
}
