// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ports as queues in time. Loss and delay are drawn from a hash of seed, sender
// and number, so they do not depend on the order in which ranks run.
#include "rhizome/ClusterSim/Wire.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <tuple>

using namespace rhizome;
using namespace rhizome::clustersim;

namespace {
constexpr size_t kSwitched = SIZE_MAX;

/// splitmix64, Steele, Lea and Flood, OOPSLA 2014.
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// A number in [0, 1) for one decision on one datagram.
double draw(uint64_t seed, int rank, uint64_t number, uint64_t decision) {
  uint64_t x = mix(mix(mix(seed) ^ uint64_t(rank)) ^ number) ^ decision;
  return double(mix(x) >> 11) * 0x1.0p-53;
}
} // namespace

Picoseconds clustersim::transmissionTime(int64_t bytes, double bitsPerS) {
  return Picoseconds(std::ceil(double(bytes) * 8e12 / bitsPerS));
}

Picoseconds clustersim::lookahead(const std::vector<PlannedLink> &links) {
  Picoseconds latency = kNever, transmission = kNever;
  for (const PlannedLink &link : links) {
    latency = std::min(latency, link.latencyNs * 1000);
    transmission = std::min(
        transmission, transmissionTime(link.overheadBytes + 1, link.bitsPerS));
  }
  return links.empty() ? kNever
                       : std::max<Picoseconds>(1, latency + transmission);
}

bool Ports::Later::operator()(const Datagram &a, const Datagram &b) const {
  return std::tie(a.firstBit, a.from, a.number) >
         std::tie(b.firstBit, b.from, b.number);
}

Ports::Key Ports::keyOf(size_t link, int peer) const {
  return links[link].kind == Medium::Kind::Udp ? Key{kSwitched, 0}
                                               : Key{link, peer};
}

double Ports::rateOf(size_t link) const {
  return links[link].kind == Medium::Kind::Udp ? switchedRate
                                               : links[link].bitsPerS;
}

void Ports::connect(size_t link) {
  if (links[link].kind == Medium::Kind::Udp)
    switchedRate = std::max(switchedRate, links[link].bitsPerS);
}

Picoseconds Ports::freeAt(int to, size_t link) const {
  auto lane = sending.find(keyOf(link, to));
  return lane == sending.end() ? 0 : lane->second.free;
}

Picoseconds Ports::freeAt() const {
  Picoseconds free = 0;
  for (const auto &[key, lane] : sending)
    free = std::max(free, lane.free);
  return free;
}

void Ports::send(Picoseconds now, int to, size_t link,
                 std::vector<uint8_t> bytes) {
  const PlannedLink &medium = links[link];
  Lane &lane = sending[keyOf(link, to)];
  Picoseconds duration = transmissionTime(
      int64_t(bytes.size()) + medium.overheadBytes, rateOf(link));
  Picoseconds start = std::max(now, lane.free);
  lane.free = start + duration;
  lane.busy += duration;
  ++counts.sent;
  counts.bytesSent += int64_t(bytes.size());
  Datagram datagram;
  datagram.from = rank;
  datagram.to = to;
  datagram.number = sequence++;
  datagram.link = link;
  datagram.firstBit = start + medium.latencyNs * 1000;
  datagram.lastBit = datagram.firstBit + duration;
  datagram.bytes = std::move(bytes);
  if (medium.kind == Medium::Kind::Udp) {
    auto chance = [&](uint64_t decision) {
      return draw(disturbance.seed, rank, datagram.number, decision);
    };
    if (chance(0) < disturbance.loss) {
      ++counts.lost;
      return;
    }
    if (chance(1) < disturbance.reorder) {
      auto delay = Picoseconds(chance(2) * double(disturbance.reorderDelay));
      datagram.firstBit += delay;
      datagram.lastBit += delay;
      ++counts.delayed;
    }
  }
  sent.push_back(std::move(datagram));
}

void Ports::bring(Datagram datagram) {
  assert(datagram.to == rank && "a datagram for another party");
  (links[datagram.link].kind == Medium::Kind::Udp ? switched : wired)
      .push(std::move(datagram));
}

Picoseconds Ports::arrivalAtSwitchedPort(const Datagram &datagram) const {
  auto lane = receiving.find({kSwitched, 0});
  Picoseconds free = lane == receiving.end() ? 0 : lane->second.free;
  Picoseconds duration = transmissionTime(
      int64_t(datagram.bytes.size()) + links[datagram.link].overheadBytes,
      switchedRate);
  return std::max(std::max(datagram.firstBit, free) + duration,
                  datagram.lastBit);
}

Picoseconds Ports::nextArrival() const {
  Picoseconds next = kNever;
  if (!switched.empty())
    next = arrivalAtSwitchedPort(switched.top());
  if (!wired.empty())
    next = std::min(next, wired.top().lastBit);
  return next;
}

bool Ports::receive(Picoseconds now, Datagram &datagram) {
  Picoseconds bySwitch =
      switched.empty() ? kNever : arrivalAtSwitchedPort(switched.top());
  Picoseconds byWire = wired.empty() ? kNever : wired.top().lastBit;
  if (std::min(bySwitch, byWire) > now)
    return false;
  auto &queue = bySwitch <= byWire ? switched : wired;
  datagram = queue.top();
  queue.pop();
  Lane &lane = receiving[keyOf(datagram.link, datagram.from)];
  lane.busy += transmissionTime(int64_t(datagram.bytes.size()) +
                                    links[datagram.link].overheadBytes,
                                rateOf(datagram.link));
  lane.free = datagram.lastBit = std::min(bySwitch, byWire);
  ++counts.received;
  counts.bytesReceived += int64_t(datagram.bytes.size());
  return true;
}

Ports::Statistics Ports::statistics() const {
  Statistics result = counts;
  for (const auto &[key, lane] : sending)
    result.sendBusy = std::max(result.sendBusy, lane.busy);
  for (const auto &[key, lane] : receiving)
    result.receiveBusy = std::max(result.receiveBusy, lane.busy);
  return result;
}
