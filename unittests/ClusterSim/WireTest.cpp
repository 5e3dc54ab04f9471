// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When datagrams arrive, which are lost, which channel a frame uses.
#include "rhizome/ClusterSim/Wire.h"
#include "rhizome/ClusterSim/Channels.h"
#include "gtest/gtest.h"
#include <set>

using namespace rhizome;
using namespace rhizome::clustersim;

namespace {
const PlannedLink kTenGig{{Medium::Kind::Udp, 1e10, 1000, 1472, 66}, "10gbe"};
const PlannedLink kOneGig{{Medium::Kind::Udp, 1e9, 1000, 1472, 66}, "1gbe"};
const PlannedLink kWire{{Medium::Kind::Wire, 1e8, 50, 1024, 2}, "lvds"};
constexpr Picoseconds kMicrosecond = 1'000'000;

std::vector<uint8_t> payload(size_t size) { return std::vector<uint8_t>(size); }

Picoseconds arrivalOf(Ports &sender, Ports &receiver) {
  for (Datagram &datagram : sender.takeSent())
    receiver.bring(std::move(datagram));
  return receiver.nextArrival();
}

TEST(Wire, OneDatagramTakesItsBitsAndTheLatency) {
  Ports a(0, {kTenGig}, {}), b(1, {kTenGig}, {});
  a.connect(0);
  b.connect(0);
  a.send(0, 1, 0, payload(934)); // 1,000 bytes including the overhead: 800 ns
  EXPECT_EQ(arrivalOf(a, b), 800'000 + kMicrosecond);
  Datagram got;
  EXPECT_FALSE(b.receive(1'799'999, got));
  ASSERT_TRUE(b.receive(1'800'000, got));
  EXPECT_EQ(got.bytes.size(), 934u);
  EXPECT_EQ(b.nextArrival(), kNever);
}

TEST(Wire, DatagramsQueueAtTheSender) {
  Ports a(0, {kTenGig}, {}), b(1, {kTenGig}, {});
  a.connect(0);
  b.connect(0);
  a.send(0, 1, 0, payload(934));
  a.send(0, 1, 0, payload(934));
  EXPECT_EQ(a.freeAt(1, 0), 1'600'000);
  arrivalOf(a, b);
  Datagram got;
  ASSERT_TRUE(b.receive(kNever - 1, got));
  ASSERT_TRUE(b.receive(kNever - 1, got));
  EXPECT_EQ(got.lastBit, 1'600'000 + kMicrosecond);
}

TEST(Wire, TwoSendersQueueAtTheReceiver) {
  Ports a(0, {kTenGig}, {}), b(1, {kTenGig}, {}), c(2, {kTenGig}, {});
  for (Ports *ports : {&a, &b, &c})
    ports->connect(0);
  a.send(0, 2, 0, payload(934));
  b.send(0, 2, 0, payload(934));
  arrivalOf(b, c);
  arrivalOf(a, c);
  Datagram got;
  ASSERT_TRUE(c.receive(kNever - 1, got));
  EXPECT_EQ(got.from, 0);
  EXPECT_EQ(got.lastBit, 1'800'000);
  ASSERT_TRUE(c.receive(kNever - 1, got));
  EXPECT_EQ(got.from, 1);
  EXPECT_EQ(got.lastBit, 2'600'000);
}

TEST(Wire, TheSlowerPortSetsTheRate) {
  Ports a(0, {kTenGig, kOneGig}, {}), b(1, {kTenGig, kOneGig}, {});
  a.connect(0);
  a.connect(1);
  b.connect(1);
  a.send(0, 1, 1, payload(934));
  // The fast port has sent in 800 ns; the slow one receives for 8 us.
  EXPECT_EQ(a.freeAt(1, 1), 800'000);
  EXPECT_EQ(arrivalOf(a, b), 9 * kMicrosecond);
}

TEST(Wire, WiresToTwoPeersDoNotDisturbEachOther) {
  Ports a(0, {kWire}, {}), b(1, {kWire}, {}), c(2, {kWire}, {});
  a.send(0, 1, 0, payload(998)); // 1,000 bytes: 80 us
  a.send(0, 2, 0, payload(998));
  std::vector<Datagram> sent = a.takeSent();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].lastBit, 80 * kMicrosecond + 50'000);
  EXPECT_EQ(sent[1].lastBit, sent[0].lastBit);
}

TEST(Wire, LossIsDrawnBySeedAndNumber) {
  auto lost = [](uint64_t seed) {
    Ports a(0, {kTenGig}, {0.1, 0.1, kMicrosecond, seed});
    a.connect(0);
    for (int i = 0; i < 10000; ++i)
      a.send(i * kMicrosecond, 1, 0, payload(64));
    std::set<uint64_t> numbers;
    for (const Datagram &datagram : a.takeSent())
      numbers.insert(datagram.number);
    EXPECT_EQ(int64_t(10000 - numbers.size()), a.statistics().lost);
    EXPECT_NEAR(double(a.statistics().lost), 1000, 120);
    EXPECT_NEAR(double(a.statistics().delayed), 900, 120);
    return numbers;
  };
  EXPECT_EQ(lost(1), lost(1));
  EXPECT_NE(lost(1), lost(2));
}

TEST(Wire, WiresLoseNothing) {
  Ports a(0, {kWire}, {0.9, 0.9, kMicrosecond, 1});
  for (int i = 0; i < 100; ++i)
    a.send(i * kMicrosecond, 1, 0, payload(2));
  EXPECT_EQ(a.takeSent().size(), 100u);
}

TEST(Wire, NothingArrivesWithinTheLookahead) {
  std::vector<PlannedLink> links{kTenGig, kWire};
  Picoseconds window = lookahead(links);
  EXPECT_GT(window, 50'000);
  for (size_t link = 0; link < links.size(); ++link) {
    Ports a(0, links, {}), b(1, links, {});
    a.connect(link);
    b.connect(link);
    a.send(0, 1, link, payload(1));
    EXPECT_GE(arrivalOf(a, b), window);
  }
}

/// A host, two replicas of one node and three of the next.
Plan replicated() {
  Plan plan;
  plan.links = {kTenGig};
  auto node = [&](const char *name, uint16_t address, Replica replica) {
    PlannedNode &n = plan.nodes.emplace_back();
    n.name = name;
    n.address = address;
    n.replica = replica;
  };
  node("a0", 1, {0, 0, 2});
  node("a1", 2, {0, 1, 2});
  for (uint16_t i = 0; i < 3; ++i)
    node(("b" + std::to_string(i)).c_str(), uint16_t(3 + i), {1, i, 3});
  auto channel = [&](const std::string &from, const std::string &fromPort,
                     const std::string &to, const std::string &toPort,
                     int64_t first, int64_t every) {
    plan.channels.push_back({uint16_t(plan.channels.size() + 1),
                             "t",
                             {false, 8, 0, 255},
                             100,
                             {from, fromPort},
                             {to, toPort},
                             first,
                             every,
                             "10gbe"});
  };
  for (int64_t i = 0; i < 2; ++i)
    channel(kHost, "input0", "a" + std::to_string(i), "s_axis_0", i, 2);
  for (int64_t f = 0; f < 6; ++f)
    channel("a" + std::to_string(f % 2), "m_axis_0",
            "b" + std::to_string(f % 3), "s_axis_0", f, 6);
  for (int64_t i = 0; i < 3; ++i)
    channel("b" + std::to_string(i), "m_axis_0", kHost, "output0", i, 3);
  return plan;
}

TEST(Channels, FramesFindTheirWayThroughReplicas) {
  Plan plan = replicated();
  std::map<std::string, link::Router> in, out;
  for (const PlannedNode &node : plan.nodes) {
    in.emplace(node.name, routerOf(plan, node.name, true));
    out.emplace(node.name, routerOf(plan, node.name, false));
  }
  in.emplace(kHost, routerOf(plan, kHost, true));
  out.emplace(kHost, routerOf(plan, kHost, false));
  std::map<uint16_t, const Channel *> byId;
  for (const Channel &channel : plan.channels)
    byId[channel.id] = &channel;
  for (int frame = 0; frame < 24; ++frame) {
    std::string at = kHost;
    for (int hop = 0; hop < 3; ++hop) {
      link::Router &sends = out.at(at);
      ASSERT_EQ(sends.next(0).size(), 1u);
      uint16_t id = sends.next(0).front();
      sends.advance(0);
      at = byId.at(id)->to.node;
      link::Router &receives = in.at(at);
      ASSERT_EQ(receives.next(0).size(), 1u);
      EXPECT_EQ(receives.next(0).front(), id) << "frame " << frame;
      receives.advance(0);
    }
    EXPECT_EQ(at, kHost);
  }
}

TEST(Channels, BothEndsAgreeOnAChannel) {
  Plan plan = replicated();
  std::vector<link::ChannelConfig> host = channelsOf(plan, kHost),
                                   node = channelsOf(plan, "b1");
  ASSERT_EQ(host.size(), 5u);
  ASSERT_EQ(node.size(), 3u);
  EXPECT_TRUE(host[0].transmit);
  EXPECT_EQ(host[0].peer, 1);
  EXPECT_EQ(host[3].peer, 4);
  EXPECT_FALSE(host[3].transmit);
  EXPECT_EQ(host[3].id, node[2].id);
  EXPECT_EQ(host[3].frameBits, 800u);
  EXPECT_EQ(node[2].peer, kHostAddress);
}
} // namespace
