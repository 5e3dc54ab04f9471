// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs a package: the host's tasks, frames through a driver, answers,
// comparison.
#include "Places.h"
#include "rhizome/ClusterSim/Channels.h"
#include "rhizome/Deploy/Service.h"
#include "rhizome/Model/Frames.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/runtime/drivers.h"
#include "rhizome/runtime/key.h"
#include "rhizome/runtime/metrics.h"
#include "llvm/ADT/ScopeExit.h"
#include <chrono>
#include <deque>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::model;

namespace {
/// What a monitor is told of the run: kept up to date while frames are on
/// their way.
class Meter {
public:
  Error open(const RunRequest &request, const Prediction &predicted) {
    if (request.metrics.empty())
      return Error::success();
    std::string problem;
    output = runtime::MetricsOutput::open(request.metrics, problem);
    if (!output)
      return ofKind(Failure::Kind::Environment,
                    createStringError("--metrics: " + problem));
    rate = predicted.throughputPerS;
    publish();
    if (request.onEvent)
      request.onEvent("metrics at " + output->place());
    return Error::success();
  }
  void watch(const runtime::Driver *watched) { driver = watched; }
  /// Costs nothing unless it is time again.
  void look() {
    if (output && output->isDue())
      publish();
  }
  /// What is known now, whether or not it is time again.
  void publish() {
    if (!output)
      return;
    runtime::MetricsText text;
    runtime::addMetrics(text,
                        driver ? driver->statistics() : runtime::Statistics());
    text.gauge("rhizome_predicted_requests_per_second",
               "The rate that the plan of the package predicts.", rate);
    output->publish(text.text());
  }

private:
  std::unique_ptr<runtime::MetricsOutput> output;
  const runtime::Driver *driver = nullptr;
  double rate = 0;
};

runtime::Duration patienceOf(const RunRequest &request) {
  return std::chrono::duration_cast<runtime::Duration>(
      std::chrono::duration<double>(request.patienceS));
}

/// The client of a service: nodes on a network.
Expected<std::unique_ptr<runtime::Driver>>
clientOf(const Package &package, const HostModel &model,
         const RunRequest &request, Meter &meter, RunResult &result) {
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
    std::string problem;
    options.seal = link::macOf(request.key, problem);
    if (!options.seal)
      return createStringError(problem);
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
  // Asked several times a second, also while nothing comes.
  options.isCancelled = [&] {
    meter.look();
    return request.isCancelled && request.isCancelled();
  };
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
                        const RunRequest &request, Meter &meter) {
  using namespace std::chrono;
  meter.look();
  if (kind == DriverKind::Udp)
    return driver.wait(patienceOf(request));
  const auto begin = steady_clock::now();
  for (;;) {
    runtime::Status status = driver.wait(milliseconds(100));
    meter.look();
    if (status.fault != runtime::Fault::TimeOut)
      return status;
    if (request.isCancelled && request.isCancelled())
      return {runtime::Fault::TimeOut, "it was interrupted"};
    const bool isBoard = kind == DriverKind::Uart || kind == DriverKind::Pynq ||
                         !request.driverOptions.program.empty();
    if (isBoard && steady_clock::now() - begin > patienceOf(request))
      return status;
  }
}

/// Frames on their way through the regions of a driver's device, with the
/// host's tasks in between. A frame is in one region at a time.
class Jobs {
public:
  Jobs(runtime::Driver &driver, const HostModel &model, Passage &passage)
      : driver(driver), model(model), passage(passage),
        frames(passage.size(), {passage.nextTask(), {}, {}}) {
    for (const HostModel::Task &task : model.tasks()) {
      regions.push_back(regionCount);
      regionCount += task.onFpga;
    }
  }
  /// Launches a frame's next region, if one is left.
  Error launch(size_t f) {
    Expected<size_t> at = passage.runToRegion(f, frames[f].task);
    if (!at)
      return at.takeError();
    frames[f].task = *at;
    if (*at == passage.endOfRegions()) {
      frames[f].took = Clock::now() - frames[f].begun;
      ++done;
      return Error::success();
    }
    const HostModel::Task &task = model.tasks()[*at];
    std::vector<Tensor> taken = passage.taken(task, f);
    for (size_t k = 0; k < task.inputPorts; ++k) {
      const size_t port = task.firstInput + k;
      Expected<std::vector<uint8_t>> bytes =
          packFrame(taken[k], model.networkInputs()[port]);
      if (!bytes)
        return bytes.takeError();
      if (runtime::Status status = driver.write(port, *bytes); !status)
        return errorOf(driver, status);
    }
    if (frames[f].begun == Clock::time_point())
      frames[f].begun = Clock::now();
    jobs.push_back(f);
    if (runtime::Status status = driver.launch(regions[*at]); !status)
      return errorOf(driver, status);
    return Error::success();
  }
  /// The oldest job's answer, which the driver has; launches what follows it.
  Error take() {
    const size_t f = jobs.front();
    jobs.pop_front();
    const HostModel::Task &task = model.tasks()[frames[f].task++];
    std::vector<Tensor> results;
    for (size_t k = 0; k < task.outputPorts; ++k) {
      const size_t port = task.firstOutput + k;
      runtime::Bytes bytes(driver.design().outputs[port].frameBytes());
      if (runtime::Status status = driver.read(port, bytes); !status)
        return errorOf(driver, status);
      results.push_back(
          unpackFrame(bytes.data(), model.networkOutputs()[port]));
    }
    passage.give(task, f, std::move(results));
    return launch(f);
  }
  /// Frames that are through.
  size_t ended() const { return done; }

