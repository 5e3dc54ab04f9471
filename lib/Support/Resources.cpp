// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using rhizome::Failure;

/// True for a program in the folder bin of a build of rhizome's sources: only
/// there does what lies beside the build belong to it.
static bool isInBuildTree(StringRef program) {
  SmallString<256> cache(sys::path::parent_path(program));
  if (sys::path::filename(cache) != "bin")
    return false;
  sys::path::remove_filename(cache);
  sys::path::append(cache, "CMakeCache.txt");
  auto text = MemoryBuffer::getFile(cache);
  return text &&
         (*text)->getBuffer().contains("\nCMAKE_PROJECT_NAME:STATIC=rhizome\n");
}

/// A folder of ours; without it the installation is broken.
static Expected<std::string> findFolder(const char *variable, StringRef inTree,
                                        StringRef installed,
                                        StringRef mustHold) {
  auto good = [&](StringRef dir) {
    SmallString<256> probe(dir);
    sys::path::append(probe, mustHold);
    return sys::fs::is_directory(probe);
  };
  if (auto set = sys::Process::GetEnv(variable)) {
    if (good(*set))
      return *set;
    return ofKind(Failure::Kind::Environment,
                  createStringError("%s is '%s', which has no folder '%s'",
                                    variable, set->c_str(),
                                    mustHold.str().c_str()));
  }
  static int anchor;
  std::string program = sys::fs::getMainExecutable(nullptr, &anchor);
  const StringRef relative = isInBuildTree(program) ? inTree : installed;
  SmallString<256> dir(sys::path::parent_path(program));
  sys::path::append(dir, relative);
  sys::path::remove_dots(dir, /*remove_dot_dot=*/true);
  if (good(dir))
    return dir.str().str();
  return ofKind(Failure::Kind::Environment,
                createStringError(
                    "the folder with '%s' does not lie at %s from %s; set %s",
                    mustHold.str().c_str(), relative.str().c_str(),
                    program.c_str(), variable));
}

Expected<std::string> rhizome::dataDir() {
  return findFolder("RHIZOME_DATA", "../../data", "../share/rhizome",
                    "devices");
}

Expected<std::string> rhizome::rtlDir() {
  return findFolder("RHIZOME_RTL", "../../rtl", "../share/rhizome/rtl", "src");
}

Expected<std::string> rhizome::runtimeDir() {
  return findFolder("RHIZOME_RUNTIME", "../../runtime",
                    "../share/rhizome/runtime", "include");
}

Expected<std::string> rhizome::numericDir() {
  return findFolder("RHIZOME_NUMERIC", "../..", "../share/rhizome",
                    "lib/Numeric");
}

Error rhizome::checkIsFile(StringRef path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return Error::success();
  using Type = sys::fs::file_type;
  const bool isShells = path.starts_with("/dev/fd/") || path == "/dev/stdin" ||
                        path.starts_with("/proc/self/fd/");
  switch (status.type()) {
  case Type::regular_file:
  case Type::directory_file:
    return Error::success();
  case Type::fifo_file:
    if (isShells)
      return Error::success();
    [[fallthrough]];
  default:
    return createStringError("cannot read '%s': it is no file",
                             path.str().c_str());
  }
}

Expected<std::unique_ptr<MemoryBuffer>> rhizome::mapFile(StringRef path,
                                                         uint64_t most) {
  if (Error error = checkIsFile(path))
    return std::move(error);
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) &&
      status.type() == sys::fs::file_type::regular_file &&
      status.getSize() > most)
    return createStringError("cannot read '%s': it has %llu bytes, more than "
                             "the %llu that such a file may have",
                             path.str().c_str(),
                             static_cast<unsigned long long>(status.getSize()),
                             static_cast<unsigned long long>(most));
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(), "cannot read '%s': %s",
                             path.str().c_str(),
                             buffer.getError().message().c_str());
  return std::move(*buffer);
}

Expected<std::string> rhizome::readFile(StringRef path) {
  // What is copied must have room.
  constexpr uint64_t kMost = uint64_t(4) << 30;
  return readFile(path, kMost);
}

Expected<std::string> rhizome::readFile(StringRef path, uint64_t most) {
  auto buffer = mapFile(path, most);
  if (!buffer)
    return buffer.takeError();
  return (*buffer)->getBuffer().str();
}
