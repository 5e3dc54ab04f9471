// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host whose frames come from outside. Between two windows it looks for
// more; with none on their way it waits for the client, and all parties with
// it.
#include "rhizome/ClusterSim/Parties.h"
#include <algorithm>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::clustersim;

/// The plan's regions, or one of all ports.
static std::vector<runtime::Region> allRegions(const Plan &plan, size_t inputs,
                                               size_t outputs) {
  std::vector<runtime::Region> regions = regionsOf(plan);
  if (regions.empty())
    regions.push_back({0, inputs, 0, outputs});
  return regions;
}

LiveHostParty::LiveHostParty(const Plan &plan, Disturbance disturbance,
                             Client &client, Picoseconds patience)
    : LinkParty(plan, 0, disturbance), client(client),
      regions(allRegions(plan, outputs.size(), inputs.size())),
      patience(patience), window(lookahead(plan.links)),
      waiting(outputs.size()), taken(inputs.size()) {}

Picoseconds LiveHostParty::next() const {
  if (ended)
    return kNever;
  return awake ? now : nextOnLink(now);
}

Error LiveHostParty::ask(bool waits) {
  for (;;) {
    Job job;
    Expected<Client::Asked> what = client.next(waits && asked == answered, job);
    if (!what)
      return what.takeError();
    if (*what == Client::Asked::Nothing)
      return Error::success();
    if (*what == Client::Asked::End) {
      ended = true;
      return Error::success();
    }
    for (auto [k, tensor] : enumerate(job.inputs))
      waiting[regions[job.region].firstInput + k].push_back(std::move(tensor));
    order.push_back(job.region);
    if (asked++ == answered)
      progress = now;
    awake = true;
  }
}

Error LiveHostParty::run(Picoseconds until) {
  if (!isReady)
    if (Error error = client.ready())
      return error;
  isReady = true;
  // What the client says now happens in this window, not before it.
  if (until != kNever)
    now = std::max(now, until - window);
  if (Error error = ask(/*waits=*/false))
    return error;
  while (!ended) {
    Picoseconds at = next();
    if (at >= until)
      break;
    // What came to nothing at this time will not come to more.
    now = !awake && at == now ? now + 1000 : at;
    if (now >= until)
      break;
    awake = false;
    receive(now);
    if (Error error = collect())
      return error;
    if (asked > answered && now - progress > patience)
      return createStringError(
          "the cluster hangs: no answer to frame %lld for %.0f us of "
          "simulated time",
          static_cast<long long>(answered), double(patience) * 1e-6);
    offer();
    send(now);
  }
  if (ended || asked > answered)
    return Error::success();
  if (until != kNever)
    now = until;
  return ask(/*waits=*/true);
}

Error LiveHostParty::collect() {
  for (size_t k = 0; k < inputs.size(); ++k)
    while (std::optional<std::vector<uint8_t>> tensor =
               protocol.receive(inputs.next(k).front())) {
      inputs.advance(k);
      taken[k].push_back(std::move(*tensor));
      progress = now;
    }
  // Answers are given in the order of the questions.
  while (!order.empty()) {
    const runtime::Region &region = regions[order.front()];
    auto ports =
        MutableArrayRef(taken).slice(region.firstOutput, region.outputs);
    if (any_of(ports, [](const auto &port) { return port.empty(); }))
      return Error::success();
    Frame frame;
    for (auto &port : ports) {
      frame.push_back(std::move(port.front()));
      port.pop_front();
    }
    order.pop_front();
    ++answered;
    if (Error error = client.answer(frame))
      return error;
  }
  if (any_of(taken, [](const auto &port) { return !port.empty(); }))
    return createStringError("the cluster gives a frame too many");
  return Error::success();
}

void LiveHostParty::offer() {
  for (size_t k = 0; k < outputs.size(); ++k)
    while (!waiting[k].empty()) {
      const std::vector<uint16_t> &channels = outputs.next(k);
      if (!all_of(channels,
                  [&](uint16_t channel) { return protocol.canSend(channel); }))
        break;
      for (uint16_t channel : channels)
        protocol.send(channel, waiting[k].front());
      waiting[k].pop_front();
      outputs.advance(k);
    }
}

Error LiveHostParty::standsStill() {
  if (ended)
    return Error::success();
  return createStringError("the cluster stands still: nothing is on its way, "
                           "and frame %lld has no answer",
                           static_cast<long long>(answered));
}
