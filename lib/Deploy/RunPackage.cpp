// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs a package: the host's tasks, frames through a driver, answers,
// comparison.
#include "Ends.h"
#include "FrameFlow.h"
#include "FrameLine.h"
#include "Places.h"
#include "rhizome/ClusterSim/Channels.h"
#include "rhizome/Deploy/Service.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/runtime/drivers.h"
#include "rhizome/runtime/key.h"
#include "rhizome/runtime/metrics.h"
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

} // namespace

Expected<std::unique_ptr<runtime::Driver>> deploy::makeClient(
    const Package &package, const std::vector<BorderPort> &inputs,
    const std::vector<BorderPort> &outputs, const RunRequest &request,
    std::function<void(const std::string &line)> onEvent) {
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
  options.service = clustersim::serviceOf(plan, inputs, outputs);
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
  options.isCancelled = request.isCancelled;
  options.onEvent = [onEvent = std::move(onEvent)](const std::string &,
                                                   const std::string &line) {
    onEvent(line);
  };
  return runtime::makeUdpDriver(std::move(options));
}

namespace {
/// The client of a service, which keeps what happens for the result.
Expected<std::unique_ptr<runtime::Driver>>
clientOf(const Package &package, const HostModel &model,
         const RunRequest &request, Meter &meter, RunResult &result) {
  RunRequest watched = request;
  // Asked several times a second, also while nothing comes.
  watched.isCancelled = [&] {
    meter.look();
    return request.isCancelled && request.isCancelled();
  };
  return makeClient(package, model.networkInputs(), model.networkOutputs(),
                    watched, [&](const std::string &line) {
                      result.events.push_back(line);
                      if (request.onEvent)
                        request.onEvent(line);
                    });
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
  Jobs(runtime::Driver &driver, const HostModel &model, FrameFlow &flow)
      : driver(driver), model(model), flow(flow) {
    for (const HostModel::Task &task : model.tasks()) {
      regions.push_back(regionCount);
      regionCount += task.onFpga;
    }
  }
  /// Launches the region that a frame waits for, or hands it on.
  Error launch(FlowFrame &frame) {
    if (frame.begun == Clock::time_point()) {
      frame.begun = Clock::now();
      ++inside;
    }
    if (frame.task == frame.passage->endOfRegions()) {
      const runtime::Duration took = Clock::now() - frame.begun;
      sum += took;
      shortest = std::min(shortest, took);
      longest = std::max(longest, took);
      ++done;
      --inside;
      flow.answered(frame);
      return Error::success();
    }
    const HostModel::Task &task = model.tasks()[frame.task];
    std::vector<Tensor> taken = frame.passage->taken(task, 0);
    for (size_t k = 0; k < task.inputPorts; ++k) {
      const size_t port = task.firstInput + k;
      Expected<std::vector<uint8_t>> bytes =
          packFrame(taken[k], model.networkInputs()[port]);
      if (!bytes)
        return bytes.takeError();
      if (runtime::Status status = driver.write(port, *bytes); !status)
        return errorOf(driver, status);
    }
    jobs.push_back(&frame);
    if (runtime::Status status = driver.launch(regions[frame.task]); !status)
      return errorOf(driver, status);
    return Error::success();
  }
  /// The oldest job's answer, which the driver has; launches what follows it.
  Error take() {
    FlowFrame &frame = *jobs.front();
    jobs.pop_front();
    const HostModel::Task &task = model.tasks()[frame.task++];
    std::vector<Tensor> results;
    for (size_t k = 0; k < task.outputPorts; ++k) {
      const size_t port = task.firstOutput + k;
      runtime::Bytes bytes(driver.design().outputs[port].frameBytes());
      if (runtime::Status status = driver.read(port, bytes); !status)
        return errorOf(driver, status);
      results.push_back(
          unpackFrame(bytes.data(), model.networkOutputs()[port]));
    }
    frame.passage->give(task, 0, std::move(results));
    Expected<size_t> at = frame.passage->runToRegion(0, frame.task);
    if (!at)
      return at.takeError();
    frame.task = *at;
    return launch(frame);
  }
  /// Frames that are through, and those that are not.
  size_t ended() const { return done; }
  size_t onTheirWay() const { return inside; }
  bool areWaiting() const { return !jobs.empty(); }

  void fill(RunResult &result) const {
    const runtime::Statistics counts = driver.statistics();
    result.frames = int64_t(done);
    result.repeated = int64_t(counts.repeated);
    result.resent = int64_t(counts.resent);
    result.frameErrors = int64_t(counts.frameErrors);
    if (!done)
      return;
    auto micros = [](runtime::Duration time) {
      return double(time.count()) * 1e-3;
    };
    // With one region a frame is a job, of which the driver knows better when
    // it left.
    const bool isJob = regionCount <= 1;
    result.latencyUs = micros(isJob ? counts.sum : sum) / double(done);
    result.shortestUs = micros(isJob ? counts.shortest : shortest);
    result.longestUs = micros(isJob ? counts.longest : longest);
  }

private:
  using Clock = FlowFrame::Clock;
  runtime::Driver &driver;
  const HostModel &model;
  FrameFlow &flow;
  std::vector<size_t> regions; ///< by task: how many are before it
  size_t regionCount = 0, done = 0, inside = 0;
  runtime::Duration sum{0}, longest{0}, shortest = runtime::Duration::max();
  std::deque<FlowFrame *> jobs; ///< of the driver's jobs, as launched
};

/// A stream of frames through a driver's regions and their verdicts.
class Stream {
public:
  /// Gets each frame once it is judged, in order.
  using Take = std::function<Error(const FlowFrame &frame)>;
  Stream(const RunRequest &request, DriverKind kind, Meter &meter,
         RunResult &result)
      : request(request), kind(kind), meter(meter), result(result) {}

