// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/client.h"
#include "Replicas.h"
#include <algorithm>
#include <atomic>
#include <unistd.h>

namespace rhizome::link {
namespace {
constexpr Time kLongestWait = 50'000'000; // so that a cancel is noticed
/// Longer than a node waits for a client that is silent (H4).
constexpr Time kLeaving = 800'000'000;

std::vector<uint16_t> addressesOf(const Service &service) {
  std::vector<uint16_t> addresses;
  for (const NodeInfo &node : service.nodes)
    addresses.push_back(node.address);
  return addresses;
}

/// Two clients, one after the other, begin with different epochs: of one
/// process by counting, of two most likely by the clock. The distance leaves
/// room for the epochs that a client begins later.
uint16_t firstEpoch() {
  static std::atomic<uint16_t> next(
      uint16_t(UdpSocket::now() / 1'000'000 ^ uint64_t(getpid()) * 40503));
  return next.fetch_add(257);
}
} // namespace

Client::Client(Service service, ClientOptions wanted)
    : theService(std::move(service)), options(std::move(wanted)),
      endpoint(kHostAddress, theService.channels),
      controller(endpoint, addressesOf(theService), firstEpoch(),
                 options.control),
      driver(endpoint), inputs(theService.inputs), outputs(theService.outputs),
      wasAlive(theService.nodes.size()), wasHeard(theService.nodes.size()),
      silences(theService.nodes.size()), sent(inputs.size()),
      got(outputs.size()) {
  for (const runtime::Region &region : theService.regions)
    lanes.push_back({region, {}});
  if (lanes.empty())
    lanes.push_back({{0, inputs.size(), 0, outputs.size()}, {}});
  if (std::vector<Replica> replicas = replicasOf(theService);
      !replicas.empty()) {
    std::vector<runtime::Region> regions;
    for (const Lane &lane : lanes)
      regions.push_back(lane.ports);
    sharing = std::make_unique<Sharing>(std::move(replicas), regions, endpoint,
                                        controller);
  }
}

Client::~Client() = default;

void ClientStatistics::answered(Time started, Time now) {
  const Time took = now - started;
  shortest = std::min(shortest, took);
  longest = std::max(longest, took);
  sum += took;
  latency.add(double(took) * 1e-9);
  ++frames;
}

std::string Client::silentNodes() const {
  std::string text;
  for (size_t i = 0; i < theService.nodes.size(); ++i) {
    const NodeState &state = controller.nodes()[i];
    if (state.alive && state.joined)
      continue;
    const NodeInfo &node = theService.nodes[i];
    auto place = options.places.find(node.address);
    text += (text.empty() ? "" : ", ") + node.name;
    if (place != options.places.end())
      text += " (" + place->second + ")";
  }
  return text;
}

std::string Client::ownPlace() const {
  bool isLocal = std::all_of(options.places.begin(), options.places.end(),
                             [](const auto &node) {
                               return node.second.rfind("127.", 0) == 0 ||
                                      node.second.rfind("localhost:", 0) == 0;
                             });
  return isLocal ? "127.0.0.1:0" : "0.0.0.0:0";
}

std::string Client::takenNodes() const {
  std::string text;
  for (size_t i = 0; i < theService.nodes.size(); ++i)
    if (controller.nodes()[i].taken)
      text += (text.empty() ? "" : ", ") + theService.nodes[i].name + " (" +
              options.places.at(theService.nodes[i].address) + ")";
  return text;
}

void Client::watch(Time now) {
  controller.run(now);
  for (size_t i = 0; i < theService.nodes.size(); ++i) {
    bool alive = controller.nodes()[i].alive;
    if (alive == wasAlive[i])
      continue;
    wasAlive[i] = alive;
    bool first = alive && !wasHeard[i];
    wasHeard[i] = wasHeard[i] || alive;
    silences[i] += !alive;
    if (first || !onEvent)
      continue;
    const NodeInfo &node = theService.nodes[i];
    onEvent({alive ? ClientEvent::Back : ClientEvent::Silent, node.name,
             options.places[node.address]});
  }
}

bool Client::step(Time until, const std::function<void(Time)> &work,
                  std::string &error) {
  if (isCancelled && isCancelled()) {
    error = "it was interrupted";
    return false;
  }
  Time now = UdpSocket::now();
  until = std::min({until, controller.deadline(now), now + kLongestWait});
  return driver.step(
      until,
      [&](Time time) {
        watch(time);
        work(time);
      },
      error);
}

bool Client::open(std::string &error) {
  if (!driver.bind(options.listen.empty() ? ownPlace() : options.listen, error))
    return false;
  if (options.seal)
    driver.seal(options.seal);
  for (const NodeInfo &node : theService.nodes) {
    auto place = options.places.find(node.address);
    if (place == options.places.end()) {
      error = "it is not said where " + node.name + " is";
      return false;
    }
    if (!driver.addPeer(node.address, place->second, error))
      return false;
  }
  Time start = UdpSocket::now();
  bool wasTaken = false;
  while (!controller.ready()) {
    const std::string taken = takenNodes();
    // A client that has just ended leaves its place within half a second.
    if (!taken.empty() && UdpSocket::now() - start > kLeaving) {
      error = taken + " has another client; wait until that has ended, or use "
                      "other nodes";
      return false;
    }
    if (!taken.empty() && !wasTaken && onEvent)
      for (size_t i = 0; i < theService.nodes.size(); ++i)
        if (controller.nodes()[i].taken)
          onEvent({ClientEvent::Taken, theService.nodes[i].name,
                   options.places[theService.nodes[i].address]});
    wasTaken |= !taken.empty();
    if (UdpSocket::now() - start > options.patience) {
      if (goOnWithout())
        return true;
      error = "no answer from " + silentNodes();
      return false;
    }
    if (!step(start + options.patience + 1, [](Time) {}, error))
      return false;
  }
  return true;
}

/// Whether some replica is complete; tells which nodes are not there.
bool Client::goOnWithout() {
  if (!sharing || !sharing->isPossible())
    return false;
  for (size_t i = 0; i < theService.nodes.size(); ++i) {
    const NodeInfo &node = theService.nodes[i];
    if (!controller.nodes()[i].joined && onEvent)
      onEvent({ClientEvent::Silent, node.name, options.places[node.address]});
    wasHeard[i] = true; // so that its coming is told
  }
  return true;
}

/// A node has lost what it worked on: what is not complete is sent again.
void Client::startAnew(Time now) {
  controller.restart(now);
  if (sharing)
    sharing->restart(counts);
  inputs.reset();
  outputs.reset();
  for (const Lane &lane : lanes) {
    const auto from = sent.begin() + ptrdiff_t(lane.ports.firstInput);
    const auto to = from + ptrdiff_t(lane.ports.inputs);
    counts.repeated += *std::max_element(from, to) - lane.complete;
    std::fill(from, to, lane.complete);
    std::fill_n(got.begin() + ptrdiff_t(lane.ports.firstOutput),
                lane.ports.outputs, lane.complete);
  }
  if (onEvent)
    for (size_t i = 0; i < theService.nodes.size(); ++i)
      if (controller.nodes()[i].last.epoch == kFirstEpoch)
        onEvent({ClientEvent::Restarted, theService.nodes[i].name,
                 options.places[theService.nodes[i].address]});
  watch(now);
}

void Client::receive(Lane &lane) {
  const size_t first = lane.ports.firstOutput;
  for (size_t k = first; lane.ports.hasOutput(k); ++k)
    while (got[k] < lane.pending.size()) {
      std::optional<std::vector<uint8_t>> frame =
          endpoint.receive(outputs.next(k).front());
      if (!frame)
        break;
      lane.pending[got[k]].answers[k - first] = std::move(*frame);
      outputs.advance(k);
      ++got[k];
    }
}

void Client::send(Lane &lane, Time now) {
  const size_t first = lane.ports.firstInput;
  for (size_t k = first; lane.ports.hasInput(k); ++k)
    while (sent[k] < lane.pending.size()) {
      Pending &next = lane.pending[sent[k]];
      const std::vector<uint16_t> &channels = inputs.next(k);
      if (!std::all_of(channels.begin(), channels.end(),
                       [&](uint16_t c) { return endpoint.canSend(c); }))
        break;
      for (uint16_t channel : channels)
        endpoint.send(channel, next.inputs[k - first]);
      inputs.advance(k);
      if (next.started == 0)
        next.started = now;
      ++sent[k];
    }
}

void Client::work(Time now) {
  if (controller.lost())
    startAnew(now);
  if (sharing)
    return sharing->work(now, counts);
  if (!controller.ready())
    return;
  for (Lane &lane : lanes) {
    receive(lane);
    finish(lane, now);
    send(lane, now);
  }
}

/// Counts what has all its answers.
void Client::finish(Lane &lane, Time now) {
  const runtime::Region &ports = lane.ports;
  const auto gotten = got.begin() + ptrdiff_t(ports.firstOutput);
  const auto posted = sent.begin() + ptrdiff_t(ports.firstInput);
  const size_t reached =
      std::min(*std::min_element(gotten, gotten + ptrdiff_t(ports.outputs)),
               *std::min_element(posted, posted + ptrdiff_t(ports.inputs)));
  for (; lane.complete < reached; ++lane.complete)
    counts.answered(lane.pending[lane.complete].started, now);
}

bool Client::post(size_t region, Frame frame, std::string &error) {
  Lane &lane = lanes[region];
  if (sharing)
    sharing->post(region, std::move(frame));
  else
    lane.pending.push_back({std::move(frame), Frame(lane.ports.outputs)});
  order.push_back(region);
  return step(UdpSocket::now(), [this](Time now) { work(now); }, error);
}

bool Client::isAnswered(size_t region) const {
  return sharing ? sharing->isAnswered(region) : lanes[region].complete > 0;
}

Client::Outcome Client::take(Frame &answer, Time patience, std::string &error) {
  const Time begin = UdpSocket::now();
  Lane &lane = lanes[order.front()];
  while (!isAnswered(order.front())) {
    if (UdpSocket::now() - begin > patience) {
      std::string silent = silentNodes();
      error = silent.empty() ? "all nodes are there, but there is no answer"
                             : "no answer from " + silent;
      bool isSilent =
          std::any_of(controller.nodes().begin(), controller.nodes().end(),
                      [](const NodeState &node) { return !node.alive; });
      return isSilent && patience >= options.control.deadAfter
                 ? Outcome::Silent
                 : Outcome::TimeOut;
    }
    if (!step(begin + patience + 1, [this](Time now) { work(now); }, error))
      return Outcome::Failed;
  }
  if (sharing) {
    answer = sharing->take(order.front());
    order.pop_front();
    return Outcome::Answer;
  }
  answer = std::move(lane.pending.front().answers);
  lane.pending.pop_front();
  order.pop_front();
  --lane.complete;
  for (size_t k = lane.ports.firstInput; lane.ports.hasInput(k); ++k)
    --sent[k];
  for (size_t k = lane.ports.firstOutput; lane.ports.hasOutput(k); ++k)
    --got[k];
  return Outcome::Answer;
}

bool Client::tend(Time longest, std::string &error) {
  for (const Time end = UdpSocket::now() + longest; UdpSocket::now() < end;)
    if (!step(end, [this](Time now) { work(now); }, error))
      return false;
  return true;
}

ClientStatistics Client::statistics() const {
  ClientStatistics result = counts;
  result.link = endpoint.counters();
  for (size_t i = 0; i < theService.nodes.size(); ++i) {
    const NodeState &state = controller.nodes()[i];
    auto place = options.places.find(theService.nodes[i].address);
    result.nodes.push_back({theService.nodes[i].name,
                            place == options.places.end() ? "" : place->second,
                            state.alive && state.joined, silences[i]});
  }
  if (sharing) {
    result.replicas = sharing->count();
    result.replicasUp = sharing->countUsable();
  }
  return result;
}
} // namespace rhizome::link
