// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run of a kernel's package through a driver: elements as frames of its ports,
// on nodes of a network or what stands in their place.
#include "rhizome/KernelCommands/RunHardware.h"
#include "KernelWords.h"
#include "rhizome/PlanBuild/Steer.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Failures.h"
#include <deque>

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
                 "and null, that of a cluster udp and mpi too; remedy: one of "
                 "them, or on an FPGA the host program in the package's host/");
  }
}

namespace {
/// Elements on their way through a driver.
class Runner {
public:
  Runner(const RunRequest &request, runtime::Driver &driver,
         const KernelWords &kernel, RunResult &result)
      : request(request), driver(driver), inputs(kernel.inputPorts()),
        outputs(kernel.outputPorts()), result(result) {}

  llvm::Expected<Frames> run(const Frames &frames) {
    const auto begin = std::chrono::steady_clock::now();
    const size_t room = driver.room();
    Frames answers;
    for (size_t next = 0; answers.size() < frames.size();) {
      if (next < frames.size() && driver.onTheirWay() < room) {
        if (llvm::Error error = launch(frames[next++]))
          return std::move(error);
        continue;
      }
      runtime::Status status = wait();
      if (request.isCancelled && request.isCancelled()) {
        result.isInterrupted = true;
        break;
      }
      if (!status)
        return errorOf(driver, status);
      auto answer = read();
      if (!answer)
        return answer.takeError();
      answers.push_back(std::move(*answer));
      if (request.onProgress)
        request.onProgress(int64_t(answers.size()), int64_t(frames.size()),
                           result);
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    fill(answers.size());
    return answers;
  }

private:
  const RunRequest &request;
  runtime::Driver &driver;
  const std::vector<BorderPort> inputs, outputs;
  RunResult &result;

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
    result.frames = int64_t(done);
    result.repeated = int64_t(counts.repeated);
    result.resent = int64_t(counts.resent);
    if (!done)
      return;
    result.latencyUs = micros(counts.sum) / double(done);
    result.shortestUs = micros(counts.shortest);
    result.longestUs = micros(counts.longest);
    if (result.seconds > 0)
      result.throughputPerS = double(done) / result.seconds;
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
  elements.frames = data.frames;
  // Zeros are no answers.
  result.checked = request.check && kind != DriverKind::Null;
  if (llvm::Error error = (*kernel)->read(data, result.checked, elements))
    return error;
  const Frames frames = (*kernel)->frames();
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
  auto answers = Runner(request, **driver, **kernel, result).run(frames);
  (*driver)->close();
  if (!answers)
    return answers.takeError();
  if (result.isInterrupted)
    return llvm::Error::success();
  result.compared = result.checked ? elements.frames : 0;
  if (llvm::Error error = (*kernel)->give(*answers, data, elements))
    return error;
  result.mismatches = elements.mismatches;
  result.firstMismatch = std::move(elements.firstMismatch);
  return llvm::Error::success();
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
