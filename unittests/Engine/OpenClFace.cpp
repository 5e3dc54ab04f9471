// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel a core, kept; one task a program.
#include "OpenClFace.h"
#include <algorithm>
#include <cstring>

using namespace rhizome::engine;
using namespace rhizome::engine::test;

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <map>

struct OpenClFace::Device {
  std::string missing;
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::map<std::string, cl_kernel> kernels; ///< by their texts

  Device() {
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr) !=
            CL_SUCCESS) {
      missing = "no OpenCL device (pocl-opencl-icd)";
      return;
    }
    cl_int code = 0;
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &code);
    queue = clCreateCommandQueue(context, id, 0, &code);
  }
  ~Device() {
    for (auto &[text, kernel] : kernels)
      clReleaseKernel(kernel);
    if (queue)
      clReleaseCommandQueue(queue);
    if (context)
      clReleaseContext(context);
  }

  cl_kernel kernel(const std::string &text, std::string &error) {
    auto [it, isNew] = kernels.emplace(text, nullptr);
    if (!isNew)
      return it->second;
    const char *source = text.c_str();
    cl_int code = 0;
    cl_program program =
        clCreateProgramWithSource(context, 1, &source, nullptr, &code);
    if (clBuildProgram(program, 1, &id, "", nullptr, nullptr) != CL_SUCCESS) {
      error.resize(1 << 16);
      size_t size = 0;
      clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, error.size(),
                            error.data(), &size);
      error.resize(size);
    }
    it->second = clCreateKernel(program, "engine", &code);
    clReleaseProgram(program);
    return it->second;
  }
};

OpenClFace::OpenClFace() : device(std::make_unique<Device>()) {}
OpenClFace::~OpenClFace() = default;
const std::string &OpenClFace::missing() const { return device->missing; }

std::string OpenClFace::run(const Program &program, const Core &core,
                            int64_t sent, State &state,
                            const OpenClBounds &bounds) {
  std::string error;
  cl_kernel kernel = device->kernel(openClText(core, bounds), error);
  if (!kernel)
    return "the kernel does not build: " + error;
  std::vector<uint8_t> bytes = toBytes(program);
  std::vector<int8_t> queue(
      size_t(std::clamp<int64_t>(program.head.blocks, 1, bounds.blocks) *
             core.in * core.out));
  state.sent.resize(size_t(sent * core.in));
  struct Array {
    void *data;
    size_t size;
    cl_mem buffer;
    std::vector<uint8_t> guarded; ///< with kGuard bytes on either side
  };
  constexpr size_t kGuard = 1 << 16;
  constexpr uint8_t kMark = 0xa5;
  std::vector<Array> arrays;
  cl_int worst = CL_SUCCESS;
  auto pass = [&](auto &array) {
    const size_t size = array.size() * sizeof(array[0]);
    Array made{array.data(), size, nullptr,
               std::vector<uint8_t>(size + 2 * kGuard, kMark)};
    if (size)
      std::memcpy(made.guarded.data() + kGuard, array.data(), size);
    cl_int code = 0;
    made.buffer = clCreateBuffer(
        device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
        std::max<size_t>(size, 1), made.guarded.data() + kGuard, &code);
    worst = code ? code : worst;
    clSetKernelArg(kernel, cl_uint(arrays.size()), sizeof made.buffer,
                   &made.buffer);
    arrays.push_back(std::move(made));
  };
  pass(bytes);
  for (std::vector<int8_t> &memory : state.memories)
    pass(memory);
  pass(state.scratch);
  pass(state.sums);
  pass(queue);
  pass(state.received);
  pass(state.sent);
  if (cl_int code = clEnqueueTask(device->queue, kernel, 0, nullptr, nullptr))
    worst = code;
  bool isHarmed = false;
  for (const Array &array : arrays) {
    if (array.size)
      if (cl_int code =
              clEnqueueReadBuffer(device->queue, array.buffer, CL_TRUE, 0,
                                  array.size, array.data, 0, nullptr, nullptr))
        worst = code;
    clReleaseMemObject(array.buffer);
    const auto begin = array.guarded.begin(), end = array.guarded.end();
    auto isMark = [](uint8_t byte) { return byte == kMark; };
    isHarmed |= !std::all_of(begin, begin + kGuard, isMark) ||
                !std::all_of(end - kGuard, end, isMark);
  }
  if (isHarmed)
    return "something was written outside the buffers";
  return worst ? "OpenCL's error " + std::to_string(worst) : "";
}
#else
struct OpenClFace::Device {
  std::string missing = "no OpenCL (ocl-icd-opencl-dev)";
};
OpenClFace::OpenClFace() : device(std::make_unique<Device>()) {}
OpenClFace::~OpenClFace() = default;
const std::string &OpenClFace::missing() const { return device->missing; }
std::string OpenClFace::run(const Program &, const Core &, int64_t, State &,
                            const OpenClBounds &) {
  return device->missing;
}
#endif
