// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome-flood: what strangers may send to places of a service, as fast as it
// is told. Datagrams of all kinds with any fields, garbled ones, and copies of
// those that it hears on the loopback interface; by a raw socket some from port
// 0 and from a place that is another's. Says as JSON what was sent and what
// came back. Most of the time that a datagram takes is the kernel's, so that
// datagrams of one size are handed to it together, to be cut apart there
// (UDP_SEGMENT). Usage: rhizome-flood SECONDS RATE SPOOFED PORT…
//   SPOOFED   a port on the loopback interface to speak as, 0 for none
#include "rhizome/runtime/datagram.h"
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <random>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>

using namespace rhizome::link;
using Bytes = std::vector<uint8_t>;

static std::mt19937 draw(7);

static sockaddr_in place(uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return to;
}

static Bytes garbled(Bytes bytes) {
  switch (draw() % 8) {
  case 0:
    bytes[draw() % bytes.size()] ^= uint8_t(1 << draw() % 8);
    break;
  case 1: // one of few sizes, so that there are several of each
    bytes.resize(1 + draw() % 56 * 25);
    break;
  }
  return bytes;
}

static Bytes anyDatagram() {
  Header h;
  h.kind = Kind(draw() % 8);
  h.epoch = draw() % 2 ? uint16_t(draw()) : 1;
  h.id = draw() % 4 ? uint16_t(draw() % 5) : uint16_t(draw());
  h.sequence = uint32_t(draw() % 2 ? draw() % 64 : draw());
  h.first = uint8_t(draw());
  h.span = uint8_t(draw());
  if (h.kind == Kind::Data || h.kind == Kind::Ack || h.kind == Kind::Status)
    h.words = 1;
  return garbled(encode(h, Bytes(h.words * kWordBytes, uint8_t(draw()))));
}

/// The datagram with the headers that a kernel would have made.
static Bytes withHeaders(const Bytes &payload, uint16_t from, uint16_t to) {
  Bytes packet(sizeof(iphdr) + sizeof(udphdr));
  iphdr ip{};
  ip.version = 4;
  ip.ihl = sizeof ip / 4;
  ip.tot_len = htons(uint16_t(packet.size() + payload.size()));
  ip.ttl = 64;
  ip.protocol = IPPROTO_UDP;
  ip.saddr = ip.daddr = htonl(INADDR_LOOPBACK);
  udphdr udp{};
  udp.source = htons(from);
  udp.dest = htons(to);
  udp.len = htons(uint16_t(sizeof udp + payload.size()));
  std::memcpy(packet.data(), &ip, sizeof ip);
  std::memcpy(packet.data() + sizeof ip, &udp, sizeof udp);
  packet.insert(packet.end(), payload.begin(), payload.end());
  return packet;
}

/// What others say to each other on the loopback interface.
class Listener {
public:
  explicit Listener(std::vector<uint16_t> of)
      : of(std::move(of)),
        socket(
            ::socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(ETH_P_IP))) {}
  /// Hears a few of them; true if one is new.
  bool hear(Bytes &payload) const {
    uint8_t packet[2048];
    for (int tries = 0; tries < 8; ++tries) {
      ssize_t got = recv(socket, packet, sizeof packet, 0);
      constexpr size_t kHeaders = sizeof(iphdr) + sizeof(udphdr);
      if (got < 0)
        return false;
      udphdr udp;
      std::memcpy(&udp, packet + sizeof(iphdr), sizeof udp);
      // An answer of a node's: nobody else sends from its port.
      if (size_t(got) <= kHeaders || packet[9] != IPPROTO_UDP ||
          std::find(of.begin(), of.end(), ntohs(udp.source)) == of.end())
        continue;
      payload.assign(packet + kHeaders, packet + got);
      return true;
    }
    return false;
  }

private:
  std::vector<uint16_t> of;
  int socket;
};

