// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver for OpenCL and its programs: which kernels it takes, what they
// find in their memories, what a frame costs, and what it says of each fault.
#include "../TestFolder.h"
#include "Devices.h"
#include "DriverSuite.h"
#include "Toy.h"
#include "rhizome/runtime/border.h"
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <thread>

using namespace rhizome::runtime;
using namespace rhizome::test;
using namespace std::chrono_literals;

namespace {
constexpr Duration kLong = 60s;

Bytes toyFunction(size_t region, const Bytes &frame) {
  return toy::compute(region, frame);
}

/// The toy's design as a kernel of OpenCL C, with one segment whose bytes are
/// added to the answer.
const char kFrame[] = R"(
__kernel void rhz_frame(__global const uchar *in, __global uchar *out,
                        __global const uchar *segment) {
  ulong value = 0;
  for (int i = 4; i >= 0; --i)
    value = value << 8 | in[i];
  value = (value * 0x9E3779B97F4A7C15UL >> 20) & 0xfffff;
  for (int i = 0; i < 3; ++i)
    out[i] = (uchar)(value >> 8 * i) ^ segment[i];
}
)";

/// A program of a package: the first byte of the memory is added to the answer,
/// the second one is reported, the last one of its space counts frames, and
/// what it works in must be there.
const char kOwn[] = R"(
__kernel void toy_0123(__global const uchar *in, __global uchar *out,
                       __global uchar *memory, __global uchar *space) {
  __global uint *report = (__global uint *)(out + 4);
  report[0] = memory[1];
  report[1] = 0xabcd;
  memory[8191] += 1;
  space[99] = memory[8191];
  ulong value = 0;
  for (int i = 4; i >= 0; --i)
    value = value << 8 | in[i];
  value = (value * 0x9E3779B97F4A7C15UL >> 20) & 0xfffff;
  for (int i = 0; i < 3; ++i)
    out[i] = (uchar)(value >> 8 * i) ^ memory[0];
}
)";

/// The movers as v++ has linked them to the design: what `wire` stands for is
/// the library's business.
const char kMovers[] = R"(
__kernel void mm2s_0(__global const uint *memory, __global volatile uint *wire,
                     uint beats, uint frames) {
  while (atomic_cmpxchg(wire, 0, 1) != 0)
    ;
  for (uint i = 0; i < beats * frames; ++i)
    wire[1 + i] = memory[i];
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_xchg(wire, 2);
}
__kernel void s2mm_0(__global ushort *memory, __global volatile uint *wire,
                     uint beats, uint frames) {
  while (atomic_cmpxchg(wire, 2, 3) != 2)
    ;
  ulong value = (wire[1] | (ulong)(wire[2] & 255) << 32) & 0xffffffffffUL;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_xchg(wire, 0);
  value = (value * 0x9E3779B97F4A7C15UL >> 20) & 0xfffff;
  for (uint i = 0; i < beats * frames; ++i)
    memory[i] = (ushort)(value >> 16 * i);
}
)";

/// A design that reads and writes its memories.
const char kDesign[] = R"(
__kernel void rhz_kernel_0(__global uchar *first, __global uchar *second) {
  first[7] += second[2];
}
)";

class OpenClPrograms : public testing::Test {
protected:
  void SetUp() override {
    auto device = openClDevice(toyFunction, RHIZOME_BROKEN_OPENCL);
    if (!device->missing.empty())
      GTEST_SKIP() << device->missing;
  }
  void TearDown() override { unsetenv("RHZ_OPENCL"); }
  static void become(const char *fault) { setenv("RHZ_OPENCL", fault, 1); }

