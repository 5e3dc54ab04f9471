// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/udp.h"
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace rhizome::link {
namespace {
constexpr size_t kBatch = 32;
/// Our datagrams are never longer; the rest of a longer one is ignored.
constexpr size_t kLongest = kHeaderBytes + 257 * kWordBytes;
/// More than these are left for the next step, so that a flood does not block
/// it.
constexpr int kMostBatches = 64;
/// A controller that has been silent for this long, five times its interval
/// between probes, has gone: another may take its place (H4).
constexpr Time kSilence = 500'000'000;
/// The interval at which tokens change; the previous one is also valid.
constexpr Time kTokenTime = 4'000'000'000;
/// Enough for a window of every channel that a process usually has.
constexpr int kSocketBuffer = 4 << 20;

bool resolve(const std::string &text, sockaddr_in &place, std::string &error) {
  size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    error = "'" + text + "' is not an address:port";
    return false;
  }
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  int code = getaddrinfo(text.substr(0, colon).c_str(),
                         text.substr(colon + 1).c_str(), &hints, &found);
  if (code != 0) {
    error = "'" + text + "': " + gai_strerror(code);
    return false;
  }
  std::memcpy(&place, found->ai_addr, sizeof place);
  freeaddrinfo(found);
  return true;
}

bool same(const sockaddr_in &a, const sockaddr_in &b) {
  return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
}

/// Whether it is an Open or a Probe, which only a controller sends.
bool isControl(std::span<const uint8_t> bytes) {
  std::optional<Header> h = decode(bytes);
  return h && (h->kind == Kind::Open || h->kind == Kind::Probe);
}

/// An Open or a Probe for this node. A controller's address is learned from
/// nothing else (H1).
std::optional<Header> controlOf(std::span<const uint8_t> bytes, uint16_t self) {
  std::optional<Header> h = decode(bytes);
  return isControl(bytes) && h->id == self && h->epoch != 0 ? h : std::nullopt;
}

std::string systemError(const char *what) {
  return std::string(what) + ": " + std::strerror(errno);
}
} // namespace

struct UdpSocket::State {
  explicit State(Endpoint &endpoint) : endpoint(endpoint) {}
  Endpoint &endpoint;
  int socket = -1;
  std::map<uint16_t, sockaddr_in> peers;
  int learning = -1; ///< the peer whose address is learned from its Opens
  Mac mac;           ///< of tokens
  Mac sealing;       ///< of datagrams; none: they have no hash
  Time heard = 0;    ///< when it was last heard
  Time looked = 0;   ///< when it could last have been heard
  uint64_t strangers = 0;
  std::array<std::array<uint8_t, kLongest>, kBatch> buffers;
  std::array<sockaddr_in, kBatch> places;
  std::vector<Outgoing> leaving; ///< taken from the endpoint, not sent yet

  bool known(const sockaddr_in &from) const {
    return std::any_of(peers.begin(), peers.end(), [&](const auto &peer) {
      return same(peer.second, from);
    });
  }
  bool isFromPeer(const sockaddr_in &from, std::span<const uint8_t> bytes,
                  Time time);
  bool isSealed(std::span<const uint8_t> &bytes) const;
  void addSeal(std::vector<uint8_t> &bytes) const;
  bool isAdmitted(const sockaddr_in &from, const Header &header, Time time);
  void answer(const sockaddr_in &to, const Header &asked, Kind kind,
              uint64_t token);
  bool receive(std::string &error);
  bool send(Time now, std::string &error);
};

UdpSocket::UdpSocket(Endpoint &endpoint)
    : state(std::make_unique<State>(endpoint)) {}

UdpSocket::~UdpSocket() {
  if (state->socket >= 0)
    close(state->socket);
}

bool UdpSocket::bind(const std::string &local, std::string &error) {
  sockaddr_in place{};
  if (!resolve(local, place, error))
    return false;
  state->socket =
      ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (state->socket < 0) {
    error = systemError("cannot make a socket");
    return false;
  }
  // Best effort: the kernel may allow less.
  for (int option : {SO_RCVBUF, SO_SNDBUF})
    setsockopt(state->socket, SOL_SOCKET, option, &kSocketBuffer,
               sizeof kSocketBuffer);
  if (::bind(state->socket, reinterpret_cast<sockaddr *>(&place),
             sizeof place) < 0) {
    error = systemError(("cannot bind to '" + local + "'").c_str());
    return false;
  }
  return true;
}

