// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/drivers.h"
#include <condition_variable>
#include <mutex>
#include <thread>

namespace rhizome::runtime {
namespace {
class CpuDriver : public Driver {
public:
  explicit CpuDriver(Compute compute) : compute(std::move(compute)) {}
  ~CpuDriver() override { doClose(); }
  const char *name() const override { return "cpu"; }

private:
  struct Job {
    size_t region;
    std::vector<Bytes> inputs;
  };
  struct Answer {
    bool good = false;
    std::vector<Bytes> outputs;
    std::string error;
  };

  Status doOpen() override {
    if (Status status = checkImages(design()); !status)
      return status;
    std::vector<Bytes> nothing;
    std::string error;
    if (design().keepsState && !compute(kBegin, {}, nothing, error))
      return {Fault::Unsupported, error};
    stopped = false;
    worker = std::thread([this] { run(); });
    return {};
  }
  Status doLoad(const Segment &, std::span<const uint8_t>) override {
    return {};
  }
  Status doLaunch(size_t region, std::vector<Bytes> inputs) override {
    {
      std::lock_guard<std::mutex> guard(mutex);
      waiting.push_back({region, std::move(inputs)});
    }
    changed.notify_all();
    return {};
  }
  Status doWait(size_t, Duration patience,
                std::vector<Bytes> &outputs) override {
    std::unique_lock<std::mutex> lock(mutex);
    if (!changed.wait_for(lock, patience, [&] { return !done.empty(); }))
      return {Fault::TimeOut, "the CPU has not computed the frame in time"};
    Answer answer = std::move(done.front());
    done.pop_front();
    if (!answer.good)
      return {Fault::Device, answer.error};
    outputs = std::move(answer.outputs);
    return {};
  }
  void doClose() override {
    {
      std::lock_guard<std::mutex> guard(mutex);
      stopped = true;
    }
    changed.notify_all();
    if (worker.joinable())
      worker.join();
    waiting.clear();
    done.clear();
  }

  /// An answer that has not the design's sizes is none.
  void check(size_t region, Answer &answer) const {
    const std::span<const Port> ports = design().outputsOf(region);
    bool fits = answer.outputs.size() == ports.size();
    for (size_t k = 0; fits && k < ports.size(); ++k)
      fits = answer.outputs[k].size() == ports[k].frameBytes();
    if (!answer.good || fits)
      return;
    answer.good = false;
    answer.error = "the function gives frames of other sizes than the design";
  }

  void run() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stopped || !waiting.empty(); });
      if (stopped)
        return;
      const Job job = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      Answer answer;
      answer.good =
          compute(job.region, job.inputs, answer.outputs, answer.error);
      check(job.region, answer);
      lock.lock();
      done.push_back(std::move(answer));
      changed.notify_all();
    }
  }

  Compute compute;
  std::thread worker;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
  std::deque<Job> waiting;
  std::deque<Answer> done;
};
} // namespace

std::unique_ptr<Driver> makeCpuDriver(Compute compute) {
  return std::make_unique<CpuDriver>(std::move(compute));
}
} // namespace rhizome::runtime
