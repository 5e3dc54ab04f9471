// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All of it goes from folder to folder by descriptors: a name is looked up in
// an open folder and never followed if it is a link.
#include "rhizome/Support/Folders.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

/// Deeper folders are refused: each level takes a descriptor.
static constexpr unsigned kDeepest = 64;
static constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

Descriptor::~Descriptor() {
  if (number >= 0)
    close(number);
}

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  if (number >= 0)
    close(number);
  number = other.release();
  return *this;
}

static Error problem(const char *what, StringRef path, int code = errno) {
  return createStringError(std::error_code(code, std::generic_category()),
                           "cannot %s '%s': %s", what, printable(path).c_str(),
                           std::strerror(code));
}

static Error refuseLink(StringRef path) {
  return createStringError("'%s' is a symbolic link, which is not followed "
                           "here; remove it, or put what it leads to there",
                           printable(path).c_str());
}

bool rhizome::isLink(StringRef path) {
  struct stat status;
  return lstat(path.rtrim('/').str().c_str(), &status) == 0 &&
         S_ISLNK(status.st_mode);
}

/// The path's folder and the name in it.
static std::pair<std::string, std::string> split(StringRef path) {
  while (path.size() > 1 && path.ends_with("/"))
    path = path.drop_back();
  StringRef folder = sys::path::parent_path(path);
  return {folder.empty() ? "." : folder.str(), sys::path::filename(path).str()};
}