uint16_t UdpSocket::port() const {
  sockaddr_in place{};
  socklen_t size = sizeof place;
  getsockname(state->socket, reinterpret_cast<sockaddr *>(&place), &size);
  return ntohs(place.sin_port);
}

bool UdpSocket::addPeer(uint16_t peer, const std::string &remote,
                        std::string &error) {
  return resolve(remote, state->peers[peer], error);
}

void UdpSocket::learnPeer(uint16_t peer, Mac mac) {
  state->learning = peer;
  state->mac = std::move(mac);
}

void UdpSocket::seal(Mac mac) { state->sealing = std::move(mac); }

int UdpSocket::descriptor() const { return state->socket; }
uint64_t UdpSocket::strangers() const { return state->strangers; }

Time UdpSocket::now() {
  return Time(std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::steady_clock::now().time_since_epoch())
                  .count());
}

/// Whether a datagram is from a peer. An address that is not the controller's
/// becomes that if it sends an Open or a Probe, and there is no other
/// controller; the place of another node is no exception.
bool UdpSocket::State::isFromPeer(const sockaddr_in &from,
                                  std::span<const uint8_t> bytes, Time time) {
  if (from.sin_port == 0)
    return false; // nothing could be sent there
  auto controller = learning < 0 ? peers.end() : peers.find(uint16_t(learning));
  if (controller != peers.end() && same(controller->second, from)) {
    heard = time;
    return true;
  }
  if (learning < 0 || !isControl(bytes))
    return known(from);
  const std::optional<Header> asked = controlOf(bytes, endpoint.address());
  if (!asked)
    return false;
  if (controller != peers.end() && time - heard < kSilence) {
    answer(from, *asked, Kind::Taken, 0);
    return false;
  }
  if (mac && !isAdmitted(from, *asked, time))
    return false;
  peers[uint16_t(learning)] = from;
  heard = time;
  return true;
}

/// Removes the hash from a datagram that ends with the right one.
bool UdpSocket::State::isSealed(std::span<const uint8_t> &bytes) const {
  if (!sealing)
    return true;
  if (bytes.size() < kWordBytes)
    return false;
  std::span<const uint8_t> inner = bytes.first(bytes.size() - kWordBytes);
  if (sealing(inner) != readWord(bytes.subspan(inner.size())))
    return false;
  bytes = inner;
  return true;
}

void UdpSocket::State::addSeal(std::vector<uint8_t> &bytes) const {
  if (!sealing)
    return;
  std::vector<uint8_t> word = wordBytes(sealing(bytes));
  bytes.insert(bytes.end(), word.begin(), word.end());
}

/// Whether it has the token of its address; otherwise the token is sent there.
/// Nothing is stored meanwhile.
bool UdpSocket::State::isAdmitted(const sockaddr_in &from, const Header &header,
                                  Time time) {
  auto tokenAt = [&](uint64_t period) {
    std::array<uint8_t, 14> bytes;
    std::memcpy(bytes.data(), &from.sin_addr.s_addr, 4);
    std::memcpy(bytes.data() + 4, &from.sin_port, 2);
    std::memcpy(bytes.data() + 6, &period, 8);
    return mac(bytes) & ((uint64_t(1) << kTokenBits) - 1);
  };
  const uint64_t period = time / kTokenTime;
  const uint64_t token = tokenAt(period);
  if (tokenOf(header) == token ||
      (period > 0 && tokenOf(header) == tokenAt(period - 1)))
    return true;
  answer(from, header, Kind::Challenge, token);
  return false;
}

/// Sends a datagram of the size of the one that it answers, at once; if the
/// socket is full, it is lost.
void UdpSocket::State::answer(const sockaddr_in &to, const Header &asked,
                              Kind kind, uint64_t token) {
  Header h;
  h.kind = kind;
  h.epoch = asked.epoch;
  h.id = endpoint.address();
  setToken(h, token);
  h.span = uint8_t(asked.kind);
  std::vector<uint8_t> bytes = encode(h, {});
  addSeal(bytes);
  sendto(socket, bytes.data(), bytes.size(), 0,
         reinterpret_cast<const sockaddr *>(&to), sizeof to);
}

