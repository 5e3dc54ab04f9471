// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run of a kernel's package through a driver: elements as frames of its ports,
// on nodes of a network or what stands in their place.
#include "rhizome/KernelCommands/RunHardware.h"
#include "KernelWords.h"
#include "rhizome/PlanBuild/Steer.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Failures.h"
#include <deque>
#include <future>

using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::kernelcommands;
using runtime::Bytes;

static llvm::Error errorOf(const runtime::Driver &driver,
                           const runtime::Status &status) {
  return llvm::createStringError("the driver '%s': %s", driver.name(),
                                 status.text.c_str());
}

/// What has no driver here, and what to do about it.
static llvm::Error checkDriver(const Plan &plan, DriverKind kind) {
  auto usage = [](const char *text) {
    return ofKind(Failure::Kind::Usage, llvm::createStringError(text));
  };
  if (llvm::any_of(plan.kernel->streams,
                   [](const PlannedStream &stream) { return stream.isOnce; }))
    return usage(
        "a driver sends every input with each element, and the package "
        "was compiled with --resident; remedy: --driver cpu or "
        "simulation, or the package's host program");
  switch (kind) {
  case DriverKind::Null:
  case DriverKind::OpenCl:
    return llvm::Error::success();
  case DriverKind::Udp:
  case DriverKind::Mpi:
    if (!plan.channels.empty())
      return llvm::Error::success();
    return usage("the package has no links; remedy: compile it with --cluster, "
                 "or choose --driver cpu, simulation, opencl or null");
  default:
    return usage("a kernel's package has the drivers cpu, simulation, opencl "
                 "and null, that of a cluster udp and mpi too; remedy: choose "
                 "--driver cpu, or on an FPGA run the host program in the "
                 "package's host/");
  }
}

namespace {
/// The frames of a run and what they should give. A thread prepares the next
/// ones, so that a long run needs neither time before its first frame nor much
/// memory.
class Feed {
public:
  Feed(KernelWords &kernel, std::function<bool()> isCancelled)
      : kernel(kernel), isCancelled(std::move(isCancelled)) {
    prepare();
  }
  /// The next frame; null if none is ready.
  llvm::Expected<const std::vector<Tensor> *> next() {
    if (batches.empty() || launched == batches.back().frames.size())
      if (llvm::Error error = take())
        return std::move(error);
    if (batches.empty() || launched == batches.back().frames.size())
      return nullptr;
    return &batches.back().frames[launched++];
  }
  /// Whether every frame was answered.
  bool isDone() const { return batches.empty() && !coming.valid(); }
  /// Until something may be ready.
  void wait(std::chrono::milliseconds time) {
    if (coming.valid())
      coming.wait_for(time);
  }
  /// The answer to the oldest frame.
  void answer(std::vector<Tensor> outputs, HardwareRunResult &result) {
    Batch &batch = batches.front();
    batch.answers.push_back(std::move(outputs));
    if (batch.answers.size() == batch.frames.size())
      judge(result);
  }
  /// What was answered of a run that ends early.
  void judgeRest(HardwareRunResult &result) {
    if (!batches.empty())
      judge(result);
  }
  int64_t judged() const { return count; }

private:
  struct Batch {
    Elements elements;
    Frames frames, answers;
  };
  KernelWords &kernel;
  std::function<bool()> isCancelled;
  std::deque<Batch> batches; ///< all frames of the first ones are on their way
  size_t launched = 0;       ///< of the last one
  int64_t count = 0;         ///< elements that were judged
  std::future<llvm::Expected<Elements>> coming;

