// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client of a running service: the host's tasks, frames to the nodes,
// answers, comparison.
#include "rhizome/Pipeline/Service.h"
#include "Frames.h"
#include "Places.h"
#include "rhizome/Cluster/Channels.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/runtime/client.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::pipeline;

namespace {
std::string textOf(const link::ClientEvent &event) {
  std::string text = event.node + " (" + event.place + ") ";
  switch (event.kind) {
  case link::ClientEvent::Silent:
    return text + "is silent";
  case link::ClientEvent::Back:
    return text + "is back";
  case link::ClientEvent::Restarted:
    break;
  }
  return text + "has started anew; what it had not answered is sent again";
}

Expected<std::vector<link::Client::Frame>>
packAll(const Frames &frames, const std::vector<BorderPort> &ports) {
  std::vector<link::Client::Frame> packed;
  for (const std::vector<Tensor> &frame : frames) {
    link::Client::Frame &target = packed.emplace_back();
    for (auto [tensor, port] : zip_equal(frame, ports)) {
      Expected<std::vector<uint8_t>> bytes = packFrame(tensor, port);
      if (!bytes)
        return bytes.takeError();
      target.push_back(std::move(*bytes));
    }
  }
  return packed;
}

Expected<link::ClientOptions> optionsFor(const Package &package,
                                         const RunRequest &request) {
  Expected<std::map<std::string, std::string>> places =
      readPlaces(package, request.places);
  if (!places)
    return places.takeError();
  link::ClientOptions options;
  options.patience = link::Time(request.patienceS * 1e9);
  for (const auto &[name, place] : *places) {
    if (name == kHost)
      options.listen = place;
    else
      options.places[package.plan().node(name)->address] = place;
  }
  for (const PlannedNode &node : package.plan().nodes)
    if (!options.places.count(node.address))
      return createStringError("it is not said where '%s' is; --at %s="
                               "ADDRESS:PORT or a manifest says so",
                               node.name.c_str(), node.name.c_str());
  return options;
}

Error runInto(const RunRequest &request, RunResult &result) {
  Expected<Package> package =
      Package::open(request.package,
                    request.acceptChanges ? Changes::Accept : Changes::Refuse);
  if (!package)
    return package.takeError();
  result.notes = package->notes();
  if (package->plan().channels.empty())
    return createStringError("the package '%s' has no links; compile it for a "
                             "cluster ('rhizome compile … --cluster NAME')",
                             request.package.c_str());
  result.predicted = package->plan().predicted;
  Expected<link::ClientOptions> options = optionsFor(*package, request);
  if (!options)
    return options.takeError();
  Expected<std::unique_ptr<HostModel>> model =
      HostModel::read(package->modelPath());
  if (!model)
    return model.takeError();
  if ((*model)->regionCount() > 1)
    return createStringError(
        "the model has %zu tasks on the FPGA with the host between them, and a "
        "service runs one; 'rhizome simulate --level cluster' runs them all",
        (*model)->regionCount());
  Expected<Drawn> drawn = framesFor(request, **model);
  if (!drawn)
    return drawn.takeError();
  Expected<Frames> frames = drawn->passage.codes();
  if (!frames)
    return frames.takeError();
  const std::vector<BorderPort> &outputs = (*model)->networkOutputs();
  Expected<std::vector<link::Client::Frame>> packed =
      packAll(*frames, (*model)->networkInputs());
  if (!packed)
    return packed.takeError();

  link::Client client(
      cluster::serviceOf(package->plan(), (*model)->networkInputs(), outputs),
      std::move(*options));
  client.onEvent = [&](const link::ClientEvent &event) {
    result.events.push_back(textOf(event));
    if (request.onEvent)
      request.onEvent(result.events.back());
  };
  client.isCancelled = request.isCancelled;
  std::string problem;
  std::vector<link::Client::Frame> answers;
  bool good = client.open(problem) && client.infer(*packed, answers, problem,
                                                   size_t(request.outstanding));
  link::ClientStatistics statistics = client.statistics();
  result.frames = int64_t(statistics.frames);
  result.repeated = int64_t(statistics.repeated);
  result.resent = int64_t(statistics.link.resent);
  result.seconds = double(statistics.elapsed) * 1e-9;
  if (statistics.frames) {
    result.throughputPerS = double(statistics.frames) / result.seconds;
    result.latencyUs =
        double(statistics.sum) * 1e-3 / double(statistics.frames);
    result.shortestUs = double(statistics.shortest) * 1e-3;
    result.longestUs = double(statistics.longest) * 1e-3;
  }
  if (!good)
    return createStringError("%s", problem.c_str());
  Frames got;
  for (const link::Client::Frame &answer : answers) {
    std::vector<Tensor> &frame = got.emplace_back();
    for (auto [bytes, port] : zip_equal(answer, outputs))
      frame.push_back(unpackFrame(bytes.data(), port));
  }
  if (request.check) {
    Passage want = drawn->passage;
    if (Error error = want.run(interpreted(**model)))
      return error;
    compare(got, want.networkOutputs(), **model, result);
  }
  if (Error error = drawn->passage.runDesign(
          [&](const Frames &) -> Expected<Frames> { return got; }, *frames))
    return error;
  return keepOutputs(request, **model, drawn->passage, result);
}
} // namespace

RunResult pipeline::runService(const RunRequest &request) {
  RunResult result;
  if (Error error = runInto(request, result))
    result.error = toString(std::move(error));
  else
    result.ok = true;
  return result;
}
