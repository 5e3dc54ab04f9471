// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One node as a process: a UDP socket, the link's endpoint, and behind it the
// node's function on the CPU or its Verilated design.
#include "FunctionParts.h"
#include "Places.h"
#include "rhizome/ClusterSim/Channels.h"
#include "rhizome/ClusterSim/Model.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Model/HostModel.h"
#include "rhizome/Simulate/Cluster.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/runtime/key.h"
#include "rhizome/runtime/metrics.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <sched.h>
#include <thread>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::model;

namespace {
using Bytes = std::vector<uint8_t>;

/// What computes: frames of bytes in at ports, frames out.
class NodeFunction {
public:
  virtual ~NodeFunction() = default;
  /// Forgets everything it was working on.
  virtual Error reset() = 0;
  virtual bool canPush(size_t port) const = 0;
  virtual void push(size_t port, Bytes frame) = 0;
  /// The output takes no more frames for now, or does.
  virtual void hold(size_t port, bool held) = 0;
  virtual bool pop(size_t port, Bytes &frame) = 0;
  /// Computes for some milliseconds at most; false if there is nothing to do.
  virtual Expected<bool> work() = 0;
  virtual int64_t cycles() const { return 0; }
  /// Confines the calling thread, which is to be the only one that computes;
  /// null of a function that needs none.
  virtual std::function<Error()> confiner() const { return nullptr; }
};

class CpuFunction : public NodeFunction {
public:
  struct Part {
    std::function<Expected<std::vector<Bytes>>(std::vector<Bytes> inputs)>
        compute;
    std::vector<size_t> inputs, outputs; ///< the node's ports
  };
  CpuFunction(std::vector<Part> parts, const PlannedNode &node)
      : parts(std::move(parts)), waiting(node.inputs.size()),
        done(node.outputs.size()), held(node.outputs.size()) {}
  Error reset() override {
    for (auto *queues : {&waiting, &done})
      for (std::deque<Bytes> &queue : *queues)
        queue.clear();
    return Error::success();
  }
  bool canPush(size_t port) const override { return waiting[port].size() < 4; }
  void push(size_t port, Bytes frame) override {
    waiting[port].push_back(std::move(frame));
  }
  void hold(size_t port, bool stop) override { held[port] = stop; }
  bool pop(size_t port, Bytes &frame) override {
    if (done[port].empty())
      return false;
    frame = std::move(done[port].front());
    done[port].pop_front();
    return true;
  }
  Expected<bool> work() override {
    bool busy = false;
    for (const Part &part : parts) {
      if (!isReady(part))
        continue;
      if (Error error = compute(part))
        return error;
      busy = true;
    }
    return busy;
  }

private:
  bool isReady(const Part &part) const {
    return none_of(part.outputs, [&](size_t k) { return held[k]; }) &&
           none_of(part.inputs, [&](size_t k) { return waiting[k].empty(); });
  }
  /// One frame.
  Error compute(const Part &part) {
    std::vector<Bytes> frames;
    for (size_t k : part.inputs) {
      frames.push_back(std::move(waiting[k].front()));
      waiting[k].pop_front();
    }
    Expected<std::vector<Bytes>> results = part.compute(std::move(frames));
    if (!results)
      return results.takeError();
    for (auto [k, frame] : zip_equal(part.outputs, *results))
      done[k].push_back(std::move(frame));
    return Error::success();
  }

