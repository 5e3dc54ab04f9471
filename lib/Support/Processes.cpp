// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// External programs as processes: several at a time, each in its own process
// group, so that it ends with all its children when we do.
#include "rhizome/Support/Tools.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <mutex>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

extern char **environ;

// A handler may touch neither heap nor locks: process groups are in a table,
// kStarting until they are known.
static std::atomic<pid_t> groups[64];
static constexpr pid_t kStarting = -1;
static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[std::size(kSignals)];

// Handlers are installed while any runner exists.
static std::mutex handlersMutex;
static int runners = 0;

static void restoreHandlers() {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &before[i], nullptr);
}

extern "C" void rhizomeKillProcesses(int signal) {
  for (std::atomic<pid_t> &group : groups) {
    pid_t pid = group.load();
    while (pid == kStarting) // in another thread, see SignalsHeld
      pid = group.load();
    if (pid > 0)
      kill(-pid, SIGKILL);
  }
  restoreHandlers();
  raise(signal);
}

namespace {
/// Blocks our signals while a thread starts a process, so that none is missed.
class SignalsHeld {
public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (int signal : kSignals)
      sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &usual);
  }
  ~SignalsHeld() { release(); }
  void release() { pthread_sigmask(SIG_SETMASK, &usual, nullptr); }

private:
  sigset_t usual;
};
} // namespace

ProcessRunner::ProcessRunner(unsigned limit) : limit(std::max(limit, 1u)) {
  std::lock_guard<std::mutex> lock(handlersMutex);
  if (runners++ > 0)
    return;
  struct sigaction action = {};
  action.sa_handler = rhizomeKillProcesses;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) // nohup stays nohup
      sigaction(kSignals[i], &action, nullptr);
  }
}

ProcessRunner::~ProcessRunner() {
  for (Running &process : running) {
    kill(-process.pid, SIGKILL);
    waitpid(process.pid, nullptr, 0);
    groups[process.slot] = 0;
  }
  std::lock_guard<std::mutex> lock(handlersMutex);
  if (--runners == 0)
    restoreHandlers();
}

/// Takes a slot in the table; none is free if as many processes already run.
static std::optional<size_t> takeSlot() {
  for (size_t slot = 0; slot < std::size(groups); ++slot) {
    pid_t free = 0;
    if (groups[slot].compare_exchange_strong(free, kStarting))
      return slot;
  }
  return std::nullopt;
}

/// The program that this process becomes will be at the same addresses in
/// every run, where the system allows it.
static void fixAddresses() {
  constexpr unsigned long kAsk = 0xffffffff;
  int now = personality(kAsk);
  if (now >= 0)
    personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
}

Error ProcessRunner::start(Process &process) {
  assert(!isFull() && "no room for another process");
  // Everything that the child needs is made before the fork.
  std::optional<Cage> cage;
  if (process.confinement)
    if (Error error =
            Cage::make(*process.confinement, process.program).moveInto(cage))
      return error;
  std::vector<std::string> arguments =
      cage ? cage->words(process.folder) : std::vector<std::string>();
  arguments.push_back(process.program);
  const std::string program = arguments.front();
  arguments.insert(arguments.end(), process.arguments.begin(),
                   process.arguments.end());
  std::vector<char *> argv, environment;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<std::string> given = process.environment;
  if (cage)
    given.insert(given.end(), cage->environment().begin(),
                 cage->environment().end());
  for (char **entry = environ; *entry; ++entry)
    if (none_of(given, [&](StringRef own) {
          return StringRef(*entry).starts_with(
              own.take_front(own.find('=') + 1));
        }))
      environment.push_back(*entry);
  for (std::string &own : given)
    environment.push_back(own.data());
  environment.push_back(nullptr);
  SignalsHeld held;
  std::optional<size_t> slot = takeSlot();
  if (!slot)
    return createStringError("cannot start '%s': %zu programs run already",
                             process.program.c_str(), std::size(groups));
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    restoreHandlers();
    held.release();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (process.addresses == Addresses::Same)
      fixAddresses();
    int in = open("/dev/null", O_RDONLY);
    int out = openNewFile(process.log.c_str());
    if (getppid() != parent || in < 0 || out < 0 || dup2(in, 0) < 0 ||
        dup2(out, 1) < 0 || (!process.showErrors && dup2(out, 2) < 0) ||
        chdir(process.folder.c_str()) != 0)
      _exit(126);
    if (cage) {
      // No file of ours is at hand either.
      close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
      if (!cage->enter())
        _exit(126);
    }
    execve(program.c_str(), argv.data(), environment.data());
    _exit(127);
  }
  if (pid < 0) {
    groups[*slot] = 0;
    return createStringError("cannot start '%s': %s", process.program.c_str(),
                             std::strerror(errno));
  }
  setpgid(pid, pid);
  groups[*slot] = pid;
  running.push_back({pid, *slot, &process});
  return Error::success();
}

Process *ProcessRunner::wait(std::chrono::nanoseconds most) {
  assert(!isIdle() && "nothing runs");
  const auto begin = std::chrono::steady_clock::now();
  for (auto pause = std::chrono::microseconds(200);;
       pause = std::min(2 * pause, std::chrono::microseconds(10000))) {
    for (auto it = running.begin(); it != running.end(); ++it) {
      int status = 0;
      struct rusage used = {};
      if (wait4(it->pid, &status, WNOHANG, &used) == 0)
        continue;
      Process *process = it->process;
      process->status =
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      for (const timeval &time : {used.ru_utime, used.ru_stime})
        process->seconds += double(time.tv_sec) + double(time.tv_usec) * 1e-6;
      groups[it->slot] = 0;
      running.erase(it);
      return process;
    }
    if (std::chrono::steady_clock::now() - begin >= most)
      return nullptr;
    std::this_thread::sleep_for(pause);
  }
}
