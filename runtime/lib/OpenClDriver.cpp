// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes, each kernel's launches and reads have an in-order queue each, so that
// movers run side by side and a frame is written while another is computed;
// what crosses queues waits for events. A frame keeps its buffers and bytes
// alive until its last command has called back, whatever becomes of the driver.
// A program works on frames in their order, so the contents of memories and the
// space that it works in are there once, however many frames are on their way.
// Without OpenCL's headers there is a driver that says so.
#include "rhizome/runtime/drivers.h"

#if __has_include(<CL/cl.h>)
#include "OpenClLibrary.h"
#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <set>
#include <utility>

namespace rhizome::runtime {
namespace {
using opencl::codeText;

/// For what a design does before its first frame.
constexpr Duration kStart = std::chrono::seconds(60);

template <typename T> using Shared = std::shared_ptr<std::remove_pointer_t<T>>;
using Buffer = Shared<cl_mem>;
using Event = Shared<cl_event>;

/// One job on the device.
struct Frame {
  size_t region = 0;
  std::vector<Buffer> buffers; ///< inputs, then outputs
  std::vector<Bytes> inputs, outputs;
  std::vector<size_t> inputBytes, outputBytes; ///< without padding
  const Compute *native = nullptr;

  std::mutex mutex;
  std::condition_variable changed;
  size_t unread = 0; ///< outputs that have not come
  cl_int status = CL_COMPLETE;
  std::string error; ///< of `native`
};

/// Called by the platform with what clEnqueueNativeKernel was given: the frame,
/// then its buffers where they lie.
void computeFrame(void *arguments) {
  void **at = static_cast<void **>(arguments);
  Frame &frame = *static_cast<Frame *>(*at++);
  std::vector<Bytes> inputs, outputs;
  for (size_t size : frame.inputBytes) {
    auto *bytes = static_cast<const uint8_t *>(*at++);
    inputs.emplace_back(bytes, bytes + size);
  }
  std::string error;
  bool good = (*frame.native)(frame.region, inputs, outputs, error);
  if (good && outputs.size() != frame.outputBytes.size())
    good = false;
  for (size_t k = 0; good && k < outputs.size(); ++k) {
    good = outputs[k].size() == frame.outputBytes[k];
    if (good)
      std::copy(outputs[k].begin(), outputs[k].end(),
                static_cast<uint8_t *>(*at++));
  }
  if (good)
    return;
  std::lock_guard<std::mutex> guard(frame.mutex);
  frame.error = error.empty()
                    ? "the function gives frames of other sizes than the design"
                    : error;
}

/// Lets go of a frame of which an input is written.
void CL_CALLBACK noteWritten(cl_event, cl_int, void *context) {
  delete static_cast<std::shared_ptr<Frame> *>(context);
}

/// An output has come, or will not.
void CL_CALLBACK noteRead(cl_event, cl_int status, void *context) {
  auto *holder = static_cast<std::shared_ptr<Frame> *>(context);
  {
    std::lock_guard<std::mutex> guard((*holder)->mutex);
    (*holder)->status = std::min((*holder)->status, status);
    --(*holder)->unread;
  }
  (*holder)->changed.notify_all();
  delete holder;
}

class OpenClDriver : public Driver {
public:
  explicit OpenClDriver(OpenClOptions options) : options(std::move(options)) {}
  ~OpenClDriver() override { doClose(); }
  const char *name() const override { return "opencl"; }

private:
  Status doOpen() override {
    if (Status status = checkImages(design()); !status)
      return status;
    if (Status status = cl.load(options.library); !status)
      return status;
    if (Status status = findDevice(); !status)
      return status;
    cl_int code = CL_SUCCESS;
    context =
        own(cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code),
            cl.clReleaseContext);
    if (code != CL_SUCCESS)
      return lost("clCreateContext", code);
    if (Status status = makeKernels(); !status)
      return status;
    if (Status status = makeMemories(); !status)
      return status;
    for (size_t k = 0; k < kernels.size() + 2; ++k) {
      queues.push_back(
          own(cl.clCreateCommandQueue(context.get(), device, 0, &code),
              cl.clReleaseCommandQueue));
      if (code != CL_SUCCESS)
        return lost("clCreateCommandQueue", code);
    }
    idle.resize(design().regionCount());
    return reports ? tryOut() : Status();
  }

