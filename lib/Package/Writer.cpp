// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a package aside and puts it in place by one rename, so that nobody
// ever sees half of one. What interrupts it removes what it wrote.
#include "Written.h"
#include "rhizome/Package/Checksums.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Support/Folders.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
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

/// A folder, and no link to one, that holds nothing.
static bool isEmptyFolder(const std::string &path) {
  return !isLink(path) && sys::fs::is_directory(path) && namesIn(path).empty();
}

/// True if rhizome has written what is there: its checksums and the schema of
/// its plan say so.
static bool isOurs(const std::string &path) {
  Expected<std::string> sums = readFileBelow(path, kChecksums),
                        plan = readFileBelow(path, "plan.json");
  bool good = sums && plan;
  if (good) {
    Expected<std::vector<FileChecksum>> files = parseChecksums(*sums);
    good = files && any_of(*files, [](const FileChecksum &file) {
             return file.path == "plan.json";
           });
    if (!files)
      consumeError(files.takeError());
  }
  if (good) {
    Expected<json::Value> value = parseJson(*plan);
    const json::Object *object = value ? value->getAsObject() : nullptr;
    good = object && object->getInteger("schema") &&
           object->getString("rhizome") && object->getArray("nodes");
    if (!value)
      consumeError(value.takeError());
  }
  consumeError(joinErrors(sums.takeError(), plan.takeError()));
  return good;
}

/// Removes folders aside of the same target whose process is gone.
static void clearLeftovers(const std::string &parent, StringRef prefix) {
  for (const std::string &entry : namesIn(parent)) {
    StringRef name = entry;
    pid_t pid = 0;
    if (name.consume_front(prefix) && !name.getAsInteger(10, pid) && pid > 0 &&
        kill(pid, 0) != 0 && errno == ESRCH)
      consumeError(removeTree(parent, entry));
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
  const std::string path = target.str().str();
  if (isLink(path))
    return createStringError("'%s' is a symbolic link, and none is followed "
                             "or replaced; give -o the folder itself",
                             path.c_str());
  if (sys::fs::exists(path) && !isEmptyFolder(path) && !isOurs(path))
    return createStringError(
        "'%s' exists and is no rhizome package%s; remove it or choose another "
        "name with -o",
        path.c_str(),
        sys::fs::exists(path + "/plan.json")
            ? " (its plan.json or checksums.json is not one of rhizome's)"
            : "");
  return path;
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
  StringRef target = *checked;
  const std::string parent = sys::path::parent_path(target).str();
  if (!sys::fs::is_directory(parent))
    if (Error error = makeFolders(parent))
      return std::move(error);
  std::string prefix = "." + sys::path::filename(target).str() + ".tmp-";
  clearLeftovers(parent, prefix);
  std::string aside = parent + "/" + prefix + std::to_string(getpid());
  if (Error error = removeTree(aside))
    return std::move(error);
  // Known before it is there, so that no interrupt finds it unknown.
  std::unique_ptr<PackageWriter> writer(new PackageWriter(target.str(), aside));
  writer->slot = registerAside(aside);
  if (Error error = makeNewFolder(aside))
    return std::move(error);
  return writer;
}

PackageWriter::~PackageWriter() {
  if (!aside.empty())
    consumeError(removeTree(aside));
  if (slot >= 0)
    slots[slot].state = 0;
}

Expected<std::string> PackageWriter::makeFolder(StringRef relative) {
  if (Error error = makeFolders(aside, relative))
    return std::move(error);
  return aside + "/" + relative.str();
}

Error PackageWriter::writeFile(StringRef relative, StringRef contents) {
  Expected<std::string> folder = makeFolder(sys::path::parent_path(relative));
  if (!folder)
    return folder.takeError();
  return writeBytes(aside + "/" + relative.str(), contents);
}

Error PackageWriter::copyFile(StringRef relative, StringRef from) {
  Expected<std::string> folder = makeFolder(sys::path::parent_path(relative));
  if (!folder)
    return folder.takeError();
  Expected<std::string> bytes = readFile(from);
  if (!bytes)
    return bytes.takeError();
  return writeBytes(aside + "/" + relative.str(), *bytes);
}

Error PackageWriter::writePlan(const Plan &plan) {
  for (const PlannedNode &node : plan.nodes) {
    if (!node.rtlOf.empty())
      continue;
    if (Error error = writeFile("nodes/" + node.name + "/rtl/files.f",
                                join(node.rtl, "\n") + "\n"))
      return error;
  }
  rtl = rtlOf(plan);
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
  std::vector<std::string> texts;
  for (const std::string &file : rtl) {
    Expected<std::string> text = readFileBelow(aside, file);
    if (!text) {
      consumeError(text.takeError()); // a plan without its files
      break;
    }
    texts.push_back(std::move(*text));
  }
  recordWritten(texts);
  // Others may have put something there since it was checked.
  if (Error error = targetOf(target).takeError())
    return error;
  bool replaces = sys::fs::exists(target), isSame = false;
  if (Expected<std::string> old = readFileBelow(target, kChecksums))
    isSame = *old == checksums;
  else
    consumeError(old.takeError());
  std::string results = target + "/results";
  bool measured = !isLink(results) && !namesIn(results).empty();
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
      if (Error error = removeTree(target))
        return error;
    }
  }
  if (result != 0) {
    if (std::error_code error = sys::fs::rename(aside, target))
      return problem(error, "put the package in place as '" + target + "'");
  }
  if (replaces && result == 0) { // the old package lies aside
    if (measured && isSame)
      sys::fs::rename(aside + "/results", results);
    consumeError(removeTree(aside));
  }
  aside.clear();
  if (slot >= 0)
    slots[slot].state = 0;
  slot = -1;
  return Error::success();
}
