// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Devices.h"
#include "../TestFolder.h"
#include "rhizome/runtime/udp.h"
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <poll.h>
#include <random>
#include <sys/eventfd.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

using namespace rhizome;
using namespace rhizome::runtime;
using namespace rhizome::test;

namespace {
class NullDevice : public Device {
public:
  NullDevice() { computes = isMortal = false; }
  std::unique_ptr<Driver> driver() override { return makeNullDriver(); }
};

class CpuDevice : public Device {
public:
  explicit CpuDevice(Function function) : function(std::move(function)) {
    death = Fault::Device;
  }
  ~CpuDevice() override { stall(false); }
  std::unique_ptr<Driver> driver() override { return makeCpuDriver(compute()); }
  Compute compute() {
    return [this](size_t region, const std::vector<Bytes> &inputs,
                  std::vector<Bytes> &outputs, std::string &error) {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return !stalled; });
      if (dead) {
        error = "the function fails";
        return false;
      }
      outputs = {function(region, inputs[0])};
      return true;
    };
  }
  void stall(bool on) override { set(stalled, on); }
  void die() override { set(dead, true); }
  void revive() override { set(dead, false); }

private:
  void set(bool &what, bool value) {
    {
      std::lock_guard<std::mutex> guard(mutex);
      what = value;
    }
    changed.notify_all();
  }
  Function function;
  std::mutex mutex;
  std::condition_variable changed;
  bool stalled = false, dead = false;
};

class SimulationDevice : public Device {
public:
  SimulationDevice(std::string program, std::string folder)
      : program(std::move(program)), folder(std::move(folder)) {}
  ~SimulationDevice() override { unsetenv("RHZ_TOY"); }
  std::unique_ptr<Driver> driver() override {
    SimulationOptions options;
    options.program = program;
    options.folder = folder;
    return makeSimulationDriver(options);
  }
  void stall(bool on) override {
    if (on)
      setenv("RHZ_TOY", "stall", 1);
    else
      unsetenv("RHZ_TOY");
  }
  void die() override { setenv("RHZ_TOY", "die", 1); }
  void revive() override { unsetenv("RHZ_TOY"); }

private:
  std::string program, folder;
};

class UartDevice : public Device {
public:
  UartDevice(Function function, const Design &design)
      : function(std::move(function)), design(design) {
    hasMemory = readsFiles = false;
    revive();
  }
  ~UartDevice() override { die(); }
  std::unique_ptr<Driver> driver() override {
    return makeUartDriver({name, 1000000});
  }
  const std::string &port() const { return name; }
  void stall(bool on) override {
    {
      std::lock_guard<std::mutex> guard(mutex);
      stalled = on;
    }
    changed.notify_all();
  }
  void die() override {
    if (!peer.joinable())
      return;
    uint64_t one = 1;
    stopped = true;
    (void)!::write(event, &one, sizeof one);
    changed.notify_all();
    peer.join();
    ::close(event);
    ::close(line);
  }
  void revive() override {
    line = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    grantpt(line);
    unlockpt(line);
    char path[64];
    ptsname_r(line, path, sizeof path);
    name = path;
    // Whoever opens it first finds it raw; it stays so while this is open.
    int other = ::open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    termios attributes{};
    tcgetattr(other, &attributes);
    cfmakeraw(&attributes);
    tcsetattr(other, TCSANOW, &attributes);
    event = eventfd(0, EFD_CLOEXEC);
    stopped = false;
    peer = std::thread([this, other] {
      run();
      ::close(other);
    });
  }

private:
  void run() {
    std::mt19937 random(5);
    // A region's number goes before its frame where there are several.
    const size_t head = design.regionCount() > 1;
    Bytes frame;
    for (;;) {
      const size_t region = head && !frame.empty() ? frame[0] : 0;
      const size_t wanted = head && frame.empty()
                                ? 1
                                : head + design.inputs[region].paddedBytes();
      pollfd events[2] = {{line, POLLIN, 0}, {event, POLLIN, 0}};
      if (poll(events, 2, -1) < 0 || events[1].revents)
        return;
      uint8_t part[64];
      ssize_t got =
          ::read(line, part, std::min(sizeof part, wanted - frame.size()));
      if (got <= 0)
        return;
      frame.insert(frame.end(), part, part + got);
      if (frame.size() < wanted || wanted == head)
        continue;
      frame.erase(frame.begin(), frame.begin() + ptrdiff_t(head));
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !stalled || stopped; });
      }
      if (stopped)
        return;
      Bytes answer = function(region, frame);
      answer.resize(design.outputs[region].paddedBytes());
      for (size_t sent = 0; sent < answer.size();) {
        size_t most = std::min<size_t>(answer.size() - sent, 1 + random() % 7);
        ssize_t put = ::write(line, answer.data() + sent, most);
        if (put <= 0)
          return;
        sent += size_t(put);
      }
      frame.clear();
    }
  }

  Function function;
  const Design design;
  std::string name;
  int line = -1, event = -1;
  std::thread peer;
  std::mutex mutex;
  std::condition_variable changed;
  bool stalled = false;
  std::atomic<bool> stopped{false};
};