  std::vector<Part> parts;
  std::vector<std::deque<Bytes>> waiting, done;
  std::vector<bool> held;
};

class RtlFunction : public NodeFunction {
public:
  RtlFunction(NodeModel built, std::string images, const PlannedNode &node)
      : built(std::move(built)), images(std::move(images)), node(node) {}
  Error reset() override {
    clocked = cycles();
    Expected<std::unique_ptr<clustersim::Model>> opened =
        clustersim::Model::open(built.library, images, node, /*seed=*/1);
    if (!opened)
      return opened.takeError();
    model = std::move(*opened);
    return Error::success();
  }
  bool canPush(size_t port) const override { return model->canPush(port); }
  void push(size_t port, Bytes frame) override {
    model->push(port, std::move(frame));
  }
  void hold(size_t port, bool held) override { model->hold(port, held); }
  bool pop(size_t port, Bytes &frame) override {
    return model->pop(port, frame);
  }
  Expected<bool> work() override {
    // So long that looking at the socket costs nothing beside it.
    link::Time end = link::UdpSocket::now() + 2'000'000;
    while (!model->isIdle()) {
      if (Error error = model->cycle())
        return error;
      if (link::UdpSocket::now() > end)
        return true;
    }
    return false;
  }
  int64_t cycles() const override {
    return clocked + (model ? model->statistics().cycles : 0);
  }
  std::function<Error()> confiner() const override {
    if (!built.confinement)
      return nullptr;
    return [wanted = *built.confinement, library = built.library] {
      // A design enters the folder of its images, which is then this thread's.
      if (unshare(CLONE_FS) != 0)
        return createStringError("its thread has no folder of its own");
      return confineThread(wanted, library);
    };
  }

private:
  NodeModel built;
  std::string images;
  const PlannedNode &node;
  std::unique_ptr<clustersim::Model> model;
  int64_t clocked = 0;
};

Expected<std::unique_ptr<NodeFunction>> cpuFunction(const Package &package,
                                                    const PlannedNode &node) {
  Expected<std::unique_ptr<HostModel>> model =
      HostModel::read(package.modelPath());
  if (!model)
    return model.takeError();
  mlir::func::FuncOp function = (*model)->function(node.function);
  if (!function)
    return createStringError("the package's model has no function '@%s', which "
                             "node '%s' computes",
                             node.function.c_str(), node.name.c_str());
  std::vector<CpuFunction::Part> parts;
  for (FunctionPart &part : partsOf(function)) {
    FailureOr<std::unique_ptr<CompiledFunction>> compiled =
        CompiledFunction::compile(*part.function);
    if (failed(compiled))
      return createStringError("the CPU path cannot be built for '@%s'",
                               node.function.c_str());
    std::shared_ptr<CompiledFunction> code = std::move(*compiled);
    auto ports = [](const std::vector<BorderPort> &all,
                    const std::vector<size_t> &numbers) {
      std::vector<BorderPort> some;
      for (size_t k : numbers) {
        some.push_back(all[k]);
        some.back().dataWidth = 8;
      }
      return some;
    };
    auto compute =
        [code, inputs = ports(node.inputs, part.inputs),
         outputs = ports(node.outputs, part.outputs)](
            const std::vector<Bytes> &frames) -> Expected<std::vector<Bytes>> {
      std::vector<Tensor> arguments;
      for (auto [frame, port] : zip_equal(frames, inputs)) {
        Tensor &tensor =
            arguments.emplace_back(unpackFrame(frame.data(), port));
        // A client may send what its tensor cannot be; the node goes on.
        for (int64_t &value : tensor.ints)
          value = std::clamp(value, port.element.lo, port.element.hi);
      }
      Expected<std::vector<Tensor>> results = code->run(arguments);
      if (!results)
        return results.takeError();
      std::vector<Bytes> packed;
      for (auto [tensor, port] : zip_equal(*results, outputs)) {
        Expected<Bytes> frame = packFrame(tensor, port);
        if (!frame)
          return frame.takeError();
        packed.push_back(std::move(*frame));
      }
      return packed;
    };
    parts.push_back(
        {std::move(compute), std::move(part.inputs), std::move(part.outputs)});
  }
  return std::make_unique<CpuFunction>(std::move(parts), node);
}

/// A function for all ports at once.
Expected<std::unique_ptr<NodeFunction>>
givenFunction(Expected<runtime::Compute> given, const PlannedNode &node) {
  if (!given)
    return given.takeError();
  CpuFunction::Part part;
  part.compute =
      [compute = std::move(*given)](
          const std::vector<Bytes> &frames) -> Expected<std::vector<Bytes>> {
    std::vector<Bytes> results;
    std::string problem;
    if (!compute(0, frames, results, problem))
      return createStringError(problem);
    return results;
  };
  part.inputs.resize(node.inputs.size());
  part.outputs.resize(node.outputs.size());
  std::iota(part.inputs.begin(), part.inputs.end(), 0);
  std::iota(part.outputs.begin(), part.outputs.end(), 0);
  std::vector<CpuFunction::Part> parts;
  parts.push_back(std::move(part));
  return std::make_unique<CpuFunction>(std::move(parts), node);
}

Expected<std::unique_ptr<NodeFunction>> rtlFunction(const Package &package,
                                                    const PlannedNode &node) {
  Expected<NodeModel> built = buildNodeModel(package, node);
  if (!built)
    return built.takeError();
  return std::make_unique<RtlFunction>(std::move(*built), package.rtlPath(node),
                                       node);
}

/// Moves frames between an endpoint and a function.
class Pump {
public:
  Pump(const Plan &plan, const std::string &name, link::Endpoint &endpoint,
       NodeFunction &function)
      : inputs(clustersim::routerOf(plan, name, true)),
        outputs(clustersim::routerOf(plan, name, false)), endpoint(endpoint),
        function(function) {}

