// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datagrams from places that are no peer's, at a node that does not know where
// its host is: clauses H1 to H8 of docs/spec/link.md.
#include "rhizome/runtime/client.h"
#include "rhizome/runtime/udp.h"
#include <arpa/inet.h>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <set>
#include <sstream>
#include <sys/socket.h>
#include <thread>
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
  uint16_t port() const {
    sockaddr_in own{};
    socklen_t size = sizeof own;
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(socket, reinterpret_cast<sockaddr *>(&own), sizeof own);
    getsockname(socket, reinterpret_cast<sockaddr *>(&own), &size);
    return ntohs(own.sin_port);
  }
  /// Datagrams that have come.
  std::vector<std::vector<uint8_t>> received() const {
    std::vector<std::vector<uint8_t>> all;
    uint8_t buffer[2048];
    for (ssize_t got; (got = recv(socket, buffer, sizeof buffer, 0)) >= 0;)
      all.emplace_back(buffer, buffer + got);
    return all;
  }
  size_t count() const { return received().size(); }

private:
  int socket;
};

std::vector<uint8_t> datagram(Kind kind, uint16_t id, uint16_t epoch) {
  Header h;
  h.kind = kind;
  h.id = id;
  h.epoch = epoch;
  std::vector<uint8_t> payload;
  if (kind == Kind::Data || kind == Kind::Ack || kind == Kind::Status) {
    h.words = 1;
    payload.assign(8, 1);
  }
  return encode(h, payload);
}

