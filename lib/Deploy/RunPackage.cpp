// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs a package: the host's tasks, frames through a driver, answers,
// comparison.
#include "Keys.h"
#include "Places.h"
#include "rhizome/ClusterSim/Channels.h"
#include "rhizome/Deploy/Service.h"
#include "rhizome/Model/Frames.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/runtime/drivers.h"
#include <chrono>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::model;

namespace {
Expected<std::vector<std::vector<runtime::Bytes>>>
packAll(const Frames &frames, const std::vector<BorderPort> &ports) {
  std::vector<std::vector<runtime::Bytes>> packed;
  for (const std::vector<Tensor> &frame : frames) {
    std::vector<runtime::Bytes> &target = packed.emplace_back();
    for (auto [tensor, port] : zip_equal(frame, ports)) {
      Expected<std::vector<uint8_t>> bytes = packFrame(tensor, port);
      if (!bytes)
        return bytes.takeError();
      target.push_back(std::move(*bytes));
    }
  }
  return packed;
}

runtime::Duration patienceOf(const RunRequest &request) {
  return std::chrono::duration_cast<runtime::Duration>(
      std::chrono::duration<double>(request.patienceS));
}

/// The client of a service: nodes on a network.
Expected<std::unique_ptr<runtime::Driver>> clientOf(const Package &package,
                                                    const HostModel &model,
                                                    const RunRequest &request,
                                                    RunResult &result) {
  const Plan &plan = package.plan();
  if (plan.channels.empty())
    return ofKind(
        Failure::Kind::Usage,
        createStringError("the package '%s' has no links; compile it for a "
                          "cluster ('rhizome compile … --cluster NAME'), or "
                          "choose another --driver",
                          request.package.c_str()));
  Expected<std::map<std::string, std::string>> places =
      readPlaces(package, request.places);
  if (!places)
    return ofKind(Failure::Kind::Input, places.takeError());
  runtime::UdpOptions options;
  options.service = clustersim::serviceOf(plan, model.networkInputs(),
                                          model.networkOutputs());
  options.patience = patienceOf(request);
  if (!request.key.empty()) {
    Expected<link::Mac> seal = macOf(request.key);
    if (!seal)
      return seal.takeError();
    options.seal = std::move(*seal);
  }
  for (const auto &[name, place] : *places) {
    if (name == kHost)
      options.listen = place;
    else
      options.places[plan.node(name)->address] = place;
  }
  for (const PlannedNode &node : plan.nodes)
    if (!options.places.count(node.address))
      return ofKind(Failure::Kind::Usage,
                    createStringError("it is not said where '%s' is; --at %s="
                                      "ADDRESS:PORT or a manifest says so",
                                      node.name.c_str(), node.name.c_str()));
  options.isCancelled = request.isCancelled;
  options.onEvent = [&](const std::string &, const std::string &line) {
    result.events.push_back(line);
    if (request.onEvent)
      request.onEvent(line);
  };
  return runtime::makeUdpDriver(std::move(options));
}

Error errorOf(const runtime::Driver &driver, const runtime::Status &status) {
  return createStringError("the driver '%s': %s", driver.name(),
                           status.text.c_str());
}

/// Waits for the oldest frame, and now and then looks whether it shall go on.
/// What computes here may take as long as it needs; a board has the request's
/// patience, and so have nodes, whose client looks by itself.
runtime::Status waitFor(runtime::Driver &driver, DriverKind kind,
                        const RunRequest &request) {
  using namespace std::chrono;
  if (kind == DriverKind::Udp)
    return driver.wait(patienceOf(request));
  const auto begin = steady_clock::now();
  for (;;) {
    runtime::Status status = driver.wait(milliseconds(100));
    if (status.fault != runtime::Fault::TimeOut)
      return status;
    if (request.isCancelled && request.isCancelled())
      return {runtime::Fault::TimeOut, "it was interrupted"};
    const bool isBoard =
        kind == DriverKind::Uart || !request.driverOptions.program.empty();
    if (isBoard && steady_clock::now() - begin > patienceOf(request))
      return status;
  }
}

/// The driver of a run, opened once, and what it measures.
class Device {
public:
  Device(const RunRequest &request, DriverKind kind, const HostModel &model,
         RunResult &result)
      : request(request), kind(kind), model(model), result(result) {}
  /// `frames` are, at most, on their way at a time.
  Error open(const Package &package, size_t frames);
  /// Frames of all regions, and their answers.
  Expected<Frames> run(const Frames &frames);
  /// Writes what was measured into the result.
  void measure();

private:
  const RunRequest &request;
  DriverKind kind;
  const HostModel &model;
  RunResult &result;
  std::unique_ptr<runtime::Driver> theDriver;
  size_t room = 1;
  std::chrono::steady_clock::time_point begin;
};

Error Device::open(const Package &package, size_t frames) {
  Expected<std::unique_ptr<runtime::Driver>> made =
      kind == DriverKind::Udp
          ? clientOf(package, model, request, result)
          : makeDriver(package, kind, request.driverOptions);
  if (!made)
    return made.takeError();
  theDriver = std::move(*made);
  runtime::Driver &driver = *theDriver;
  Expected<runtime::Design> design = designOf(package);
  if (!design)
    return design.takeError();
  room = request.outstanding ? size_t(request.outstanding)
                             : std::max<size_t>(frames, 1);
  if (runtime::Status status = driver.open(std::move(*design)); !status)
    return errorOf(driver, status);
  if (runtime::Status status = driver.allocate(room); !status)
    return errorOf(driver, status);
  if (runtime::Status status = driver.loadAll(); !status)
    return errorOf(driver, status);
  begin = std::chrono::steady_clock::now();
  return Error::success();
}

Expected<Frames> Device::run(const Frames &frames) {
  runtime::Driver &driver = *theDriver;
  Expected<std::vector<std::vector<runtime::Bytes>>> packed =
      packAll(frames, model.networkInputs());
  if (!packed)
    return packed.takeError();
  const size_t count = packed->size();
  Frames answers;
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
    std::vector<Tensor> &answer = answers.emplace_back();
    for (size_t k = 0; status && k < driver.design().outputs.size(); ++k) {
      runtime::Bytes bytes(driver.design().outputs[k].frameBytes());
      status = driver.read(k, bytes);
      answer.push_back(unpackFrame(bytes.data(), model.networkOutputs()[k]));
    }
    result.frames = int64_t(driver.statistics().done);
    if (!status)
      return errorOf(driver, status);
  }
  return answers;
}

