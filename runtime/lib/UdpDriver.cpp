// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver of nodes on a network: the client of a service, call by call.
// Frames that were launched go out when somebody waits.
#include "rhizome/runtime/client.h"
#include "rhizome/runtime/drivers.h"
#include <algorithm>

namespace rhizome::runtime {
namespace {
using Clock = std::chrono::steady_clock;

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
    link::ClientOptions wanted;
    wanted.listen = options.listen;
    wanted.places = options.places;
    wanted.patience = link::Time(options.patience.count());
    // A wait has its own patience; the client's is only for `open`.
    client = std::make_unique<link::Client>(options.service, wanted);
    silent.clear();
    client->onEvent = [this](const link::ClientEvent &event) { note(event); };
    client->isCancelled = [this] {
      return Clock::now() > end ||
             (options.isCancelled && options.isCancelled());
    };
    end = Clock::now() + 2 * options.patience;
    std::string error;
    if (!client->open(error))
      return {Fault::Gone, error};
    return {};
  }
  Status doLoad(const Segment &, std::span<const uint8_t>) override {
    return {Fault::Unsupported, "nodes on a network load no memories"};
  }
  Status doLaunch(std::vector<Bytes> inputs) override {
    waiting.push_back(std::move(inputs));
    return {};
  }
  Status doWait(Duration patience, std::vector<Bytes> &outputs) override {
    if (done.empty()) {
      end = Clock::now() + patience;
      std::vector<link::Client::Frame> frames(waiting.begin(), waiting.end());
      std::vector<link::Client::Frame> answers;
      std::string error;
      if (!client->infer(frames, answers, error)) {
        // All frames stay: the client's next call begins a new epoch, in
        // which they are sent again.
        if (!silent.empty())
          return {Fault::Gone, "no answer from " + silent};
        return {Fault::TimeOut,
                Clock::now() > end ? "no answer in time" : error};
      }
      waiting.clear();
      for (link::Client::Frame &answer : answers)
        done.push_back(std::move(answer));
    }
    outputs = std::move(done.front());
    done.pop_front();
    return {};
  }
  void doClose() override {
    client.reset();
    waiting.clear();
    done.clear();
  }

  void note(const link::ClientEvent &event) {
    std::string line = event.node + " (" + event.place + ") ";
    switch (event.kind) {
    case link::ClientEvent::Silent:
      silent = event.node + " (" + event.place + ")";
      line += "is silent";
      break;
    case link::ClientEvent::Back:
      silent.clear();
      line += "is back";
      break;
    case link::ClientEvent::Restarted:
      silent.clear();
      line += "has started anew; what it had not answered is sent again";
      break;
    }
    if (options.onEvent)
      options.onEvent(event.node, line);
  }

  UdpOptions options;
  std::unique_ptr<link::Client> client;
  Clock::time_point end;
  std::string silent; ///< a node that does not answer
  std::deque<std::vector<Bytes>> waiting, done;
};
} // namespace

std::unique_ptr<Driver> makeUdpDriver(UdpOptions options) {
  return std::make_unique<UdpDriver>(std::move(options));
}
} // namespace rhizome::runtime
