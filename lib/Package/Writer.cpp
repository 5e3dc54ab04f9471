// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a package aside and puts it in place by one rename, so that nobody
// ever sees half of one. What interrupts it removes what it wrote.
#include "rhizome/Package/Checksums.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

//===----------------------------------------------------------------------===//
// Interrupts
//===----------------------------------------------------------------------===//

// A handler may touch neither heap nor locks, so the folders aside stand in a
// fixed table. A slot's text is complete before `state` says so.
namespace {
struct Slot {
  std::atomic<int> state{0}; // 0 free, 1 being filled, 2 a folder to remove
  pthread_t writer;          // the thread that writes into the folder
  char path[4096];
};
Slot slots[8];
} // namespace

/// Removes the folders aside with rm(1), the async-signal-safe way, then lets
/// the signal do what it does by default. The kernel may choose any thread for
/// it; a folder is removed in its writer's, which so writes no more.
extern "C" void rhizomeRemoveAside(int signal) {
  for (Slot &slot : slots) {
    if (slot.state.load() != 2)
      continue;
    if (!pthread_equal(slot.writer, pthread_self())) {
      pthread_kill(slot.writer, signal);
      while (slot.state.load() == 2) // sleeps a millisecond at a time
        poll(nullptr, 0, 1);
      continue;
    }
    // fork() would wait for malloc's lock, which what was interrupted may hold.
    pid_t child = _Fork();
    if (child == 0) {
      execl("/bin/rm", "rm", "-rf", "--", slot.path,
            static_cast<char *>(nullptr));
      _exit(127);
    }
    if (child > 0)
      waitpid(child, nullptr, 0);
    slot.state = 0;
  }
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  raise(signal);
}

static int registerAside(const std::string &path) {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_handler = rhizomeRemoveAside;
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction old = {};
      sigaction(signal, nullptr, &old);
      if (old.sa_handler != SIG_IGN) // nohup stays nohup
        sigaction(signal, &action, nullptr);
    }
    return true;
  }();
  (void)installed;
  if (path.size() >= sizeof(Slot::path))
    return -1;
  for (int i = 0; i < int(std::size(slots)); ++i) {
    int free = 0;
    if (!slots[i].state.compare_exchange_strong(free, 1))
      continue;
    slots[i].writer = pthread_self();
    std::strcpy(slots[i].path, path.c_str());
    slots[i].state = 2;
    return i;
  }
  return -1;
}

//===----------------------------------------------------------------------===//
// PackageWriter
//===----------------------------------------------------------------------===//

static Error problem(std::error_code error, const std::string &what) {
  return createStringError(error, "cannot %s: %s", what.c_str(),
                           error.message().c_str());
}

static bool isEmptyFolder(const std::string &path) {
  std::error_code error;
  sys::fs::directory_iterator it(path, error);
  return !error && it == sys::fs::directory_iterator();
}

/// Removes folders aside of the same target whose process is gone.
static void clearLeftovers(StringRef parent, StringRef prefix) {
  std::error_code error;
  for (sys::fs::directory_iterator it(parent, error), end; it != end && !error;
       it.increment(error)) {
    StringRef name = sys::path::filename(it->path());
    pid_t pid = 0;
    if (name.consume_front(prefix) && !name.getAsInteger(10, pid) && pid > 0 &&
        kill(pid, 0) != 0 && errno == ESRCH)
      sys::fs::remove_directories(it->path());
  }
}

/// The target as an absolute path, if a package may be put there.
static Expected<std::string> targetOf(StringRef wanted) {
  SmallString<256> target(wanted);
  if (std::error_code error = sys::fs::make_absolute(target))
    return problem(error, "find '" + wanted.str() + "'");
  sys::path::remove_dots(target, /*remove_dot_dot=*/false);
  while (target.size() > 1 && target.back() == '/')
    target.pop_back();
  if (sys::fs::exists(target) && !sys::fs::exists(target + "/plan.json") &&
      !isEmptyFolder(target.str().str()))
    return createStringError("'%s' exists and is no rhizome package; remove "
                             "it or choose another name with -o",
                             target.c_str());
  return target.str().str();
}

Error PackageWriter::check(StringRef wanted) {
  Expected<std::string> target = targetOf(wanted);
  if (!target)
    return target.takeError();
  // The nearest folder that is there must take what is made.
  StringRef parent = sys::path::parent_path(*target);
  while (!sys::fs::exists(parent) && parent.size() > 1)
    parent = sys::path::parent_path(parent);
  std::error_code error;
  if (!sys::fs::is_directory(parent))
    error = std::make_error_code(std::errc::not_a_directory);
  else if (!sys::fs::can_write(parent))
    error = std::make_error_code(std::errc::permission_denied);
  if (error)
    return problem(error, "make the folder '" + *target + "' in '" +
                              parent.str() + "'");
  return Error::success();
}