  /// True if there is more to do at once.
  Expected<bool> run() {
    if (endpoint.epoch() != epoch) {
      // A client has begun anew: what was on its way is gone.
      epoch = endpoint.epoch();
      inputs.reset();
      outputs.reset();
      if (Error error = function.reset())
        return error;
      ++epochs;
    }
    for (size_t k = 0; k < inputs.size(); ++k)
      while (function.canPush(k)) {
        std::optional<Bytes> frame = endpoint.receive(inputs.next(k).front());
        if (!frame)
          break;
        function.push(k, std::move(*frame));
        inputs.advance(k);
      }
    auto room = [&](size_t k) {
      return all_of(outputs.next(k),
                    [&](uint16_t c) { return endpoint.canSend(c); });
    };
    for (size_t k = 0; k < outputs.size(); ++k)
      function.hold(k, !room(k));
    const link::Time began = link::UdpSocket::now();
    Expected<bool> busy = function.work();
    if (!busy)
      return busy.takeError();
    if (*busy)
      busyTime += link::UdpSocket::now() - began;
    Bytes frame;
    for (size_t k = 0; k < outputs.size(); ++k)
      while (room(k) && function.pop(k, frame)) {
        for (uint16_t channel : outputs.next(k))
          endpoint.send(channel, frame);
        outputs.advance(k);
        frames += k == 0;
      }
    return *busy;
  }
  int64_t frames = 0, epochs = 0;
  link::Time busyTime = 0; ///< in which it computed

private:
  link::Router inputs, outputs;
  link::Endpoint &endpoint;
  NodeFunction &function;
  uint16_t epoch = 0;
};

/// What it has counted so far.
void fill(ServeResult &result, const Pump &pump, const NodeFunction &function,
          const link::Endpoint &endpoint, const link::UdpSocket &socket) {
  const link::Counters &counters = endpoint.counters();
  result.frames = pump.frames;
  result.epochs = std::max<int64_t>(0, pump.epochs - 1);
  result.cycles = function.cycles();
  result.datagramsReceived = int64_t(counters.received);
  result.datagramsSent = int64_t(counters.sent);
  result.resent = int64_t(counters.resent);
  result.dropped = int64_t(counters.malformed + counters.foreign +
                           counters.stale + socket.strangers());
}

std::string metricsOf(const ServeRequest &request, const ServeResult &result,
                      const Pump &pump) {
  runtime::MetricsText text;
  const runtime::MetricsText::Labels node = {{"node", request.node}};
  auto counter = [&](const char *name, const char *help, double value) {
    text.counter(name, help, value, node);
  };
  counter("rhizome_node_frames_total", "Frames computed.",
          double(result.frames));
  counter("rhizome_node_busy_seconds_total", "Time in which it computed.",
          double(pump.busyTime) * 1e-9);
  if (request.engine == NodeEngine::Rtl)
    counter("rhizome_node_cycles_total", "Clock cycles of the design.",
            double(result.cycles));
  counter("rhizome_node_clients_total",
          "Times that a client began with it, or began anew.",
          double(result.epochs));
  counter("rhizome_datagrams_received_total", "Datagrams received.",
          double(result.datagramsReceived));
  counter("rhizome_datagrams_sent_total", "Datagrams sent.",
          double(result.datagramsSent));
  counter("rhizome_datagrams_resent_total", "Datagrams sent again.",
          double(result.resent));
  counter("rhizome_datagrams_dropped_total",
          "Datagrams that were broken, stale or from strangers.",
          double(result.dropped));
  return text.text();
}

/// A design's code is loaded, runs and ends in a thread of its own, confined:
/// `serve` gets a function for the texts that this thread publishes.
Error serveConfined(
    std::unique_ptr<NodeFunction> &function,
    const std::function<Error()> &confine,
    function_ref<Error(const std::function<void(std::string)> &)> serve,
    const std::function<void(std::string)> &publish) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::string> waiting;
  bool isOver = false;
  Error error = Error::success();
  std::thread worker([&] {
    Error ended = confine();
    if (!ended)
      ended = serve([&](std::string text) {
        std::lock_guard<std::mutex> lock(mutex);
        waiting = std::move(text);
        changed.notify_one();
      });
    function.reset(); // it may have code of its own for its end
    std::lock_guard<std::mutex> lock(mutex);
    error = joinErrors(std::move(error), std::move(ended));
    isOver = true;
    changed.notify_one();
  });
  std::unique_lock<std::mutex> lock(mutex);
  while (waiting || !isOver) {
    changed.wait(lock, [&] { return waiting || isOver; });
    std::optional<std::string> text = std::exchange(waiting, std::nullopt);
    lock.unlock();
    if (text)
      publish(std::move(*text));
    lock.lock();
  }
  lock.unlock();
  worker.join();
  return error;
}

using ComputeOfPackage =
    std::function<Expected<runtime::Compute>(const Package &package)>;

