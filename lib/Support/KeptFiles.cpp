// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user of a file has a shared lock on it; removing it needs the
// exclusive one. A file's time of modification is that of its last use.
#include "rhizome/Support/KeptFiles.h"
#include "rhizome/Support/Tools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace rhizome;

/// Suffix of a file that is being written; its process and a number follow.
static constexpr StringLiteral kAside = ".tmp-";

/// True for a file whose writer is still active.
static bool isBeingWritten(StringRef name) {
  auto [of, writer] = name.rsplit(kAside);
  pid_t pid = 0;
  return !writer.split('-').first.getAsInteger(10, pid) && pid > 0 &&
         (kill(pid, 0) == 0 || errno != ESRCH);
}

KeptFiles::Hold::~Hold() { close(descriptor); }

uint64_t rhizome::keptBytes() {
  constexpr uint64_t kMegabytes = 2000;
  uint64_t wanted = kMegabytes;
  if (const char *text = std::getenv("RHIZOME_CACHE_MB"))
    if (StringRef(text).getAsInteger(10, wanted) || wanted > 1u << 30)
      wanted = kMegabytes;
  return wanted * 1000 * 1000;
}

KeptFiles::KeptFiles(std::string folder, uint64_t mostBytes)
    : where(std::move(folder)), mostBytes(mostBytes) {}

Expected<KeptFiles> KeptFiles::ofUser(StringRef name) {
  Expected<std::string> cache = userCache();
  if (!cache)
    return cache.takeError();
  SmallString<256> folder(*cache + "/" + name.str());
  if (std::error_code error = sys::fs::make_absolute(folder))
    return createStringError(error, "cannot make the folder '%s': %s",
                             folder.c_str(), error.message().c_str());
  if (Error error = makeFolders(folder))
    return std::move(error);
  return KeptFiles(folder.str().str(), keptBytes());
}

std::string KeptFiles::path(StringRef name) const {
  return where + "/" + name.str();
}

/// True if the path names the open file.
static bool isStillAt(int descriptor, const std::string &path) {
  struct stat open, named;
  return fstat(descriptor, &open) == 0 && lstat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

KeptFiles::Held KeptFiles::take(StringRef name) const {
  const std::string at = path(name);
  // Between opening a file and locking it another process may remove it.
  for (;;) {
    int descriptor = open(at.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
      return nullptr;
    auto hold = std::make_shared<Hold>(descriptor);
    // On a file system without locks, nothing is removed either.
    flock(descriptor, LOCK_SH);
    if (!isStillAt(descriptor, at))
      continue;
    futimens(descriptor, nullptr);
    return hold;
  }
}

/// Renames a file unless there is already one with that name.
static int place(const std::string &from, const std::string &to) {
  int status =
      renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  if (status != 0 && (errno == EINVAL || errno == ENOSYS))
    status = rename(from.c_str(), to.c_str()); // the flag is not supported here
  return status;
}

Expected<KeptFiles::Held>
KeptFiles::put(StringRef name,
               function_ref<Error(const std::string &path)> write) const {
  static std::atomic<unsigned> written{0};
  const std::string at = path(name), aside = at + kAside.str() +
                                             utostr(getpid()) + "-" +
                                             utostr(written++);
  if (Error error = write(aside)) {
    sys::fs::remove(aside);
    return error;
  }
  int descriptor = open(aside.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0)
    return createStringError("'%s' cannot be read again", aside.c_str());
  auto hold = std::make_shared<Hold>(descriptor);
  flock(descriptor, LOCK_SH);
  while (place(aside, at) != 0) {
    if (errno != EEXIST) {
      Error error = createStringError(
          std::error_code(errno, std::generic_category()),
          "cannot place '%s': %s", at.c_str(), strerror(errno));
      sys::fs::remove(aside);
      return error;
    }
    // An existing file may be held by path, so it is not replaced.
    if (Held other = take(name)) {
      sys::fs::remove(aside);
      return other;
    }
  }
  trim();
  return hold;
}

void KeptFiles::trim() const {
  struct File {
    std::string path;
    sys::TimePoint<> used;
    uint64_t bytes;
  };
  std::vector<File> files;
  uint64_t sum = 0;
  std::error_code error;
  for (sys::fs::directory_iterator it(where, error, /*follow_symlinks=*/false),
       end;
       it != end && !error; it.increment(error)) {
    sys::fs::file_status status;
    if (sys::fs::status(it->path(), status, /*follow=*/false) ||
        status.type() != sys::fs::file_type::regular_file)
      continue;
    sum += status.getSize();
    files.push_back(
        {it->path(), status.getLastModificationTime(), status.getSize()});
  }
  llvm::sort(files, [](const File &a, const File &b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const File &file : files) {
    if (sum <= mostBytes)
      return;
    if (isBeingWritten(sys::path::filename(file.path)))
      continue;
    int descriptor = open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
      continue;
    Hold hold(descriptor);
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
        isStillAt(descriptor, file.path) && !sys::fs::remove(file.path))
      sum -= file.bytes;
  }
}