/// The datagrams to choose from, by their sizes.
class Stock {
public:
  explicit Stock(int count) {
    for (int i = 0; i < count; ++i)
      add(anyDatagram());
  }
  void add(Bytes bytes) { bySize[bytes.size()].push_back(std::move(bytes)); }
  /// Takes the place of one of its size, if there are as many as may be.
  void replace(Bytes bytes) {
    std::vector<Bytes> &like = bySize[bytes.size()];
    if (like.size() < kMostOfASize)
      like.push_back(std::move(bytes));
    else
      like[draw() % like.size()] = std::move(bytes);
  }
  /// Any of any size, the size as often as there are datagrams of it.
  const std::vector<Bytes> &anySize() {
    size_t total = 0;
    for (const auto &[size, like] : bySize)
      total += like.size();
    size_t chosen = draw() % total;
    for (const auto &[size, like] : bySize) {
      if (chosen < like.size())
        return like;
      chosen -= like.size();
    }
    return bySize.begin()->second;
  }

private:
  static constexpr size_t kMostOfASize = 4096;
  std::map<size_t, std::vector<Bytes>> bySize;
};

/// Sends datagrams of one size as one message that the kernel cuts apart;
/// returns how many.
static uint64_t sendTogether(int from, sockaddr_in to,
                             const std::vector<Bytes> &like) {
  constexpr size_t kMost = 64, kMostBytes = 60'000; // the kernel's
  const size_t size = like.front().size();
  const size_t count = std::min(kMost, kMostBytes / size);
  iovec vectors[kMost];
  for (size_t i = 0; i < count; ++i) {
    const Bytes &bytes = like[draw() % like.size()];
    vectors[i] = {const_cast<uint8_t *>(bytes.data()), size};
  }
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(uint16_t))] = {};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_iov = vectors;
  message.msg_iovlen = count;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr *segment = CMSG_FIRSTHDR(&message);
  segment->cmsg_level = SOL_UDP;
  segment->cmsg_type = UDP_SEGMENT;
  segment->cmsg_len = CMSG_LEN(sizeof(uint16_t));
  const auto segmentSize = uint16_t(size);
  std::memcpy(CMSG_DATA(segment), &segmentSize, sizeof segmentSize);
  return sendmsg(from, &message, 0) < 0 ? 0 : count;
}

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: rhizome-flood SECONDS RATE SPOOFED PORT…\n");
    return 2;
  }
  const double seconds = std::atof(argv[1]), rate = std::atof(argv[2]);
  const auto spoofed = uint16_t(std::atoi(argv[3]));
  std::vector<uint16_t> ports;
  for (int i = 4; i < argc; ++i)
    ports.push_back(uint16_t(std::atoi(argv[i])));
  // A flood does not abate because the machine has other things to do.
  setpriority(PRIO_PROCESS, 0, -10);
  // As many different ones as a sender makes in passing.
  Stock stock(8192);
  const Listener listener(ports);
  int sockets[4];
  for (int &each : sockets) {
    each = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    sockaddr_in any = place(0);
    if (each < 0 ||
        bind(each, reinterpret_cast<sockaddr *>(&any), sizeof any)) {
      std::perror("rhizome-flood");
      return 1;
    }
  }
  const int raw = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
  uint64_t sent = 0, forged = 0, copied = 0, answers = 0, longest = 0;
  const auto begin = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         begin)
        .count();
  };
  for (double time; (time = elapsed()) < seconds;) {
    if (double(sent) >= time * rate) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      continue;
    }
    sockaddr_in to = place(ports[draw() % ports.size()]);
    const int from = sockets[draw() % 4];
    sent += sendTogether(from, to, stock.anySize());
    // What was heard takes the place of what was made up.
    if (Bytes heard; listener.hear(heard)) {
      stock.replace(garbled(heard));
      ++copied;
    }
    if (raw >= 0) {
      const Bytes packet = withHeaders(anyDatagram(), draw() % 2 ? 0 : spoofed,
                                       ntohs(to.sin_port));
      forged += sendto(raw, packet.data(), packet.size(), 0,
                       reinterpret_cast<sockaddr *>(&to), sizeof to) > 0;
    }
    uint8_t buffer[4096];
    for (int each : sockets)
      for (ssize_t got; (got = recv(each, buffer, sizeof buffer, 0)) >= 0;) {
        ++answers;
        longest = std::max(longest, uint64_t(got));
      }
  }
  std::printf(
      "{\"sent\": %llu, \"forged\": %llu, \"copied\": %llu, \"answers\": %llu, "
      "\"longest\": %llu, \"seconds\": %.1f}\n",
      static_cast<unsigned long long>(sent),
      static_cast<unsigned long long>(forged),
      static_cast<unsigned long long>(copied),
      static_cast<unsigned long long>(answers),
      static_cast<unsigned long long>(longest), elapsed());
  return 0;
}
