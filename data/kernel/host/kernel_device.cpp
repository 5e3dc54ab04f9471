// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes, reads and each unit have an in-order queue; what crosses queues waits
// for events. A set of buffers is filled again when its results have been read,
// and meanwhile the unit computes on the other.
#include "kernel_device.h"

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

using namespace rhizome::host;

namespace {
/// What an ICD loader says that finds no platform.
constexpr cl_int kNoPlatform = -1001;
constexpr const char *kKernel = "rhz_kernel";

[[noreturn]] void fail(const std::string &text) {
  throw std::runtime_error(text);
}

std::string codeText(cl_int code) {
#define CODE(name)                                                             \
  {                                                                            \
    name, #name                                                                \
  }
  static const std::pair<cl_int, const char *> names[] = {
      CODE(CL_DEVICE_NOT_FOUND),
      CODE(CL_DEVICE_NOT_AVAILABLE),
      CODE(CL_COMPILER_NOT_AVAILABLE),
      CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
      CODE(CL_OUT_OF_RESOURCES),
      CODE(CL_OUT_OF_HOST_MEMORY),
      CODE(CL_BUILD_PROGRAM_FAILURE),
      CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
      CODE(CL_INVALID_VALUE),
      CODE(CL_INVALID_BINARY),
      CODE(CL_INVALID_PROGRAM_EXECUTABLE),
      CODE(CL_INVALID_KERNEL_NAME),
      CODE(CL_INVALID_ARG_INDEX),
      CODE(CL_INVALID_ARG_SIZE),
      CODE(CL_INVALID_KERNEL_ARGS),
      CODE(CL_INVALID_BUFFER_SIZE),
      CODE(CL_INVALID_OPERATION)};
#undef CODE
  for (auto [known, name] : names)
    if (known == code)
      return std::string(name) + " (" + std::to_string(code) + ")";
  return "error " + std::to_string(code);
}

/// Fails unless a call of a step succeeded.
void check(cl_int code, const char *call, const std::string &step) {
  if (code != CL_SUCCESS)
    fail(step + ": " + call + " gives " + codeText(code));
}

/// Releases an object of OpenCL.
template <auto Release> struct Releaser {
  template <typename T> void operator()(T *object) const { Release(object); }
};
using Context = std::unique_ptr<_cl_context, Releaser<clReleaseContext>>;
using Queue =
    std::unique_ptr<_cl_command_queue, Releaser<clReleaseCommandQueue>>;
using Buffer = std::unique_ptr<_cl_mem, Releaser<clReleaseMemObject>>;
using Program = std::unique_ptr<_cl_program, Releaser<clReleaseProgram>>;
using ClKernel = std::unique_ptr<_cl_kernel, Releaser<clReleaseKernel>>;
using Event = std::unique_ptr<_cl_event, Releaser<clReleaseEvent>>;

/// Memory of the host on pages of its own, which devices read directly.
struct Free {
  void operator()(uint8_t *memory) const { std::free(memory); }
};
using Pages = std::unique_ptr<uint8_t, Free>;
Pages newPages(size_t bytes) {
  constexpr size_t kPage = 4096;
  auto *memory = static_cast<uint8_t *>(
      std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage));
  if (!memory)
    fail("this machine has no room for " + std::to_string(bytes) + " bytes");
  std::memset(memory, 0, bytes);
  return Pages(memory);
}

template <typename Get> std::string textOf(Get get) {
  size_t size = 0;
  if (get(0, nullptr, &size) != CL_SUCCESS || size == 0)
    return "";
  std::string text(size, 0);
  get(size, text.data(), nullptr);
  return text.c_str(); // without the zero at its end
}

/// What a device that calls functions of the host is given: this, then the
/// buffers where they lie.
struct Call {
  const Kernel *kernel;
  int64_t elements;
};
void callKernel(void *arguments) {
  auto *call = static_cast<Call *>(arguments);
  computeWords(*call->kernel, call->elements,
               reinterpret_cast<uint8_t *const *>(call + 1));
}

/// The elements of a command, with buffers for each stream.
struct Set {
  std::vector<cl_mem> buffers; ///< of all streams
  std::vector<Buffer> own;     ///< but for what stays
  std::vector<Pages> pages;    ///< the same on the host; null for what stays
  ClKernel kernel;             ///< with these buffers as arguments
  std::vector<Event> reads;
  int64_t first = 0, count = 0; ///< 0: nothing is under way
};

struct Unit {
  Queue queue;
  std::vector<Buffer> residents; ///< by stream; null for the others
  std::array<Set, 2> sets;
};
} // namespace

