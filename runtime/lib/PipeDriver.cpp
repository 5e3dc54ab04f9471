// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that run a design as a child, whose standard input and output are
// one of our sockets. Launchers of MPI forward these to rank 0 wherever it
// runs; the ranks are separate processes because MPI ends all connected
// processes when one of them dies, and this process must not end. PYNQ is
// Python's.
#include "rhizome/runtime/drivers.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char **environ;

namespace rhizome::runtime {
namespace {
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
/// How long ranks have to end by themselves, and then after a signal.
constexpr auto kPatience = std::chrono::seconds(2);

/// What is said of the child.
struct Terms {
  const char *name; ///< the driver's
  const char *says; ///< before the child's reason in the log
  const char *missing, *unknown, *slow, *late, *ended;
  bool saysAll; ///< the child's reason needs no words of ours
};
constexpr Terms kMpiTerms = {"mpi",
                             kMpiSays,
                             "Debian's package openmpi-bin brings mpirun",
                             "rank 0 speaks another protocol",
                             "the ranks did not start in time",
                             "the ranks have not answered in time",
                             "the ranks have ended",
                             false};
constexpr Terms kPynqTerms = {"pynq",
                              kPynqSays,
                              "Debian's package python3 brings it",
                              "the client speaks another protocol",
                              "the client did not start in time",
                              "the client has not answered in time",
                              "the client has ended",
                              true};

class PipeDriver : public Driver {
public:
  PipeDriver(MpiOptions options, const Terms &terms)
      : options(std::move(options)), terms(terms) {}
  ~PipeDriver() override {
    doClose();
    std::error_code ignored;
    if (options.ownsFolder)
      std::filesystem::remove_all(options.folder, ignored);
  }
  const char *name() const override { return terms.name; }

protected:
  Status doOpen() override {
    if (Status status = checkImages(design()); !status)
      return status;
    if (Status status = start(); !status)
      return status;
    const Clock::time_point end = Clock::now() + options.patience;
    while (inbox.empty())
      if (Status status = pump(end, terms.slow); !status)
        return status.fault == Fault::TimeOut ? Status{Fault::Gone, status.text}
                                              : status;
    if (inbox.front() != kMpiReady)
      return {Fault::Gone, terms.unknown + where()};
    inbox.erase(inbox.begin());
    return {};
  }
  /// It loads its memories by itself.
  Status doLoad(const Segment &, std::span<const uint8_t>) override {
    return {};
  }
  Status doLaunch(size_t region, std::vector<Bytes> inputs) override {
    if (design().regionCount() > 1)
      for (size_t i = 0; i < kMpiRegion; ++i)
        outbox.push_back(uint8_t(region >> 8 * i));
    for (const Bytes &input : inputs)
      outbox.insert(outbox.end(), input.begin(), input.end());
    return send();
  }
  Status doWait(size_t region, Duration patience,
                std::vector<Bytes> &outputs) override {
    const std::span<const Port> ports = design().outputsOf(region);
    size_t size = 0;
    for (const Port &port : ports)
      size += port.frameBytes();
    const Clock::time_point end = Clock::now() + patience;
    while (inbox.size() < size)
      if (Status status = pump(end, terms.late); !status)
        return status;
    auto at = inbox.begin();
    for (const Port &port : ports) {
      outputs.emplace_back(at, at + ptrdiff_t(port.frameBytes()));
      at += ptrdiff_t(port.frameBytes());
    }
    inbox.erase(inbox.begin(), at);
    return {};
  }
  void doClose() override {
    // Rank 0 ends with its input, and with it the others: at once if it still
    // computes what nobody wants.
    if (line >= 0)
      shutdown(line, SHUT_RDWR);
    if (child && onTheirWay() > 0)
      kill(child, SIGTERM);
    if (child && !ends(kPatience)) {
      kill(child, SIGTERM);
      if (!ends(kPatience)) {
        kill(child, SIGKILL);
        reap();
      }
    }
    if (line >= 0)
      ::close(line);
    line = -1;
    inbox.clear();
    outbox.clear();
  }

private:
  Status start() {
    std::vector<char *> words;
    for (std::string &word : options.command)
      words.push_back(word.data());
    words.push_back(nullptr);
    log = options.folder + "/log.txt";
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      return {Fault::Gone,
              std::string("cannot make a socket: ") + std::strerror(errno)};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
    // An interrupt of this program leaves the ranks to `close`.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    // What a thread does to itself ends with it, and stays with what it starts.
    std::string refused;
    int failed = 0;
    std::thread([&] {
      if (options.confine)
        refused = options.confine(options.folder);
      failed = refused.empty()
                   ? posix_spawnp(&child, words[0], &actions, &attributes,
                                  words.data(), environ)
                   : EPERM;
    }).join();
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    ::close(pair[1]);
    line = pair[0];
    if (failed) {
      child = 0;
      return {Fault::Unsupported,
              "the program '" + options.command[0] + "' cannot be started: " +
                  (refused.empty() ? std::string(std::strerror(failed)) + "; " +
                                         terms.missing
                                   : refused)};
    }
    fcntl(line, F_SETFL, fcntl(line, F_GETFL) | O_NONBLOCK);
    return {};
  }

