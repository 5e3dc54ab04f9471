// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a package aside and puts it in place by one rename, so that nobody
// ever sees half of one. What interrupts it removes what it wrote.
#include "rhizome/Package/Package.h"
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

Expected<std::unique_ptr<PackageWriter>>
PackageWriter::create(StringRef wanted) {
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
  StringRef parent = sys::path::parent_path(target);
  if (std::error_code error = sys::fs::create_directories(parent))
    return problem(error, "make the folder '" + parent.str() + "'");
  std::string prefix = "." + sys::path::filename(target).str() + ".tmp-";
  clearLeftovers(parent, prefix);
  std::string aside = parent.str() + "/" + prefix + std::to_string(getpid());
  sys::fs::remove_directories(aside);
  // Known before it is there, so that no interrupt finds it unknown.
  std::unique_ptr<PackageWriter> writer(
      new PackageWriter(target.str().str(), aside));
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
    return problem(error, "copy '" + from.str() + "'");
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
  bool replaces = sys::fs::exists(target);
  // An exchange never leaves a moment without a package; where the file system
  // cannot, the old one goes first.
  int result = -1;
  if (replaces) {
    result = renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, target.c_str(),
                       RENAME_EXCHANGE);
    if (result != 0)
      sys::fs::remove_directories(target);
  }
  if (result != 0) {
    if (std::error_code error = sys::fs::rename(aside, target))
      return problem(error, "put the package in place as '" + target + "'");
  }
  if (replaces && result == 0)
    sys::fs::remove_directories(aside); // the old package
  aside.clear();
  if (slot >= 0)
    slots[slot].state = 0;
  slot = -1;
  return Error::success();
}