class Device::State {
public:
  State(const Kernel &kernel, const rhz_host_options &options)
      : kernel(kernel), options(options) {}
  ~State() { drain(); }
  void open(const void *const *arrays);
  void compute(int64_t elements, void *const *arrays);

  std::string deviceName;
  std::vector<Unit> units;

private:
  const Kernel &kernel;
  rhz_host_options options;
  cl_device_id device = nullptr;
  Context context;
  Program program; ///< null: the machine code computes
  Queue writes, reads;
  int64_t batch = 0;
  size_t firstUnit = 0; ///< the number in its name

  void findDevice();
  void build();
  ClKernel kernelOf(size_t unit, cl_int &code);
  size_t countUnits();
  Queue newQueue();
  Buffer newBuffer(const Stream &stream, int64_t elements);
  void prepare(Unit &unit, size_t number, const void *const *arrays);
  void start(Unit &unit, Set &set, void *const *arrays);
  void enqueueCompute(Unit &unit, Set &set, const std::vector<Event> &after,
                      Event &done);
  std::string errorsOf(size_t unit);
  void finish(size_t unit, Set &set, void *const *arrays);
  void drain();
};

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

/// The first device of a platform of the wanted name that serves: with a
/// program an accelerator, if there is one, else what calls functions.
void Device::State::findDevice() {
  const std::string step = "looking for a device";
  const std::string wanted = options.platform ? options.platform : "";
  cl_uint count = 0;
  const cl_int code = clGetPlatformIDs(0, nullptr, &count);
  if (code == kNoPlatform || (code == CL_SUCCESS && count == 0))
    fail(step + ": no OpenCL platform is installed; the card's runtime (XRT) "
                "brings one, or Debian's package pocl-opencl-icd one of this "
                "CPU");
  check(code, "clGetPlatformIDs", step);
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs",
        step);
  std::string names;
  for (cl_device_type type : {cl_device_type(CL_DEVICE_TYPE_ACCELERATOR),
                              cl_device_type(CL_DEVICE_TYPE_ALL)})
    for (cl_platform_id platform : platforms) {
      const std::string name = textOf([&](size_t size, char *to, size_t *need) {
        return clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, to, need);
      });
      if (type == CL_DEVICE_TYPE_ALL)
        names += (names.empty() ? "'" : ", '") + name + "'";
      cl_uint found = 0;
      if (name.find(wanted) == std::string::npos ||
          clGetDeviceIDs(platform, type, 0, nullptr, &found) != CL_SUCCESS)
        continue;
      std::vector<cl_device_id> devices(found);
      check(clGetDeviceIDs(platform, type, found, devices.data(), nullptr),
            "clGetDeviceIDs", step);
      for (cl_device_id one : devices) {
        cl_device_exec_capabilities able = 0;
        clGetDeviceInfo(one, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof able,
                        &able, nullptr);
        if (!options.program && !(able & CL_EXEC_NATIVE_KERNEL))
          continue;
        device = one;
        deviceName = textOf([&](size_t size, char *to, size_t *need) {
          return clGetDeviceInfo(one, CL_DEVICE_NAME, size, to, need);
        });
        return;
      }
    }
  fail(step + ": " +
       (wanted.empty() ? "no OpenCL platform"
                       : "no OpenCL platform '" + wanted + "'") +
       (options.program
            ? " has a device"
            : " has a device that calls functions of the host; name the "
              "program of the FPGA") +
       "; there are " + names);
}

void Device::State::build() {
  const std::string path = options.program;
  const std::string step = "loading the program '" + path + "'";
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    fail(step + ": it cannot be read: " + std::strerror(errno));
  std::vector<uint8_t> bytes;
  uint8_t part[1 << 16];
  while (size_t got = std::fread(part, 1, sizeof part, file))
    bytes.insert(bytes.end(), part, part + got);
  std::fclose(file);
  const size_t size = bytes.size();
  const uint8_t *binary = bytes.data();
  cl_int code = CL_SUCCESS;
  program.reset(clCreateProgramWithBinary(context.get(), 1, &device, &size,
                                          &binary, nullptr, &code));
  check(code, "clCreateProgramWithBinary", step);
  check(clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr),
        "clBuildProgram", step);
}

/// A unit as Vitis names it.
ClKernel Device::State::kernelOf(size_t unit, cl_int &code) {
  const std::string name =
      std::string(kKernel) + ":{" + kKernel + "_" + std::to_string(unit) + "}";
  return ClKernel(clCreateKernel(program.get(), name.c_str(), &code));
}

