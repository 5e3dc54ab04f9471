// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A request is followed datagram by datagram: over ports that are busy with one
// datagram after the other, through endpoints that store whole datagrams, and
// beat by beat through every node's design in the event simulator.
#include "Latency.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include <cmath>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
namespace {
int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A datagram of a tensor in flight.
struct Datagram {
  double ready = 0; ///< seconds, at its sender's port
  int tensor = 0;
  int64_t words = 0;
};

/// A party's ports: a switched one, or one for each wire and peer.
struct Ports {
  double bitsPerS = 0; ///< of the switched one
  std::map<int, double> sending, receiving;
};

class Request {
public:
  Request(const Posed &posed, const Problem &problem,
          ArrayRef<RequestNode> nodes)
      : posed(posed), problem(problem), nodes(nodes), ports(nodes.size() + 1),
        sources(problem.tensors.size(), kHost), sent(problem.tensors.size()) {}
  FailureOr<double> run();

private:
  static constexpr int kHost = -1;
  const Posed &posed;
  const Problem &problem;
  ArrayRef<RequestNode> nodes;
  std::vector<Ports> ports; ///< of the nodes and the host, which is the last
  std::vector<int> sources; ///< for each tensor: its last sender
  /// For each tensor: its datagrams as sent by that party.
  std::vector<std::vector<Datagram>> sent;

