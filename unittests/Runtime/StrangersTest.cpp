// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datagrams from places that are no peer's, at a node that does not know where
// its host is: clauses H1 to H4 of docs/spec/link.md.
#include "rhizome/runtime/udp.h"
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace rhizome::link;

namespace {
constexpr Time kSilence = 500'000'000;

/// A socket of a stranger's.
class Stranger {
public:
  Stranger() : socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {}
  ~Stranger() { close(socket); }
  void send(uint16_t port, const std::vector<uint8_t> &bytes) const {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(sendto(socket, bytes.data(), bytes.size(), 0,
                     reinterpret_cast<sockaddr *>(&to), sizeof to),
              ssize_t(bytes.size()));
  }
  /// Datagrams that have come.
  size_t count() const {
    uint8_t buffer[2048];
    size_t n = 0;
    while (recv(socket, buffer, sizeof buffer, 0) >= 0)
      ++n;
    return n;
  }

private:
  int socket;
};

std::vector<uint8_t> datagram(Kind kind, uint16_t id, uint16_t epoch) {
  Header h;
  h.kind = kind;
  h.id = id;
  h.epoch = epoch;
  std::vector<uint8_t> payload;
  if (kind == Kind::Data) {
    h.words = 1;
    payload.assign(8, 1);
  }
  return encode(h, payload);
}

/// Node 1, which sends frames of a word on channel 2 and gets them on 1.
struct Node {
  static ChannelConfig config(uint16_t id, bool transmit) {
    ChannelConfig c;
    c.id = id;
    c.transmit = transmit;
    c.peer = 0;
    c.frameBits = 64;
    c.minimumWait = 1'000'000;
    return c;
  }
  Endpoint endpoint{1, {config(1, false), config(2, true)}};
  UdpSocket driver{endpoint};
  std::string error;

  Node() {
    EXPECT_TRUE(driver.bind("127.0.0.1:0", error)) << error;
    driver.learnPeer(0);
  }
  void run(Time span) {
    for (Time end = UdpSocket::now() + span; UdpSocket::now() < end;)
      ASSERT_TRUE(driver.step(
          std::min(end, UdpSocket::now() + 1'000'000), [](Time) {}, error))
          << error;
  }
};

TEST(Strangers, OnlyControlOfItsOwnTellsWhereTheHostIs) {
  Node node;
  Stranger stranger;
  for (Kind kind : {Kind::Data, Kind::Poll})
    stranger.send(node.driver.port(), datagram(kind, 1, 1));
  stranger.send(node.driver.port(), datagram(Kind::Probe, 1, 0));
  stranger.send(node.driver.port(), datagram(Kind::Open, 7, 2)); // another's
  stranger.send(node.driver.port(), datagram(Kind::Open, 1, 0)); // no epoch
  node.endpoint.send(2, std::vector<uint8_t>(8, 3));
  node.run(30'000'000);
  EXPECT_EQ(stranger.count(), 0u);
  EXPECT_EQ(node.driver.strangers(), 5u);
  EXPECT_EQ(node.endpoint.epoch(), kFirstEpoch);
  stranger.send(node.driver.port(), datagram(Kind::Open, 1, 9));
  node.run(30'000'000);
  EXPECT_GE(stranger.count(), 1u); // its Status
  EXPECT_EQ(node.endpoint.epoch(), 9);
}

TEST(Strangers, AHostThatIsThereKeepsItsPlaceUntilItHasGone) {
  Node node;
  Stranger host, hijacker;
  host.send(node.driver.port(), datagram(Kind::Open, 1, 9));
  node.run(10'000'000);
  EXPECT_GE(host.count(), 1u);
  // It probes as a client does; for longer than a silent one would be kept.
  for (Time end = UdpSocket::now() + kSilence + kSilence / 4;
       UdpSocket::now() < end;) {
    host.send(node.driver.port(), datagram(Kind::Probe, 1, 9));
    for (Kind kind : {Kind::Open, Kind::Probe, Kind::Data})
      hijacker.send(node.driver.port(), datagram(kind, 1, 77));
    node.run(20'000'000);
  }
  EXPECT_EQ(hijacker.count(), 0u);
  EXPECT_EQ(node.endpoint.epoch(), 9);
  EXPECT_GE(host.count(), 1u);
  // Once it has gone nothing more is sent to it, Polls included.
  node.endpoint.send(2, std::vector<uint8_t>(8, 3));
  node.run(kSilence + kSilence / 5);
  host.count();
  node.run(100'000'000);
  EXPECT_EQ(host.count(), 0u);
  hijacker.send(node.driver.port(), datagram(Kind::Open, 1, 77));
  node.run(10'000'000);
  EXPECT_GE(hijacker.count(), 1u);
  EXPECT_EQ(node.endpoint.epoch(), 77);
}
} // namespace
