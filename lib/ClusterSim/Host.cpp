// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client of a simulated cluster. Its own computing takes no time; its port
// is as fast as its links.
#include "rhizome/ClusterSim/Parties.h"
#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::clustersim;

namespace {
constexpr size_t kDistances = 8;
/// No other traffic is in flight when the single request is sent.
constexpr Picoseconds kPause = 5'000'000;
} // namespace

HostParty::HostParty(const Plan &plan, Disturbance disturbance, Request wanted)
    : LinkParty(plan, 0, disturbance), request(std::move(wanted)),
      offered(outputs.size()), taken(inputs.size()), toSend(request.total),
      kept(inputs.size()) {}

Picoseconds HostParty::next() const {
  if (phase == Phase::Done)
    return kNever;
  if (awake)
    return now;
  Picoseconds next = nextOnLink(now);
  return phase == Phase::Pause ? std::min(next, std::max(now, resume)) : next;
}

Error HostParty::run(Picoseconds until) {
  while (true) {
    Picoseconds at = next();
    if (at >= until)
      return Error::success();
    // What made no progress at this time will not make any.
    now = !awake && at == now ? now + 1000 : at;
    if (now >= until)
      return Error::success();
    awake = false;
    receive(now);
    if (Error error = collect())
      return error;
    if (phase == Phase::Pause && now >= resume) {
      phase = Phase::Latency;
      started = progress = now;
    }
    if (phase != Phase::Done && now - progress > request.patience)
      return createStringError(
          "the cluster hangs: no answer for %.0f us of simulated time; it "
          "waits for %s",
          double(request.patience) * 1e-6, whatIsMissing().c_str());
    offer();
    send(now);
  }
}

Error HostParty::collect() {
  for (size_t k = 0; k < inputs.size(); ++k)
    while (std::optional<std::vector<uint8_t>> frame =
               protocol.receive(inputs.next(k).front())) {
      inputs.advance(k);
      if (taken[k] >= toSend)
        return createStringError("output %zu gives a frame too many", k);
      progress = now;
      if (phase == Phase::Frames && taken[k] < request.frames)
        kept[k].insert(kept[k].end(), frame->begin(), frame->end());
      else if (!std::equal(frame->begin(), frame->end(),
                           kept[k].begin() + (taken[k] % request.frames) *
                                                 int64_t(frame->size())))
        return createStringError(
            "frame %lld gives another result at output %zu when it is sent "
            "again",
            static_cast<long long>(taken[k] % request.frames), k);
      ++taken[k];
      int64_t complete = *std::min_element(taken.begin(), taken.end());
      if (phase == Phase::Frames && size_t(complete) > completed.size()) {
        completed.resize(size_t(complete), now);
        if (request.progress)
          request.progress(complete, now);
      }
      if (complete == toSend) {
        if (Error error = finished())
          return error;
        return Error::success();
      }
    }
  return Error::success();
}

Error HostParty::finished() {
  if (phase == Phase::Latency)
    measuredLatency = now - started;
  phase =
      phase == Phase::Frames && request.latency ? Phase::Pause : Phase::Done;
  resume = now + kPause;
  std::fill(offered.begin(), offered.end(), 0);
  std::fill(taken.begin(), taken.end(), 0);
  toSend = 1;
  return Error::success();
}

void HostParty::offer() {
  if (phase != Phase::Frames && phase != Phase::Latency)
    return;
  for (size_t k = 0; k < outputs.size(); ++k)
    while (offered[k] < toSend) {
      const std::vector<uint16_t> &channels = outputs.next(k);
      if (!std::all_of(channels.begin(), channels.end(), [&](uint16_t channel) {
            return protocol.canSend(channel);
          }))
        break;
      const std::vector<uint8_t> &bytes = request.inputs[k];
      size_t size = bytes.size() / size_t(request.frames);
      auto begin =
          bytes.begin() + int64_t(size) * (offered[k] % request.frames);
      for (uint16_t channel : channels)
        protocol.send(channel, {begin, begin + int64_t(size)});
      outputs.advance(k);
      ++offered[k];
    }
}

std::string HostParty::whatIsMissing() const {
  std::string text;
  for (size_t k = 0; k < taken.size(); ++k)
    if (taken[k] < toSend)
      text += (text.empty() ? "output " : ", output ") + std::to_string(k) +
              " of frame " + std::to_string(taken[k]);
  for (size_t k = 0; k < offered.size(); ++k)
    text += "; input " + std::to_string(k) + " of " +
            std::to_string(offered[k]) + " frames is sent";
  return text;
}

Error HostParty::standsStill() {
  return createStringError("the cluster is stuck: nothing is in flight, "
                           "and the host waits for %s",
                           whatIsMissing().c_str());
}

double HostParty::throughputPerS() const {
  // Results of replicas and of batches arrive in groups; only whole groups give
  // a mean.
  int64_t period = 1;
  for (const PlannedNode &node : plan.nodes)
    period = std::lcm(period, node.replica.count * plan.owner(node).batch());
  const size_t distances = completed.empty() ? 0 : completed.size() - 1;
  const auto group = size_t(period);
  size_t used = std::max(kDistances, distances / 2);
  used = (used + group - 1) / group * group;
  // After a loss, many results may arrive in one datagram: a mean takes more.
  for (; used <= distances; used += group)
    if (Picoseconds taken = completed[distances] - completed[distances - used];
        taken > 0)
      return double(used) * 1e12 / double(taken);
  return 0;
}