/// Opens a folder that the user or we have named.
static Expected<Descriptor> openRoot(StringRef path) {
  Descriptor found(
      open(path.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (found.get() < 0)
    return problem("open the folder", path);
  return std::move(found);
}

/// The folder `relative` below `root`, reached through no link.
static Expected<Descriptor> openBelow(StringRef root, StringRef relative,
                                      bool make) {
  Expected<Descriptor> folder = openRoot(root);
  std::string at = root.str();
  SmallVector<StringRef> parts;
  relative.split(parts, '/', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    if (!folder)
      return folder.takeError();
    if (part == ".")
      continue;
    const std::string name = part.str();
    at += "/" + name;
    if (part == "..")
      return createStringError("'%s' leads out of '%s'",
                               printable(relative).c_str(), root.str().c_str());
    if (make && mkdirat(folder->get(), name.c_str(), 0777) != 0 &&
        errno != EEXIST)
      return problem("make the folder", at);
    Descriptor next(openat(folder->get(), name.c_str(), kFolder));
    if (next.get() < 0) {
      const int code = errno;
      struct stat status;
      if (fstatat(folder->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) ==
              0 &&
          S_ISLNK(status.st_mode))
        return refuseLink(at);
      return problem(make ? "make the folder" : "open the folder", at, code);
    }
    *folder = std::move(next);
  }
  return folder;
}

/// Calls `visit` with each name in an open folder, sorted.
static Error forEachName(int folder, StringRef path,
                         function_ref<Error(const std::string &)> visit) {
  int copy = openat(folder, ".", kFolder);
  DIR *stream = copy < 0 ? nullptr : fdopendir(copy);
  if (!stream) {
    const int code = errno;
    if (copy >= 0)
      close(copy);
    return problem("read the folder", path, code);
  }
  std::vector<std::string> names;
  while (const dirent *entry = readdir(stream))
    if (StringRef name = entry->d_name; name != "." && name != "..")
      names.push_back(name.str());
  closedir(stream);
  llvm::sort(names);
  for (const std::string &name : names)
    if (Error error = visit(name))
      return error;
  return Error::success();
}

static Error checkPlain(int folder, const std::string &root,
                        const std::string &relative, unsigned depth,
                        function_ref<bool(StringRef)> isExempt) {
  const std::string path = root + (relative.empty() ? "" : "/" + relative);
  if (depth > kDeepest)
    return createStringError("'%s': folders are nested deeper than %u levels",
                             printable(path).c_str(), kDeepest);
  return forEachName(folder, path, [&](const std::string &name) -> Error {
    const std::string inner = (relative.empty() ? "" : relative + "/") + name;
    if (isExempt(inner))
      return Error::success();
    const std::string at = root + "/" + inner;
    struct stat status;
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return errno == ENOENT ? Error::success() : problem("read", at);
    if (S_ISLNK(status.st_mode))
      return refuseLink(at);
    if (S_ISREG(status.st_mode))
      return Error::success();
    if (!S_ISDIR(status.st_mode))
      return createStringError("cannot read '%s': it is no file",
                               printable(at).c_str());
    Descriptor next(openat(folder, name.c_str(), kFolder));
    if (next.get() < 0)
      return errno == ENOENT ? Error::success() : problem("read", at);
    return checkPlain(next.get(), root, inner, depth + 1, isExempt);
  });
}

Error rhizome::checkPlainTree(StringRef folder,
                              function_ref<bool(StringRef)> isExempt) {
  Expected<Descriptor> open = openRoot(folder);
  if (!open)
    return open.takeError();
  return checkPlain(open->get(), folder.rtrim('/').str(), "", 0, isExempt);
}

Error rhizome::makeFolders(StringRef root, StringRef relative) {
  return openBelow(root, relative, /*make=*/true).takeError();
}

Error rhizome::makeFolders(StringRef path) {
  // From the deepest folder that is there; what is made has no links.
  SmallString<256> there(path);
  while (there.size() > 1 && there.back() == '/')
    there.pop_back();
  const std::string whole = there.str().str();
  struct stat status;
  if (isLink(whole))
    return refuseLink(whole);
  while (!there.empty() && lstat(there.c_str(), &status) != 0) {
    if (errno != ENOENT)
      return problem("make the folder", whole);
    sys::path::remove_filename(there);
    while (there.size() > 1 && there.back() == '/')
      there.pop_back();
  }
  const std::string root = there.empty() ? "." : there.str().str();
  return makeFolders(root, StringRef(whole).substr(there.size()));
}

Error rhizome::makeNewFolder(StringRef path) {
  return mkdir(path.str().c_str(), 0777) == 0
             ? Error::success()
             : problem("make the folder", path);
}

Expected<std::string> rhizome::makeTemporaryFolder(StringRef prefix) {
  const char *folder = std::getenv("TMPDIR");
  std::string name = std::string(folder && *folder ? folder : "/tmp") + "/" +
                     prefix.str() + "-XXXXXX";
  if (!mkdtemp(name.data()))
    return createStringError(std::error_code(errno, std::generic_category()),
                             "cannot make a temporary folder '%s': %s; TMPDIR "
                             "says where",
                             name.c_str(), std::strerror(errno));
  return name;
}

static Error removeAt(int folder, const std::string &name,
                      const std::string &path, unsigned depth) {
  struct stat status;
  if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT || errno == ENOTDIR ? Error::success()
                                               : problem("remove", path);
  if (!S_ISDIR(status.st_mode))
    return unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT
               ? Error::success()
               : problem("remove", path);
  if (depth > kDeepest)
    return createStringError("cannot remove '%s': folders are nested deeper "
                             "than %u levels",
                             printable(path).c_str(), kDeepest);
  {
    Descriptor inner(openat(folder, name.c_str(), kFolder));
    if (inner.get() < 0)
      return errno == ENOENT ? Error::success() : problem("remove", path);
    if (Error error =
            forEachName(inner.get(), path, [&](const std::string &entry) {
              return removeAt(inner.get(), entry, path + "/" + entry,
                              depth + 1);
            }))
      return error;
  }
  return unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT
             ? Error::success()
             : problem("remove", path);
}

Error rhizome::removeTree(StringRef path) {
  auto [folder, name] = split(path);
  struct stat status;
  if (lstat(path.rtrim('/').str().c_str(), &status) != 0 &&
      (errno == ENOENT || errno == ENOTDIR))
    return Error::success();
  Expected<Descriptor> open = openRoot(folder);
  if (!open)
    return open.takeError();
  return removeAt(open->get(), name, path.str(), 0);
}

Error rhizome::removeTree(StringRef root, StringRef relative) {
  auto [folder, name] = split(relative);
  Expected<Descriptor> open = openBelow(root, folder, /*make=*/false);
  if (open)
    return removeAt(open->get(), name, (root + "/" + relative).str(), 0);
  // What cannot be reached because it is missing need not be removed.
  return handleErrors(
      open.takeError(), [](std::unique_ptr<StringError> error) -> Error {
        if (error->convertToErrorCode() == std::errc::no_such_file_or_directory)
          return Error::success();
        return Error(std::move(error));
      });
}

std::vector<std::string> rhizome::namesIn(StringRef folder) {
  std::vector<std::string> names;
  Descriptor open(::open(folder.str().c_str(), kFolder));
  if (open.get() < 0)
    return names;
  consumeError(forEachName(open.get(), folder, [&](const std::string &name) {
    names.push_back(name);
    return Error::success();
  }));
  return names;
}

int rhizome::openNewFile(const char *path) {
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  // Twice, in case another process makes it at the same time.
  for (int attempt = 0; attempt < 2; ++attempt) {
    int made = open(path, kNew, 0666);
    if (made >= 0 || errno != EEXIST)
      return made;
    struct stat status;
    if (lstat(path, &status) == 0) {
      if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
        return -1;
      }
      if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    }
  }
  return open(path, kNew, 0666);
}

/// Writes all bytes and closes; the error's number, 0 if it is well.
static int writeAll(Descriptor to, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(to.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return count < 0 ? errno : EIO;
    bytes = bytes.drop_front(size_t(count));
  }
  return close(to.release()) == 0 ? 0 : errno;
}

Error rhizome::writeBytes(StringRef path, StringRef bytes) {
  Descriptor file(openNewFile(path.str().c_str()));
  int code = file.get() < 0 ? errno : writeAll(std::move(file), bytes);
  return code ? problem("write", path, code) : Error::success();
}

Error rhizome::writeAtomically(StringRef path, StringRef bytes) {
  std::string aside = (path + ".tmp-" + Twine(getpid())).str();
  Descriptor file(openNewFile(aside.c_str()));
  int code = file.get() < 0 ? errno : writeAll(std::move(file), bytes);
  if (!code && rename(aside.c_str(), path.str().c_str()) != 0)
    code = errno;
  if (!code)
    return Error::success();
  unlink(aside.c_str());
  return problem("write", path, code);
}

Error rhizome::copyFile(StringRef from, StringRef to) {
  Descriptor source(
      open(from.str().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (source.get() < 0)
    return errno == ELOOP ? refuseLink(from) : problem("read", from);
  if (fstat(source.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return createStringError("cannot read '%s': it is no file",
                             printable(from).c_str());
  Descriptor target(openNewFile(to.str().c_str()));
  if (target.get() < 0)
    return problem("write", to);
  std::vector<char> buffer(1 << 18);
  for (;;) {
    ssize_t count = read(source.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return problem("read", from);
    if (count == 0)
      break;
    for (ssize_t done = 0; done < count;) {
      ssize_t part =
          write(target.get(), buffer.data() + done, size_t(count - done));
      if (part < 0 && errno != EINTR)
        return problem("write", to);
      done += std::max<ssize_t>(part, 0);
    }
  }
  return close(target.release()) == 0 ? Error::success() : problem("write", to);
}

Expected<std::string> rhizome::readFileBelow(StringRef root,
                                             StringRef relative) {
  auto [folder, name] = split(relative);
  const std::string path = (root + "/" + relative).str();
  Expected<Descriptor> open = openBelow(root, folder, /*make=*/false);
  if (!open)
    return open.takeError();
  Descriptor file(openat(open->get(), name.c_str(),
                         O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (file.get() < 0)
    return errno == ELOOP ? refuseLink(path) : problem("read", path);
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return createStringError("cannot read '%s': it is no file",
                             printable(path).c_str());
  std::string text(size_t(status.st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    ssize_t count = read(file.get(), text.data() + have, text.size() - have);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return problem("read", path);
    if (count == 0)
      break;
    have += size_t(count);
  }
  text.resize(have);
  return text;
}
