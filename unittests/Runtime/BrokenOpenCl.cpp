// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libOpenCL, which it links, with faults. The variable RHZ_OPENCL selects one:
// "bare" has no platform, "full" has no memory left, "lost" runs no more
// commands, "hung" ends none until it is told otherwise; "linked" connects the
// kernels mm2s:{mm2s_0} and s2mm:{s2mm_0} by a buffer, their second argument,
// like v++ connects them by a stream. It counts the commands of a frame
// (rhz_opencl_commands).
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <utility>
#include <vector>

namespace {
bool is(const char *fault) {
  const char *wanted = std::getenv("RHZ_OPENCL");
  return wanted && !std::strcmp(wanted, fault);
}
template <typename Function> Function real(Function, const char *name) {
  static void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::atomic<unsigned> writes, kernels, reads;
} // namespace
#define REAL(name) real(&name, #name)

extern "C" {
/// Since the last call.
void rhz_opencl_commands(unsigned counts[3]) {
  counts[0] = writes.exchange(0);
  counts[1] = kernels.exchange(0);
  counts[2] = reads.exchange(0);
}

cl_int clGetPlatformIDs(cl_uint count, cl_platform_id *to, cl_uint *there) {
  return is("bare") ? -1001 : REAL(clGetPlatformIDs)(count, to, there);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size,
                      void *host, cl_int *code) {
  if (!is("full"))
    return REAL(clCreateBuffer)(context, flags, size, host, code);
  *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return nullptr;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                            cl_bool blocking, size_t offset, size_t size,
                            const void *from, cl_uint count,
                            const cl_event *after, cl_event *event) {
  if (is("lost"))
    return CL_DEVICE_NOT_AVAILABLE;
  ++writes;
  return REAL(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, from,
                                    count, after, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                           cl_bool blocking, size_t offset, size_t size,
                           void *to, cl_uint count, const cl_event *after,
                           cl_event *event) {
  ++reads;
  return REAL(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size, to,
                                   count, after, event);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                              cl_uint dimensions, const size_t *first,
                              const size_t *global, const size_t *local,
                              cl_uint count, const cl_event *after,
                              cl_event *event) {
  ++kernels;
  static std::vector<cl_event> hanging;
  std::vector<cl_event> all(after, after + count);
  if (is("hung")) {
    cl_context context = nullptr;
    REAL(clGetCommandQueueInfo)(queue, CL_QUEUE_CONTEXT, sizeof context,
                                &context, nullptr);
    hanging.push_back(REAL(clCreateUserEvent)(context, nullptr));
    all.push_back(hanging.back());
  } else {
    for (cl_event event : std::exchange(hanging, {})) {
      REAL(clSetUserEventStatus)(event, CL_COMPLETE);
      REAL(clReleaseEvent)(event);
    }
  }
  return REAL(clEnqueueNDRangeKernel)(
      queue, kernel, dimensions, first, global, local, cl_uint(all.size()),
      all.empty() ? nullptr : all.data(), event);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
  static cl_mem wire = nullptr;
  std::string wanted = name;
  if (!is("linked") || wanted.find(":{") == std::string::npos)
    return REAL(clCreateKernel)(program, name, code);
  wanted = wanted.substr(wanted.find('{') + 1);
  wanted.pop_back();
  cl_kernel kernel = REAL(clCreateKernel)(program, wanted.c_str(), code);
  if (!kernel || wanted == "rhz_kernel_0")
    return kernel;
  if (wanted == "mm2s_0") {
    cl_context context = nullptr;
    REAL(clGetProgramInfo)(program, CL_PROGRAM_CONTEXT, sizeof context,
                           &context, nullptr);
    uint32_t zeros[16] = {};
    wire = REAL(clCreateBuffer)(context, CL_MEM_COPY_HOST_PTR, sizeof zeros,
                                zeros, code);
  }
  *code = REAL(clSetKernelArg)(kernel, 1, sizeof wire, &wire);
  return kernel;
}
}
