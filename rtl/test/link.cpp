// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Drives rhz_tb_link from the C++ peer: numbered tensors out on channels 1, 3
// and 4, back on 2, 5 and 6, over a medium that loses, delays, doubles,
// reorders, cuts and invents datagrams, with stalls in the node and of its
// output. Arguments: key=value; prints one line of JSON.
#include "Pair.h"
#include "Vrhz_tb_link.h"
#include "rhizome/runtime/control.h"
#include "verilated.h"
#include <cstdio>
#include <cstring>
#include <string>

using namespace rhizome::link;
using namespace rhizome::link::test;

namespace {
/// The node: datagrams in and out, beat by beat.
class Node {
public:
  Vrhz_tb_link top;
  unsigned bytes = WIDTH / 8;
  double stall = 0, block = 0;
  uint64_t cycle = 0, elsewhere = 0; ///< beats to other places than the host's
  std::deque<std::vector<uint8_t>> in;
  std::deque<std::vector<uint8_t>> out;
  std::mt19937_64 random{7};

  void reset() {
    top.rst_ni = 0;
    top.s_link_tvalid = 0;
    for (int i = 0; i < 4; ++i)
      clock();
    top.rst_ni = 1;
    in.clear();
    at = 0;
    taking.clear();
  }

  void clock() {
    auto chance = [&](double p) {
      return p > 0 && double(random() % 100000) < p * 100000;
    };
    top.stall_i = chance(stall);
    top.m_link_tready = !chance(block);
    bool offers = !in.empty() && top.rst_ni;
    top.s_link_tvalid = offers;
    if (offers) {
      const auto &d = in.front();
      uint64_t word = 0;
      size_t n = std::min<size_t>(bytes, d.size() - at);
      std::memcpy(&word, d.data() + at, n);
      top.s_link_tdata = WIDTH == 64 ? word : word & ((1ull << WIDTH % 64) - 1);
      top.s_link_tkeep = uint8_t((1u << n) - 1);
      top.s_link_tlast = at + n == d.size();
    }
    top.eval();
    bool moved = top.m_link_tvalid && top.m_link_tready && top.rst_ni;
    if (moved) {
      elsewhere += top.m_link_tdest != kHostAddress;
      uint64_t word = top.m_link_tdata;
      for (unsigned i = 0; i < bytes; ++i)
        taking.push_back(uint8_t(word >> 8 * i));
      if (top.m_link_tlast) {
        out.push_back(std::move(taking));
        taking.clear();
      }
    }
    if (offers) {
      at += bytes;
      if (at >= in.front().size()) {
        in.pop_front();
        at = 0;
      }
    }
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
    top.eval();
    ++cycle;
  }

private:
  size_t at = 0;
  std::vector<uint8_t> taking;
};

/// Datagrams of somebody who means harm, and who hears those to the node: Opens
/// of no epoch, of other nodes, channels and epochs, kinds that no node takes,
/// what was sent once more, and the same with a bit of the header turned.
class Hostile {
public:
  std::vector<uint8_t> next(const std::vector<uint8_t> &heard, uint16_t epoch) {
    if (!heard.empty())
      past.push_back(heard);
    if (past.size() > 200)
      past.pop_front();
    Header h;
    h.id = 1;
    h.epoch = epoch;
    h.sequence = uint32_t(random() % 256);
    switch (random() % 6) {
    case 0:
      h.kind = random() % 2 ? Kind::Open : Kind::Probe;
      if (h.kind == Kind::Open)
        h.epoch = 0;
      else
        h.id = uint16_t(2 + random() % 100);
      break;
    case 1:
      h.kind = Kind::Open;
      h.id = uint16_t(random() % 2 ? 0 : 2 + random() % 100);
      h.epoch = uint16_t(random());
      break;
    case 2:
      h.kind = random() % 2 ? Kind::Data : Kind::Poll;
      h.id = uint16_t(7 + random() % 100);
      break;
    case 3:
      h.kind = Kind(random() % 3);
      h.id = uint16_t(1 + random() % 6);
      h.epoch = uint16_t(epoch + 1 + random() % 1000);
      break;
    case 4:
      h.kind = Kind(5 + random() % 3);
      break;
    default: {
      std::vector<uint8_t> again = past[random() % past.size()];
      if (random() % 2)
        again[random() % kHeaderBytes] ^= uint8_t(1 << random() % 8);
      return again;
    }
    }
    bool one =
        h.kind == Kind::Data || h.kind == Kind::Ack || h.kind == Kind::Status;
    h.words = one ? 1 : 0;
    return encode(h, std::vector<uint8_t>(h.words * kWordBytes, 0xff));
  }
  bool strikes(double share) { return double(random() % 1000) < 1000 * share; }

private:
  std::mt19937 random{7};
  std::deque<std::vector<uint8_t>> past;
};

std::map<std::string, double> arguments;
double arg(const char *name, double otherwise) {
  auto it = arguments.find(name);
  return it == arguments.end() ? otherwise : it->second;
}
} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    size_t equals = text.find('=');
    if (text[0] != '+' && equals != std::string::npos)
      arguments[text.substr(0, equals)] = std::stod(text.substr(equals + 1));
  }
  Verilated::commandArgs(argc, argv);
  MediumConfig medium;
  medium.bitsPerS = arg("gbits", 10) * 1e9;
  medium.delayNs = uint64_t(arg("delay_ns", 1000));
  medium.loss = arg("loss", 0);
  medium.twice = arg("twice", 0);
  medium.late = arg("late", 0);
  medium.garbage = arg("garbage", 0);
  medium.exact = arg("garbage_exact", 0) != 0;
  medium.garbageBytes = size_t(arg("garbage_bytes", 64));
  medium.cut = arg("cut", 0);
  medium.flip = arg("flip", 0);
  auto count = uint64_t(arg("tensors", 1000));
  bool all = arg("all", 1) != 0; // also the replicas and the broadcast
  auto restartAt = uint64_t(arg("restart_at", 0));
  double period = 1000 / arg("clock_mhz", 156.25);
  uint64_t bits = uint64_t(FRAME_BITS);

  auto channel = [&](uint16_t id, bool transmit) {
    ChannelConfig c;
    c.id = id;
    c.transmit = transmit;
    c.peer = 1;
    c.frameBits = bits;
    c.slotWords = SLOT_WORDS;
    c.window = 64;
    c.reliable = arg("reliable", 0) != 0;
    c.roundTrip = 2 * medium.delayNs + 4000;
    c.minimumWait = medium.delayNs + 3000;
    c.ackDelay = 4000;
    return c;
  };
  std::vector<ChannelConfig> channels = {channel(1, true), channel(2, false)};
  if (all)
    for (uint16_t id = 3; id <= 6; ++id)
      channels.push_back(channel(id, id <= 4));
  Endpoint host(kHostAddress, channels);
  Medium forth(medium, 11), back(medium, 12);
  Node node;
  node.stall = arg("stall", 0);
  node.block = arg("block", 0);
  node.reset();

  // Frame f of the second path goes to channel 3 + f mod 2, and comes back
  // twice.
  uint64_t sent[2] = {}, got[3] = {}, wrong = 0;
  std::vector<double> latencies;
  bool one = arg("one", 0) != 0; // one request at a time
  double now = 0, askedAt = 0;
  uint64_t toNode = 0, idle = 0, lastGot = 0;
  bool opened = false, joined = false;
  uint64_t openAt = 0;
  uint64_t paths = all ? 2 : 1, answers = all ? 3 : 1;
  auto finished = [&] {
    for (uint64_t i = 0; i < answers; ++i)
      if (got[i] < count)
        return false;
    return true;
  };
  bool stuck = false;
  Hostile hostile;
  const double harm = arg("hostile", 0);
  uint64_t hostileSent = 0;
  while (!finished() && !stuck) {
    auto time = uint64_t(now);
    for (uint64_t path = 0; path < paths; ++path)
      while (sent[path] < count) {
        auto id = uint16_t(path == 0 ? 1 : 3 + sent[1] % 2);
        if ((one && sent[path] > got[path]) || !host.canSend(id))
          break;
        host.send(id, tensorBytes(2 * sent[path] + path, bits));
        ++sent[path];
        askedAt = now;
      }
    static const uint16_t kBack[3] = {2, 5, 6};
    for (uint64_t i = 0; i < answers; ++i)
      while (auto frame = host.receive(kBack[i])) {
        wrong += *frame != tensorBytes(2 * got[i] + (i > 0), bits);
        if (i == 0 && one)
          latencies.push_back(now - askedAt);
        ++got[i];
      }
    // Half way the node forgets everything; a new epoch, and all that was not
    // answered is asked again.
    if (restartAt && !opened && got[0] >= restartAt) {
      opened = true;
      node.reset();
      host.open(77);
      uint64_t from =
          std::min({got[0], all ? got[1] : got[0], all ? got[2] : got[0]});
      from -= from % 2; // replicas begin with the first again
      sent[0] = sent[1] = got[0] = got[1] = got[2] = from;
    }
    // The Open again, until it has been answered.
    if (opened && !joined && time >= openAt) {
      host.control(Kind::Open, 1, 4711);
      openAt = time + 20'000;
    }
    while (auto status = host.status())
      joined |= status->epoch == 77;
    while (forth.freeAt() <= time) {
      auto datagram = host.pull(time);
      if (!datagram)
        break;
      forth.send(time, std::move(datagram->bytes));
    }
    while (forth.next() <= time) {
      auto bytes = forth.take();
      ++toNode;
      if (bytes.empty())
        continue;
      if (bytes.size() >= kHeaderBytes && hostile.strikes(harm)) {
        node.in.push_back(hostile.next(bytes, host.epoch()));
        ++hostileSent;
      }
      node.in.push_back(std::move(bytes));
    }
    // The node's own line: it stalls while it is busy with what went before.
    bool busy = double(back.freeAt()) > now + double(8 * 1500) * period / WIDTH;
    double block = node.block;
    if (busy)
      node.block = 1;
    node.clock();
    node.block = block;
    while (!node.out.empty()) {
      back.send(time, std::move(node.out.front()));
      node.out.pop_front();
    }
    while (back.next() <= time) {
      auto bytes = back.take();
      host.push(time, bytes);
    }
    now += period;
    uint64_t sum = got[0] + got[1] + got[2];
    idle = sum == lastGot ? idle + 1 : 0;
    lastGot = sum;
    stuck = idle > 3'000'000;
  }
  // The two without a medium between them, until `done` or some milliseconds.
  auto exchange = [&](int cycles, auto done) {
    for (int i = 0; i < cycles && !done(); ++i, now += period) {
      auto time = uint64_t(now);
      if (i % 20000 == 19999)
        host.control(Kind::Probe, 1, 1);
      while (auto d = host.pull(time))
        node.in.push_back(std::move(d->bytes));
      node.clock();
      while (!node.out.empty()) {
        host.push(time, node.out.front());
        node.out.pop_front();
      }
    }
  };
  // The counters, as the controller sees them.
  host.control(Kind::Probe, 1, 1);
  NodeStatus last;
  exchange(200'000, [&] {
    while (auto status = host.status())
      if (status->cookie == 1) {
        last = *status;
        return true;
      }
    return false;
  });
  double ns = double(node.cycle) * period;
  const double hostilePerS = double(hostileSent) * 1e9 / ns;
  // The host is silent, those that mean harm are not: once what the host lacks
  // has been sent again, no datagram is answered by more than one, and none
  // with the payload of a frame (D5).
  uint64_t alone = 0, answered = 0, longest = 0;
  exchange(20'000, [] { return false; });
  while (alone < uint64_t(arg("alone", 0))) {
    node.in.push_back(hostile.next({}, host.epoch()));
    for (++alone; !node.in.empty();)
      node.clock();
    for (const auto &answer : node.out)
      longest = std::max<uint64_t>(longest, answer.size());
    answered += node.out.size();
    node.out.clear();
  }
  double latency = 0;
  for (double l : latencies)
    latency = std::max(latency, l);
  std::printf(
      "{\"tensors\": %llu, \"lost\": %llu, \"wrong\": %llu, \"stuck\": %s, "
      "\"per_s\": %.0f, \"latency_ns\": %.0f, \"cycles\": %llu, "
      "\"resent\": %llu, \"polls\": %llu, \"malformed\": %u, "
      "\"foreign\": %u, \"stale\": %u, \"duplicate\": %u, "
      "\"host_malformed\": %llu, \"hostile_per_s\": %.0f, \"alone\": %llu, "
      "\"answers\": %llu, \"longest\": %llu, \"elsewhere\": %llu}\n",
      (unsigned long long)count,
      (unsigned long long)(answers * count - got[0] - got[1] - got[2]),
      (unsigned long long)wrong, stuck ? "true" : "false",
      double(got[0]) * 1e9 / ns, latency, (unsigned long long)node.cycle,
      (unsigned long long)host.counters().resent,
      (unsigned long long)host.counters().polls, last.malformed, last.foreign,
      last.stale, last.duplicate, (unsigned long long)host.counters().malformed,
      hostilePerS, (unsigned long long)alone, (unsigned long long)answered,
      (unsigned long long)longest, (unsigned long long)node.elsewhere);
  return stuck || wrong || !finished();
}
