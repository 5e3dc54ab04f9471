// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libOpenCL as it is loaded while a program runs, and what its codes are
// called.
#pragma once

#include "rhizome/runtime/driver.h"
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <string>
#include <utility>

namespace rhizome::runtime::opencl {
/// What an ICD loader says that finds no platform.
constexpr cl_int kNoPlatform = -1001;

#define RHZ_CL_CALLS(X)                                                        \
  X(clGetPlatformIDs)                                                          \
  X(clGetPlatformInfo)                                                         \
  X(clGetDeviceIDs)                                                            \
  X(clGetDeviceInfo)                                                           \
  X(clCreateContext)                                                           \
  X(clReleaseContext)                                                          \
  X(clCreateCommandQueue)                                                      \
  X(clReleaseCommandQueue)                                                     \
  X(clCreateBuffer)                                                            \
  X(clReleaseMemObject)                                                        \
  X(clEnqueueWriteBuffer)                                                      \
  X(clEnqueueReadBuffer)                                                       \
  X(clEnqueueNDRangeKernel)                                                    \
  X(clEnqueueNativeKernel)                                                     \
  X(clCreateProgramWithSource)                                                 \
  X(clCreateProgramWithBinary)                                                 \
  X(clBuildProgram)                                                            \
  X(clGetProgramBuildInfo)                                                     \
  X(clReleaseProgram)                                                          \
  X(clCreateKernel)                                                            \
  X(clSetKernelArg)                                                            \
  X(clReleaseKernel)                                                           \
  X(clSetEventCallback)                                                        \
  X(clReleaseEvent)                                                            \
  X(clFlush)                                                                   \
  X(clFinish)

/// The functions of libOpenCL, which stays loaded: its threads may call back.
struct Library {
#define X(name) decltype(&::name) name = nullptr;
  RHZ_CL_CALLS(X)
#undef X

  Status load(const std::string &path) {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return {Fault::Unsupported,
              "OpenCL is not installed on this machine (" +
                  std::string(dlerror()) +
                  "); Debian's package ocl-icd-libopencl1 brings it, and a "
                  "platform's package its devices"};
    const char *missing = nullptr;
#define X(name)                                                                \
  name = reinterpret_cast<decltype(name)>(dlsym(handle, #name));               \
  if (!name)                                                                   \
    missing = #name;
    RHZ_CL_CALLS(X)
#undef X
    if (missing)
      return {Fault::Unsupported,
              "'" + path + "' is no OpenCL 1.2: it has no " + missing};
    return {};
  }
};

inline std::string codeText(cl_int code) {
  static const std::pair<cl_int, const char *> names[] = {
      {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
      {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
      {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
      {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
      {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
       "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
      {CL_INVALID_BINARY, "CL_INVALID_BINARY"},
      {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
      {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
      {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
      {CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"}};
  for (auto [known, name] : names)
    if (known == code)
      return std::string(name) + " (" + std::to_string(code) + ")";
  return "error " + std::to_string(code);
}
} // namespace rhizome::runtime::opencl