  Error run(runtime::Driver &driver, const FrameStream &frames, FrameFlow &flow,
            const Take &take) {
    Jobs jobs(driver, frames.model(), flow);
    const auto begin = std::chrono::steady_clock::now();
    auto last = begin, told = begin;
    Error error = Error::success();
    while (!error && !flow.isDone()) {
      const size_t ended = jobs.ended();
      error = step(driver, flow, jobs);
      const auto now = std::chrono::steady_clock::now();
      if (jobs.ended() != ended)
        last = now;
      if (!error)
        error = flow.collect(take);
      if (request.isCancelled && request.isCancelled()) {
        consumeError(std::move(error));
        error = Error::success();
        result.isInterrupted = true;
        break;
      }
      if (request.onProgress && now - told > std::chrono::milliseconds(100)) {
        request.onProgress(int64_t(jobs.ended()), int64_t(frames.size()),
                           result);
        told = now;
      }
    }
    jobs.fill(result);
    result.seconds = std::chrono::duration<double>(last - begin).count();
    result.heldSeconds = flow.heldSeconds();
    if (result.seconds > 0)
      result.throughputPerS = double(jobs.ended()) / result.seconds;
    return error;
  }

private:
  /// Launches what may leave, then waits for an answer, or for what is ready
  /// next.
  Error step(runtime::Driver &driver, FrameFlow &flow, Jobs &jobs) {
    while (jobs.onTheirWay() < flow.room()) {
      Expected<FlowFrame *> frame = flow.next();
      if (!frame)
        return frame.takeError();
      if (!*frame)
        break;
      if (Error error = jobs.launch(**frame))
        return error;
    }
    // A simulator takes all frames that were launched in one run.
    const bool isFilling = kind == DriverKind::Simulation && flow.hasMore() &&
                           jobs.onTheirWay() < flow.room() && !flow.isHeld();
    if (jobs.areWaiting() && !isFilling) {
      if (runtime::Status status = waitFor(driver, kind, request, meter);
          !status)
        return errorOf(driver, status);
      return jobs.take();
    }
    meter.look();
    if (kind != DriverKind::Udp) {
      flow.wait(std::chrono::milliseconds(100));
      return Error::success();
    }
    if (runtime::Status status = driver.tend(std::chrono::milliseconds(1));
        !status)
      return errorOf(driver, status);
    return Error::success();
  }

  const RunRequest &request;
  DriverKind kind;
  Meter &meter;
  RunResult &result;
};

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

/// A package whose driver is open, for one stream of frames or for many.
class Session {
public:
  Session(const RunRequest &request, RunResult &result)
      : request(request), result(result) {}