  /// Writes as much of the waiting data as the socket takes now.
  Status send() {
    size_t sent = 0;
    Status status;
    while (sent < outbox.size()) {
      ssize_t count = ::send(line, outbox.data() + sent, outbox.size() - sent,
                             MSG_NOSIGNAL);
      if (count > 0)
        sent += size_t(count);
      else if (errno == EAGAIN)
        break;
      else if (errno != EINTR) {
        status = gone();
        break;
      }
    }
    outbox.erase(outbox.begin(), outbox.begin() + ptrdiff_t(sent));
    return status;
  }

  /// Moves bytes in both directions, once; a time-out with `late` after `end`.
  Status pump(Clock::time_point end, const char *late) {
    if (Status status = send(); !status)
      return status;
    auto left =
        std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
    if (left < 0)
      return {Fault::TimeOut, late};
    pollfd events{line, short(outbox.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    if (poll(&events, 1, int(std::min<int64_t>(left, 1000)) + 1) <= 0 ||
        !(events.revents & ~POLLOUT))
      return {};
    uint8_t part[1 << 16];
    ssize_t got = ::read(line, part, sizeof part);
    if (got > 0)
      inbox.insert(inbox.end(), part, part + got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
      return gone();
    return {};
  }

  bool ends(Duration patience) {
    for (const auto end = Clock::now() + patience; Clock::now() < end;) {
      if (waitpid(child, nullptr, WNOHANG) != 0) {
        child = 0;
        return true;
      }
      std::this_thread::sleep_for(milliseconds(2));
    }
    return false;
  }
  void reap() {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
      ;
    child = 0;
  }

  std::string where() const {
    return options.ownsFolder ? "" : " (log in '" + log + "')";
  }

  /// The child's message in the log, the rank that the launcher saw die, or the
  /// last words there are.
  Status gone() {
    ends(kPatience); // waits for its last output
    std::string said, died, last;
    if (FILE *file = std::fopen(log.c_str(), "r")) {
      char text[1024];
      while (std::fgets(text, sizeof text, file)) {
        std::string row = text;
        row.erase(row.find_last_not_of(" \n") + 1);
        if (row.rfind(terms.says, 0) == 0 && said.empty())
          said = row.substr(std::strlen(terms.says));
        if (row.find("exited on signal") != std::string::npos)
          died = row;
        if (row.find_first_not_of("- ") != std::string::npos)
          last = row;
      }
      std::fclose(file);
    }
    if (!said.empty() && terms.saysAll)
      return {Fault::Gone, said + where()};
    const std::string &why = !said.empty() ? said : !died.empty() ? died : last;
    return {Fault::Gone, std::string(terms.ended) +
                             (why.empty() ? "" : ": " + why) + where()};
  }

  MpiOptions options;
  const Terms &terms;
  std::string log;
  pid_t child = 0;
  int line = -1;
  Bytes inbox, outbox;
};

class MpiDriver : public PipeDriver {
public:
  explicit MpiDriver(MpiOptions options)
      : PipeDriver(std::move(options), kMpiTerms) {}

private:
  Status doOpen() override {
    if (!design().segments.empty())
      return {Fault::Unsupported,
              "MPI ranks load no memories; the design has the segment '" +
                  design().segments[0].path + "'"};
    if (design().keepsState)
      return {Fault::Unsupported,
              "the design keeps state from frame to frame, which a client of "
              "MPI ranks cannot reset; compile with --state-home host"};
    return PipeDriver::doOpen();
  }
  Status doLoad(const Segment &, std::span<const uint8_t>) override {
    return {Fault::Unsupported, "MPI ranks load no memories"};
  }
};
} // namespace

std::unique_ptr<Driver> makeMpiDriver(MpiOptions options) {
  return std::make_unique<MpiDriver>(std::move(options));
}

std::unique_ptr<Driver> makePynqDriver(PynqOptions options) {
  MpiOptions child;
  child.command = std::move(options.command);
  child.folder = std::move(options.folder);
  child.ownsFolder = true;
  child.patience = options.patience;
  return std::make_unique<PipeDriver>(std::move(child), kPynqTerms);
}
} // namespace rhizome::runtime