Error serveInto(const ServeRequest &request, const ComputeOfPackage &compute,
                ServeResult &result) {
  Expected<Package> package = Package::open(
      request.package, changesFor(request.acceptChanges, request.trust));
  if (!package)
    return ofKind(Failure::Kind::Input, package.takeError());
  result.notes = package->notes();
  const Plan &plan = package->plan();
  if (plan.channels.empty())
    return ofKind(
        Failure::Kind::Input,
        createStringError("the package '%s' has no links; compile it for a "
                          "cluster ('rhizome compile … --cluster NAME')",
                          request.package.c_str()));
  const PlannedNode *node = plan.node(request.node);
  if (!node) {
    std::vector<std::string> names;
    for (const PlannedNode &each : plan.nodes)
      names.push_back("'" + each.name + "'");
    return ofKind(Failure::Kind::Usage,
                  createStringError("the package has no node '%s', it has %s",
                                    request.node.c_str(),
                                    join(names, ", ").c_str()));
  }
  Expected<std::map<std::string, std::string>> places =
      readPlaces(*package, request.places);
  if (!places)
    return ofKind(Failure::Kind::Input, places.takeError());
  Expected<std::unique_ptr<NodeFunction>> function =
      request.engine == NodeEngine::Rtl ? rtlFunction(*package, *node)
      : compute ? givenFunction(compute(*package), *node)
                : cpuFunction(*package, *node);
  if (!function)
    return function.takeError();

  std::vector<link::ChannelConfig> channels =
      clustersim::channelsOf(plan, node->name);
  link::Endpoint endpoint(node->address, channels);
  link::UdpSocket driver(endpoint);
  std::string problem;
  auto failure = [&] { return createStringError("%s", problem.c_str()); };
  auto place = places->find(node->name);
  if (place == places->end())
    return ofKind(Failure::Kind::Usage,
                  createStringError("it is not said where '%s' is; --at %s="
                                    "ADDRESS:PORT or a manifest says so",
                                    node->name.c_str(), node->name.c_str()));
  if (!driver.bind(place->second, problem))
    return failure();
  // Clients come and go; they are where their datagrams come from.
  link::Mac tokens = link::freshMac(problem);
  if (!tokens)
    return failure();
  driver.learnPeer(link::kHostAddress, std::move(tokens));
  if (!request.key.empty()) {
    link::Mac seal = link::macOf(request.key, problem);
    if (!seal)
      return failure();
    driver.seal(std::move(seal));
  }
  for (const PlannedNode &other : plan.nodes) {
    if (none_of(channels, [&](const link::ChannelConfig &channel) {
          return channel.peer == other.address;
        }))
      continue;
    auto there = places->find(other.name);
    if (there == places->end())
      return ofKind(
          Failure::Kind::Usage,
          createStringError("it is not said where '%s' is, to which '%s' is "
                            "linked; --at or a manifest says so",
                            other.name.c_str(), node->name.c_str()));
    if (!driver.addPeer(other.address, there->second, problem))
      return failure();
  }
  std::unique_ptr<runtime::MetricsOutput> metrics;
  if (!request.metrics.empty()) {
    metrics = runtime::MetricsOutput::open(request.metrics, problem);
    if (!metrics)
      return createStringError("--metrics: " + problem);
  }
  if (request.onReady)
    request.onReady(place->second);
  if (metrics && request.onMetrics)
    request.onMetrics(metrics->place());
  Pump pump(plan, node->name, endpoint, **function);
  auto serve = [&](const std::function<void(std::string)> &publish) -> Error {
    constexpr link::Time kPublished = 200'000'000;
    link::Time due = 0;
    bool busy = false;
    Error error = Error::success();
    auto tell = [&] {
      fill(result, pump, **function, endpoint, driver);
      if (metrics)
        publish(metricsOf(request, result, pump));
    };
    while (!request.isStopped || !request.isStopped()) {
      link::Time now = link::UdpSocket::now();
      bool good = driver.step(
          busy ? now : now + 100'000'000,
          [&](link::Time) {
            Expected<bool> more = pump.run();
            busy = more && *more;
            if (!more)
              error = more.takeError();
          },
          problem);
      if (metrics && now >= due) {
        tell();
        due = now + kPublished;
      }
      if (error)
        return error;
      if (!good)
        return failure();
    }
    tell();
    return Error::success();
  };
  auto publish = [&](std::string text) { metrics->publish(std::move(text)); };
  std::function<Error()> confine = (*function)->confiner();
  return confine ? serveConfined(*function, confine, serve, publish)
                 : serve(publish);
}
} // namespace

rhizome::Result<ServeResult>
deploy::serveNode(const ServeRequest &request,
                  const ComputeOfPackage &compute) {
  ServeResult result;
  if (Error error = serveInto(request, compute, result)) {
    Failure failure = failureOf(std::move(error), Failure::Kind::Environment);
    failure.notes = std::move(result.notes);
    return failure;
  }
  return result;
}