bool UdpSocket::State::receive(std::string &error) {
  // A process that computed for long has received nothing meanwhile.
  if (Time time = now(); time - std::exchange(looked, time) > kSilence / 2)
    heard = time;
  for (int batch = 0; batch < kMostBatches; ++batch) {
    std::array<mmsghdr, kBatch> messages{};
    std::array<iovec, kBatch> vectors;
    for (size_t i = 0; i < kBatch; ++i) {
      vectors[i] = {buffers[i].data(), kLongest};
      messages[i].msg_hdr.msg_name = &places[i];
      messages[i].msg_hdr.msg_namelen = sizeof places[i];
      messages[i].msg_hdr.msg_iov = &vectors[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    int count = recvmmsg(socket, messages.data(), kBatch, 0, nullptr);
    if (count < 0) {
      // A peer that is not running yet reports that by ICMP; that is not a
      // failure.
      if (errno == EAGAIN || errno == EWOULDBLOCK)
        return true;
      if (errno == EINTR || errno == ECONNREFUSED)
        continue;
      error = systemError("cannot receive");
      return false;
    }
    Time time = now();
    for (int i = 0; i < count; ++i) {
      std::span<const uint8_t> bytes(buffers[size_t(i)].data(),
                                     messages[size_t(i)].msg_len);
      if (isSealed(bytes) && isFromPeer(places[size_t(i)], bytes, time))
        endpoint.push(time, bytes);
      else
        ++strangers;
    }
    if (count < int(kBatch))
      return true;
  }
  return true;
}

bool UdpSocket::State::send(Time time, std::string &error) {
  for (;;) {
    while (leaving.size() < kBatch) {
      std::optional<Outgoing> out = endpoint.pull(time);
      if (!out)
        break;
      // A peer without an address is not reachable; the protocol sends again.
      // Nor is a controller that has gone: it must first learn of a new epoch.
      bool isGone = out->peer == learning && time - heard >= kSilence;
      if (!peers.count(out->peer) || isGone)
        continue;
      addSeal(out->bytes);
      leaving.push_back(std::move(*out));
    }
    if (leaving.empty())
      return true;
    std::array<mmsghdr, kBatch> messages{};
    std::array<iovec, kBatch> vectors;
    for (size_t i = 0; i < leaving.size(); ++i) {
      vectors[i] = {leaving[i].bytes.data(), leaving[i].bytes.size()};
      sockaddr_in &place = peers[leaving[i].peer];
      messages[i].msg_hdr.msg_name = &place;
      messages[i].msg_hdr.msg_namelen = sizeof place;
      messages[i].msg_hdr.msg_iov = &vectors[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    int count = sendmmsg(socket, messages.data(), unsigned(leaving.size()), 0);
    if (count < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)
        return true;
      if (errno == EINTR)
        continue;
      if (errno == EBADF || errno == ENOTSOCK || errno == EFAULT) {
        error = systemError("cannot send");
        return false;
      }
      // An error with one destination counts as a loss.
      count = 1;
    }
    leaving.erase(leaving.begin(), leaving.begin() + count);
  }
}

bool UdpSocket::step(Time until, const std::function<void(Time)> &work,
                     std::string &error) {
  if (!state->receive(error))
    return false;
  work(now());
  Time time = now();
  if (!state->send(time, error))
    return false;
  Time due = std::min(until, state->endpoint.deadline(time));
  bool full = !state->leaving.empty();
  if (due <= time && !full)
    return true;
  pollfd wait{state->socket, short(full ? POLLIN | POLLOUT : POLLIN), 0};
  timespec span{};
  Time left = due > time ? std::min<Time>(due - time, 1'000'000'000) : 0;
  // A full socket reports when it is writable.
  if (full)
    left = std::max<Time>(left, 1'000'000);
  span.tv_sec = time_t(left / 1'000'000'000);
  span.tv_nsec = long(left % 1'000'000'000);
  if (ppoll(&wait, 1, &span, nullptr) < 0 && errno != EINTR) {
    error = systemError("cannot wait for datagrams");
    return false;
  }
  return true;
}
} // namespace rhizome::link