class UdpDevice : public Device {
public:
  UdpDevice(Function function, const Design &design)
      : function(std::move(function)) {
    hasMemory = readsFiles = false;
    // A node that is silent for half a second is said to be.
    deathPatience = std::chrono::milliseconds(2500);
    for (uint16_t r = 0; r < design.regionCount(); ++r) {
      link::ChannelConfig request, answer;
      request.id = requestOf(r);
      request.transmit = true;
      request.peer = answer.peer = kNode;
      request.frameBits = design.inputs[r].frameBits;
      answer.id = answerOf(r);
      answer.frameBits = design.outputs[r].frameBits;
      service.channels.insert(service.channels.end(), {request, answer});
      service.inputs.push_back({r, request.id, 0, 1});
      service.outputs.push_back({r, answer.id, 0, 1});
    }
    service.nodes = {{"node0", kNode}};
    revive();
  }
  ~UdpDevice() override { die(); }
  std::unique_ptr<Driver> driver() override {
    UdpOptions options;
    options.service = service;
    options.places[kNode] = place;
    options.listen = "127.0.0.1:0";
    return makeUdpDriver(options);
  }
  void stall(bool on) override { stalled = on; }
  void die() override {
    stopped = true;
    if (node.joinable())
      node.join();
  }
  void revive() override {
    stopped = false;
    std::vector<link::ChannelConfig> channels = service.channels;
    for (link::ChannelConfig &channel : channels) {
      channel.transmit = !channel.transmit;
      channel.peer = link::kHostAddress;
    }
    endpoint = std::make_unique<link::Endpoint>(kNode, channels);
    socket = std::make_unique<link::UdpSocket>(*endpoint);
    std::string error;
    if (!socket->bind("127.0.0.1:0", error))
      std::abort();
    socket->learnPeer(link::kHostAddress);
    place = "127.0.0.1:" + std::to_string(socket->port());
    node = std::thread([this] { run(); });
  }

private:
  static constexpr uint16_t kNode = 1;
  static uint16_t requestOf(size_t region) { return uint16_t(2 * region + 1); }
  static uint16_t answerOf(size_t region) { return uint16_t(2 * region + 2); }
  /// What has come of a region.
  void answer(size_t region) {
    while (!stalled && endpoint->canSend(answerOf(region))) {
      auto frame = endpoint->receive(requestOf(region));
      if (!frame)
        return;
      endpoint->send(answerOf(region), function(region, *frame));
    }
  }
  void run() {
    constexpr link::Time kLook = 5'000'000; // whether it is to stop
    std::string error;
    while (!stopped && socket->step(
                           link::UdpSocket::now() + kLook,
                           [&](link::Time) {
                             for (size_t r = 0; r < service.inputs.size(); ++r)
                               answer(r);
                           },
                           error))
      ;
    socket.reset();
  }