  /// Reads the package.
  Error read() {
    Expected<Package> opened = Package::open(
        request.package, changesFor(request.acceptChanges, request.trust));
    if (!opened)
      return ofKind(Failure::Kind::Input, opened.takeError());
    package = std::make_unique<Package>(std::move(*opened));
    result.notes = package->notes();
    Expected<DriverKind> wanted = kindFor(request, *package);
    if (!wanted)
      return wanted.takeError();
    kind = *wanted;
    const std::pair<const char *, bool> ofNodes[] = {
        {"--key", !request.key.empty()},
        {"--at", !request.places.at.empty()},
        {"--manifest", !request.places.manifest.empty()}};
    for (auto [option, isGiven] : ofNodes)
      if (isGiven && kind != DriverKind::Udp)
        return ofKind(Failure::Kind::Usage,
                      createStringError("%s: only the driver 'udp' talks to "
                                        "nodes; leave it out, or give "
                                        "--driver udp",
                                        option));
    result.predicted = package->plan().predicted;
    Expected<std::unique_ptr<HostModel>> read =
        HostModel::read(package->modelPath());
    if (!read)
      return ofKind(Failure::Kind::Input, read.takeError());
    model = std::move(*read);
    if (request.checkEvery > 1 && !model->states().empty())
      return ofKind(
          Failure::Kind::Usage,
          createStringError("--check-every: the network keeps '%s' from frame "
                            "to frame, so the interpreter computes all of them "
                            "or none (--no-check)",
                            model->states().front().name.c_str()));
    // Zeros are no answers.
    result.checked = request.check && kind != DriverKind::Null;
    return meter.open(request, result.predicted);
  }

  /// Makes the driver and opens it; interrupted meanwhile, the result says so.
  Error open() {
    Expected<std::unique_ptr<runtime::Driver>> made =
        kind == DriverKind::Udp
            ? clientOf(*package, *model, request, meter, result)
            : makeDriver(*package, kind, request.driverOptions,
                         [this] { return computeOf(*package); });
    if (!made)
      return made.takeError();
    driver = std::move(*made);
    Expected<runtime::Design> design = designOf(*package);
    if (!design)
      return design.takeError();
    if (design->regionCount() != model->regionCount())
      return ofKind(Failure::Kind::Input,
                    createStringError("'%s/plan.json' names %zu tasks of the "
                                      "FPGA, the model has %zu; compile the "
                                      "model again",
                                      package->dir().c_str(),
                                      design->regionCount(),
                                      model->regionCount()));
    if (request.onBegin)
      request.onBegin();
    // A monitor sees which nodes are missing while the client waits for them,
    // and the service's state as soon as there is one.
    meter.watch(driver.get());
    if (runtime::Status status = driver->open(std::move(*design)); !status) {
      result.isInterrupted = request.isCancelled && request.isCancelled();
      Error error =
          result.isInterrupted ? Error::success() : errorOf(*driver, status);
      // The monitor keeps what was known while the client waited: now the
      // driver is closed and knows no nodes.
      meter.watch(nullptr);
      driver.reset();
      return error;
    }
    meter.publish();
    if (runtime::Status status = driver->loadAll(); !status)
      return errorOf(*driver, status);
    return Error::success();
  }

  Error run(const FrameStream &frames, const Stream::Take &take,
            FlowOptions options) {
    // A simulator would compute all earlier frames again.
    if (kind == DriverKind::Simulation && driver->design().keepsState &&
        !options.room)
      options.room = frames.size();
    FrameFlow flow(*model, frames, std::move(options));
    if (runtime::Status status = driver->allocate(flow.room()); !status)
      return errorOf(*driver, status);
    Error error =
        Stream(request, kind, meter, result).run(*driver, frames, flow, take);
    if (model->isKeptByHost())
      states = flow.states();
    // What was launched and not answered is given up, before the threads end.
    if (error || result.isInterrupted)
      close();
    return error;
  }

  void close() {
    meter.publish();
    meter.watch(nullptr);
    driver->close();
  }
  ~Session() {
    if (driver)
      close();
  }