size_t Device::State::countUnits() {
  const auto wanted = size_t(std::max(options.units, 0));
  if (!program)
    return wanted ? wanted : size_t(kernel.units);
  // Vitis itself counts from 1.
  cl_int code = CL_SUCCESS;
  kernelOf(0, code);
  firstUnit = code == CL_SUCCESS ? 0 : 1;
  size_t named = 0;
  for (; wanted == 0 || named < wanted; ++named) {
    kernelOf(firstUnit + named, code);
    if (code != CL_SUCCESS)
      break;
  }
  if (named == 0) // the platform does not name units
    return std::max<size_t>(wanted, 1);
  if (named < wanted)
    fail("looking for the units: '" + std::string(options.program) + "' has " +
         std::to_string(named) + " of " + kKernel + ", not " +
         std::to_string(wanted));
  return named;
}

Queue Device::State::newQueue() {
  cl_int code = CL_SUCCESS;
  Queue queue(clCreateCommandQueue(context.get(), device, 0, &code));
  check(code, "clCreateCommandQueue", "opening '" + deviceName + "'");
  return queue;
}

Buffer Device::State::newBuffer(const Stream &stream, int64_t elements) {
  const size_t bytes = kernel.bytesOf(stream, elements);
  cl_int code = CL_SUCCESS;
  Buffer buffer(clCreateBuffer(
      context.get(), stream.isInput ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY,
      bytes, nullptr, &code));
  check(code, "clCreateBuffer",
        "a buffer of " + std::to_string(bytes) + " bytes for " + stream.port);
  return buffer;
}

