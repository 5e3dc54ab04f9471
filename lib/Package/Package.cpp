// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens a package and says what is missing in one that is none.
#include "rhizome/Package/Package.h"
#include "rhizome/Support/Resources.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;

std::string Package::path(StringRef relative) const {
  SmallString<256> result(root);
  sys::path::append(result, relative);
  return result.str().str();
}

Expected<Package> Package::open(StringRef dir) {
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
  for (const PlannedNode &node : package.thePlan.nodes)
    for (const std::string &file : node.rtl)
      if (!sys::fs::exists(package.rtlPath(node) + "/" + file))
        return createStringError("the package '%s' is damaged: its plan names "
                                 "'nodes/%s/rtl/%s', which is missing",
                                 dir.str().c_str(), node.name.c_str(),
                                 file.c_str());
  return package;
}
