// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of Yosys as processes: some at a time, each in a process group of its
// own, so that it ends with all that it started when we do.
#include "Yosys.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::synth;

extern char **environ;

// A handler may touch neither heap nor locks: process groups stand in a table.
static std::atomic<pid_t> groups[64];
static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[std::size(kSignals)];

extern "C" void rhizomeKillRuns(int signal) {
  for (std::atomic<pid_t> &group : groups)
    if (pid_t pid = group.load())
      kill(-pid, SIGKILL);
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal)
      sigaction(signal, &before[i], nullptr);
  raise(signal);
}

Runner::Runner(std::string tool, unsigned jobs)
    : tool(std::move(tool)),
      jobs(std::clamp<unsigned>(jobs, 1, std::size(groups))) {
  struct sigaction action = {};
  action.sa_handler = rhizomeKillRuns;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) // nohup stays nohup
      sigaction(kSignals[i], &action, nullptr);
  }
}

Runner::~Runner() {
  for (Process &process : running) {
    kill(-process.pid, SIGKILL);
    waitpid(process.pid, nullptr, 0);
    groups[process.slot] = 0;
  }
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &before[i], nullptr);
}

Error Runner::start(Job &job) {
  assert(!isFull() && "no room for another run");
  size_t slot = 0;
  while (groups[slot])
    ++slot;
  assert(slot < std::size(groups) && "one runner at a time");
  // What the child needs is made before the fork. Yosys' own scratch files go
  // into the job's folder and away with it.
  std::string log = job.folder + "/log.txt", temporary = "TMPDIR=" + job.folder;
  std::vector<char *> environment = {temporary.data()};
  for (char **entry = environ; *entry; ++entry)
    if (!StringRef(*entry).starts_with("TMPDIR="))
      environment.push_back(*entry);
  environment.push_back(nullptr);
  std::string script = "module.ys", quiet = "-q";
  char *argv[] = {tool.data(), quiet.data(), script.data(), nullptr};
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int in = open("/dev/null", O_RDONLY);
    int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (getppid() != parent || in < 0 || out < 0 || dup2(in, 0) < 0 ||
        dup2(out, 1) < 0 || dup2(out, 2) < 0 || chdir(job.folder.c_str()) != 0)
      _exit(126);
    execve(tool.c_str(), argv, environment.data());
    _exit(127);
  }
  if (pid < 0)
    return createStringError("cannot start '%s': %s", tool.c_str(),
                             std::strerror(errno));
  setpgid(pid, pid);
  groups[slot] = pid;
  running.push_back({pid, slot, &job});
  return Error::success();
}

Job *Runner::wait() {
  assert(!isIdle() && "nothing runs");
  while (true) {
    for (auto it = running.begin(); it != running.end(); ++it) {
      int status = 0;
      struct rusage used = {};
      if (wait4(it->pid, &status, WNOHANG, &used) == 0)
        continue;
      Job *job = it->job;
      job->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
      for (const timeval &time : {used.ru_utime, used.ru_stime})
        job->seconds += double(time.tv_sec) + double(time.tv_usec) * 1e-6;
      groups[it->slot] = 0;
      running.erase(it);
      return job;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Expected<std::string> synth::versionOf(StringRef tool) {
  SmallString<128> file;
  if (std::error_code error =
          sys::fs::createTemporaryFile("rhizome-synth", "txt", file))
    return createStringError(error, "cannot make a temporary file");
  Error failed = runTool(tool, {"-V"}, ".", file);
  Expected<std::string> text = readFile(file);
  sys::fs::remove(file);
  if (failed) {
    consumeError(text.takeError());
    return std::move(failed);
  }
  if (!text)
    return text.takeError();
  // Some tell that they prepare themselves first.
  SmallVector<StringRef> lines;
  StringRef(*text).split(lines, '\n');
  auto line = llvm::find_if(
      lines, [](StringRef line) { return line.starts_with("Yosys"); });
  if (line == lines.end())
    return createStringError("'%s' is no Yosys: it calls itself '%s'",
                             tool.str().c_str(),
                             lines.front().trim().str().c_str());
  // Newer ones add how they were compiled.
  auto [version, compiler] = line->trim().split(", ");
  return compiler.empty() ? version.str() : (version + ")").str();
}
