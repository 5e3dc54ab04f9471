// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Replicas.h"
#include <algorithm>
#include <set>

namespace rhizome::link {
//===----------------------------------------------------------------------===//
// Who the replicas are
//===----------------------------------------------------------------------===//

std::vector<Replica> replicasOf(const Service &service) {
  if (service.inputs.empty() || service.outputs.empty())
    return {};
  const uint64_t count = service.inputs.front().every;
  size_t inputs = 0, outputs = 0;
  for (const Route &route : service.inputs)
    inputs = std::max(inputs, route.port + 1);
  for (const Route &route : service.outputs)
    outputs = std::max(outputs, route.port + 1);
  if (count < 2)
    return {};
  std::vector<Replica> replicas(size_t(count),
                                {{},
                                 std::vector<std::vector<uint16_t>>(inputs),
                                 std::vector<uint16_t>(outputs)});
  std::vector<std::set<size_t>> nodes(replicas.size());
  auto enter = [&](const Route &route) {
    for (const ChannelConfig &channel : service.channels)
      for (size_t n = 0; n < service.nodes.size(); ++n)
        if (channel.id == route.channel &&
            channel.peer == service.nodes[n].address)
          nodes[size_t(route.first)].insert(n);
  };
  std::vector<size_t> found(outputs);
  for (const Route &route : service.inputs) {
    if (route.every != count || route.first >= count)
      return {};
    replicas[size_t(route.first)].inputs[route.port].push_back(route.channel);
    enter(route);
  }
  for (const Route &route : service.outputs) {
    if (route.every != count || route.first >= count)
      return {};
    replicas[size_t(route.first)].outputs[route.port] = route.channel;
    ++found[route.port];
    enter(route);
  }
  // Each port of each replica has its channels, and each node belongs to one
  // replica: none is shared, or unknown to the client.
  std::set<size_t> all;
  size_t sum = 0;
  for (size_t r = 0; r < replicas.size(); ++r) {
    for (const std::vector<uint16_t> &channels : replicas[r].inputs)
      if (channels.empty())
        return {};
    replicas[r].nodes.assign(nodes[r].begin(), nodes[r].end());
    all.insert(nodes[r].begin(), nodes[r].end());
    sum += nodes[r].size();
  }
  const bool isWhole =
      std::all_of(found.begin(), found.end(),
                  [&](size_t n) { return n == replicas.size(); }) &&
      sum == all.size() && all.size() == service.nodes.size();
  return isWhole ? replicas : std::vector<Replica>();
}

//===----------------------------------------------------------------------===//
// Their frames
//===----------------------------------------------------------------------===//

Sharing::Sharing(std::vector<Replica> shared,
                 const std::vector<runtime::Region> &regions,
                 Endpoint &endpoint, const Controller &controller)
    : replicas(std::move(shared)), endpoint(endpoint), controller(controller),
      wasUsable(replicas.size()) {
  for (const runtime::Region &ports : regions) {
    Queue queue{{}, std::vector<size_t>(ports.outputs)};
    lanes.push_back(
        {ports, {}, 0, 0, std::vector<Queue>(replicas.size(), queue)});
  }
}

bool Sharing::isUsable(const Replica &replica) const {
  return std::all_of(replica.nodes.begin(), replica.nodes.end(), [&](size_t n) {
    const NodeState &node = controller.nodes()[n];
    return node.alive && node.joined;
  });
}

size_t Sharing::countUsable() const {
  return size_t(
      std::count_if(replicas.begin(), replicas.end(),
                    [&](const Replica &replica) { return isUsable(replica); }));
}

bool Sharing::canTake(const Replica &replica,
                      const runtime::Region &ports) const {
  for (size_t k = ports.firstInput; ports.hasInput(k); ++k)
    for (uint16_t channel : replica.inputs[k])
      if (!endpoint.canSend(channel))
        return false;
  return true;
}

void Sharing::post(size_t region, Frame inputs) {
  auto job = std::make_shared<Job>();
  job->inputs = std::move(inputs);
  lanes[region].jobs.push_back(std::move(job));
}

bool Sharing::isAnswered(size_t region) const {
  const Lane &lane = lanes[region];
  return !lane.jobs.empty() && lane.jobs.front()->state == Job::Done;
}

Sharing::Frame Sharing::take(size_t region) {
  Lane &lane = lanes[region];
  Frame answers = std::move(lane.jobs.front()->answers);
  lane.jobs.pop_front();
  lane.next -= lane.next > 0;
  return answers;
}

/// What a replica has not answered goes to others. If it comes back it may
/// still answer: it has lost nothing as long as it is in the epoch.
void Sharing::release(size_t replica, ClientStatistics &counts) {
  for (Lane &lane : lanes)
    for (const Queue::Sent &sent : lane.queues[replica].sent)
      if (sent.job->state == Job::Out && sent.job->replica == replica) {
        sent.job->state = Job::Waiting;
        lane.next = 0;
        ++counts.repeated;
      }
}

void Sharing::restart(ClientStatistics &counts) {
  for (Lane &lane : lanes) {
    for (const std::shared_ptr<Job> &job : lane.jobs)
      if (job->state == Job::Out) {
        job->state = Job::Waiting;
        ++counts.repeated;
      }
    for (Queue &queue : lane.queues) {
      queue.sent.clear();
      std::fill(queue.got.begin(), queue.got.end(), 0);
    }
    lane.next = 0;
  }
}

void Sharing::receive(Lane &lane, size_t replica, Time now,
                      ClientStatistics &counts) {
  Queue &queue = lane.queues[replica];
  if (queue.got.empty())
    return;
  for (size_t k = 0; k < queue.got.size(); ++k)
    while (queue.got[k] < queue.sent.size()) {
      std::optional<std::vector<uint8_t>> frame = endpoint.receive(
          replicas[replica].outputs[lane.ports.firstOutput + k]);
      if (!frame)
        break;
      queue.sent[queue.got[k]++].answers[k] = std::move(*frame);
    }
  while (*std::min_element(queue.got.begin(), queue.got.end()) > 0) {
    Queue::Sent sent = std::move(queue.sent.front());
    queue.sent.pop_front();
    for (size_t &got : queue.got)
      --got;
    if (sent.job->state == Job::Done)
      continue;
    sent.job->state = Job::Done;
    sent.job->answers = std::move(sent.answers);
    counts.answered(sent.job->started, now);
  }
}

void Sharing::send(Lane &lane, Time now) {
  for (; lane.next < lane.jobs.size(); ++lane.next) {
    Job &job = *lane.jobs[lane.next];
    if (job.state != Job::Waiting)
      continue;
    size_t passed = 0;
    while (passed < replicas.size() && !isUsable(replicas[lane.turn])) {
      lane.turn = (lane.turn + 1) % replicas.size();
      ++passed;
    }
    const Replica &replica = replicas[lane.turn];
    if (passed == replicas.size() || !canTake(replica, lane.ports))
      return;
    for (size_t k = lane.ports.firstInput; lane.ports.hasInput(k); ++k)
      for (uint16_t channel : replica.inputs[k])
        endpoint.send(channel, job.inputs[k - lane.ports.firstInput]);
    job.state = Job::Out;
    job.replica = lane.turn;
    if (job.started == 0)
      job.started = now;
    lane.queues[lane.turn].sent.push_back(
        {lane.jobs[lane.next], Frame(lane.ports.outputs)});
    lane.turn = (lane.turn + 1) % replicas.size();
  }
}

void Sharing::work(Time now, ClientStatistics &counts) {
  for (size_t r = 0; r < replicas.size(); ++r) {
    for (Lane &lane : lanes)
      receive(lane, r, now, counts);
    const bool usable = isUsable(replicas[r]);
    if (wasUsable[r] && !usable) {
      release(r, counts);
      ++counts.failovers;
    }
    wasUsable[r] = usable;
  }
  for (Lane &lane : lanes)
    send(lane, now);
}
} // namespace rhizome::link
