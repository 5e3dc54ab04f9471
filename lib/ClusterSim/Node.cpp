// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/ClusterSim/Parties.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::clustersim;

int clustersim::rankOf(const Plan &plan, uint16_t address) {
  for (size_t k = 0; k < plan.nodes.size(); ++k)
    if (plan.nodes[k].address == address)
      return int(k) + 1;
  return 0;
}

std::string clustersim::nameOf(const Plan &plan, int rank) {
  return rank == 0 ? kHost : plan.nodes[size_t(rank) - 1].name;
}

//===----------------------------------------------------------------------===//
// LinkParty
//===----------------------------------------------------------------------===//

static link::Time nanoseconds(Picoseconds time) {
  return link::Time(time / 1000);
}

PlannedParty::PlannedParty(const Plan &plan, int rank, Disturbance disturbance)
    : Party(rank, plan.links, disturbance), plan(plan), rank(rank) {
  std::string name = nameOf(plan, rank);
  const std::string &own =
      rank == 0 ? plan.hostLink : plan.nodes[size_t(rank) - 1].link;
  if (const PlannedLink *link = plan.link(own))
    ports.connect(size_t(link - plan.links.data()));
  for (const Channel &channel : plan.channels) {
    if (channel.from.node != name && channel.to.node != name)
      continue;
    uint16_t peer = addressOf(
        plan, channel.from.node == name ? channel.to.node : channel.from.node);
    const PlannedLink &link = *plan.link(channel.link);
    size_t medium = size_t(&link - plan.links.data());
    routes[peer] = {rankOf(plan, peer), medium};
    ports.connect(medium);
    if (link.kind == Medium::Kind::Udp)
      switched = medium;
    twoDatagrams = std::max(
        twoDatagrams, transmissionTime(2 * (link.mtuBytes + link.overheadBytes),
                                       link.bitsPerS));
  }
}

void PlannedParty::sendTo(Picoseconds now, uint16_t address,
                          std::vector<uint8_t> bytes) {
  auto [to, medium] = routes.at(address);
  ports.send(now, to, medium, std::move(bytes));
}

LinkParty::LinkParty(const Plan &plan, int rank, Disturbance disturbance)
    : PlannedParty(plan, rank, disturbance),
      protocol(addressOf(plan, nameOf(plan, rank)),
               channelsOf(plan, nameOf(plan, rank))),
      inputs(routerOf(plan, nameOf(plan, rank), true)),
      outputs(routerOf(plan, nameOf(plan, rank), false)) {}

void LinkParty::receive(Picoseconds now) {
  Datagram datagram;
  while (ports.receive(now, datagram))
    protocol.push(nanoseconds(now), datagram.bytes);
}

void LinkParty::send(Picoseconds now) {
  while (!switched || ports.freeAt(0, *switched) <= now) {
    std::optional<link::Outgoing> out = protocol.pull(nanoseconds(now));
    if (!out)
      return;
    sendTo(now, out->peer, std::move(out->bytes));
  }
}

Picoseconds LinkParty::nextOnLink(Picoseconds now) const {
  Picoseconds next = ports.nextArrival();
  link::Time deadline = protocol.deadline(nanoseconds(now));
  if (deadline != link::kNever) {
    Picoseconds due = std::max(now, Picoseconds(deadline) * 1000);
    if (switched)
      due = std::max(due, ports.freeAt(0, *switched));
    next = std::min(next, due);
  }
  return next == kNever ? kNever : std::max(now, next);
}

//===----------------------------------------------------------------------===//
// NodeParty
//===----------------------------------------------------------------------===//

Picoseconds Clock::edge(int64_t cycle) const {
  return Picoseconds(__int128(cycle) * 1'000'000'000'000 / hertz);
}

int64_t Clock::cycleAt(Picoseconds time) const {
  auto cycle = int64_t(__int128(time) * hertz / 1'000'000'000'000);
  while (edge(cycle) < time)
    ++cycle;
  return cycle;
}

static Clock clockOf(const Plan &plan, int rank) {
  return {std::llround(plan.nodes[size_t(rank) - 1].clockMhz * 1e6)};
}

NodeParty::NodeParty(const Plan &plan, int rank, Disturbance disturbance,
                     std::unique_ptr<Model> design)
    : LinkParty(plan, rank, disturbance), model(std::move(design)),
      clock(clockOf(plan, rank)) {}

Picoseconds NodeParty::next() const {
  Picoseconds now = clock.edge(cycle);
  if (!model->isIdle())
    return now;
  Picoseconds link = nextOnLink(now);
  return link == kNever ? kNever : clock.edge(clock.cycleAt(link));
}

Error NodeParty::run(Picoseconds until) {
  while (true) {
    Picoseconds wake = next();
    if (wake >= until)
      return Error::success();
    int64_t at = clock.cycleAt(wake);
    cyclesSkipped += at - cycle;
    cycle = at;
    Picoseconds now = clock.edge(cycle);
    receive(now);
    for (size_t k = 0; k < inputs.size(); ++k)
      while (model->canPush(k)) {
        std::optional<std::vector<uint8_t>> frame =
            protocol.receive(inputs.next(k).front());
        if (!frame)
          break;
        model->push(k, std::move(*frame));
        inputs.advance(k);
      }
    for (size_t k = 0; k < outputs.size(); ++k)
      model->hold(k, !std::all_of(outputs.next(k).begin(),
                                  outputs.next(k).end(), [&](uint16_t channel) {
                                    return protocol.canSend(channel);
                                  }));
    if (Error error = model->cycle())
      return error;
    std::vector<uint8_t> frame;
    for (size_t k = 0; k < outputs.size(); ++k)
      while (model->pop(k, frame)) {
        for (uint16_t channel : outputs.next(k))
          protocol.send(channel, frame);
        outputs.advance(k);
      }
    send(now);
    ++cycle;
  }
}

//===----------------------------------------------------------------------===//
// BoardParty
//===----------------------------------------------------------------------===//

BoardParty::BoardParty(const Plan &plan, int rank, Disturbance disturbance,
                       std::unique_ptr<NodeModel> design)
    : PlannedParty(plan, rank, disturbance), model(std::move(design)),
      clock(clockOf(plan, rank)) {}

void BoardParty::count(const std::vector<uint8_t> &datagram) {
  std::optional<link::Header> header = link::decode(datagram);
  if (!header || header->kind != link::Kind::Data)
    return;
  uint32_t &next = nextNumbers[{header->epoch, header->id}];
  if (header->sequence == next)
    ++next;
  else
    ++sentAgain;
}

Error BoardParty::run(Picoseconds until) {
  for (Picoseconds now = next(); now < until; now = next()) {
    Datagram datagram;
    while (ports.receive(now, datagram))
      model->push(std::move(datagram.bytes));
    model->accept(ports.freeAt() <= now + twoDatagrams);
    if (Error error = model->cycle())
      return error;
    NodeModel::Outgoing out;
    while (model->pop(out)) {
      if (!knows(out.to))
        return createStringError("its endpoint sends to address %u, which is "
                                 "no peer's",
                                 unsigned(out.to));
      count(out.bytes);
      sendTo(now, out.to, std::move(out.bytes));
    }
  }
  return Error::success();
}