  void fill(RunResult &result) const {
    const runtime::Statistics counts = driver.statistics();
    result.frames = int64_t(done);
    result.repeated = int64_t(counts.repeated);
    result.resent = int64_t(counts.resent);
    // With one region a frame is a job, of which the driver knows better when
    // it left.
    runtime::Duration sum = counts.sum, shortest = counts.shortest,
                      longest = counts.longest;
    if (regionCount > 1) {
      sum = longest = runtime::Duration::zero();
      shortest = runtime::Duration::max();
      for (size_t f = 0; f < done; ++f) {
        sum += frames[f].took;
        shortest = std::min(shortest, frames[f].took);
        longest = std::max(longest, frames[f].took);
      }
    }
    auto micros = [](runtime::Duration time) {
      return double(time.count()) * 1e-3;
    };
    result.latencyUs = micros(sum) / double(done);
    result.shortestUs = micros(shortest);
    result.longestUs = micros(longest);
  }

private:
  using Clock = std::chrono::steady_clock;
  struct Frame {
    size_t task; ///< the next one, or that which runs
    Clock::time_point begun;
    runtime::Duration took;
  };
  runtime::Driver &driver;
  const HostModel &model;
  Passage &passage;
  std::vector<Frame> frames;
  std::vector<size_t> regions; ///< by task: how many are before it
  size_t regionCount = 0, done = 0;
  std::deque<size_t> jobs; ///< the frames of the driver's jobs, as launched
};

/// All frames through a driver's regions.
Error runDriver(const RunRequest &request, DriverKind kind,
                const Package &package, const HostModel &model, Meter &meter,
                Passage &passage, RunResult &result) {
  Expected<std::unique_ptr<runtime::Driver>> made =
      kind == DriverKind::Udp
          ? clientOf(package, model, request, meter, result)
          : makeDriver(package, kind, request.driverOptions);
  if (!made)
    return made.takeError();
  runtime::Driver &driver = **made;
  Expected<runtime::Design> design = designOf(package);
  if (!design)
    return design.takeError();
  if (design->regionCount() != model.regionCount())
    return ofKind(Failure::Kind::Input,
                  createStringError("'%s/plan.json' names %zu tasks of the "
                                    "FPGA, the model has %zu; compile the "
                                    "model again",
                                    package.dir().c_str(),
                                    design->regionCount(),
                                    model.regionCount()));
  const size_t count = passage.size();
  size_t room = request.outstanding ? size_t(request.outstanding)
                                    : std::max<size_t>(count, 1);
  if (model.isKeptByHost())
    room = 1; // what is kept is in the next frame, which waits for this one
  else if (Error error = passage.codes().takeError())
    return error; // the host's tasks before the first region, on all cores
  // A monitor sees which nodes are missing while the client waits for them, and
  // the service's state as soon as there is one.
  meter.watch(&driver);
  llvm::scope_exit unwatch([&] { meter.watch(nullptr); });
  if (runtime::Status status = driver.open(std::move(*design)); !status)
    return errorOf(driver, status);
  meter.publish();
  llvm::scope_exit publish([&] { meter.publish(); });
  if (runtime::Status status = driver.allocate(room); !status)
    return errorOf(driver, status);
  if (runtime::Status status = driver.loadAll(); !status)
    return errorOf(driver, status);
  Jobs jobs(driver, model, passage);
  const auto begin = std::chrono::steady_clock::now();
  size_t sent = 0;
  auto told = begin;
  while (jobs.ended() < count) {
    for (; sent < count && sent - jobs.ended() < room; ++sent)
      if (Error error = jobs.launch(sent))
        return error;
    if (runtime::Status status = waitFor(driver, kind, request, meter);
        !status) {
      result.frames = int64_t(jobs.ended());
      return errorOf(driver, status);
    }
    if (Error error = jobs.take())
      return error;
    if (auto now = std::chrono::steady_clock::now();
        request.onProgress && now - told > std::chrono::milliseconds(100)) {
      request.onProgress(int64_t(jobs.ended()), int64_t(count));
      told = now;
    }
  }
  jobs.fill(result);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  result.throughputPerS = double(count) / result.seconds;
  passage.skipRegions();
  return Error::success();
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
          "--driver cpu, simulation, uart (a board at a serial line), pynq (a "
          "Zynq), xrt (an Alveo), opencl or null",
          request.package.c_str()));
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
  Expected<Drawn> drawn = framesFor(request, **model);
  if (!drawn)
    return ofKind(Failure::Kind::Input, drawn.takeError());
  // Zeros are no answers.
  result.checked = request.check && *kind != DriverKind::Null;
  Meter meter;
  if (Error error = meter.open(request, result.predicted))
    return error;
  Passage want = drawn->passage;
  if (result.checked)
    if (Error error = want.run(interpreted(**model)))
      return error;
  if (Error error = runDriver(request, *kind, *package, **model, meter,
                              drawn->passage, result))
    return error;
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