Expected<std::unique_ptr<PackageWriter>>
PackageWriter::create(StringRef wanted) {
  Expected<std::string> checked = targetOf(wanted);
  if (!checked)
    return checked.takeError();
  StringRef target = *checked, parent = sys::path::parent_path(target);
  if (std::error_code error =
          sys::fs::create_directories(parent, true, sys::fs::all_all))
    return problem(error, "make the folder '" + parent.str() + "'");
  std::string prefix = "." + sys::path::filename(target).str() + ".tmp-";
  clearLeftovers(parent, prefix);
  std::string aside = parent.str() + "/" + prefix + std::to_string(getpid());
  sys::fs::remove_directories(aside);
  // Known before it is there, so that no interrupt finds it unknown.
  std::unique_ptr<PackageWriter> writer(new PackageWriter(target.str(), aside));
  writer->slot = registerAside(aside);
  if (std::error_code error =
          sys::fs::create_directory(aside, false, sys::fs::all_all))
    return problem(error, "make the folder '" + aside + "'");
  return writer;
}

PackageWriter::~PackageWriter() {
  if (!aside.empty())
    sys::fs::remove_directories(aside);
  if (slot >= 0)
    slots[slot].state = 0;
}

Expected<std::string> PackageWriter::makeFolder(StringRef relative) {
  SmallString<256> path(aside);
  sys::path::append(path, relative);
  if (std::error_code error =
          sys::fs::create_directories(path, true, sys::fs::all_all))
    return problem(error, "make the folder '" + path.str().str() + "'");
  return path.str().str();
}

Error PackageWriter::writeFile(StringRef relative, StringRef contents) {
  Expected<std::string> folder = makeFolder(sys::path::parent_path(relative));
  if (!folder)
    return folder.takeError();
  SmallString<256> path(aside);
  sys::path::append(path, relative);
  std::error_code error;
  raw_fd_ostream os(path, error);
  if (!error) {
    os << contents;
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return problem(error, "write '" + path.str().str() + "'");
  return Error::success();
}

Error PackageWriter::copyFile(StringRef relative, StringRef from) {
  Expected<std::string> folder = makeFolder(sys::path::parent_path(relative));
  if (!folder)
    return folder.takeError();
  SmallString<256> path(aside);
  sys::path::append(path, relative);
  if (std::error_code error = sys::fs::copy_file(from, path))
    return problem(error, "copy '" + from.str() + "' into '" + target + "'");
  return Error::success();
}

Error PackageWriter::writePlan(const Plan &plan) {
  for (const PlannedNode &node : plan.nodes) {
    if (!node.rtlOf.empty())
      continue;
    if (Error error = writeFile("nodes/" + node.name + "/rtl/files.f",
                                join(node.rtl, "\n") + "\n"))
      return error;
  }
  return writeFile("plan.json", printPlan(plan));
}

Error PackageWriter::commit() {
  assert(sys::fs::exists(aside + "/plan.json") && "a package has a plan");
  Expected<std::vector<FileChecksum>> files = checksumsOf(aside);
  if (!files)
    return files.takeError();
  std::string checksums = printChecksums(*files);
  if (Error error = writeFile(kChecksums, checksums))
    return error;
  bool replaces = sys::fs::exists(target), isSame = false;
  if (Expected<std::string> old = readFile(target + "/" + kChecksums))
    isSame = *old == checksums;
  else
    consumeError(old.takeError());
  std::string results = target + "/results";
  bool measured = sys::fs::is_directory(results) && !isEmptyFolder(results);
  resultsAreGone = measured && !isSame;
  // An exchange never leaves a moment without a package; where the file system
  // cannot, the old one goes first.
  int result = -1;
  if (replaces) {
    result = renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, target.c_str(),
                       RENAME_EXCHANGE);
    if (result != 0) {
      if (measured && isSame)
        sys::fs::rename(results, aside + "/results");
      sys::fs::remove_directories(target);
    }
  }
  if (result != 0) {
    if (std::error_code error = sys::fs::rename(aside, target))
      return problem(error, "put the package in place as '" + target + "'");
  }
  if (replaces && result == 0) { // the old package lies aside
    if (measured && isSame)
      sys::fs::rename(aside + "/results", results);
    sys::fs::remove_directories(aside);
  }
  aside.clear();
  if (slot >= 0)
    slots[slot].state = 0;
  slot = -1;
  return Error::success();
}
