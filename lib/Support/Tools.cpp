// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Tools.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA1.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

Expected<std::string> rhizome::findTool(StringRef program) {
  if (ErrorOr<std::string> found = sys::findProgramByName(program))
    return *found;
  return createStringError("the program '%s' is missing; Debian's package of "
                           "that name brings it ('rhizome doctor' shows all)",
                           program.str().c_str());
}

Error rhizome::runTool(StringRef program, ArrayRef<std::string> args,
                       StringRef cwd, StringRef log, bool showErrors,
                       Addresses addresses,
                       const std::optional<Confinement> &confinement,
                       std::vector<std::string> environment) {
  Expected<std::string> path = findTool(program);
  if (!path)
    return path.takeError();
  SmallString<256> file(*path);
  if (std::error_code error = sys::fs::make_absolute(file))
    return createStringError(error, "cannot find '%s'", path->c_str());
  Process process{file.str().str(), args.vec(), cwd.str(), log.str(),
                  showErrors};
  process.addresses = addresses;
  process.confinement = confinement;
  process.environment = std::move(environment);
  ProcessRunner runner(1);
  if (Error error = runner.start(process))
    return error;
  runner.wait();
  if (process.status == 0)
    return Error::success();
  return toolError(program, process.status, log);
}

Error rhizome::toolError(StringRef program, int status, StringRef log) {
  std::string tail;
  if (Expected<std::string> text = readFile(log)) {
    StringRef end(*text);
    tail += end.take_back(1500).trim().str();
  } else {
    consumeError(text.takeError());
    return createStringError(
        "%s failed (status %d), and its log '%s' is gone: was what lies there "
        "removed or compiled again meanwhile?",
        sys::path::filename(program).str().c_str(), status, log.str().c_str());
  }
  return createStringError("%s failed (status %d, log in '%s'): %s",
                           sys::path::filename(program).str().c_str(), status,
                           log.str().c_str(), tail.c_str());
}

Expected<std::string> rhizome::userCache() {
  for (auto [variable, below] :
       {std::pair("XDG_CACHE_HOME", ""), {"HOME", "/.cache"}})
    if (const char *folder = std::getenv(variable); folder && *folder)
      return std::string(folder) + below + "/rhizome";
  return createStringError("neither XDG_CACHE_HOME nor HOME is set, so there "
                           "is not a place for results");
}

std::string rhizome::hashOf(ArrayRef<std::string> texts) {
  SHA1 hash;
  for (const std::string &text : texts) {
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  }
  return toHex(hash.final(), /*LowerCase=*/true).substr(0, 16);
}