/// A keyed hash that is good enough for who does not look for its key.
Mac hashOf(uint64_t key) {
  return [key](std::span<const uint8_t> bytes) {
    uint64_t sum = key;
    for (uint8_t byte : bytes)
      sum = (sum ^ byte) * 0x9E3779B97F4A7C15u + (sum >> 29);
    return sum;
  };
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
  // It is told so, by datagrams no longer than its own.
  for (const std::vector<uint8_t> &bytes : hijacker.received()) {
    ASSERT_EQ(bytes.size(), kHeaderBytes);
    EXPECT_EQ(decode(bytes)->kind, Kind::Taken);
  }
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

TEST(Strangers, APlaceIsTakenThatAnswersItsChallenge) {
  Node node;
  node.driver.learnPeer(0, hashOf(17));
  Stranger host, other;
  auto challenge = [&](const Stranger &stranger, Kind kind) {
    std::vector<uint8_t> asked = datagram(kind, 1, 9);
    stranger.send(node.driver.port(), asked);
    node.run(10'000'000);
    auto answers = stranger.received();
    EXPECT_EQ(answers.size(), 1u);
    std::optional<Header> h;
    if (answers.size() == 1) {
      EXPECT_LE(answers[0].size(), asked.size());
      h = decode(answers[0]);
    }
    EXPECT_TRUE(h && h->kind == Kind::Challenge && h->id == 1 &&
                h->span == uint8_t(kind));
    return h.value_or(Header());
  };
  Header token = challenge(host, Kind::Open);
  Header others = challenge(other, Kind::Probe);
  EXPECT_NE(tokenOf(token), tokenOf(others));
  // Nothing has happened, however often it is asked.
  EXPECT_EQ(node.endpoint.epoch(), kFirstEpoch);
  node.endpoint.send(2, std::vector<uint8_t>(8, 3));
  Header answer;
  answer.kind = Kind::Open;
  answer.epoch = 9;
  answer.id = 1;
  // Another place's token, and one that is a bit off.
  setToken(answer, tokenOf(others));
  host.send(node.driver.port(), encode(answer, {}));
  setToken(answer, tokenOf(token) ^ 1);
  host.send(node.driver.port(), encode(answer, {}));
  node.run(20'000'000);
  for (const std::vector<uint8_t> &bytes : host.received())
    EXPECT_EQ(decode(bytes)->kind, Kind::Challenge);
  EXPECT_EQ(node.endpoint.epoch(), kFirstEpoch);
  setToken(answer, tokenOf(token));
  host.send(node.driver.port(), encode(answer, {}));
  node.run(20'000'000);
  EXPECT_EQ(node.endpoint.epoch(), 9);
  EXPECT_GE(host.count(), 1u);
}

/// What comes from the place of another node of the plan opens nothing, with or
/// without a host; its data and acknowledgements are heard.
TEST(Strangers, ThePlaceOfAnotherNodeIsNoHosts) {
  Node node;
  node.driver.learnPeer(0, hashOf(17));
  Stranger peer, host;
  ASSERT_TRUE(node.driver.addPeer(5, "127.0.0.1:" + std::to_string(peer.port()),
                                  node.error));
  auto kindsFor = [&](Kind kind, uint16_t epoch) {
    for (int i = 0; i < 5; ++i)
      peer.send(node.driver.port(), datagram(kind, 1, epoch));
    node.run(20'000'000);
    std::set<Kind> kinds;
    for (const std::vector<uint8_t> &bytes : peer.received())
      kinds.insert(decode(bytes)->kind);
    return kinds;
  };
  for (Kind kind : {Kind::Open, Kind::Probe})
    EXPECT_EQ(kindsFor(kind, 9), std::set<Kind>{Kind::Challenge});
  EXPECT_EQ(node.endpoint.epoch(), kFirstEpoch);
  EXPECT_EQ(node.driver.strangers(), 10u);
  kindsFor(Kind::Data, kFirstEpoch);
  EXPECT_EQ(node.driver.strangers(), 10u);
  // A host with its token is one; then the peer is told so.
  host.send(node.driver.port(), datagram(Kind::Open, 1, 9));
  node.run(20'000'000);
  auto answers = host.received();
  ASSERT_EQ(answers.size(), 1u);
  Header answer;
  answer.kind = Kind::Open;
  answer.epoch = 9;
  answer.id = 1;
  setToken(answer, tokenOf(*decode(answers[0])));
  host.send(node.driver.port(), encode(answer, {}));
  node.run(20'000'000);
  EXPECT_EQ(node.endpoint.epoch(), 9);
  EXPECT_EQ(kindsFor(Kind::Open, 77), std::set<Kind>{Kind::Taken});
  EXPECT_EQ(node.endpoint.epoch(), 9);
}

TEST(Strangers, WithoutTheKeyNothingIsHeard) {
  Node node;
  Mac mac = hashOf(5);
  node.driver.seal(mac);
  Stranger stranger;
  std::vector<uint8_t> open = datagram(Kind::Open, 1, 9);
  stranger.send(node.driver.port(), open);
  stranger.send(node.driver.port(), {});
  std::vector<uint8_t> sealed = open, wrong = open;
  for (uint8_t byte : wordBytes(mac(open)))
    sealed.push_back(byte);
  for (uint8_t byte : wordBytes(hashOf(6)(open)))
    wrong.push_back(byte);
  stranger.send(node.driver.port(), wrong);
  for (size_t at = 0; at < sealed.size(); ++at) {
    std::vector<uint8_t> garbled = sealed;
    garbled[at] ^= 4;
    stranger.send(node.driver.port(), garbled);
  }
  node.run(20'000'000);
  EXPECT_EQ(stranger.count(), 0u);
  EXPECT_EQ(node.driver.strangers(), 3 + sealed.size());
  EXPECT_EQ(node.endpoint.epoch(), kFirstEpoch);
  stranger.send(node.driver.port(), sealed);
  node.run(20'000'000);
  EXPECT_EQ(node.endpoint.epoch(), 9);
  auto answers = stranger.received();
  ASSERT_FALSE(answers.empty());
  for (const std::vector<uint8_t> &bytes : answers) {
    std::span<const uint8_t> inner(bytes.data(), bytes.size() - 8);
    EXPECT_EQ(readWord({bytes.data() + inner.size(), 8}), mac(inner));
  }
}

/// Node 1 on a thread, which gives each frame back with its bits turned.
class LiveNode {
public:
  explicit LiveNode(Mac key) {
    node.driver.learnPeer(0, hashOf(23));
    if (key)
      node.driver.seal(key);
    worker = std::thread([this] {
      while (!stopped)
        if (!node.driver.step(
                UdpSocket::now() + 5'000'000,
                [&](Time) {
                  while (node.endpoint.canSend(2)) {
                    auto frame = node.endpoint.receive(1);
                    if (!frame)
                      return;
                    for (uint8_t &byte : *frame)
                      byte = uint8_t(~byte);
                    node.endpoint.send(2, *frame);
                  }
                },
                node.error))
          return;
    });
  }
  ~LiveNode() {
    stopped = true;
    worker.join();
    EXPECT_EQ(node.error, "");
  }
  uint16_t port() const { return node.driver.port(); }
  std::unique_ptr<Client> client(Mac key) const {
    Service service;
    service.channels = {Node::config(1, true), Node::config(2, false)};
    for (ChannelConfig &channel : service.channels)
      channel.peer = 1;
    service.inputs = {{0, 1, 0, 1}};
    service.outputs = {{0, 2, 0, 1}};
    service.nodes = {{"node0", 1}};
    ClientOptions options;
    options.places[1] = "127.0.0.1:" + std::to_string(port());
    options.patience = 5'000'000'000;
    options.seal = key;
    return std::make_unique<Client>(service, options);
  }

private:
  Node node;
  std::atomic<bool> stopped{false};
  std::thread worker;
};

void expectAnswers(Client &client, uint8_t frames) {
  std::string error;
  for (uint8_t f = 0; f < frames; ++f) {
    ASSERT_TRUE(client.post(0, {std::vector<uint8_t>(8, f)}, error)) << error;
    Client::Frame answer;
    ASSERT_EQ(client.take(answer, 10'000'000'000, error),
              Client::Outcome::Answer)
        << error;
    ASSERT_EQ(answer, Client::Frame{std::vector<uint8_t>(8, uint8_t(~f))});
  }
}

/// The local addresses of this process's UDP sockets, as /proc prints them.
std::vector<std::string> boundAddresses() {
  std::set<std::string> own;
  for (const auto &entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    std::string to = std::filesystem::read_symlink(entry.path(), error);
    if (to.rfind("socket:[", 0) == 0)
      own.insert(to.substr(8, to.size() - 9));
  }
  std::vector<std::string> addresses;
  std::ifstream table("/proc/self/net/udp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    if (all.size() > 9 && own.count(all[9]))
      addresses.push_back(all[1].substr(0, all[1].find(':')));
  }
  return addresses;
}

TEST(Strangers, AClientOfNodesHereListensHere) {
  LiveNode node(nullptr);
  const size_t before = boundAddresses().size();
  auto client = node.client(nullptr);
  std::string error;
  ASSERT_TRUE(client->open(error)) << error;
  std::vector<std::string> addresses = boundAddresses();
  EXPECT_EQ(addresses.size(), before + 1);
  for (const std::string &address : addresses)
    EXPECT_EQ(address, "0100007F");
}

TEST(Strangers, ASecondClientIsTold) {
  for (bool hasKey : {false, true}) {
    Mac key = hasKey ? hashOf(99) : nullptr;
    LiveNode node(key);
    std::string error;
    auto first = node.client(key);
    ASSERT_TRUE(first->open(error)) << error;
    expectAnswers(*first, 3);
    auto second = node.client(key);
    std::vector<ClientEvent::Kind> events;
    second->onEvent = [&](const ClientEvent &event) {
      events.push_back(event.kind);
    };
    // The first one works on meanwhile.
    std::atomic<bool> over{false};
    std::thread other([&] {
      EXPECT_FALSE(second->open(error));
      over = true;
    });
    while (!over)
      expectAnswers(*first, 1);
    other.join();
    EXPECT_EQ(events, std::vector{ClientEvent::Taken});
    EXPECT_EQ(error.rfind("node0 (127.0.0.1:", 0), 0u) << error;
    EXPECT_NE(error.find("has another client"), std::string::npos) << error;
    // Once the first has ended there is a place.
    first.reset();
    second = node.client(key);
    ASSERT_TRUE(second->open(error)) << error;
    expectAnswers(*second, 3);
    if (hasKey) {
      auto keyless = node.client(nullptr);
      EXPECT_FALSE(keyless->open(error));
      EXPECT_NE(error.find("no answer from node0"), std::string::npos) << error;
    }
  }
}

TEST(Strangers, AFloodChangesNoAnswer) {
  for (bool hasKey : {false, true}) {
    Mac key = hasKey ? hashOf(99) : nullptr;
    LiveNode node(key);
    std::string error;
    auto client = node.client(key);
    ASSERT_TRUE(client->open(error)) << error;
    std::atomic<bool> over{false};
    size_t longest = 0;
    std::thread flood([&] {
      std::mt19937 random(3);
      Stranger strangers[4];
      for (int i = 0; i < 20'000 && !over; ++i) {
        std::vector<uint8_t> bytes =
            datagram(Kind(random() % 8), uint16_t(random() % 4),
                     uint16_t(random() % 3 ? 9 : random()));
        if (random() % 4 == 0)
          bytes[random() % bytes.size()] ^= uint8_t(1 << random() % 8);
        if (random() % 8 == 0)
          bytes.resize(random() % 1500);
        const Stranger &from = strangers[random() % 4];
        from.send(node.port(), bytes);
        for (const std::vector<uint8_t> &answer : from.received())
          longest = std::max(longest, answer.size());
      }
    });
    expectAnswers(*client, 250);
    over = true;
    flood.join();
    EXPECT_LE(longest, hasKey ? 0 : kHeaderBytes);
  }
}
} // namespace
