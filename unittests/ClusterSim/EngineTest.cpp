// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The windows: causality, independence of scheduling, the end. Parties run as
// threads; the transport between them is a barrier.
#include "rhizome/ClusterSim/Engine.h"
#include "gtest/gtest.h"
#include <barrier>
#include <map>
#include <mutex>
#include <random>
#include <thread>

using namespace rhizome;
using namespace rhizome::clustersim;

namespace {
const PlannedLink kLink{{Medium::Kind::Udp, 1e10, 1000, 1472, 66}, "10gbe"};

class Exchange {
public:
  explicit Exchange(int size) : size(size), barrier(size), report(size) {}
  const int size;
  std::barrier<> barrier;
  std::mutex mutex;
  std::vector<PartyStatus> report;
  std::map<int, std::vector<Datagram>> mail;
};

class ThreadTransport : public Transport {
public:
  ThreadTransport(Exchange &exchange, int rank)
      : common(exchange), self(rank) {}
  int rank() const override { return self; }
  int size() const override { return common.size; }
  std::vector<PartyStatus> exchange(const PartyStatus &mine,
                                    std::vector<Datagram> sent,
                                    std::vector<Datagram> &received) override {
    {
      std::lock_guard<std::mutex> lock(common.mutex);
      common.report[size_t(self)] = mine;
      for (Datagram &datagram : sent)
        common.mail[datagram.to].push_back(std::move(datagram));
    }
    common.barrier.arrive_and_wait();
    std::vector<PartyStatus> all;
    {
      std::lock_guard<std::mutex> lock(common.mutex);
      all = common.report;
      received = std::exchange(common.mail[self], {});
    }
    common.barrier.arrive_and_wait();
    return all;
  }

private:
  Exchange &common;
  int self;
};

/// Passes a token on some time after it arrived; keeps a log. The host ends
/// when it has seen enough of them.
class Gossip : public Party {
public:
  Gossip(int rank, int parties, int tokens, bool dawdles)
      : Party(rank, {kLink}, {}), rank(rank), parties(parties), tokens(tokens),
        dawdles(dawdles), random(uint64_t(rank)) {
    ports.connect(0);
    if (rank == 0)
      due = 0;
  }
  Picoseconds next() const override {
    return std::min(due, ports.nextArrival());
  }
  llvm::Error run(Picoseconds until) override {
    while (next() < until) {
      if (dawdles)
        std::this_thread::sleep_for(std::chrono::microseconds(30));
      Picoseconds now = next();
      EXPECT_GE(now, last) << "time goes back";
      last = now;
      Datagram datagram;
      while (ports.receive(now, datagram)) {
        EXPECT_EQ(datagram.lastBit, now) << "received late";
        diary.push_back({now, datagram.from, datagram.bytes.size()});
        due = now + 1 + Picoseconds(random() % 3'000'000);
        ++seen;
      }
      if (now == due) {
        due = kNever;
        for (int copies = 0; copies < 2; ++copies)
          ports.send(
              now,
              int(random() % uint64_t(parties)) == rank
                  ? (rank + 1) % parties
                  : int(random() % uint64_t(parties - 1) + 1 + uint64_t(rank)) %
                        parties,
              0, std::vector<uint8_t>(random() % 1400));
      }
    }
    return llvm::Error::success();
  }
  bool isDone() const override { return rank == 0 && seen >= tokens; }
  llvm::Error standsStill() override {
    stood = true;
    return llvm::Error::success();
  }

  struct Entry {
    Picoseconds time;
    int from;
    size_t size;
    bool operator==(const Entry &) const = default;
  };
  std::vector<Entry> diary;
  bool stood = false;

private:
  int rank, parties, tokens, seen = 0;
  bool dawdles;
  std::mt19937_64 random;
  Picoseconds due = kNever, last = 0;
};

std::vector<std::vector<Gossip::Entry>> gossip(int parties, int dawdler) {
  Exchange exchange(parties);
  std::vector<std::vector<Gossip::Entry>> diaries(static_cast<size_t>(parties));
  std::vector<std::thread> threads;
  for (int r = 0; r < parties; ++r)
    threads.emplace_back([&, r] {
      Gossip party(r, parties, 50, r == dawdler);
      ThreadTransport transport(exchange, r);
      auto result = simulate(party, transport, lookahead({kLink}));
      EXPECT_TRUE(bool(result));
      EXPECT_GT(result->windows, 10);
      diaries[size_t(r)] = party.diary;
    });
  for (std::thread &thread : threads)
    thread.join();
  return diaries;
}

TEST(Engine, TheResultDoesNotDependOnWhoIsSlow) {
  auto first = gossip(4, 0);
  EXPECT_GE(first[0].size(), 50u);
  for (int dawdler = 1; dawdler < 4; ++dawdler)
    EXPECT_EQ(gossip(4, dawdler), first);
}

/// Never does anything.
class Silent : public Party {
public:
  explicit Silent(int rank, bool host) : Party(rank, {kLink}, {}), host(host) {}
  Picoseconds next() const override { return kNever; }
  llvm::Error run(Picoseconds) override { return llvm::Error::success(); }
  llvm::Error standsStill() override {
    return host ? llvm::createStringError("it waits for frame 3")
                : llvm::Error::success();
  }

private:
  bool host;
};

TEST(Engine, AClusterThatStandsStillIsNoHang) {
  Exchange exchange(2);
  std::thread other([&] {
    Silent party(1, false);
    ThreadTransport transport(exchange, 1);
    EXPECT_TRUE(bool(simulate(party, transport, 1000)));
  });
  Silent host(0, true);
  ThreadTransport transport(exchange, 0);
  auto result = simulate(host, transport, 1000);
  EXPECT_EQ(llvm::toString(result.takeError()), "it waits for frame 3");
  other.join();
}
} // namespace
