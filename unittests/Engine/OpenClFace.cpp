// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel a core, kept; one task a program.
#include "OpenClFace.h"

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
                            int64_t sent, State &state) {
  std::string error;
  cl_kernel kernel = device->kernel(openClText(core), error);
  if (!kernel)
    return "the kernel does not build: " + error;
  std::vector<uint8_t> bytes = toBytes(program);
  std::vector<int8_t> queue(
      size_t(std::max<int64_t>(program.head.blocks, 1) * core.in * core.out));
  state.sent.resize(size_t(sent * core.in));
  std::vector<cl_mem> buffers;
  std::vector<std::pair<void *, size_t>> arrays;
  cl_int worst = CL_SUCCESS;
  auto pass = [&](auto &array) {
    const size_t size = array.size() * sizeof(array[0]);
    cl_int code = 0;
    cl_mem buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE,
                                   std::max<size_t>(size, 1), nullptr, &code);
    worst = code ? code : worst;
    if (size)
      clEnqueueWriteBuffer(device->queue, buffer, CL_TRUE, 0, size,
                           array.data(), 0, nullptr, nullptr);
    clSetKernelArg(kernel, cl_uint(buffers.size()), sizeof buffer, &buffer);
    buffers.push_back(buffer);
    arrays.emplace_back(array.data(), size);
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
  for (size_t i = 0; i < buffers.size(); ++i) {
    auto [data, size] = arrays[i];
    if (size)
      if (cl_int code = clEnqueueReadBuffer(device->queue, buffers[i], CL_TRUE,
                                            0, size, data, 0, nullptr, nullptr))
        worst = code;
    clReleaseMemObject(buffers[i]);
  }
  return worst ? "OpenCL's error " + std::to_string(worst) : "";
}
#else
struct OpenClFace::Device {
  std::string missing = "no OpenCL (ocl-icd-opencl-dev)";
};
OpenClFace::OpenClFace() : device(std::make_unique<Device>()) {}
OpenClFace::~OpenClFace() = default;
const std::string &OpenClFace::missing() const { return device->missing; }
std::string OpenClFace::run(const Program &, const Core &, int64_t, State &) {
  return device->missing;
}
#endif