  const RunRequest &request;
  RunResult &result;
  std::unique_ptr<Package> package;
  DriverKind kind = DriverKind::Null;
  std::unique_ptr<HostModel> model;
  Meter meter;
  std::unique_ptr<runtime::Driver> driver;
  std::optional<std::vector<Tensor>> states; ///< after the last frame
};

/// One stream of frames, compared and kept as the request says.
Error runInto(const RunRequest &request, RunResult &result) {
  Session session(request, result);
  if (Error error = session.read())
    return error;
  Expected<FrameStream> frames = FrameStream::open(request, *session.model);
  if (!frames)
    return ofKind(Failure::Kind::Input, frames.takeError());
  result.asked = int64_t(frames->size());
  Expected<OutputKeeper> outputs =
      OutputKeeper::open(request, *session.model, frames->size());
  if (!outputs)
    return outputs.takeError();
  // What is wrong with the data shows before a device is taken.
  if (frames->size())
    if (Expected<Passage> first = frames->frame(0); !first)
      return ofKind(Failure::Kind::Input, first.takeError());
  if (Error error = session.open(); error || result.isInterrupted)
    return error;
  FlowOptions options;
  options.check = result.checked;
  options.checkEvery = size_t(request.checkEvery);
  options.wantsOutputs = outputs->wants();
  options.room = size_t(request.outstanding);
  Ends ends(*session.model);
  auto take = [&](const FlowFrame &frame) -> Error {
    if (frames->isReal())
      ends.count(frame.passage->networkOutputs().front());
    result.compared += frame.isChecked;
    result.mismatches += frame.verdict.mismatches;
    if (result.firstMismatch.empty())
      result.firstMismatch = frame.verdict.firstMismatch;
    return outputs->wants() ? outputs->add(frame.outputs, result)
                            : Error::success();
  };
  if (Error error = session.run(*frames, take, std::move(options)))
    return error;
  append_range(result.notes, ends.notes());
  return outputs->finish();
}

/// Requests from a program, answered one after the other by an open driver.
class Server {
public:
  Server(Session &session, FrameLine &line) : session(session), line(line) {}

  Error run() {
    const RunRequest &request = session.request;
    RunResult &result = session.result;
    if (Error error = session.open(); error || result.isInterrupted)
      return error;
    if (Error error = line.begin())
      return error;
    for (;;) {
      if (request.isCancelled && request.isCancelled()) {
        result.isInterrupted = true;
        return Error::success();
      }
      session.meter.look();
      if (!line.isDue(std::chrono::milliseconds(50))) {
        // Nodes must not take a client that waits for one that has gone.
        if (runtime::Status status =
                session.driver->tend(std::chrono::milliseconds(1));
            !status)
          return errorOf(*session.driver, status);
        continue;
      }
      Expected<std::optional<std::vector<NamedTensor>>> arrays = line.next();
      if (!arrays)
        return arrays.takeError();
      if (!*arrays)
        return Error::success();
      if (Error error = answer(std::move(**arrays)))
        return error;
      if (result.isInterrupted)
        return Error::success();
    }
  }

private:
  /// What is wrong with a request is its answer; only what ends the device is
  /// an error.
  Error answer(std::vector<NamedTensor> arrays) {
    Expected<FrameStream> frames =
        FrameStream::of(std::move(arrays), *session.model);
    if (!frames)
      return line.refuse(toString(frames.takeError()));
    for (size_t f = 0; f < frames->size(); ++f)
      if (Expected<Passage> frame = frames->frame(f); !frame)
        return line.refuse(toString(frame.takeError()));
    FlowOptions options;
    options.check = false;
    options.wantsOutputs = true;
    options.room = size_t(session.request.outstanding);
    options.states = session.states;
    std::vector<std::vector<Tensor>> outputs(session.model->outputs().size());
    auto take = [&](const FlowFrame &frame) -> Error {
      for (auto [values, value] : zip_equal(outputs, frame.outputs))
        values.push_back(value);
      ++answered;
      return Error::success();
    };
    if (Error error = session.run(*frames, take, std::move(options)))
      return error;
    session.result.frames = answered;
    return session.result.isInterrupted ? Error::success()
                                        : line.answer(outputs);
  }

  Session &session;
  FrameLine &line;
  int64_t answered = 0;
};

rhizome::Result<RunResult> resultOf(Error error, RunResult result) {
  if (!error)
    return result;
  Failure failure = failureOf(std::move(error), Failure::Kind::Environment);
  failure.notes = result.notes;
  failure.detail = std::move(result);
  return failure;
}
} // namespace

rhizome::Result<RunResult> deploy::runPackage(const RunRequest &request) {
  RunResult result;
  Error error = runInto(request, result);
  return resultOf(std::move(error), std::move(result));
}

rhizome::Result<RunResult> deploy::serveFrames(const RunRequest &request,
                                               int source, int sink) {
  RunResult result;
  FrameLine line(source, sink);
  Error error = Error::success();
  {
    Session session(request, result);
    error = session.read();
    if (!error)
      error = Server(session, line).run();
  }
  return resultOf(std::move(error), std::move(result));
}
