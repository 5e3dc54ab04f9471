// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver of nodes on a network: the client of a service, call by call.
#include "rhizome/runtime/client.h"
#include "rhizome/runtime/drivers.h"

namespace rhizome::runtime {
namespace {
class UdpDriver : public Driver {
public:
  explicit UdpDriver(UdpOptions options) : options(std::move(options)) {}
  const char *name() const override { return "udp"; }

private:
  Status doOpen() override {
    if (options.service.nodes.empty())
      return {Fault::Unsupported, "the design has no links to a network"};
    if (!design().segments.empty())
      return {Fault::Unsupported,
              "nodes on a network load no memories; the design has the "
              "segment '" +
                  design().segments[0].path + "'"};
    if (design().keepsState)
      return {Fault::Unsupported,
              "the design keeps state from frame to frame, which a client of "
              "nodes cannot reset; compile with --state-home host"};
    link::ClientOptions wanted;
    wanted.listen = options.listen;
    wanted.seal = options.seal;
    wanted.places = options.places;
    wanted.patience = link::Time(options.patience.count());
    // The service's regions are the design's.
    link::Service service = options.service;
    service.regions = design().regions;
    client = std::make_unique<link::Client>(std::move(service), wanted);
    client->onEvent = [this](const link::ClientEvent &event) { note(event); };
    client->isCancelled = options.isCancelled;
    std::string error;
    if (!client->open(error))
      return {Fault::Gone, error};
    return {};
  }
  Status doLoad(const Segment &, std::span<const uint8_t>) override {
    return {Fault::Unsupported, "nodes on a network load no memories"};
  }
  Status doLaunch(size_t region, std::vector<Bytes> inputs) override {
    std::string error;
    if (!client->post(region, std::move(inputs), error))
      return {isCancelled() ? Fault::TimeOut : Fault::Gone, error};
    return {};
  }
  Status doWait(size_t, Duration patience,
                std::vector<Bytes> &outputs) override {
    std::string error;
    switch (client->take(outputs, link::Time(patience.count()), error)) {
    case link::Client::Outcome::Answer:
      return {};
    case link::Client::Outcome::TimeOut:
      return {Fault::TimeOut, error};
    case link::Client::Outcome::Silent:
      return {Fault::Gone, error};
    case link::Client::Outcome::Failed:
      break;
    }
    return {isCancelled() ? Fault::TimeOut : Fault::Gone, error};
  }
  void doClose() override { client.reset(); }
  Status doTend(Duration longest) override {
    std::string error;
    if (!client->tend(link::Time(longest.count()), error))
      return {isCancelled() ? Fault::TimeOut : Fault::Gone, error};
    return {};
  }
  void refine(Statistics &statistics) const override {
    if (!client)
      return;
    link::ClientStatistics known = client->statistics();
    statistics.repeated = known.repeated;
    statistics.resent = known.link.resent;
    statistics.datagramsSent = known.link.sent;
    statistics.datagramsReceived = known.link.received;
    statistics.failovers = known.failovers;
    statistics.replicas = known.replicas;
    statistics.replicasUp = known.replicasUp;
    for (link::ClientStatistics::Node &node : known.nodes)
      statistics.nodes.push_back({std::move(node.name), std::move(node.place),
                                  node.isUp, node.silences});
    if (!known.frames)
      return;
    statistics.shortest = Duration(known.shortest);
    statistics.longest = Duration(known.longest);
    statistics.sum = Duration(known.sum);
    statistics.latency = known.latency;
  }

  bool isCancelled() const {
    return options.isCancelled && options.isCancelled();
  }
  void note(const link::ClientEvent &event) {
    std::string line = event.node + " (" + event.place + ") ";
    switch (event.kind) {
    case link::ClientEvent::Silent:
      line += client->hasOthers() ? "is silent; its frames go to the others"
                                  : "is silent";
      break;
    case link::ClientEvent::Back:
      line += "is back";
      break;
    case link::ClientEvent::Taken:
      line += "has another client; this one waits until that is gone";
      break;
    case link::ClientEvent::Restarted:
      line += "has started anew; what it had not answered is sent again";
      break;
    }
    if (options.onEvent)
      options.onEvent(event.node, line);
  }

  UdpOptions options;
  std::unique_ptr<link::Client> client;
};
} // namespace

std::unique_ptr<Driver> makeUdpDriver(UdpOptions options) {
  return std::make_unique<UdpDriver>(std::move(options));
}
} // namespace rhizome::runtime
