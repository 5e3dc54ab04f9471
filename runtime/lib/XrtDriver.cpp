// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver for cards with AMD's runtime XRT: a mover for each stream and, if
// the design reads memories, their contents as the kernel's arguments. Where
// this library was built without XRT, the maker says so.
#include "rhizome/runtime/drivers.h"

#ifdef RHIZOME_XRT
#include <algorithm>
#include <deque>
#include <stdexcept>
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>
#endif

namespace rhizome::runtime {
#ifndef RHIZOME_XRT
std::unique_ptr<Driver> makeXrtDriver(XrtOptions, std::string &error) {
  error = "this program was built without AMD's runtime XRT; with XILINX_XRT "
          "set ('source /opt/xilinx/xrt/setup.sh') CMake finds it";
  return nullptr;
}
#else
namespace {
class XrtDriver : public Driver {
public:
  explicit XrtDriver(XrtOptions options)
      : program(std::move(options.program)), card(options.card) {}
  ~XrtDriver() override { doClose(); }
  const char *name() const override { return "xrt"; }

private:
  /// A job's buffers and what moves them, used again when it is done.
  struct Job {
    size_t region = 0;
    std::vector<xrt::bo> inputs, outputs;
    std::vector<xrt::run> sends, receives;
  };

  Status doOpen() override {
    if (design().keepsState)
      return {Fault::Unsupported,
              "the design keeps state from frame to frame, and XRT has no call "
              "that resets a kernel; compile with --state-home host"};
    if (Status status = checkImages(design()); !status)
      return status;
    return guarded("'" + program + "' on card " + std::to_string(card), [&] {
      device = xrt::device(card);
      const xrt::uuid id = device.load_xclbin(program);
      for (size_t k = 0; k < design().inputs.size(); ++k)
        senders.emplace_back(device, id, unit("mm2s", k));
      for (size_t k = 0; k < design().outputs.size(); ++k)
        receivers.emplace_back(device, id, unit("s2mm", k));
      if (!design().segments.empty())
        kernel = xrt::kernel(device, id, "rhz_kernel:{rhz_kernel_0}");
      idle.resize(design().regionCount());
    });
  }

  /// The last segment starts the design, which then reads them all.
  Status doLoad(const Segment &segment,
                std::span<const uint8_t> bytes) override {
    return guarded("'" + segment.path + "'", [&] {
      if (memories.empty()) {
        const std::vector<uint64_t> sizes = design().memoryBytes();
        for (size_t k = 0; k < sizes.size(); ++k)
          memories.emplace_back(device, sizes[k], kernel.group_id(int(k)));
        missing = design().segments.size();
      }
      xrt::bo &memory = memories[segment.port];
      // An empty one is where a space of the design ends.
      if (!bytes.empty()) {
        memory.write(bytes.data(), bytes.size(), size_t(segment.address));
        memory.sync(XCL_BO_SYNC_BO_TO_DEVICE, bytes.size(),
                    size_t(segment.address));
      }
      if (--missing)
        return;
      xrt::run run(kernel);
      for (size_t k = 0; k < memories.size(); ++k)
        run.set_arg(int(k), memories[k]);
      run.start();
      run.wait();
    });
  }

  Status doLaunch(size_t region, std::vector<Bytes> inputs) override {
    return guarded("a frame", [&] {
      Job job = idle[region].empty() ? newJob(region)
                                     : std::move(idle[region].back());
      if (!idle[region].empty())
        idle[region].pop_back();
      for (xrt::run &run : job.receives)
        run.start();
      for (size_t k = 0; k < inputs.size(); ++k) {
        inputs[k].resize(job.inputs[k].size());
        job.inputs[k].write(inputs[k].data());
        job.inputs[k].sync(XCL_BO_SYNC_BO_TO_DEVICE);
        job.sends[k].start();
      }
      started.push_back(std::move(job));
    });
  }

  Status doWait(size_t region, Duration patience,
                std::vector<Bytes> &outputs) override {
    const auto end = std::chrono::steady_clock::now() + patience;
    Job &job = started.front();
    bool isLate = false;
    Status status = guarded("a frame", [&] {
      for (auto *runs : {&job.sends, &job.receives})
        for (xrt::run &run : *runs) {
          // 0 would be for ever.
          auto left = std::max(std::chrono::milliseconds(1),
                               std::chrono::ceil<std::chrono::milliseconds>(
                                   end - std::chrono::steady_clock::now()));
          switch (run.wait(left)) {
          case ERT_CMD_STATE_COMPLETED:
            continue;
          case ERT_CMD_STATE_ERROR:
          case ERT_CMD_STATE_ABORT:
            throw std::runtime_error("a mover has failed");
          default:
            isLate = true;
            return;
          }
        }
      for (size_t k = 0; k < job.outputs.size(); ++k) {
        job.outputs[k].sync(XCL_BO_SYNC_BO_FROM_DEVICE);
        Bytes &bytes =
            outputs.emplace_back(design().outputsOf(region)[k].frameBytes());
        job.outputs[k].read(bytes.data(), bytes.size(), 0);
      }
    });
    if (isLate)
      return {Fault::TimeOut, "the card has not computed the frame in time"};
    if (!status)
      return status;
    idle[region].push_back(std::move(job));
    started.pop_front();
    return {};
  }

  void doClose() override {
    started.clear();
    idle.clear();
    memories.clear();
    senders.clear();
    receivers.clear();
    kernel = {};
    device = {};
  }

  static std::string unit(const std::string &kind, size_t number) {
    return kind + ":{" + kind + "_" + std::to_string(number) + "}";
  }

  /// XRT reports by exceptions.
  template <typename Calls>
  Status guarded(const std::string &what, Calls calls) {
    try {
      calls();
      return {};
    } catch (const std::exception &problem) {
      return {Fault::Gone, "XRT cannot use " + what + ": " + problem.what()};
    }
  }

  void addWay(const Port &port, xrt::kernel &mover,
              std::vector<xrt::bo> &buffers, std::vector<xrt::run> &runs) {
    xrt::bo &buffer =
        buffers.emplace_back(device, port.paddedBytes(), mover.group_id(0));
    xrt::run &run = runs.emplace_back(mover);
    run.set_arg(0, buffer); // 1 is the stream
    run.set_arg(2, unsigned(port.beats()));
    run.set_arg(3, 1u);
  }
  Job newJob(size_t region) {
    Job job;
    job.region = region;
    const Region ports = design().region(region);
    for (size_t k = 0; k < ports.inputs; ++k)
      addWay(design().inputsOf(region)[k], senders[ports.firstInput + k],
             job.inputs, job.sends);
    for (size_t k = 0; k < ports.outputs; ++k)
      addWay(design().outputsOf(region)[k], receivers[ports.firstOutput + k],
             job.outputs, job.receives);
    return job;
  }

  std::string program;
  unsigned card;
  xrt::device device;
  xrt::kernel kernel; ///< the design, if it has arguments
  std::vector<xrt::kernel> senders, receivers;
  std::vector<xrt::bo> memories; ///< by the design's port
  size_t missing = 0;            ///< segments that have not been loaded
  std::deque<Job> started;
  std::vector<std::vector<Job>> idle; ///< by region
};
} // namespace

std::unique_ptr<Driver> makeXrtDriver(XrtOptions options, std::string &) {
  return std::make_unique<XrtDriver>(std::move(options));
}
#endif
} // namespace rhizome::runtime