  Segment segment(const std::string &name, const Bytes &bytes, int64_t address,
                  size_t port = 0) {
    std::ofstream(folder.path() + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               std::streamsize(bytes.size()));
    return {{name, bytes.size(), rhz_checksum(bytes.data(), bytes.size())},
            "ddr4",
            int64_t(port),
            address,
            port};
  }
  /// A design with kOwn as its program, which reports `report`.
  Design ownDesign(uint8_t report = 0) {
    Design design = toy::design(folder.path());
    design.segments = {segment("program", {0x2a, report}, 0),
                       segment("space", {}, 8192)};
    design.program = {"own.cl", "toy_0123", 100};
    return design;
  }
  /// Writes, kernels, reads since the last call.
  static std::array<unsigned, 3> commands() {
    static void *library = dlopen(RHIZOME_BROKEN_OPENCL, RTLD_NOW);
    auto ask = reinterpret_cast<void (*)(unsigned *)>(
        dlsym(library, "rhz_opencl_commands"));
    std::array<unsigned, 3> counts;
    ask(counts.data());
    return counts;
  }
  static Status launch(Driver &driver, uint64_t number) {
    if (Status status = driver.write(0, toy::frame(number)); !status)
      return status;
    return driver.launch();
  }
  static void expectAnswer(Driver &driver, uint64_t number, uint8_t flipped) {
    Status status = driver.wait(kLong);
    ASSERT_TRUE(status) << status.text;
    Bytes answer(3), want = toy::compute(toy::frame(number));
    ASSERT_TRUE(driver.read(0, answer));
    for (uint8_t &byte : want)
      byte ^= flipped;
    EXPECT_EQ(answer, want);
  }
  std::unique_ptr<Driver> running(const std::string &name,
                                  const std::string &text) {
    std::ofstream(folder.path() + "/" + name) << text;
    OpenClOptions options;
    options.program = folder.path() + "/" + name;
    options.library = RHIZOME_BROKEN_OPENCL;
    return makeOpenClDriver(options);
  }
  /// So many frames, some of them at once on their way.
  static void expectAnswers(Driver &driver, uint8_t flipped,
                            uint64_t frames = 8, uint64_t room = 2) {
    ASSERT_TRUE(driver.allocate(room));
    for (uint64_t number = 0; number < frames + room; ++number) {
      if (number >= room)
        expectAnswer(driver, number - room, flipped);
      if (number >= frames)
        continue;
      Status status = launch(driver, number);
      ASSERT_TRUE(status) << status.text;
    }
  }
  TestFolder folder;
};
} // namespace

TEST_F(OpenClPrograms, ComputesFramesWithSegments) {
  Design design = toy::design(folder.path());
  Bytes segment(3, 0x2a);
  design.segments = {
      {{"weights.bin", 3, rhz_checksum(segment.data(), 3)}, "ddr4", 0, 0}};
  auto driver = running("frame.cl", kFrame);
  Status status = driver->open(design);
  ASSERT_TRUE(status) << status.text;
  ASSERT_TRUE(driver->write(0, toy::frame(0)));
  EXPECT_FAULT(Fault::Segment, "'weights.bin' was not loaded",
               driver->launch());
  ASSERT_TRUE(driver->load(0, segment));
  expectAnswers(*driver, 0x2a);
}

TEST_F(OpenClPrograms, RunsTheMoversOfAVitisProject) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "movers that wait for each other need two cores";
  become("linked");
  auto driver = running("movers.cl", kMovers);
  Status status = driver->open(toy::design(""));
  ASSERT_TRUE(status) << status.text;
  expectAnswers(*driver, 0);
}

TEST_F(OpenClPrograms, StartsADesignOnceItsMemoriesAreFull) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "movers that wait for each other need two cores";
  become("linked");
  Design design = toy::design(folder.path());
  design.segments = {segment("weights", {1, 2, 3}, 4096),
                     segment("space", {}, 8192),
                     segment("table", {4, 5, 6}, 0, 1)};
  EXPECT_FAULT(Fault::Unsupported, "nor the design rhz_kernel_0",
               running("movers.cl", kMovers)->open(design));
  auto driver = running("design.cl", std::string(kMovers) + kDesign);
  Status status = driver->open(design);
  ASSERT_TRUE(status) << status.text;
  commands();
  status = driver->loadAll();
  ASSERT_TRUE(status) << status.text;
  EXPECT_EQ(commands(), (std::array<unsigned, 3>{2, 1, 0}));
  expectAnswers(*driver, 0);
}