  Status doLoad(const Segment &segment,
                std::span<const uint8_t> bytes) override {
    if (!program)
      return {}; // the function has what it needs
    // An empty one is where a space of the design ends.
    if (!bytes.empty())
      if (Status status =
              checked("clEnqueueWriteBuffer",
                      cl.clEnqueueWriteBuffer(
                          queues[0].get(), memories[segment.port].get(),
                          CL_TRUE, size_t(segment.address), bytes.size(),
                          bytes.data(), 0, nullptr, nullptr));
          !status)
        return status;
    missing.erase(&segment);
    return missing.empty() ? start() : Status();
  }

  Status doLaunch(size_t region, std::vector<Bytes> inputs) override {
    std::shared_ptr<Frame> frame;
    if (Status status = newFrame(region, frame); !status)
      return status;
    for (size_t k = 0; k < inputs.size(); ++k) {
      inputs[k].resize(frame->inputs[k].size());
      frame->inputs[k] = std::move(inputs[k]);
    }
    frame->unread = frame->outputs.size();
    frame->status = CL_COMPLETE;
    frame->error.clear();
    std::vector<Event> written, computed;
    if (Status status = writeInputs(frame, written); !status)
      return status;
    if (Status status = compute(*frame, written, computed); !status)
      return status;
    if (Status status = readOutputs(frame, computed); !status)
      return status;
    started.push_back(std::move(frame));
    return {};
  }

  Status doWait(size_t region, Duration patience,
                std::vector<Bytes> &outputs) override {
    if (!isDone(*started.front(), patience))
      return {Fault::TimeOut, "'" + deviceName +
                                  "' has not computed the frame in time; wait "
                                  "longer, or close the driver if it hangs"};
    std::shared_ptr<Frame> done = std::move(started.front());
    started.pop_front();
    if (done->status != CL_COMPLETE)
      return lost("a command", done->status);
    if (!done->error.empty()) {
      std::string error = done->error;
      idle[region].push_back(std::move(done));
      return {Fault::Device, error};
    }
    if (Status status = checkReport(*done); !status) {
      idle[region].push_back(std::move(done));
      return status;
    }
    for (size_t k = 0; k < done->outputs.size(); ++k) {
      auto begin = done->outputs[k].begin();
      outputs.emplace_back(begin, begin + ptrdiff_t(done->outputBytes[k]));
    }
    idle[region].push_back(std::move(done));
    return {};
  }

  void doClose() override {
    // The function in the device's place is the caller's.
    if (!program)
      for (const auto &queue : queues)
        cl.clFinish(queue.get());
    started.clear();
    idle.clear();
    memories.clear();
    space.reset();
    missing.clear();
    queues.clear();
    kernels.clear();
    starter.reset();
    areMovers = reports = false;
    program.reset();
    context.reset();
  }

  template <typename T, typename Release>
  static Shared<T> own(T object, Release release) {
    if (!object)
      return {};
    return Shared<T>(object, [release](T held) { release(held); });
  }
  Status lost(const char *call, cl_int code) const {
    return {Fault::Gone, "the OpenCL device '" + deviceName +
                             "' is gone: " + call + " gives " + codeText(code) +
                             "; open it again, or another one"};
  }
  static bool isDone(Frame &frame, Duration patience) {
    std::unique_lock<std::mutex> lock(frame.mutex);
    return frame.changed.wait_for(lock, patience,
                                  [&] { return frame.unread == 0; });
  }
  Status checked(const char *call, cl_int code) const {
    return code == CL_SUCCESS ? Status() : lost(call, code);
  }

  template <typename Get> static std::string textOf(Get get) {
    size_t size = 0;
    if (get(0, nullptr, &size) != CL_SUCCESS || size == 0)
      return "";
    std::string text(size, 0);
    get(size, text.data(), nullptr);
    return text.c_str(); // without the zero at its end
  }