  Function function;
  link::Service service;
  std::string place;
  std::unique_ptr<link::Endpoint> endpoint;
  std::unique_ptr<link::UdpSocket> socket;
  std::thread node;
  std::atomic<bool> stopped{false}, stalled{false};
};

/// The process of this user whose rank of an MPI job is 1 and whose arguments
/// name `folder`; 0 if there is none.
pid_t findRank(const std::string &folder) {
  auto read = [](const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::error_code error;
  for (const auto &entry :
       std::filesystem::directory_iterator("/proc", error)) {
    std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    std::string arguments = read(entry.path() / "cmdline");
    if (arguments.find(std::string("\0", 1) + folder) != std::string::npos &&
        read(entry.path() / "environ").find("OMPI_COMM_WORLD_RANK=1") !=
            std::string::npos)
      return pid_t(std::stol(name));
  }
  return 0;
}

class MpiDevice : public Device {
public:
  explicit MpiDevice(std::vector<std::string> given)
      : command(std::move(given)) {
    hasMemory = false;
    if (command.empty())
      missing = "there is no MPI here";
  }
  ~MpiDevice() override { stall(false); }
  std::unique_ptr<Driver> driver() override {
    MpiOptions options;
    options.command = command;
    // Its argument tells this test's ranks from others.
    for (std::string &word : options.command)
      if (word == "FOLDER")
        word = folder.path();
    options.folder = folder.path();
    return makeMpiDriver(options);
  }
  void stall(bool on) override {
    if (on)
      stopped = findRank(folder.path());
    if (stopped)
      kill(stopped, on ? SIGSTOP : SIGCONT);
    if (!on)
      stopped = 0;
  }
  void die() override {
    if (pid_t rank = findRank(folder.path()))
      kill(rank, SIGKILL);
  }

private:
  std::vector<std::string> command;
  TestFolder folder;
  pid_t stopped = 0;
};

/// The CPU's device in the place of an OpenCL one, which has memory.
class OpenClDevice : public CpuDevice {
public:
  OpenClDevice(Function function, std::string library)
      : CpuDevice(std::move(function)), library(std::move(library)) {
    death = Fault::Gone;
    if (this->library.empty()) {
      missing = "there is no OpenCL here";
      return;
    }
    Status status = driver()->open({});
    if (!status)
      missing = status.text;
  }
  ~OpenClDevice() override { revive(); }
  std::unique_ptr<Driver> driver() override {
    OpenClOptions options;
    options.library = library;
    options.native = compute();
    return makeOpenClDriver(options);
  }
  void die() override { setenv("RHZ_OPENCL", "lost", 1); }
  void revive() override { unsetenv("RHZ_OPENCL"); }

private:
  std::string library;
};
} // namespace

std::unique_ptr<Device> test::nullDevice() {
  return std::make_unique<NullDevice>();
}
std::unique_ptr<Device> test::cpuDevice(Function function) {
  return std::make_unique<CpuDevice>(std::move(function));
}
std::unique_ptr<Device> test::uartDevice(Function function,
                                         const Design &design) {
  return std::make_unique<UartDevice>(std::move(function), design);
}
std::string test::uartPort(const Device &uart) {
  return static_cast<const UartDevice &>(uart).port();
}
std::unique_ptr<Device> test::udpDevice(Function function,
                                        const Design &design) {
  return std::make_unique<UdpDevice>(std::move(function), design);
}
std::unique_ptr<Device>
test::mpiDevice(const std::vector<std::string> &command) {
  return std::make_unique<MpiDevice>(command);
}
std::unique_ptr<Device> test::openClDevice(Function function,
                                           const std::string &library) {
  return std::make_unique<OpenClDevice>(std::move(function), library);
}
std::vector<std::string> test::mpiLauncher() {
  return {"mpirun",
          "--allow-run-as-root",
          "--oversubscribe",
          "--bind-to",
          "none",
          "--mca",
          "btl_vader_single_copy_mechanism",
          "none"};
}
std::unique_ptr<Device> test::simulationDevice(const std::string &program,
                                               const std::string &folder) {
  return std::make_unique<SimulationDevice>(program, folder);
}