  void prepare() {
    if (kernel.hasMore())
      coming = std::async(std::launch::async, [this] {
        return kernel.next(kernel.someElements(), isCancelled);
      });
  }
  llvm::Error take() {
    if (!coming.valid() ||
        coming.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      return llvm::Error::success();
    llvm::Expected<Elements> elements = coming.get();
    if (!elements)
      return elements.takeError();
    Frames frames = kernel.framesOf(*elements);
    prepare();
    launched = 0;
    if (!frames.empty())
      batches.push_back({std::move(*elements), std::move(frames), {}});
    return llvm::Error::success();
  }
  void judge(HardwareRunResult &result) {
    Batch batch = std::move(batches.front());
    batches.pop_front();
    count += kernel.judge(std::move(batch.elements), batch.answers, result);
  }
};

/// Elements on their way through a driver.
class Runner {
public:
  Runner(const RunRequest &request, runtime::Driver &driver,
         const KernelWords &kernel, RunResult &result)
      : request(request), driver(driver), inputs(kernel.inputPorts()),
        outputs(kernel.outputPorts()), lanes(kernel.planned().lanes),
        result(result) {}

  /// Frames until all are answered, or it is cancelled.
  llvm::Error run(Feed &feed, HardwareRunResult &elements) {
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    const size_t room = driver.room();
    auto told = begin;
    size_t done = 0;
    while (!feed.isDone()) {
      if (request.isCancelled && request.isCancelled()) {
        result.isInterrupted = true;
        break;
      }
      if (driver.onTheirWay() < room) {
        auto frame = feed.next();
        if (!frame)
          return frame.takeError();
        if (*frame) {
          if (llvm::Error error = launch(**frame))
            return error;
          continue;
        }
      }
      if (driver.onTheirWay() == 0) {
        feed.wait(milliseconds(20));
        if (runtime::Status status = driver.tend(milliseconds(1)); !status)
          return errorOf(driver, status);
        continue;
      }
      runtime::Status status = wait();
      if (request.isCancelled && request.isCancelled())
        continue;
      if (!status)
        return errorOf(driver, status);
      auto answer = read();
      if (!answer)
        return answer.takeError();
      feed.answer(std::move(*answer), elements);
      ++done;
      if (auto now = steady_clock::now();
          request.onProgress && now - told > milliseconds(100)) {
        result.compared = result.checked ? feed.judged() : 0;
        request.onProgress(elementsIn(done), result.asked, result);
        told = now;
      }
    }
    result.seconds = duration<double>(steady_clock::now() - begin).count();
    feed.judgeRest(elements);
    fill(done);
    return llvm::Error::success();
  }

private:
  const RunRequest &request;
  runtime::Driver &driver;
  const std::vector<BorderPort> inputs, outputs;
  const int64_t lanes;
  RunResult &result;

