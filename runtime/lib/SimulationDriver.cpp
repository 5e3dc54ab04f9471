// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator runs as a child for the frames that wait; a pipe whose other
// end it holds tells when it has ended, however it ends.
#include "rhizome/runtime/drivers.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

namespace rhizome::runtime {
namespace {
using Clock = std::chrono::steady_clock;

std::string absolute(const std::string &path) {
  std::error_code error;
  std::string result = std::filesystem::absolute(path, error);
  return error ? path : result;
}

bool writeFile(const std::string &path, const Bytes &bytes) {
  FILE *file = std::fopen(path.c_str(), "wb");
  if (!file)
    return false;
  bool good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && good;
}

bool readWhole(const std::string &path, Bytes &bytes) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return false;
  bytes.clear();
  uint8_t part[1 << 16];
  while (size_t got = std::fread(part, 1, sizeof part, file))
    bytes.insert(bytes.end(), part, part + got);
  return std::fclose(file) == 0;
}

/// What a thread does to itself ends with it, and stays with what it starts.
int inThread(const std::function<int()> &start) {
  int result = 0;
  std::thread([&] { result = start(); }).join();
  return result;
}

class SimulationDriver : public Driver {
public:
  explicit SimulationDriver(SimulationOptions options)
      : options(std::move(options)) {}
  ~SimulationDriver() override { doClose(); }
  const char *name() const override { return "simulation"; }

private:
  Status doOpen() override {
    // The child runs in another folder than this process.
    options.program = absolute(options.program);
    options.folder = absolute(options.folder);
    if (access(options.program.c_str(), X_OK) != 0)
      return {Fault::Gone, "the simulator '" + options.program +
                               "' cannot be run: " + std::strerror(errno)};
    if (Status status = checkImages(design()); !status)
      return status;
    const char *temporary = std::getenv("TMPDIR");
    std::string name =
        std::string(temporary && *temporary ? temporary : "/tmp") +
        "/rhizome-driver-XXXXXX";
    if (!mkdtemp(name.data()))
      return {Fault::Gone,
              "cannot make the folder '" + name + "': " + std::strerror(errno)};
    work = absolute(name);
    frameErrors = 0;
    return {};
  }
  /// The simulator reads the file, which is as it was compiled.
  Status doLoad(const Segment &, std::span<const uint8_t>) override {
    return {};
  }
  Status doLaunch(size_t region, std::vector<Bytes> inputs) override {
    for (size_t k = 0; k < inputs.size(); ++k)
      inputs[k].resize(design().inputsOf(region)[k].paddedBytes());
    waiting.push_back({region, std::move(inputs)});
    return {};
  }

