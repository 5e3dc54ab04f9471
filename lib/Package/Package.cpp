// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens a package and reports what is missing.
#include "rhizome/Package/Package.h"
#include "RtlCheck.h"
#include "rhizome/Package/Checksums.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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

Error Package::makeResults(StringRef relative) const {
  std::string folder = results(relative);
  if (std::error_code error =
          sys::fs::create_directories(folder, true, sys::fs::all_all))
    return createStringError(error, "cannot make the folder '%s': %s",
                             folder.c_str(), error.message().c_str());
  return Error::success();
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
    if (files)
      found = changesOf(root, *files);
    else
      found.push_back("'" + std::string(kChecksums) + "' cannot be used (" +
                      toString(files.takeError()) + ")");
    if (files && llvm::none_of(*files, [](const FileChecksum &listed) {
          return listed.path == "plan.json";
        }))
      found.push_back("'" + std::string(kChecksums) + "' lists no plan.json");
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
                                 "the segment '%s', which is missing",
                                 root.c_str(), segment.file.c_str());
      if (int64_t(bytes) != segment.bytes)
        return createStringError("the package '%s' is damaged: the segment "
                                 "'%s' has %llu bytes, its plan says %lld",
                                 root.c_str(), segment.file.c_str(),
                                 static_cast<unsigned long long>(bytes),
                                 static_cast<long long>(segment.bytes));
    }
  return Error::success();
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
        if (Error error = checkRtl(file, *text))
          return createStringError("the package '%s': %s", root.c_str(),
                                   toString(std::move(error)).c_str());
      }
  }
  return Error::success();
}

Error Package::chooseResults() {
  resultsRoot = path("results");
  std::string parent = sys::fs::exists(resultsRoot) ? resultsRoot : root;
  if (sys::fs::can_write(parent))
    return Error::success();
  Expected<std::string> cache = userCache();
  if (!cache) // a later write will report the error
    return consumeError(cache.takeError()), Error::success();
  resultsRoot = *cache + "/results/" + hashOf({root, checksums});
  theNotes.push_back("'" + root + "' cannot be written; results go to '" +
                     resultsRoot + "'");
  return Error::success();
}

Expected<Package> Package::open(StringRef dir, Changes changes) {
  Package package;
  package.root = dir.str();
  if (!sys::fs::is_directory(dir))
    return createStringError("'%s' is not a folder; a package is what "
                             "'rhizome compile MODEL -o DIR' writes",
                             dir.str().c_str());
  std::string planPath = package.path("plan.json");
  if (!sys::fs::exists(planPath))
    return createStringError("'%s' holds no plan.json, so it is no compiled "
                             "package",
                             dir.str().c_str());
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