void Device::measure() {
  const runtime::Statistics statistics = theDriver->statistics();
  result.repeated = int64_t(statistics.repeated);
  result.resent = int64_t(statistics.resent);
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
}

/// The driver that was asked for, or the one there is a reason for.
Expected<DriverKind> kindFor(const RunRequest &request,
                             const Package &package) {
  if (request.driver)
    return *request.driver;
  if (!package.plan().channels.empty())
    return DriverKind::Udp;
  return ofKind(
      Failure::Kind::Usage,
      createStringError(
          "the package '%s' has no links, so it is to be said where it runs: "
          "--driver cpu, simulation, uart (a board at a serial line), opencl "
          "or "
          "null",
          request.package.c_str()));
}

/// Whether a driver's device has the ports of all regions of a design. Links
/// and lines carry one region's frames.
bool runsRegions(DriverKind kind) {
  switch (kind) {
  case DriverKind::Null:
  case DriverKind::Cpu:
  case DriverKind::Simulation:
  case DriverKind::OpenCl:
    return true;
  case DriverKind::Uart:
  case DriverKind::Udp:
  case DriverKind::Mpi:
    return false;
  }
  llvm_unreachable("all drivers are above");
}

Error runInto(const RunRequest &request, RunResult &result) {
  Expected<Package> package = Package::open(
      request.package, changesFor(request.acceptChanges, request.trust));
  if (!package)
    return ofKind(Failure::Kind::Input, package.takeError());
  result.notes = package->notes();
  Expected<DriverKind> kind = kindFor(request, *package);
  if (!kind)
    return kind.takeError();
  if (!request.key.empty() && *kind != DriverKind::Udp)
    return ofKind(Failure::Kind::Usage,
                  createStringError("--key: only the driver 'udp' talks to "
                                    "nodes, which may share a key"));
  result.predicted = package->plan().predicted;
  Expected<std::unique_ptr<HostModel>> model =
      HostModel::read(package->modelPath());
  if (!model)
    return ofKind(Failure::Kind::Input, model.takeError());
  const bool isMany = (*model)->regionCount() > 1;
  if (isMany && !runsRegions(*kind))
    return ofKind(
        Failure::Kind::Unsupported,
        createStringError(
            "the model has %zu tasks on the FPGA with the host between them; "
            "the drivers null, cpu, simulation and opencl run these in order, "
            "and 'rhizome simulate --level cluster' those of a cluster",
            (*model)->regionCount()));
  Expected<Drawn> drawn = framesFor(request, **model);
  if (!drawn)
    return ofKind(Failure::Kind::Input, drawn.takeError());
  // Zeros are no answers.
  result.checked = request.check && *kind != DriverKind::Null;
  Passage want = drawn->passage;
  if (result.checked || isMany)
    if (Error error = want.run(interpreted(**model)))
      return error;
  Device device(request, *kind, **model, result);
  // What a model keeps is in the next frame, which waits for this one.
  const bool isKept = !(*model)->states().empty();
  if (Error error = device.open(*package, isKept ? 1 : drawn->passage.size()))
    return error;
  auto design = [&](const Frames &codes) { return device.run(codes); };
  // What regions after the first take is what the host makes of the answers
  // before; runDesign begins with what is expected of it.
  Frames expected = isMany ? want.networkInputs() : Frames();
  if (isKept) {
    if (Error error = drawn->passage.runInTurn(design, expected))
      return error;
  } else {
    Expected<Frames> frames =
        isMany ? Expected<Frames>(expected) : drawn->passage.codes();
    if (!frames)
      return frames.takeError();
    if (Error error = drawn->passage.runDesign(design, *frames))
      return error;
  }
  device.measure();
  if (result.checked)
    compare(drawn->passage.networkOutputs(), want.networkOutputs(), **model,
            result);
  return keepOutputs(request, **model, drawn->passage, result);
}
} // namespace

rhizome::Result<RunResult> deploy::runPackage(const RunRequest &request) {
  RunResult result;
  if (Error error = runInto(request, result)) {
    Failure failure = failureOf(std::move(error), Failure::Kind::Environment);
    failure.notes = result.notes;
    failure.detail = std::move(result);
    return failure;
  }
  return result;
}