  /// The platform that was asked for: an accelerator of it, or any device.
  Status findDevice() {
    cl_uint count = 0;
    cl_int code = cl.clGetPlatformIDs(0, nullptr, &count);
    if (code == opencl::kNoPlatform || (code == CL_SUCCESS && count == 0))
      return {
          Fault::Unsupported,
          "no OpenCL platform is installed; the board's runtime (XRT) "
          "brings one, or Debian's package pocl-opencl-icd one of this CPU"};
    if (code != CL_SUCCESS)
      return {Fault::Unsupported,
              "OpenCL gives no platforms: " + codeText(code)};
    std::vector<cl_platform_id> platforms(count);
    cl.clGetPlatformIDs(count, platforms.data(), nullptr);
    std::string names;
    for (cl_device_type type : {cl_device_type(CL_DEVICE_TYPE_ACCELERATOR),
                                cl_device_type(CL_DEVICE_TYPE_ALL)})
      for (cl_platform_id platform : platforms) {
        std::string name = textOf([&](size_t size, char *to, size_t *need) {
          return cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, to,
                                      need);
        });
        if (type == CL_DEVICE_TYPE_ALL)
          names += (names.empty() ? "'" : ", '") + name + "'";
        if (name.find(options.platform) == std::string::npos)
          continue;
        if (cl.clGetDeviceIDs(platform, type, 1, &device, nullptr) !=
            CL_SUCCESS)
          continue;
        deviceName = textOf([&](size_t size, char *to, size_t *need) {
          return cl.clGetDeviceInfo(device, CL_DEVICE_NAME, size, to, need);
        });
        return {};
      }
    return {Fault::Unsupported,
            options.platform.empty()
                ? "no OpenCL platform has a device: " + names
                : "no OpenCL platform '" + options.platform +
                      "' has a device; there are " + names};
  }

  //===--------------------------------------------------------------------===//
  // What computes
  //===--------------------------------------------------------------------===//

  Status makeKernels() {
    path = options.program;
    if (path.empty() && !options.native && design().program)
      path = design().folder + "/" + design().program->file;
    if (path.empty())
      return checkNative();
    if (design().keepsState)
      return {Fault::Unsupported,
              "the design keeps state from frame to frame, and OpenCL has no "
              "call that resets '" +
                  path + "'; compile with --state-home host"};
    if (Status status = buildProgram(); !status)
      return status;
    if (design().program && addKernel({design().program->kernel})) {
      reports = true;
      return {};
    }
    const size_t regions = design().regionCount();
    for (size_t r = 0; r < regions; ++r)
      if (!addKernel(
              {regions == 1 ? "rhz_frame" : "rhz_frame_" + std::to_string(r)}))
        break;
    if (kernels.size() == regions)
      return {};
    kernels.clear();
    areMovers = true;
    for (size_t k = 0; k < design().inputs.size(); ++k)
      if (Status status = addUnit("mm2s", k); !status)
        return status;
    for (size_t k = 0; k < design().outputs.size(); ++k)
      if (Status status = addUnit("s2mm", k); !status)
        return status;
    if (design().segments.empty())
      return {};
    if (Status status = addUnit("rhz_kernel", 0); !status)
      return status;
    starter = std::move(kernels.back());
    kernels.pop_back();
    return {};
  }