  Status doWait(size_t, Duration patience,
                std::vector<Bytes> &outputs) override {
    if (done.empty()) {
      const Clock::time_point end = Clock::now() + patience;
      if (!child)
        if (Status status = start(); !status)
          return status;
      for (;;) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - Clock::now());
        if (left.count() < 0)
          return {Fault::TimeOut, "the simulation still runs"};
        pollfd events{pipe, POLLIN, 0};
        if (poll(&events, 1, int(std::min<int64_t>(left.count(), 1000)) + 1) >
            0)
          break;
      }
      if (Status status = finish(); !status)
        return status;
    }
    outputs = std::move(done.front());
    done.pop_front();
    return {};
  }

  void doClose() override {
    if (child) {
      kill(child, SIGKILL);
      reap();
    }
    if (!work.empty()) {
      for (const std::string &file : files)
        unlink(file.c_str());
      rmdir(work.c_str());
    }
    work.clear();
    files.clear();
    waiting.clear();
    done.clear();
    past.clear();
  }

  /// A file of the work folder, which goes with it.
  std::string file(const std::string &name) {
    std::string path = work + "/" + name;
    if (std::find(files.begin(), files.end(), path) == files.end())
      files.push_back(path);
    return path;
  }

  std::vector<std::string> arguments() {
    std::string frames = std::to_string(past.size() + running);
    std::vector<std::string> args = {options.program,
                                     "--frames",
                                     frames,
                                     "--total",
                                     frames,
                                     "--stalls-in",
                                     std::to_string(options.stallsIn),
                                     "--stalls-out",
                                     std::to_string(options.stallsOut),
                                     "--seed",
                                     std::to_string(options.seed),
                                     "--hang",
                                     std::to_string(options.hangCycles),
                                     "--report",
                                     file("report.txt")};
    // The ports of other regions have no file.
    auto add = [&](const char *option, const std::string &path,
                   const Port &port) {
      args.insert(args.end(), {option, path, std::to_string(port.beats()),
                               std::to_string(port.beatBits / 8)});
    };
    const Region region = runningRegion();
    for (size_t k = 0; k < design().inputs.size(); ++k)
      add("--in", region.hasInput(k) ? inFile(k) : "-", design().inputs[k]);
    for (size_t k = 0; k < design().outputs.size(); ++k)
      add("--out", region.hasOutput(k) ? outFile(k) : "-", design().outputs[k]);
    args.push_back("+verilator+rand+reset+2");
    args.push_back("+verilator+seed+" +
                   std::to_string(options.seed % 2147483646 + 1));
    return args;
  }

  std::string inFile(size_t port) {
    return file("in" + std::to_string(port) + ".bin");
  }
  std::string outFile(size_t port) {
    return file("out" + std::to_string(port) + ".bin");
  }
  /// The region of the jobs that run; they wait at the front.
  Region runningRegion() const {
    return design().region(waiting.front().region);
  }

  Status start() {
    running = 0;
    while (running < waiting.size() &&
           waiting[running].region == waiting.front().region)
      ++running;
    const Region region = runningRegion();
    for (size_t k = 0; k < region.inputs; ++k) {
      Bytes all;
      for (const Job &job : past)
        all.insert(all.end(), job.inputs[k].begin(), job.inputs[k].end());
      for (size_t f = 0; f < running; ++f)
        all.insert(all.end(), waiting[f].inputs[k].begin(),
                   waiting[f].inputs[k].end());
      std::string path = inFile(region.firstInput + k);
      if (!writeFile(path, all))
        return {Fault::Gone,
                "cannot write '" + path + "': " + std::strerror(errno)};
    }
    for (size_t k = 0; k < region.outputs; ++k)
      unlink(outFile(region.firstOutput + k).c_str());
    unlink(file("report.txt").c_str());
    std::vector<std::string> args = arguments();
    std::vector<char *> words;
    for (std::string &arg : args)
      words.push_back(arg.data());
    words.push_back(nullptr);

    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return {Fault::Gone,
              std::string("cannot make a pipe: ") + std::strerror(errno)};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, file("log.txt").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    // A copy that stays open in the child, and there alone.
    constexpr int kHeld = 3;
    int held = fcntl(ends[1], F_DUPFD_CLOEXEC, kHeld + 1);
    posix_spawn_file_actions_adddup2(&actions, held, kHeld);
    std::string refused;
    int failed = inThread([&] {
      if (options.confine)
        refused = options.confine(work);
      return refused.empty()
                 ? posix_spawn(&child, options.program.c_str(), &actions,
                               nullptr, words.data(), environ)
                 : EPERM;
    });
    posix_spawn_file_actions_destroy(&actions);
    ::close(held);
    ::close(ends[1]);
    pipe = ends[0];
    if (failed) {
      child = 0;
      ::close(pipe);
      pipe = -1;
      return {Fault::Gone,
              "cannot start '" + options.program +
                  "': " + (refused.empty() ? std::strerror(failed) : refused)};
    }
    return {};
  }

  int reap() {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
      ;
    ::close(pipe);
    pipe = -1;
    child = 0;
    return status;
  }

  /// What the child says went wrong; it also says how many frames the design
  /// found too short or too long.
  std::string reported() {
    Bytes text;
    if (!readWhole(file("report.txt"), text))
      return "";
    std::string lines(text.begin(), text.end()), found;
    for (size_t at = 0; at < lines.size();) {
      size_t end = std::min(lines.find('\n', at), lines.size());
      std::string line = lines.substr(at, end - at);
      if (line.rfind("frame_errors ", 0) == 0)
        frameErrors += std::strtoull(line.c_str() + 13, nullptr, 10);
      if (line.rfind("error ", 0) == 0)
        found += (found.empty() ? "" : "; ") + line.substr(6);
      if (line.rfind("mistake u_", 0) == 0)
        found += "the engine '" + line.substr(10, line.find(' ', 10) - 10) +
                 "':" + line.substr(line.find(' ', 10)) +
                 "; compile the network again";
      at = end + 1;
    }
    return found;
  }

  Status finish() {
    int status = reap();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return {Fault::Gone, "the simulator '" + options.program + "' " +
                               (WIFSIGNALED(status)
                                    ? "was ended by signal " +
                                          std::to_string(WTERMSIG(status))
                                    : "ended with status " +
                                          std::to_string(WEXITSTATUS(status)))};
    std::string problem = reported();
    std::vector<std::vector<Bytes>> answers(running);
    const Region region = runningRegion();
    for (size_t k = region.firstOutput; region.hasOutput(k) && problem.empty();
         ++k) {
      const Port &port = design().outputs[k];
      Bytes all;
      const size_t size = port.paddedBytes();
      const size_t wanted = (past.size() + running) * size;
      if (!readWhole(outFile(k), all) || all.size() != wanted) {
        problem = "it wrote " + std::to_string(all.size()) + " bytes of " +
                  port.name + " instead of " + std::to_string(wanted);
        break;
      }
      for (size_t f = 0; f < running; ++f) {
        auto begin = all.begin() + ptrdiff_t((past.size() + f) * size);
        answers[f].emplace_back(begin, begin + ptrdiff_t(port.frameBytes()));
      }
    }
    // Frames that a broken run was given are gone with it, one by one.
    if (!problem.empty()) {
      waiting.pop_front();
      return {Fault::Device, "the simulated design misbehaves: " + problem};
    }
    if (design().keepsState)
      past.insert(past.end(), waiting.begin(),
                  waiting.begin() + ptrdiff_t(running));
    waiting.erase(waiting.begin(), waiting.begin() + ptrdiff_t(running));
    std::move(answers.begin(), answers.end(), std::back_inserter(done));
    return {};
  }

  void refine(Statistics &statistics) const override {
    statistics.frameErrors = frameErrors;
  }

  SimulationOptions options;
  uint64_t frameErrors = 0;       ///< since `open`
  std::string work;               ///< a folder of this driver's
  std::vector<std::string> files; ///< in it
  pid_t child = 0;
  int pipe = -1;      ///< ends when the child does
  size_t running = 0; ///< jobs of the run
  struct Job {
    size_t region;
    std::vector<Bytes> inputs;
  };
  std::deque<Job> waiting;
  std::vector<Job> past; ///< since `open`, of a design that keeps state
  std::deque<std::vector<Bytes>> done;
};
} // namespace

std::unique_ptr<Driver> makeSimulationDriver(SimulationOptions options) {
  return std::make_unique<SimulationDriver>(std::move(options));
}
} // namespace rhizome::runtime