/// Makes a unit's buffers. A set's kernel knows its buffers before they are
/// written: that decides in which memory a card has them.
void Device::State::prepare(Unit &unit, size_t number,
                            const void *const *arrays) {
  unit.queue = newQueue();
  unit.residents.resize(kernel.streams.size());
  for (size_t s = 0; s < kernel.streams.size(); ++s)
    if (kernel.streams[s].isOnce)
      unit.residents[s] = newBuffer(kernel.streams[s], 1);
  for (Set &set : unit.sets) {
    for (size_t s = 0; s < kernel.streams.size(); ++s) {
      const Stream &stream = kernel.streams[s];
      set.pages.emplace_back();
      if (!stream.isOnce) {
        set.own.push_back(newBuffer(stream, batch));
        set.pages.back() = newPages(kernel.bytesOf(stream, batch));
      }
      set.buffers.push_back(stream.isOnce ? unit.residents[s].get()
                                          : set.own.back().get());
    }
    if (!program)
      continue;
    cl_int code = CL_SUCCESS;
    set.kernel = kernelOf(firstUnit + number, code);
    if (code != CL_SUCCESS)
      set.kernel.reset(clCreateKernel(program.get(), kKernel, &code));
    check(code, "clCreateKernel", std::string("the kernel ") + kKernel);
    for (size_t s = 0; s < set.buffers.size(); ++s)
      check(clSetKernelArg(set.kernel.get(), cl_uint(s), sizeof(cl_mem),
                           &set.buffers[s]),
            "clSetKernelArg",
            "argument " + std::to_string(s) + ", " + kernel.streams[s].port);
  }
  for (size_t s = 0; s < kernel.streams.size(); ++s) {
    if (!unit.residents[s])
      continue;
    const Stream &stream = kernel.streams[s];
    const size_t bytes = kernel.bytesOf(stream, 1);
    Pages pages = newPages(bytes);
    pack(kernel, stream, arrays, 0, 1, pages.get());
    check(clEnqueueWriteBuffer(writes.get(), unit.residents[s].get(), CL_TRUE,
                               0, bytes, pages.get(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer", "sending what stays, to " + stream.port);
  }
}

void Device::State::open(const void *const *arrays) {
  if (!options.program && !kernel.compute)
    fail("the kernel's machine code is not for this machine; name the program "
         "of the FPGA");
  findDevice();
  cl_int code = CL_SUCCESS;
  context.reset(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
  check(code, "clCreateContext", "opening '" + deviceName + "'");
  if (options.program)
    build();
  writes = newQueue();
  reads = newQueue();
  batch = options.batch;
  if (batch <= 0) {
    constexpr int64_t kBytes = 4 << 20;
    int64_t largest = 1;
    for (const Stream &stream : kernel.streams)
      if (!stream.isOnce)
        largest = std::max(largest, stream.groupBytes);
    batch = std::max<int64_t>(kBytes / largest, 1) * kernel.lanes;
  }
  batch = (batch + kernel.lanes - 1) / kernel.lanes * kernel.lanes;
  units = std::vector<Unit>(countUnits());
  for (size_t u = 0; u < units.size(); ++u) {
    prepare(units[u], u, arrays);
    errorsOf(u); // those of someone before
  }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static std::vector<cl_event> listOf(const std::vector<Event> &events) {
  std::vector<cl_event> list;
  for (const Event &event : events)
    list.push_back(event.get());
  return list;
}

void Device::State::enqueueCompute(Unit &unit, Set &set,
                                   const std::vector<Event> &after,
                                   Event &done) {
  const std::string step = "computing on '" + deviceName + "'";
  const std::vector<cl_event> list = listOf(after);
  const auto waits = cl_uint(list.size());
  const cl_event *events = list.empty() ? nullptr : list.data();
  cl_event event = nullptr;
  if (program) {
    const auto elements = cl_uint(set.count);
    check(clSetKernelArg(set.kernel.get(), cl_uint(set.buffers.size()),
                         sizeof elements, &elements),
          "clSetKernelArg", "the number of elements");
    const size_t one = 1;
    check(clEnqueueNDRangeKernel(unit.queue.get(), set.kernel.get(), 1, nullptr,
                                 &one, &one, waits, events, &event),
          "clEnqueueNDRangeKernel", step);
  } else {
    const size_t count = set.buffers.size();
    std::vector<uint8_t> arguments(sizeof(Call) + count * sizeof(void *));
    const Call call{&kernel, set.count};
    std::memcpy(arguments.data(), &call, sizeof call);
    // As they were created, what stays first: PoCL sorts buffers so, but not
    // their places.
    std::vector<cl_mem> buffers;
    std::vector<const void *> places;
    for (bool isOnce : {true, false})
      for (size_t s = 0; s < count; ++s)
        if (kernel.streams[s].isOnce == isOnce) {
          buffers.push_back(set.buffers[s]);
          places.push_back(arguments.data() + sizeof(Call) +
                           s * sizeof(void *));
        }
    check(clEnqueueNativeKernel(unit.queue.get(), callKernel, arguments.data(),
                                arguments.size(), cl_uint(count),
                                buffers.data(), places.data(), waits, events,
                                &event),
          "clEnqueueNativeKernel", step);
  }
  done.reset(event);
  check(clFlush(unit.queue.get()), "clFlush", step);
}

void Device::State::start(Unit &unit, Set &set, void *const *arrays) {
  std::vector<Event> written, computed(1);
  for (size_t s = 0; s < kernel.streams.size(); ++s) {
    const Stream &stream = kernel.streams[s];
    if (!stream.isInput || stream.isOnce)
      continue;
    pack(kernel, stream, arrays, set.first, set.count, set.pages[s].get());
    cl_event event = nullptr;
    check(clEnqueueWriteBuffer(writes.get(), set.buffers[s], CL_FALSE, 0,
                               kernel.bytesOf(stream, set.count),
                               set.pages[s].get(), 0, nullptr, &event),
          "clEnqueueWriteBuffer", "sending to " + stream.port);
    written.emplace_back(event);
  }
  check(clFlush(writes.get()), "clFlush", "sending");
  enqueueCompute(unit, set, written, computed[0]);
  const std::vector<cl_event> after = listOf(computed);
  for (size_t s = 0; s < kernel.streams.size(); ++s) {
    const Stream &stream = kernel.streams[s];
    if (stream.isInput)
      continue;
    cl_event event = nullptr;
    check(clEnqueueReadBuffer(reads.get(), set.buffers[s], CL_FALSE, 0,
                              kernel.bytesOf(stream, set.count),
                              set.pages[s].get(), 1, after.data(), &event),
          "clEnqueueReadBuffer", "reading from " + stream.port);
    set.reads.emplace_back(event);
  }
  check(clFlush(reads.get()), "clFlush", "reading");
}

/// What the memory answered a unit with an error for, since the last call.
std::string Device::State::errorsOf(size_t unit) {
  std::string names;
  if (!program || !options.read_register || kernel.errors == 0)
    return names;
  uint32_t bits = 0;
  for (size_t s = 0; s < kernel.streams.size(); ++s) {
    const auto offset = uint32_t(kernel.errors + s / 32 * 4);
    if (s % 32 == 0 && options.read_register(options.context, int32_t(unit),
                                             offset, &bits) != 0)
      fail("the register " + std::to_string(offset) + " of unit " +
           std::to_string(unit) + " cannot be read");
    if (bits >> s % 32 & 1)
      for (const Tensor &tensor : kernel.streams[s].tensors)
        names += (names.empty() ? "'" : ", '") + tensor.name + "'";
  }
  return names;
}

/// Waits for a set's results and puts them into the arrays.
void Device::State::finish(size_t unit, Set &set, void *const *arrays) {
  if (set.count == 0)
    return;
  const std::vector<cl_event> events = listOf(set.reads);
  check(clWaitForEvents(cl_uint(events.size()), events.data()),
        "clWaitForEvents",
        "elements " + std::to_string(set.first) + " to " +
            std::to_string(set.first + set.count - 1));
  if (const std::string names = errorsOf(unit); !names.empty())
    fail("elements " + std::to_string(set.first) + " to " +
         std::to_string(set.first + set.count - 1) + ", on unit " +
         std::to_string(unit) +
         ": the card's memory answered with an error for " + names);
  for (size_t s = 0; s < kernel.streams.size(); ++s)
    if (!kernel.streams[s].isInput)
      unpack(kernel, kernel.streams[s], set.pages[s].get(), set.first,
             set.count, arrays);
  set.reads.clear();
  set.count = 0;
}

/// Ends what is under way after a failure: it uses the host's memory.
void Device::State::drain() {
  if (writes)
    clFinish(writes.get());
  for (Unit &unit : units)
    if (unit.queue)
      clFinish(unit.queue.get());
  if (reads)
    clFinish(reads.get());
  for (Unit &unit : units)
    for (Set &set : unit.sets) {
      set.reads.clear();
      set.count = 0;
    }
}

void Device::State::compute(int64_t elements, void *const *arrays) {
  // A few elements go through both sets of all units, too.
  const auto sets = int64_t(2 * units.size());
  int64_t share = (std::max<int64_t>(elements, 0) + sets - 1) / sets;
  share = (share + kernel.lanes - 1) / kernel.lanes * kernel.lanes;
  share = std::min(share, batch);
  try {
    int64_t turn = 0;
    auto unitOf = [&](int64_t n) { return size_t(n) % units.size(); };
    auto setOf = [&](int64_t n) -> Set & {
      return units[unitOf(n)].sets[size_t(n) / units.size() % 2];
    };
    for (int64_t first = 0; first < elements; first += share, ++turn) {
      Set &set = setOf(turn);
      finish(unitOf(turn), set, arrays);
      set.first = first;
      set.count = std::min(share, elements - first);
      start(units[unitOf(turn)], set, arrays);
    }
    for (int64_t left = 0; left < sets; ++left)
      finish(unitOf(turn + left), setOf(turn + left), arrays);
  } catch (...) {
    drain();
    throw;
  }
}

Device::Device(const Kernel &kernel, const rhz_host_options &options,
               const void *const *arrays)
    : state(std::make_unique<State>(kernel, options)) {
  state->open(arrays);
}
Device::~Device() = default;
void Device::compute(int64_t elements, void *const *arrays) {
  state->compute(elements, arrays);
}
const std::string &Device::name() const { return state->deviceName; }
int Device::units() const { return int(state->units.size()); }

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

rhz_host *rhizome::host::open(const Kernel &kernel,
                              const rhz_host_options *options,
                              const void *const *arrays, char *error,
                              size_t size) {
  try {
    const rhz_host_options none = {};
    return new rhz_host{{kernel, options ? *options : none, arrays}, ""};
  } catch (const std::exception &problem) {
    if (error && size > 0)
      std::snprintf(error, size, "%s", problem.what());
    return nullptr;
  }
}

int rhizome::host::compute(rhz_host *host, int64_t elements,
                           void *const *arrays) {
  try {
    host->error.clear();
    host->device.compute(elements, arrays);
    return 0;
  } catch (const std::exception &problem) {
    host->error = problem.what();
    return -1;
  }
}

int rhizome::host::run(const Kernel &kernel, const rhz_host_options *options,
                       int64_t elements, void *const *arrays, char *error,
                       size_t size) {
  rhz_host *host = open(kernel, options, arrays, error, size);
  if (!host)
    return -1;
  const int status = compute(host, elements, arrays);
  if (status != 0 && error && size > 0)
    std::snprintf(error, size, "%s", host->error.c_str());
  rhz_host_close(host);
  return status;
}

const char *rhz_host_device(const rhz_host *host) {
  return host->device.name().c_str();
}
int32_t rhz_host_units(const rhz_host *host) { return host->device.units(); }
const char *rhz_host_error(const rhz_host *host) { return host->error.c_str(); }
void rhz_host_close(rhz_host *host) { delete host; }
