// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ peer against itself: no loss and no corruption, whatever the medium
// does; single requests at once; restarted nodes readmitted.
#include "Pair.h"
#include "rhizome/runtime/control.h"
#include "rhizome/runtime/packing.h"
#include "rhizome/runtime/udp.h"
#include "gtest/gtest.h"

using namespace rhizome::link;
using namespace rhizome::link::test;

namespace {
ChannelConfig channelOf(uint64_t bits) {
  ChannelConfig config;
  config.frameBits = bits;
  config.roundTrip = 10'000;
  config.minimumWait = 8'000;
  config.ackDelay = 2'000;
  return config;
}

void expectAll(const Outcome &outcome, uint64_t count) {
  EXPECT_FALSE(outcome.stuck);
  EXPECT_EQ(outcome.delivered, count);
  EXPECT_EQ(outcome.wrong, 0u);
}

/// Frames of less than a word, of some words, of several datagrams.
const uint64_t kSizes[] = {1, 40, 84, 64 * 9, 3072 * 8, 9000 * 8 + 3};
} // namespace

TEST(Packing, EveryWidthComesBack) {
  std::mt19937_64 random(3);
  for (unsigned width = 1; width <= 64; ++width)
    for (bool isSigned : {false, true}) {
      std::vector<int64_t> values(29);
      for (int64_t &v : values) {
        v = int64_t(random());
        if (width < 64)
          v = isSigned ? v >> (64 - width)
                       : int64_t(uint64_t(v) >> (64 - width));
      }
      auto frame = packElements(values, width);
      EXPECT_EQ(frame.size(), (29 * width + 7) / 8);
      EXPECT_EQ(unpackElements(frame, width, isSigned, 29), values);
    }
}

TEST(Datagram, ComesBackAndEveryFlippedBitIsNoticed) {
  Header h;
  h.kind = Kind::Ack;
  h.words = 1;
  h.epoch = 0x1234;
  h.id = 0xfeed;
  h.sequence = 0xcafef00d;
  h.first = 16;
  h.span = 5;
  auto bytes = encode(h, wordBytes(0x0123456789abcdef));
  ASSERT_EQ(bytes.size(), 24u);
  auto back = decode(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kind, h.kind);
  EXPECT_EQ(back->epoch, h.epoch);
  EXPECT_EQ(back->id, h.id);
  EXPECT_EQ(back->sequence, h.sequence);
  EXPECT_EQ(back->first, h.first);
  EXPECT_EQ(back->span, h.span);
  EXPECT_EQ(readWord(std::span(bytes).subspan(16)), 0x0123456789abcdefu);
  for (size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
    auto wrong = bytes;
    wrong[bit / 8] ^= uint8_t(1u << bit % 8);
    EXPECT_FALSE(decode(wrong)) << bit;
  }
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode(std::span(bytes).first(size)));
}

TEST(Link, CleanMediumSendsNothingTwice) {
  for (uint64_t bits : kSizes) {
    Pair pair(channelOf(bits), {}, 1);
    expectAll(pair.run(300), 300);
    EXPECT_EQ(pair.sender.counters().resent, 0u) << bits;
  }
}

