// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/drivers.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace rhizome::runtime {
namespace {
using Clock = std::chrono::steady_clock;
/// A break, and the quiet time after it: some frames of ten bits.
constexpr auto kBreak = std::chrono::milliseconds(10);

constexpr size_t kMostRegions = 256; // a byte says which

struct Speed {
  unsigned baud;
  speed_t code;
};
constexpr Speed kSpeeds[] = {
    {9600, B9600},       {19200, B19200},     {38400, B38400},
    {57600, B57600},     {115200, B115200},   {230400, B230400},
    {460800, B460800},   {500000, B500000},   {921600, B921600},
    {1000000, B1000000}, {2000000, B2000000}, {3000000, B3000000},
    {4000000, B4000000}};

class UartDriver : public Driver {
public:
  explicit UartDriver(UartOptions options) : options(std::move(options)) {}
  ~UartDriver() override { doClose(); }
  const char *name() const override { return "uart"; }

private:
  Status doOpen() override {
    if (design().regionCount() > kMostRegions)
      return {Fault::Unsupported, "a serial line carries at most " +
                                      std::to_string(kMostRegions) +
                                      " regions; the design has " +
                                      std::to_string(design().regionCount())};
    for (size_t r = 0; r < design().regionCount(); ++r)
      if (const Region region = design().region(r);
          region.inputs != 1 || region.outputs != 1)
        return {Fault::Unsupported,
                "a serial line carries one tensor in and one out; " +
                    (design().regions.empty() ? std::string("the design")
                                              : "region " + std::to_string(r)) +
                    " has " + std::to_string(region.inputs) + " and " +
                    std::to_string(region.outputs)};
    if (!design().segments.empty())
      return {Fault::Unsupported,
              "a serial line does not load memories; the design has the "
              "segment '" +
                  design().segments[0].path + "'"};
    speed_t speed = B0;
    for (const Speed &known : kSpeeds)
      if (known.baud == options.baud)
        speed = known.code;
    if (speed == B0)
      return {Fault::Unsupported, "there is no line speed of " +
                                      std::to_string(options.baud) + " baud"};
    line = ::open(options.port.c_str(),
                  O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (line < 0)
      return {Fault::Gone,
              "cannot open '" + options.port + "': " + std::strerror(errno)};
    termios attributes{};
    if (tcgetattr(line, &attributes) != 0)
      return {Fault::Unsupported,
              "'" + options.port +
                  "' is not a serial line: " + std::strerror(errno)};
    cfmakeraw(&attributes);
    attributes.c_cflag |= CREAD | CLOCAL;
    attributes.c_cflag &= ~tcflag_t(CSTOPB | PARENB | CRTSCTS);
    cfsetispeed(&attributes, speed);
    cfsetospeed(&attributes, speed);
    if (tcsetattr(line, TCSANOW, &attributes) != 0)
      return {Fault::Unsupported, "'" + options.port + "' does not run at " +
                                      std::to_string(options.baud) +
                                      " baud: " + std::strerror(errno)};
    if (sendBreak()) {
      std::this_thread::sleep_for(kBreak);
    } else if (design().keepsState) {
      return {Fault::Unsupported,
              "the design keeps state from frame to frame, and '" +
                  options.port +
                  "' has no break that resets it; compile with --state-home "
                  "host"};
    }
    tcflush(line, TCIOFLUSH);
    return {};
  }
  Status doLoad(const Segment &, std::span<const uint8_t>) override {
    return {Fault::Unsupported, "a serial line does not load memories"};
  }
  Status doLaunch(size_t region, std::vector<Bytes> inputs) override {
    inputs[0].resize(design().inputsOf(region)[0].paddedBytes());
    if (design().regionCount() > 1)
      inputs[0].insert(inputs[0].begin(), uint8_t(region));
    frames.push_back(std::move(inputs[0]));
    return send();
  }

  Status doWait(size_t region, Duration patience,
                std::vector<Bytes> &outputs) override {
    const Port &port = design().outputsOf(region)[0];
    const size_t wanted = port.paddedBytes();
    const Clock::time_point end = Clock::now() + patience;
    while (answer.size() < wanted) {
      if (Status status = send(); !status)
        return status;
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - Clock::now());
      if (left.count() < 0)
        return {Fault::TimeOut, std::to_string(answer.size()) + " of " +
                                    std::to_string(wanted) +
                                    " bytes came back over '" + options.port +
                                    "' in time"};
      bool sending = !frames.empty() && sent < frames.front().size();
      pollfd events{line, short(sending ? POLLIN | POLLOUT : POLLIN), 0};
      int count =
          poll(&events, 1, int(std::min<int64_t>(left.count(), 1000)) + 1);
      if (count < 0 && errno != EINTR)
        return gone();
      if (events.revents & POLLIN) {
        uint8_t part[4096];
        ssize_t got =
            ::read(line, part, std::min(sizeof part, wanted - answer.size()));
        if (got > 0)
          answer.insert(answer.end(), part, part + got);
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
          return gone();
      } else if (events.revents & (POLLHUP | POLLERR | POLLNVAL)) {
        errno = EIO;
        return gone();
      }
    }
    answer.resize(port.frameBytes()); // without the last beat's padding
    outputs.push_back(std::exchange(answer, {}));
    frames.pop_front();
    sent = 0;
    return send();
  }

  void doClose() override {
    if (line >= 0)
      ::close(line);
    line = -1;
    frames.clear();
    answer.clear();
    sent = 0;
  }

  /// Resets the design; false on a line without a break, such as a pseudo
  /// terminal. Linux lets those take one, too, and does nothing, but only lines
  /// of a driver for hardware tell of their modem's signals.
  bool sendBreak() {
    int signals = 0;
    if (ioctl(line, TIOCMGET, &signals) != 0 || ioctl(line, TIOCSBRK) != 0)
      return false;
    std::this_thread::sleep_for(kBreak);
    ioctl(line, TIOCCBRK);
    return true;
  }
  /// As much of the first frame as the line takes now.
  Status send() {
    while (!frames.empty() && sent < frames.front().size()) {
      const Bytes &frame = frames.front();
      ssize_t count = ::write(line, frame.data() + sent, frame.size() - sent);
      if (count < 0 && errno == EAGAIN)
        return {};
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return gone();
      sent += size_t(count);
    }
    return {};
  }
  Status gone() const {
    return {Fault::Gone,
            "the line '" + options.port + "' is gone: " + std::strerror(errno)};
  }

  UartOptions options;
  int line = -1;
  std::deque<Bytes> frames; ///< the first one is on the line
  size_t sent = 0;          ///< of the first one
  Bytes answer;
};
} // namespace

std::unique_ptr<Driver> makeUartDriver(UartOptions options) {
  return std::make_unique<UartDriver>(std::move(options));
}
} // namespace rhizome::runtime