  int64_t elementsIn(size_t frames) const {
    return std::min(int64_t(frames) * lanes, result.asked);
  }
  llvm::Error launch(const std::vector<Tensor> &frame) {
    for (auto [k, port] : llvm::enumerate(inputs)) {
      auto bytes = packFrame(frame[k], port);
      if (!bytes)
        return bytes.takeError();
      if (runtime::Status status = driver.write(k, *bytes); !status)
        return errorOf(driver, status);
    }
    if (runtime::Status status = driver.launch(); !status)
      return errorOf(driver, status);
    return llvm::Error::success();
  }
  /// For the oldest one; looks now and then whether it shall go on.
  runtime::Status wait() {
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    for (;;) {
      runtime::Status status = driver.wait(milliseconds(100));
      if (status.fault != runtime::Fault::TimeOut)
        return status;
      if (request.isCancelled && request.isCancelled())
        return status;
      if (steady_clock::now() - begin > duration<double>(request.patienceS))
        return status;
    }
  }
  llvm::Expected<std::vector<Tensor>> read() {
    std::vector<Tensor> frame;
    for (auto [k, port] : llvm::enumerate(outputs)) {
      Bytes bytes(driver.design().outputs[k].frameBytes());
      if (runtime::Status status = driver.read(k, bytes); !status)
        return errorOf(driver, status);
      frame.push_back(unpackFrame(bytes.data(), port));
    }
    return frame;
  }
  void fill(size_t done) {
    const runtime::Statistics counts = driver.statistics();
    auto micros = [](runtime::Duration time) {
      return double(time.count()) * 1e-3;
    };
    result.frames = elementsIn(done);
    result.repeated = int64_t(counts.repeated);
    result.resent = int64_t(counts.resent);
    if (!done)
      return;
    result.latencyUs = micros(counts.sum) / double(done);
    result.shortestUs = micros(counts.shortest);
    result.longestUs = micros(counts.longest);
    if (result.seconds > 0)
      result.throughputPerS = double(result.frames) / result.seconds;
  }
};
} // namespace

static llvm::Error runInto(const RunRequest &request,
                           const KernelRunRequest &data, RunResult &result) {
  auto input = [](llvm::Error error) {
    return ofKind(Failure::Kind::Input, std::move(error));
  };
  auto package = Package::open(
      request.package, changesFor(request.acceptChanges, request.trust));
  if (!package)
    return input(package.takeError());
  result.notes = package->notes();
  result.predicted = package->plan().predicted;
  auto kernel = KernelWords::open(*package, data.options);
  if (!kernel)
    return input(kernel.takeError());
  const DriverKind kind = request.driver.value_or(DriverKind::Udp);
  if (llvm::Error error = checkDriver(package->plan(), kind))
    return error;
  HardwareRunResult elements;
  // Zeros are no answers.
  result.checked = request.check && kind != DriverKind::Null;
  if (llvm::Error error = (*kernel)->begin(data, result.checked, elements))
    return error;
  result.asked = elements.frames;
  auto driver = kind == DriverKind::Udp
                    ? makeClient(*package, (*kernel)->inputPorts(),
                                 (*kernel)->outputPorts(), request,
                                 [&](const std::string &line) {
                                   result.events.push_back(line);
                                   if (request.onEvent)
                                     request.onEvent(line);
                                 })
                    : makeDriver(*package, kind, request.driverOptions,
                                 [&] { return (*kernel)->compute(); });
  if (!driver)
    return driver.takeError();
  if (request.onBegin)
    request.onBegin();
  if (runtime::Status status = (*driver)->open((*kernel)->design()); !status) {
    result.isInterrupted = request.isCancelled && request.isCancelled();
    return result.isInterrupted ? llvm::Error::success()
                                : errorOf(**driver, status);
  }
  constexpr int64_t kRoom = 64;
  if (runtime::Status status = (*driver)->allocate(
          size_t(request.outstanding ? request.outstanding : kRoom));
      !status)
    return errorOf(**driver, status);
  Feed feed(**kernel, request.isCancelled);
  llvm::Error error =
      Runner(request, **driver, **kernel, result).run(feed, elements);
  (*driver)->close();
  if (error)
    return error;
  result.compared = result.checked ? feed.judged() : 0;
  result.mismatches = elements.mismatches;
  result.firstMismatch = std::move(elements.firstMismatch);
  return (*kernel)->write();
}

bool kernelcommands::isLinked(const std::string &path) {
  auto plan = planbuild::planAt(path);
  if (plan)
    return !plan->channels.empty();
  llvm::consumeError(plan.takeError()); // whoever opens the package says it
  return false;
}

rhizome::Result<RunResult>
kernelcommands::runKernelFrames(const RunRequest &request,
                                const KernelRunRequest &data) {
  RunResult result;
  if (llvm::Error error = runInto(request, data, result)) {
    Failure failure = failureOf(std::move(error), Failure::Kind::Environment);
    failure.notes = result.notes;
    failure.detail = std::move(result);
    return failure;
  }
  return result;
}

rhizome::Result<ServeResult>
kernelcommands::serveKernelNode(const ServeRequest &request) {
  std::unique_ptr<KernelWords> kernel;
  return serveNode(request, [&](const Package &package) {
    auto opened = KernelWords::open(package, {});
    if (!opened)
      return llvm::Expected<runtime::Compute>(opened.takeError());
    kernel = std::move(*opened);
    return kernel->compute();
  });
}