TEST_F(OpenClPrograms, FindSegmentsWhereTheyLieInTheirMemory) {
  Design design = toy::design(folder.path());
  design.segments = {segment("weights", {0x15}, 4096),
                     segment("space", {}, 8192),
                     segment("table", {1, 2, 0x30}, 100, 1)};
  auto driver = running("memories.cl", R"(
__kernel void rhz_frame(__global const uchar *in, __global uchar *out,
                        __global uchar *first, __global const uchar *second) {
  first[8191] = first[4096] ^ second[102];
  ulong value = 0;
  for (int i = 4; i >= 0; --i)
    value = value << 8 | in[i];
  value = (value * 0x9E3779B97F4A7C15UL >> 20) & 0xfffff;
  for (int i = 0; i < 3; ++i)
    out[i] = (uchar)(value >> 8 * i) ^ first[8191];
}
)");
  Status status = driver->open(design);
  ASSERT_TRUE(status) << status.text;
  ASSERT_TRUE(driver->loadAll());
  expectAnswers(*driver, 0x25);
}

TEST_F(OpenClPrograms, OfAPackageTakeTwoCopiesAFrame) {
  Design design = ownDesign();
  auto driver = running("own.cl", kOwn);
  Status status = driver->open(design);
  ASSERT_TRUE(status) << status.text;
  ASSERT_TRUE(driver->loadAll());
  commands();
  expectAnswers(*driver, 0x2a, 1000, 8);
  EXPECT_EQ(commands(), (std::array<unsigned, 3>{1000, 1000, 1000}));
  EXPECT_EQ(driver->statistics().done, 1000u);
  // Without a name it is the package's.
  OpenClOptions options;
  options.library = RHIZOME_BROKEN_OPENCL;
  driver = makeOpenClDriver(options);
  ASSERT_TRUE(driver->open(design));
  ASSERT_TRUE(driver->loadAll());
  expectAnswers(*driver, 0x2a);
}

TEST_F(OpenClPrograms, ReportWhatTheyDoNotCarryOut) {
  for (auto [report, words] :
       {std::pair(1, "is for the instruction set 0000abcd"),
        {2, "is for the core 0000abcd"},
        {3, "has 43981 instructions"},
        {4, "has 43981 blocks of weights wait"},
        {9, "gives the report 9"}}) {
    auto driver = running("own.cl", kOwn);
    ASSERT_TRUE(driver->open(ownDesign(uint8_t(report))));
    ASSERT_TRUE(driver->loadAll());
    ASSERT_TRUE(launch(*driver, 1));
    EXPECT_FAULT(Fault::Device, words, driver->wait(kLong));
    // The right one can be loaded.
    Design right = ownDesign();
    driver->close();
    ASSERT_TRUE(driver->open(right));
    ASSERT_TRUE(driver->loadAll());
    expectAnswers(*driver, 0x2a);
  }
}

TEST_F(OpenClPrograms, OfOtherPackagesAreRefused) {
  Design design = ownDesign();
  design.program->kernel = "toy_4567";
  auto driver = running("own.cl", kOwn);
  EXPECT_FAULT(Fault::Unsupported, "nor toy_4567 of the package's 'own.cl'",
               driver->open(design));
}