TEST(Link, LineRateOfTenGigabit) {
  Pair pair(channelOf(3072 * 8), {}, 1);
  Outcome outcome = pair.run(3000);
  expectAll(outcome, 3000);
  EXPECT_GT(outcome.tensorsPerS(), 363'000);
}

TEST(Link, SurvivesWhatAMediumCanDo) {
  for (uint64_t bits : kSizes)
    for (double loss : {0.01, 0.05, 0.2, 0.5}) {
      MediumConfig medium;
      medium.loss = loss;
      medium.twice = 0.05;
      medium.late = 0.2;
      medium.garbage = 0.1;
      medium.garbageBytes = 200;
      medium.cut = 0.02;
      medium.flip = 0.02;
      Pair pair(channelOf(bits), medium, uint64_t(loss * 100) + bits);
      int frames = std::max(150, 20 * int(channelOf(bits).queueDepth()));
      expectAll(pair.run(frames, 0.2), frames);
      EXPECT_GT(pair.receiver.counters().malformed, 0u);
      EXPECT_EQ(pair.receiver.counters().framing, 0u);
    }
}

TEST(Link, EveryWindowAndSlot) {
  uint64_t seed = 1;
  for (unsigned window : {4u, 8u, 32u})
    for (unsigned slotWords : {1u, 4u, 128u}) {
      ChannelConfig config = channelOf(700);
      config.window = window;
      config.slotWords = slotWords;
      MediumConfig medium;
      medium.loss = 0.1;
      medium.late = 0.3;
      Pair pair(config, medium, ++seed);
      expectAll(pair.run(300, 0.1), 300);
    }
}

TEST(Link, SequenceNumbersMayWrap) {
  // 2^32 datagrams are too many for a test; those of a window of 4 with a map
  // of 64 places wrap around every 64.
  ChannelConfig config = channelOf(8);
  config.window = 4;
  config.slotWords = 1;
  MediumConfig medium;
  medium.loss = 0.1;
  Pair pair(config, medium, 5);
  expectAll(pair.run(2000), 2000);
}

TEST(Link, ReliableMediumKeepsNothingAndPollsNever) {
  ChannelConfig config = channelOf(5000);
  config.reliable = true;
  config.window = 4;
  config.slotWords = 16;
  Pair pair(config, {}, 1);
  expectAll(pair.run(500, 0.5), 500);
  EXPECT_EQ(pair.sender.counters().resent, 0u);
  EXPECT_EQ(pair.sender.counters().polls, 0u);
}

TEST(Link, SingleRequestIsNotKeptWaiting) {
  for (uint64_t bits : kSizes) {
    Pair pair(channelOf(bits), {}, 1);
    for (int request = 0; request < 5; ++request) {
      Outcome outcome = pair.run(1);
      expectAll(outcome, 1);
      // The wire's time and delay, and at most one other datagram before it.
      double wire = double(bits) * 0.1 * 1.1 + 100 * double(bits / 8192 + 2);
      EXPECT_LT(double(outcome.finished), 2000 + wire) << bits;
      pair.now += 50'000;
    }
  }
}

TEST(Link, GarbageFloodChangesNothing) {
  MediumConfig flood;
  flood.garbage = 1;
  flood.garbageBytes = 64;
  flood.exact = true;
  Pair quiet(channelOf(84), {}, 1), loud(channelOf(84), flood, 1);
  int frames = 100 * int(channelOf(84).queueDepth());
  Outcome a = quiet.run(frames), b = loud.run(frames);
  expectAll(a, frames);
  expectAll(b, frames);
  EXPECT_EQ(a.finished, b.finished);
  EXPECT_GT(loud.receiver.counters().malformed, 100u);
  EXPECT_EQ(loud.receiver.epoch(), kFirstEpoch);
}

TEST(Link, ForeignAndStaleDatagramsAreCounted) {
  Pair pair(channelOf(64), {}, 1);
  Header h;
  h.words = 1;
  h.epoch = kFirstEpoch;
  h.id = 8;
  pair.receiver.push(0, encode(h, wordBytes(1)));
  EXPECT_EQ(pair.receiver.counters().foreign, 1u);
  h.id = Pair::kChannel;
  h.epoch = 77;
  pair.receiver.push(0, encode(h, wordBytes(1)));
  EXPECT_EQ(pair.receiver.counters().stale, 1u);
  h.kind = Kind::Open;
  h.words = 0;
  h.id = 9; // another node
  pair.receiver.push(0, encode(h, {}));
  EXPECT_EQ(pair.receiver.counters().foreign, 2u);
  EXPECT_EQ(pair.receiver.epoch(), kFirstEpoch);
  expectAll(pair.run(10), 10);
}

TEST(Link, ImpossibleAcknowledgementsChangeNothing) {
  Pair pair(channelOf(64), {}, 1);
  Header h;
  h.kind = Kind::Ack;
  h.words = 1;
  h.epoch = kFirstEpoch;
  h.id = Pair::kChannel;
  h.first = 4;
  for (uint32_t sequence : {1u, 1000u, 0x80000000u, 0xffffffffu}) {
    h.sequence = sequence;
    pair.sender.push(0, encode(h, wordBytes(~0ull)));
  }
  expectAll(pair.run(100), 100);
}

TEST(Link, MemoryIsBoundedWhenNobodyTakes) {
  Pair pair(channelOf(8000), {}, 1);
  // The receiver's user never takes: the run ends by its limit.
  Outcome outcome = pair.run(1'000'000, 1.0, 1'000'000);
  EXPECT_TRUE(outcome.stuck);
  // Queues of four frames at both ends, a window of 64 KB.
  uint64_t waiting = pair.offered;
  EXPECT_LE(waiting, 4u + 4 + 66 + 1);
  expectAll(pair.run(100), 100 + waiting);
}

namespace {
/// A node that adds one to every byte of a frame, with a controller.
struct Service {
  Endpoint host, node;
  Controller controller;
  Time now = 0;
  bool nodeRuns = true;

  static ChannelConfig channel(uint16_t id, bool transmit, uint16_t peer) {
    ChannelConfig c = channelOf(80);
    c.id = id;
    c.transmit = transmit;
    c.peer = peer;
    return c;
  }
  Service()
      : host(0, {channel(1, true, 1), channel(2, false, 1)}),
        node(1, {channel(1, false, 0), channel(2, true, 0)}),
        controller(host, {1}, 100) {}

  void step() {
    controller.run(now);
    if (nodeRuns)
      while (node.available(1) && node.canSend(2)) {
        auto frame = *node.receive(1);
        for (uint8_t &byte : frame)
          ++byte;
        node.send(2, frame);
      }
    while (auto out = host.pull(now))
      if (nodeRuns)
        node.push(now, out->bytes);
    while (auto out = nodeRuns ? node.pull(now) : std::nullopt)
      host.push(now, out->bytes);
    now += 10'000;
  }
};
} // namespace

TEST(Controller, OpensProbesAndTakesBack) {
  Service service;
  for (int i = 0; i < 10; ++i)
    service.step();
  EXPECT_TRUE(service.controller.ready());
  EXPECT_EQ(service.node.epoch(), service.host.epoch());
  service.host.send(1, std::vector<uint8_t>(10, 5));
  for (int i = 0; i < 10; ++i)
    service.step();
  EXPECT_EQ(*service.host.receive(2), std::vector<uint8_t>(10, 6));

  // Silent: reported within a second.
  service.nodeRuns = false;
  Time since = service.now;
  while (service.controller.nodes()[0].alive &&
         service.now - since < 2'000'000'000)
    service.step();
  EXPECT_LT(service.now - since, 1'000'000'000u);

  // It returns without memory: a new epoch readmits it.
  service.node.open(kFirstEpoch);
  service.nodeRuns = true;
  while (!service.controller.lost() && service.now - since < 4'000'000'000)
    service.step();
  ASSERT_TRUE(service.controller.lost());
  service.controller.restart(service.now);
  for (int i = 0; i < 10; ++i)
    service.step();
  EXPECT_TRUE(service.controller.ready());
  service.host.send(1, std::vector<uint8_t>(10, 7));
  for (int i = 0; i < 10; ++i)
    service.step();
  EXPECT_EQ(*service.host.receive(2), std::vector<uint8_t>(10, 8));
}

TEST(Udp, TwoEndpointsOfOneMachine) {
  ChannelConfig config = channelOf(3072 * 8);
  config.id = 1;
  config.minimumWait = 2'000'000;
  ChannelConfig to = config, from = config;
  to.transmit = true;
  to.peer = 1;
  from.peer = 0;
  Endpoint host(0, {to}), node(1, {from});
  UdpSocket hostSide(host), nodeSide(node);
  std::string error;
  ASSERT_TRUE(hostSide.bind("127.0.0.1:0", error)) << error;
  ASSERT_TRUE(nodeSide.bind("127.0.0.1:0", error)) << error;
  ASSERT_TRUE(hostSide.addPeer(
      1, "127.0.0.1:" + std::to_string(nodeSide.port()), error))
      << error;
  nodeSide.learnPeer(0);
  host.control(Kind::Open, 1, 1);
  uint64_t sent = 0, got = 0, wrong = 0;
  Time end = UdpSocket::now() + 20'000'000'000;
  while (got < 500 && UdpSocket::now() < end) {
    Time soon = UdpSocket::now() + 100'000;
    ASSERT_TRUE(hostSide.step(
        soon,
        [&](Time) {
          while (sent < 500 && host.send(1, tensorBytes(sent, 3072 * 8)))
            ++sent;
        },
        error))
        << error;
    ASSERT_TRUE(nodeSide.step(
        soon,
        [&](Time) {
          while (auto frame = node.receive(1))
            wrong += *frame != tensorBytes(got++, 3072 * 8);
        },
        error))
        << error;
  }
  EXPECT_EQ(got, 500u);
  EXPECT_EQ(wrong, 0u);
  EXPECT_FALSE(hostSide.addPeer(2, "nowhere", error));
  EXPECT_NE(error.find("address:port"), std::string::npos);
}