  Ports &portsOf(int party) {
    return party == kHost ? ports.back() : ports[size_t(party)];
  }
  const Wire &wireOf(int party) const {
    return party == kHost ? *problem.hostWire
                          : *nodes[size_t(party)].place.wire;
  }
  /// The slower one's.
  const Wire &between(int from, int to) const {
    const Wire &a = wireOf(from), &b = wireOf(to);
    return b.bitsPerS < a.bitsPerS ? b : a;
  }
  std::vector<int> tensorsOf(const NodeResult &node, bool inputs) const;
  std::vector<Datagram> cut(int tensor, const Wire &wire) const;
  double carry(int from, int to, const Datagram &datagram);
  /// The times at which datagrams of these tensors are at `to`, in order of
  /// arrival.
  std::vector<std::pair<double, Datagram>> arrivals(int to,
                                                    ArrayRef<int> tensors);
  LogicalResult pass(size_t n);
};

/// The tensor at each port of a node.
std::vector<int> Request::tensorsOf(const NodeResult &node, bool inputs) const {
  std::vector<int> tensors;
  func::FuncOp function = node.function;
  auto add = [&](Value value) {
    for (size_t t = 0; t < problem.tensors.size(); ++t)
      if (posed.menu.value(int(t)) == value)
        tensors.push_back(int(t));
  };
  bool isWhole = function == posed.network;
  auto number = [&](DictionaryAttr attrs) {
    return attrs.getAs<IntegerAttr>(marks::kValue).getInt();
  };
  if (inputs)
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      add(isWhole ? Value(function.getArgument(i))
                  : posed.values[number(function.getArgAttrDict(i))]);
  else
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      add(isWhole
              ? rootOf(
                    function.getBody().front().getTerminator()->getOperand(i))
              : posed.values[number(function.getResultAttrDict(i))]);
  return tensors;
}

/// A frame's datagrams.
std::vector<Datagram> Request::cut(int tensor, const Wire &wire) const {
  std::vector<Datagram> all;
  for (int64_t words : wire.datagramsOf(problem.tensors[tensor].bits))
    all.push_back({0, tensor, words});
  return all;
}

/// When a datagram has been received completely.
double Request::carry(int from, int to, const Datagram &datagram) {
  const Wire &wire = between(from, to);
  const double bits = wire.bitsOf(datagram.words);
  Ports &out = portsOf(from), &in = portsOf(to);
  int lane = wire.isReliable() ? to : 0, back = wire.isReliable() ? from : 0;
  double outRate = wire.isReliable() ? wire.bitsPerS : out.bitsPerS;
  double inRate = wire.isReliable() ? wire.bitsPerS : in.bitsPerS;
  double start = std::max(datagram.ready, out.sending[lane]);
  out.sending[lane] = start + bits / outRate;
  double first = start + wire.latencyS();
  double &busy = in.receiving[back];
  busy =
      std::max(std::max(first, busy) + bits / inRate, first + bits / outRate);
  return busy;
}

std::vector<std::pair<double, Datagram>>
Request::arrivals(int to, ArrayRef<int> tensors) {
  std::vector<std::pair<int, Datagram>> all; // with their senders
  for (int t : tensors) {
    int from = sources[t];
    std::vector<Datagram> datagrams = sent[t];
    if (from == kHost)
      datagrams = cut(t, between(from, to));
    for (const Datagram &d : datagrams)
      all.push_back({from, d});
  }
  llvm::stable_sort(all, [](const auto &a, const auto &b) {
    return a.second.ready < b.second.ready;
  });
  std::vector<std::pair<double, Datagram>> received;
  for (auto &[from, d] : all)
    received.push_back({carry(from, to, d), d});
  llvm::stable_sort(
      received, [](const auto &a, const auto &b) { return a.first < b.first; });
  return received;
}

/// Delivers a node's inputs and takes its outputs.
LogicalResult Request::pass(size_t n) {
  const RequestNode &r = nodes[n];
  double hertz = r.place.clockHz;
  int64_t bits = r.place.streamBits;
  std::vector<int> inputs = tensorsOf(r.node, true),
                   outputs = tensorsOf(r.node, false);
  // Datagrams enter one after another and are stored completely; then their
  // beats go to the design, one per cycle.
  std::vector<std::vector<int64_t>> offers(inputs.size());
  std::vector<int64_t> words(inputs.size()); // received, for each input
  int64_t entered = 0;
  for (auto &[time, d] : arrivals(int(n), inputs)) {
    auto at = int64_t(std::ceil(time * hertz));
    entered = std::max(entered, at) + linkStreamCycles(d.words, bits);
    size_t port = llvm::find(inputs, d.tensor) - inputs.begin();
    int64_t frame = problem.tensors[d.tensor].bits,
            now = words[port] += d.words;
    // A frame's last beat is complete once all of the frame has arrived.
    int64_t beats = 64 * now >= frame ? ceilDiv(frame, bits) : 64 * now / bits;
    for (int64_t b = 0; int64_t(offers[port].size()) < beats; ++b)
      offers[port].push_back(
          std::max(offers[port].empty() ? 0 : offers[port].back() + 1,
                   entered + linkReceiveCycles() + b));
  }
  auto taken = followFrame(r.node.design, offers);
  if (failed(taken))
    return failure();
  // Slots leave when they are full or the frame ends.
  std::vector<Datagram> leaving;
  for (auto [port, t] : llvm::enumerate(outputs)) {
    const std::vector<int64_t> &beats = (*taken)[port];
    int64_t word = 0;
    for (Datagram &d : cut(t, *r.place.wire)) {
      word += d.words;
      // The beat with the slot's last bit.
      size_t last =
          std::min(beats.size(), size_t(ceilDiv(64 * word, bits))) - 1;
      d.ready = double(beats[last]);
      leaving.push_back(d);
    }
    sources[t] = int(n);
    sent[t].clear();
  }
  llvm::stable_sort(leaving, [](const Datagram &a, const Datagram &b) {
    return a.ready < b.ready;
  });
  double stream = 0;
  for (Datagram &d : leaving) {
    stream = std::max(d.ready + double(linkTransmitCycles(d.words, bits)),
                      stream + double(linkStreamCycles(d.words, bits)));
    d.ready = stream / hertz;
    sent[d.tensor].push_back(d);
  }
  return success();
}

FailureOr<double> Request::run() {
  // A switched port is as fast as its own link, independent of its peers'
  // links.
  for (size_t n = 0; n < ports.size(); ++n) {
    int party = n < nodes.size() ? int(n) : kHost;
    if (!wireOf(party).isReliable())
      portsOf(party).bitsPerS = wireOf(party).bitsPerS;
  }
  auto joins = [&](int from, int to) {
    for (int party : {from, to}) {
      Ports &p = portsOf(party);
      p.bitsPerS = std::max(p.bitsPerS, between(from, to).bitsPerS);
    }
  };
  std::vector<int> holders(problem.tensors.size(), kHost);
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (int t : nodes[n].ends.in)
      joins(holders[t], int(n));
    for (int t : nodes[n].ends.out) {
      holders[t] = int(n);
      if (problem.tensors[t].toHost)
        joins(int(n), kHost);
    }
  }
  for (size_t n = 0; n < nodes.size(); ++n)
    if (failed(pass(n)))
      return failure();
  std::vector<int> answers;
  for (size_t t = 0; t < problem.tensors.size(); ++t)
    if (problem.tensors[t].toHost)
      answers.push_back(int(t));
  auto received = arrivals(kHost, answers);
  return received.empty() ? 0 : received.back().first;
}
} // namespace

FailureOr<double> latencyOf(const Posed &posed, const Problem &problem,
                            ArrayRef<RequestNode> nodes) {
  if (!nodes[0].place.wire)
    return double(nodes[0].node.timing.latencyCycles) / nodes[0].place.clockHz;
  return Request(posed, problem, nodes).run();
}
} // namespace rhizome::explore
