// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs a package: prologue, frames through a driver or to the nodes of a
// service, answers, comparison, epilogue.
#include "rhizome/Pipeline/Service.h"
#include "Frames.h"
#include "Places.h"
#include "rhizome/Cluster/Channels.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/runtime/client.h"
#include <chrono>

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

/// Frames to the nodes of a service and their answers.
Error runNodes(const RunRequest &request, const Package &package,
               const HostModel &model, const Frames &frames,
               std::vector<link::Client::Frame> &answers, RunResult &result) {
  if (package.plan().channels.empty())
    return createStringError("the package '%s' has no links; compile it for a "
                             "cluster ('rhizome compile … --cluster NAME'), or "
                             "choose another --driver",
                             request.package.c_str());
  Expected<link::ClientOptions> options = optionsFor(package, request);
  if (!options)
    return options.takeError();
  Expected<std::vector<link::Client::Frame>> packed =
      packAll(frames, model.networkInputs());
  if (!packed)
    return packed.takeError();
  link::Client client(cluster::serviceOf(package.plan(), model.networkInputs(),
                                         model.networkOutputs()),
                      std::move(*options));
  client.onEvent = [&](const link::ClientEvent &event) {
    result.events.push_back(textOf(event));
    if (request.onEvent)
      request.onEvent(result.events.back());
  };
  client.isCancelled = request.isCancelled;
  std::string problem;
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
  return good ? Error::success() : createStringError("%s", problem.c_str());
}

Error errorOf(const runtime::Driver &driver, const runtime::Status &status) {
  return createStringError("the driver '%s': %s", driver.name(),
                           status.text.c_str());
}

/// Waits for the oldest frame, and now and then looks whether it shall go on.
/// What computes here may take as long as it needs; a device has the request's
/// patience.
runtime::Status waitFor(runtime::Driver &driver, DriverKind kind,
                        const RunRequest &request) {
  using namespace std::chrono;
  constexpr auto look = milliseconds(100);
  const auto begin = steady_clock::now();
  const duration<double> patience(request.patienceS);
  for (;;) {
    runtime::Status status = driver.wait(look);
    if (status.fault != runtime::Fault::TimeOut)
      return status;
    if (request.isCancelled && request.isCancelled())
      return {runtime::Fault::TimeOut, "it was interrupted"};
    if (kind == DriverKind::Uart && steady_clock::now() - begin > patience)
      return status;
  }
}

/// Frames through a driver and their answers.
Error runDriver(const RunRequest &request, DriverKind kind,
                const Package &package, const HostModel &model,
                const Frames &frames, std::vector<link::Client::Frame> &answers,
                RunResult &result) {
  Expected<std::unique_ptr<runtime::Driver>> made =
      makeDriver(package, kind, request.driverOptions);
  if (!made)
    return made.takeError();
  runtime::Driver &driver = **made;
  Expected<runtime::Design> design = designOf(package);
  if (!design)
    return design.takeError();
  Expected<std::vector<link::Client::Frame>> packed =
      packAll(frames, model.networkInputs());
  if (!packed)
    return packed.takeError();
  const size_t count = packed->size();
  const size_t room = request.outstanding ? size_t(request.outstanding)
                                          : std::max<size_t>(count, 1);
  if (runtime::Status status = driver.open(std::move(*design)); !status)
    return errorOf(driver, status);
  if (runtime::Status status = driver.allocate(room); !status)
    return errorOf(driver, status);
  if (runtime::Status status = driver.loadAll(); !status)
    return errorOf(driver, status);
  const auto begin = std::chrono::steady_clock::now();
  size_t sent = 0;
  for (size_t done = 0; done < count; ++done) {
    runtime::Status status;
    for (; status && sent < count && sent - done < room; ++sent) {
      for (size_t k = 0; status && k < (*packed)[sent].size(); ++k)
        status = driver.write(k, (*packed)[sent][k]);
      if (status)
        status = driver.launch();
    }
    if (status)
      status = waitFor(driver, kind, request);
    link::Client::Frame &answer = answers.emplace_back();
    for (size_t k = 0; status && k < driver.design().outputs.size(); ++k) {
      answer.emplace_back(driver.design().outputs[k].frameBytes());
      status = driver.read(k, answer.back());
    }
    result.frames = int64_t(driver.statistics().done);
    if (!status)
      return errorOf(driver, status);
  }
  const runtime::Statistics &statistics = driver.statistics();
  auto micros = [](runtime::Duration time) {
    return double(time.count()) * 1e-3;
  };
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  result.throughputPerS = double(statistics.done) / result.seconds;
  result.latencyUs = micros(statistics.sum) / double(statistics.done);
  result.shortestUs = micros(statistics.shortest);
  result.longestUs = micros(statistics.longest);
  return Error::success();
}

/// The driver that was asked for, or the one there is a reason for.
Expected<DriverKind> kindFor(const RunRequest &request,
                             const Package &package) {
  if (request.driver)
    return *request.driver;
  if (!package.plan().channels.empty())
    return DriverKind::Udp;
  return createStringError(
      "the package '%s' has no links, so it is to be said where it runs: "
      "--driver cpu, simulation, uart (a board at a serial line) or null",
      request.package.c_str());
}

Error runInto(const RunRequest &request, RunResult &result) {
  Expected<Package> package =
      Package::open(request.package,
                    request.acceptChanges ? Changes::Accept : Changes::Refuse);
  if (!package)
    return package.takeError();
  result.notes = package->notes();
  Expected<DriverKind> kind = kindFor(request, *package);
  if (!kind)
    return kind.takeError();
  result.predicted = package->plan().predicted;
  Expected<std::unique_ptr<HostModel>> model =
      HostModel::read(package->modelPath());
  if (!model)
    return model.takeError();
  Expected<PreparedFrames> prepared = framesFor(request, **model);
  if (!prepared)
    return prepared.takeError();
  const Frames *frames = &prepared->inputs;
  std::vector<link::Client::Frame> answers;
  if (Error error =
          *kind == DriverKind::Udp
              ? runNodes(request, *package, **model, *frames, answers, result)
              : runDriver(request, *kind, *package, **model, *frames, answers,
                          result))
    return error;
  Frames got;
  for (const link::Client::Frame &answer : answers) {
    std::vector<Tensor> &frame = got.emplace_back();
    for (auto [bytes, port] : zip_equal(answer, (*model)->networkOutputs()))
      frame.push_back(unpackFrame(bytes.data(), port));
  }
  // Zeros are no answers.
  result.checked = request.check && *kind != DriverKind::Null;
  if (result.checked) {
    Expected<Frames> want = runInterpreter(**model, *frames);
    if (!want)
      return want.takeError();
    compare(got, *want, **model, result);
  }
  if (!request.outputs.empty())
    if (Error error = writeOutputs(request, **model, got, prepared->carried))
      return error;
  if (!request.expect.empty())
    return compareExpected(request, **model, got, prepared->carried, result);
  return Error::success();
}
} // namespace

RunResult pipeline::runPackage(const RunRequest &request) {
  RunResult result;
  if (Error error = runInto(request, result))
    result.error = toString(std::move(error));
  else
    result.ok = true;
  return result;
}