  Status checkNative() {
    if (!options.native)
      return {Fault::Unsupported, "it is not said what the OpenCL device runs: "
                                  "a program (.xclbin, .cl) or a function"};
    std::vector<Bytes> nothing;
    std::string error;
    if (design().keepsState && !options.native(kBegin, {}, nothing, error))
      return {Fault::Unsupported, error};
    kernels.emplace_back(); // a queue for it
    cl_device_exec_capabilities able = 0;
    cl.clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof able,
                       &able, nullptr);
    if (able & CL_EXEC_NATIVE_KERNEL)
      return {};
    return {Fault::Unsupported,
            "the OpenCL device '" + deviceName +
                "' runs no functions of the host; say which program it runs, "
                "such as the package's rhizome.xclbin"};
  }

  Status buildProgram() {
    // Of a device or a pipe there may be no end.
    std::error_code ignored;
    if (const auto kind = std::filesystem::status(path, ignored).type();
        kind != std::filesystem::file_type::regular &&
        kind != std::filesystem::file_type::not_found)
      return {Fault::File, "'" + path + "' cannot be read: it is no file"};
    FILE *file = std::fopen(path.c_str(), "rb");
    if (!file)
      return {Fault::File,
              "'" + path + "' cannot be read: " + std::strerror(errno)};
    Bytes bytes;
    uint8_t part[1 << 16];
    while (size_t got = std::fread(part, 1, sizeof part, file))
      bytes.insert(bytes.end(), part, part + got);
    std::fclose(file);
    const size_t size = bytes.size();
    cl_int code = CL_SUCCESS;
    const bool isSource =
        path.size() > 3 && path.substr(path.size() - 3) == ".cl";
    if (isSource) {
      const char *text = reinterpret_cast<const char *>(bytes.data());
      program = own(
          cl.clCreateProgramWithSource(context.get(), 1, &text, &size, &code),
          cl.clReleaseProgram);
    } else {
      const uint8_t *binary = bytes.data();
      program =
          own(cl.clCreateProgramWithBinary(context.get(), 1, &device, &size,
                                           &binary, nullptr, &code),
              cl.clReleaseProgram);
    }
    if (code == CL_SUCCESS)
      code = cl.clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr);
    if (code == CL_SUCCESS)
      return {};
    std::string said;
    if (program)
      said = textOf([&](size_t size, char *to, size_t *need) {
        return cl.clGetProgramBuildInfo(program.get(), device,
                                        CL_PROGRAM_BUILD_LOG, size, to, need);
      });
    return {Fault::Unsupported,
            "the OpenCL device '" + deviceName + "' does not take '" + path +
                "': " + codeText(code) + (said.empty() ? "" : "; " + said) +
                "; it is no program for this device"};
  }

  /// The kernel of the first of these names that the program has; false if it
  /// has none.
  bool addKernel(std::initializer_list<std::string> names) {
    for (const std::string &name : names) {
      cl_int code = CL_SUCCESS;
      cl_kernel kernel = cl.clCreateKernel(program.get(), name.c_str(), &code);
      if (code != CL_SUCCESS)
        continue;
      kernels.push_back(own(kernel, cl.clReleaseKernel));
      return true;
    }
    return false;
  }

  /// A compute unit as Vitis names it, or a kernel of its plain name.
  Status addUnit(const std::string &kind, size_t number) {
    const std::string unit = kind + "_" + std::to_string(number);
    if (addKernel({kind + ":{" + unit + "}", unit}))
      return {};
    std::string text = "'" + path + "' has neither a kernel rhz_frame";
    if (design().program)
      text += ", nor " + design().program->kernel + " of the package's '" +
              design().program->file + "',";
    return {Fault::Unsupported,
            text + " nor the " + (kind == "rhz_kernel" ? "design " : "mover ") +
                unit + ": it was built for another package"};
  }

  //===--------------------------------------------------------------------===//
  // Memories
  //===--------------------------------------------------------------------===//

  /// A buffer for each of the design's ports to memories, as an argument of the
  /// kernels that have one, before anything is written: that decides where some
  /// devices have it.
  Status makeMemories() {
    if (!program)
      return {};
    for (uint64_t size : design().memoryBytes())
      if (Status status =
              allocate(CL_MEM_READ_WRITE, size, memories.emplace_back());
          !status)
        return status;
    if (reports)
      if (Status status =
              allocate(CL_MEM_READ_WRITE, design().program->spaceBytes, space);
          !status)
        return status;
    for (const Segment &segment : design().segments)
      missing.insert(&segment);
    cl_uint index = 0;
    for (const Buffer &memory : memories)
      if (const cl_mem held = memory.get(); starter)
        if (cl_int code =
                cl.clSetKernelArg(starter.get(), index++, sizeof held, &held);
            code != CL_SUCCESS)
          return lost("clSetKernelArg", code);
    return {};
  }

  /// Launches a package's program, which finds no program in the memory and
  /// returns: some devices translate a kernel with its first launch, which
  /// takes longer than a frame may.
  Status tryOut() {
    std::shared_ptr<Frame> frame;
    if (Status status = newFrame(0, frame); !status)
      return status;
    frame->unread = frame->outputs.size();
    std::vector<Event> computed;
    if (Status status = compute(*frame, {}, computed); !status)
      return status;
    if (Status status = readOutputs(frame, computed); !status)
      return status;
    if (!isDone(*frame, kStart))
      return {Fault::Gone,
              "'" + deviceName + "' does not end '" + path +
                  "' in a minute, which has nothing to do; reset the device"};
    idle[0].push_back(std::move(frame));
    return {};
  }

  /// Starts a design that reads its memories, which all have their contents;
  /// it takes their addresses and ends.
  Status start() {
    for (const Segment &segment : design().segments)
      missing.insert(&segment);
    if (!starter)
      return {};
    const size_t one = 1;
    cl_event event = nullptr;
    if (cl_int code =
            cl.clEnqueueNDRangeKernel(queues[0].get(), starter.get(), 1,
                                      nullptr, &one, &one, 0, nullptr, &event);
        code != CL_SUCCESS)
      return lost("a kernel's launch", code);
    const Event held = own(event, cl.clReleaseEvent);
    auto ended = std::make_shared<Frame>();
    ended->unread = 1;
    if (Status status = keep(ended, event, noteRead); !status)
      return status;
    cl.clFlush(queues[0].get());
    if (!isDone(*ended, kStart))
      return {Fault::Gone, "'" + deviceName +
                               "' does not start the design: its memories or "
                               "its clock may be missing"};
    return ended->status == CL_COMPLETE ? Status()
                                        : lost("the design", ended->status);
  }

  //===--------------------------------------------------------------------===//
  // A frame
  //===--------------------------------------------------------------------===//

  Status allocate(cl_mem_flags flags, size_t size, Buffer &buffer) {
    cl_int code = CL_SUCCESS;
    buffer = own(cl.clCreateBuffer(context.get(), flags,
                                   std::max<size_t>(1, size), nullptr, &code),
                 cl.clReleaseMemObject);
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
        code == CL_INVALID_BUFFER_SIZE)
      return {Fault::Device, "the OpenCL device '" + deviceName +
                                 "' has no room for " + std::to_string(size) +
                                 " bytes: " + codeText(code) +
                                 "; fewer frames on their way need less"};
    return checked("clCreateBuffer", code);
  }

  Status newFrame(size_t region, std::shared_ptr<Frame> &frame) {
    if (!idle[region].empty()) {
      frame = std::move(idle[region].back());
      idle[region].pop_back();
      return {};
    }
    frame = std::make_shared<Frame>();
    frame->region = region;
    frame->native = &options.native;
    for (bool out : {false, true})
      for (const Port &port :
           out ? design().outputsOf(region) : design().inputsOf(region)) {
        const bool isLast = out && frame->outputs.size() + 1 ==
                                       design().outputsOf(region).size();
        const size_t size = isLast && reports
                                ? reportAt(port) + 2 * sizeof(uint32_t)
                                : port.paddedBytes();
        (out ? frame->outputs : frame->inputs).emplace_back(size);
        (out ? frame->outputBytes : frame->inputBytes)
            .push_back(port.frameBytes());
        if (Status status = allocate(out ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY,
                                     size, frame->buffers.emplace_back());
            !status)
          return status;
      }
    return {};
  }

  /// Where a program of the package reports, after its last output.
  static size_t reportAt(const Port &port) {
    return (port.paddedBytes() + 3) / 4 * 4;
  }
  Status checkReport(const Frame &frame) const {
    if (!reports)
      return {};
    uint32_t report[2];
    std::memcpy(report,
                frame.outputs.back().data() + reportAt(design().outputs.back()),
                sizeof report);
    char number[16];
    std::snprintf(number, sizeof number, "%08x", report[1]);
    const std::string count = std::to_string(report[1]);
    std::string what = "gives the report " + std::to_string(report[0]);
    switch (Report(report[0])) {
    case Report::Done:
      return {};
    case Report::OtherSet:
      what = std::string("is for the instruction set ") + number;
      break;
    case Report::OtherCore:
      what = std::string("is for the core ") + number;
      break;
    case Report::TooLong:
      what = "has " + count + " instructions, more than its memory";
      break;
    case Report::TooMany:
      what = "has " + count +
             " blocks of weights wait, more than there is "
             "room for";
      break;
    }
    return {Fault::Device,
            "'" + path +
                "' does not carry out the program in "
                "the memory, which " +
                what + "; both must be of one package, compiled at once"};
  }

  static std::vector<cl_event> listOf(const std::vector<Event> &events) {
    std::vector<cl_event> list;
    for (const Event &event : events)
      list.push_back(event.get());
    return list;
  }

  /// Keeps a frame until a command on it ends.
  Status keep(const std::shared_ptr<Frame> &frame, cl_event event,
              void(CL_CALLBACK *note)(cl_event, cl_int, void *)) {
    auto *holder = new std::shared_ptr<Frame>(frame);
    const cl_int code = cl.clSetEventCallback(event, CL_COMPLETE, note, holder);
    if (code != CL_SUCCESS)
      delete holder;
    return checked("clSetEventCallback", code);
  }

  Status writeInputs(const std::shared_ptr<Frame> &frame,
                     std::vector<Event> &written) {
    for (size_t k = 0; k < frame->inputs.size(); ++k) {
      cl_event event = nullptr;
      const Bytes &bytes = frame->inputs[k];
      cl_int code = cl.clEnqueueWriteBuffer(
          queues[0].get(), frame->buffers[k].get(), CL_FALSE, 0, bytes.size(),
          bytes.data(), 0, nullptr, &event);
      if (code != CL_SUCCESS)
        return lost("clEnqueueWriteBuffer", code);
      written.push_back(own(event, cl.clReleaseEvent));
      if (Status status = keep(frame, event, noteWritten); !status)
        return status;
    }
    return checked("clFlush", cl.clFlush(queues[0].get()));
  }

  Status compute(Frame &frame, const std::vector<Event> &written,
                 std::vector<Event> &computed) {
    const std::vector<cl_event> after = listOf(written);
    size_t buffer = 0;
    for (size_t k : kernelsOf(frame.region)) {
      cl_event event = nullptr;
      const cl_command_queue queue = queues[1 + k].get();
      cl_int code = CL_SUCCESS;
      if (!program) {
        code = enqueueNative(queue, frame, after, event);
      } else {
        code = setArguments(k, frame, buffer++);
        const size_t one = 1;
        if (code == CL_SUCCESS)
          code = cl.clEnqueueNDRangeKernel(queue, kernels[k].get(), 1, nullptr,
                                           &one, &one, cl_uint(after.size()),
                                           after.data(), &event);
      }
      if (code != CL_SUCCESS)
        return lost("a kernel's launch", code);
      computed.push_back(own(event, cl.clReleaseEvent));
      if (Status status = checked("clFlush", cl.clFlush(queue)); !status)
        return status;
    }
    return {};
  }

  /// What computes a region's frame: one kernel, or the movers of its inputs
  /// and then of its outputs.
  std::vector<size_t> kernelsOf(size_t number) const {
    if (!areMovers)
      return {program ? number : 0};
    const Region region = design().region(number);
    std::vector<size_t> list;
    for (size_t k = 0; k < region.inputs; ++k)
      list.push_back(region.firstInput + k);
    for (size_t k = 0; k < region.outputs; ++k)
      list.push_back(design().inputs.size() + region.firstOutput + k);
    return list;
  }

  cl_int enqueueNative(cl_command_queue queue, Frame &frame,
                       const std::vector<cl_event> &after, cl_event &event) {
    std::vector<void *> arguments(1 + frame.buffers.size());
    arguments[0] = &frame;
    std::vector<cl_mem> buffers;
    std::vector<const void *> places;
    for (size_t k = 0; k < frame.buffers.size(); ++k) {
      buffers.push_back(frame.buffers[k].get());
      arguments[1 + k] = frame.buffers[k].get();
      places.push_back(&arguments[1 + k]);
    }
    return cl.clEnqueueNativeKernel(queue, computeFrame, arguments.data(),
                                    arguments.size() * sizeof(void *),
                                    cl_uint(buffers.size()), buffers.data(),
                                    places.data(), cl_uint(after.size()),
                                    after.data(), &event);
  }

  /// Kernel k's arguments, which a launch copies. A mover moves the buffer of
  /// that number.
  cl_int setArguments(size_t k, const Frame &frame, size_t moved) {
    const cl_kernel kernel = kernels[k].get();
    auto set = [&](cl_uint index, size_t size, const void *value) {
      return cl.clSetKernelArg(kernel, index, size, value);
    };
    if (areMovers) {
      const size_t inputs = design().inputs.size();
      const Port &port =
          k < inputs ? design().inputs[k] : design().outputs[k - inputs];
      const cl_mem buffer = frame.buffers[moved].get();
      const cl_uint beats = cl_uint(port.beats()), frames = 1;
      // The second one is the stream, which the link has joined.
      cl_int code = set(0, sizeof buffer, &buffer);
      if (code == CL_SUCCESS)
        code = set(2, sizeof beats, &beats);
      return code == CL_SUCCESS ? set(3, sizeof frames, &frames) : code;
    }
    cl_uint index = 0;
    auto pass = [&](const Buffer &buffer) {
      const cl_mem memory = buffer.get();
      return set(index++, sizeof memory, &memory);
    };
    for (const auto *buffers : {&frame.buffers, &std::as_const(memories)})
      for (const Buffer &buffer : *buffers)
        if (cl_int code = pass(buffer); code != CL_SUCCESS)
          return code;
    return space ? pass(space) : CL_SUCCESS;
  }

  Status readOutputs(const std::shared_ptr<Frame> &frame,
                     const std::vector<Event> &computed) {
    const std::vector<cl_event> after = listOf(computed);
    const cl_command_queue queue = queues.back().get();
    for (size_t k = 0; k < frame->outputs.size(); ++k) {
      Bytes &bytes = frame->outputs[k];
      cl_event event = nullptr;
      cl_int code = cl.clEnqueueReadBuffer(
          queue, frame->buffers[frame->inputs.size() + k].get(), CL_FALSE, 0,
          bytes.size(), bytes.data(), cl_uint(after.size()), after.data(),
          &event);
      if (code != CL_SUCCESS)
        return lost("clEnqueueReadBuffer", code);
      const Event held = own(event, cl.clReleaseEvent);
      if (Status status = keep(frame, event, noteRead); !status)
        return status;
    }
    return checked("clFlush", cl.clFlush(queue));
  }

  OpenClOptions options;
  opencl::Library cl;
  cl_device_id device = nullptr;
  std::string deviceName;
  Shared<cl_context> context;
  Shared<cl_program> program; ///< null: the function computes
  std::string path;           ///< of that program
  bool areMovers = false;
  bool reports = false;      ///< it is the package's own
  Shared<cl_kernel> starter; ///< next to movers: the design, if it has memories
  std::vector<Shared<cl_kernel>> kernels;
  /// Of writes, of each kernel, of reads.
  std::vector<Shared<cl_command_queue>> queues;
  std::vector<Buffer> memories;      ///< by the design's port
  Buffer space;                      ///< of a program of the package
  std::set<const Segment *> missing; ///< segments that have not been loaded
  std::deque<std::shared_ptr<Frame>> started;
  /// By region, with their buffers.
  std::vector<std::vector<std::shared_ptr<Frame>>> idle;
};
} // namespace

std::unique_ptr<Driver> makeOpenClDriver(OpenClOptions options) {
  return std::make_unique<OpenClDriver>(std::move(options));
}
} // namespace rhizome::runtime

#else
namespace rhizome::runtime {
namespace {
class OpenClDriver : public Driver {
public:
  const char *name() const override { return "opencl"; }

private:
  Status doOpen() override {
    return {Fault::Unsupported,
            "this program was built without OpenCL; install its headers "
            "(Debian's package opencl-c-headers) and build it again"};
  }
  Status doLoad(const Segment &, std::span<const uint8_t>) override {
    return {};
  }
  Status doLaunch(size_t, std::vector<Bytes>) override { return {}; }
  Status doWait(size_t, Duration, std::vector<Bytes> &) override { return {}; }
  void doClose() override {}
};
} // namespace

std::unique_ptr<Driver> makeOpenClDriver(OpenClOptions) {
  return std::make_unique<OpenClDriver>();
}
} // namespace rhizome::runtime
#endif