TEST_F(OpenClPrograms, ThatHaveNoMemoryLeaveOtherFramesAlone) {
  Design design = ownDesign();
  auto driver = running("own.cl", kOwn);
  become("full");
  EXPECT_FAULT(Fault::Device, "has no room for 8192 bytes",
               driver->open(design));
  become("");
  ASSERT_TRUE(driver->open(design));
  ASSERT_TRUE(driver->loadAll());
  ASSERT_TRUE(driver->allocate(3));
  ASSERT_TRUE(launch(*driver, 1));
  ASSERT_TRUE(launch(*driver, 2));
  become("full");
  EXPECT_FAULT(Fault::Device, "fewer frames on their way", launch(*driver, 3));
  expectAnswer(*driver, 1, 0x2a);
  // It has the buffers of a frame that is done.
  ASSERT_TRUE(launch(*driver, 3));
  expectAnswer(*driver, 2, 0x2a);
  expectAnswer(*driver, 3, 0x2a);
}

TEST_F(OpenClPrograms, ThatHangAreLeftBehind) {
  auto driver = running("own.cl", kOwn);
  ASSERT_TRUE(driver->open(ownDesign()));
  ASSERT_TRUE(driver->loadAll());
  ASSERT_TRUE(driver->allocate(2));
  ASSERT_TRUE(launch(*driver, 1));
  become("hung");
  ASSERT_TRUE(launch(*driver, 2));
  expectAnswer(*driver, 1, 0x2a);
  EXPECT_FAULT(Fault::TimeOut, "has not computed the frame in time",
               driver->wait(100ms));
  EXPECT_EQ(driver->onTheirWay(), 1u);
  driver->close();
  become("");
  ASSERT_TRUE(driver->open(ownDesign()));
  ASSERT_TRUE(driver->loadAll());
  expectAnswers(*driver, 0x2a);
}

TEST_F(OpenClPrograms, AreRefusedByName) {
  Design design = toy::design("");
  EXPECT_FAULT(Fault::Unsupported, "nor the mover mm2s_0",
               running("other.cl", "__kernel void f() {}")->open(design));
  EXPECT_FAULT(Fault::Unsupported, "does not take",
               running("wrong.cl", "__kernel void f( {}")->open(design));
  EXPECT_FAULT(Fault::Unsupported, "does not take",
               running("junk.xclbin", "no binary")->open(design));
  OpenClOptions options;
  options.program = folder.path() + "/absent.xclbin";
  EXPECT_FAULT(Fault::File, "absent.xclbin' cannot be read",
               makeOpenClDriver(options)->open(design));
  options.platform = "Nobody's";
  EXPECT_FAULT(Fault::Unsupported,
               "no OpenCL platform 'Nobody's' has a device; there are 'P",
               makeOpenClDriver(options)->open(design));
  EXPECT_FAULT(Fault::Unsupported, "not said what the OpenCL device runs",
               makeOpenClDriver({})->open(design));
}

TEST_F(OpenClPrograms, CannotResetAState) {
  Design design = toy::design("");
  design.keepsState = true;
  EXPECT_FAULT(Fault::Unsupported, "OpenCL has no call that resets",
               running("frame.cl", kFrame)->open(design));
}

TEST_F(OpenClPrograms, ToldOfPlatformsAndDevicesThatAreNotThere) {
  Design design = toy::design("");
  auto driver = running("frame.cl", kFrame);
  become("bare");
  EXPECT_FAULT(Fault::Unsupported, "pocl-opencl-icd", driver->open(design));
  become("full");
  ASSERT_TRUE(driver->open(design));
  ASSERT_TRUE(driver->write(0, toy::frame(0)));
  EXPECT_FAULT(Fault::Device, "has no room for", driver->launch());
}

TEST(OpenClDriver, IsRefusedWithoutOpenCl) {
  OpenClOptions options;
  options.library = "/no/such/libOpenCL.so.1";
  Status status = makeOpenClDriver(options)->open(toy::design(""));
  EXPECT_EQ(status.fault, Fault::Unsupported);
  EXPECT_TRUE(status.text.find("ocl-icd-libopencl1") != std::string::npos ||
              status.text.find("opencl-c-headers") != std::string::npos)
      << status.text;
}
