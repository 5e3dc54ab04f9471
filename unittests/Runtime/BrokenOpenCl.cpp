// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libOpenCL, which it links, with faults. The variable RHZ_OPENCL selects one:
// "bare" has no platform, "full" has no memory left, "lost" runs no more
// commands; "linked" connects the kernels mm2s:{mm2s_0} and s2mm:{s2mm_0} by a
// buffer, their second argument, like v++ connects them by a stream.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace {
bool is(const char *fault) {
  const char *wanted = std::getenv("RHZ_OPENCL");
  return wanted && !std::strcmp(wanted, fault);
}
template <typename Function> Function real(Function, const char *name) {
  static void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(library, name));
}
} // namespace
#define REAL(name) real(&name, #name)

extern "C" {
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
  return REAL(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, from,
                                    count, after, event);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
  static cl_mem wire = nullptr;
  std::string wanted = name;
  if (!is("linked") || wanted.find(":{") == std::string::npos)
    return REAL(clCreateKernel)(program, name, code);
  wanted = wanted.substr(wanted.find('{') + 1);
  wanted.pop_back();
  cl_kernel kernel = REAL(clCreateKernel)(program, wanted.c_str(), code);
  if (!kernel)
    return nullptr;
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
