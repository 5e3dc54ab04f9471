// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite on a design that is no network, and what single drivers
// do besides.
#include "../TestFolder.h"
#include "DriverSuite.h"
#include "Toy.h"
#include "rhizome/runtime/border.h"
#include "rhizome/runtime/infer.h"
#include "rhizome/runtime/udp.h"
#include <cmath>
#include <cstdarg>
#include <limits>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace rhizome::runtime;
using namespace rhizome::test;
using namespace std::chrono_literals;

static constexpr Duration kLong = 60s;

static Bytes computeToy(size_t region, const Bytes &frame) {
  return toy::compute(region, frame);
}

const Subject &rhizome::test::subject() {
  static const Subject subject = [] {
    Subject s;
    s.design = toy::design("");
    s.compute = computeToy;
    s.frame = [](uint64_t number) { return toy::frame(number); };
    s.simulator = RHIZOME_TOY_SIMULATOR;
    s.simulatorFolder = "/";
    if (std::string rank = RHIZOME_TOY_RANK; !rank.empty()) {
      s.ranks = mpiLauncher();
      for (const std::string &word :
           {std::string("-n"), std::string("2"), rank, std::string("FOLDER")})
        s.ranks.push_back(word);
    }
    return s;
  }();
  return subject;
}

TEST(Inference, TakesAndGivesTensors) {
  // Five bytes of a scale and a zero point; twenty bits as five numbers.
  const int64_t shape[] = {5}, sizes[] = {5}, one[] = {1};
  const int64_t zero[] = {3}, none[] = {0};
  const float half[] = {0.5f}, eighth[] = {0.125f}, offset[] = {1.f};
  const rhz_tensor in = {"x", RHZ_FLOAT32, 1, 1, shape, 5};
  const rhz_tensor out = {"y", RHZ_FLOAT32, 1, 1, shape, 5};
  const rhz_border to = {"s_axis_0", 0,  5,    8,     0,      0,
                         255,        32, 1,    sizes, one,    RHZ_HALF_EVEN,
                         1,          1,  half, zero,  nullptr};
  const rhz_border from = {"m_axis_0", 0,  5,      4,     1,     -8,
                           7,          16, 1,      sizes, one,   RHZ_HALF_EVEN,
                           1,          1,  eighth, none,  offset};
  const rhz_model model = {
      "toy", 1, 1,       1,       &in, &out,    1, 1,       &to, &from,
      0,     0, nullptr, nullptr, 0,   nullptr, 0, nullptr, 0,   nullptr};
  for (bool computes : {true, false}) {
    auto device =
        computes ? udpDevice(computeToy, toy::design("")) : nullDevice();
    Inference inference(model, "", device->driver());
    inference.patience = kLong;
    Status status = inference.open();
    ASSERT_TRUE(status) << status.text;
    const size_t frames = 5;
    std::vector<float> x, y(5 * frames);
    for (size_t i = 0; i < 5 * frames; ++i)
      x.push_back(float(i) * 1.25f);
    const void *inputs[] = {x.data()};
    void *outputs[] = {y.data()};
    status = inference.infer(inputs, outputs, frames);
    ASSERT_TRUE(status) << status.text;
    for (size_t f = 0; f < frames; ++f) {
      Bytes frame;
      for (size_t i = 0; i < 5; ++i)
        frame.push_back(uint8_t(std::nearbyint(x[5 * f + i] / 0.5f) + 3));
      Bytes answer = device->computes ? toy::compute(frame) : Bytes(3);
      for (size_t i = 0; i < 5; ++i) {
        int code = answer[i / 2] >> (i % 2 * 4) & 15;
        EXPECT_EQ(y[5 * f + i],
                  float(code < 8 ? code : code - 16) * 0.125f + 1);
      }
    }
    x[7] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FAULT(Fault::Size, "input 'x', frame 1, element 2: NaN",
                 inference.infer(inputs, outputs, frames));
    x[7] = 0;
    status = inference.infer(inputs, outputs, frames);
    EXPECT_TRUE(status) << status.text;
  }
}

//===----------------------------------------------------------------------===//
// Designs of several regions
//===----------------------------------------------------------------------===//

namespace {
class Regions : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    const std::string kind = GetParam();
    if (kind == "null")
      device = nullDevice();
    else if (kind == "cpu")
      device = cpuDevice(computeToy);
    else if (kind == "simulation")
      device = simulationDevice(RHIZOME_TOY_SIMULATOR, "/");
    else if (kind == "opencl")
      device = openClDevice(computeToy, RHIZOME_BROKEN_OPENCL);
    else if (kind == "uart")
      device = uartDevice(computeToy, toy::regions(""));
    else if (kind == "udp")
      device = udpDevice(computeToy, toy::regions(""));
    else {
      std::vector<std::string> ranks = subject().ranks;
      if (!ranks.empty())
        ranks.push_back("regions");
      device = mpiDevice(ranks);
    }
    if (!device->missing.empty())
      GTEST_SKIP() << device->missing;
    driver = device->driver();
    Status status = driver->open(toy::regions(""));
    ASSERT_TRUE(status) << status.text;
  }
  void launch(size_t region, uint64_t number) {
    Status status = driver->write(region, toy::frame(region, number));
    if (status)
      status = driver->launch(region);
    ASSERT_TRUE(status) << status.text;
  }
  void expectAnswer(size_t region, uint64_t number) {
    Status status = driver->wait(kLong);
    ASSERT_TRUE(status) << status.text;
    Bytes answer(driver->design().outputs[region].frameBytes());
    status = driver->read(region, answer);
    ASSERT_TRUE(status) << status.text;
    EXPECT_EQ(answer, device->computes
                          ? toy::compute(region, toy::frame(region, number))
                          : Bytes(answer.size()))
        << "region " << region << ", frame " << number;
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<Driver> driver;
};
} // namespace

TEST_P(Regions, AreStartedAndAnsweredByThemselves) {
  EXPECT_FAULT(Fault::Size, "no region 2", driver->launch(2));
  EXPECT_FAULT(Fault::Order, "s_axis_1: the frame was not written",
               driver->launch(1));
  for (uint64_t number = 0; number < 3; ++number)
    for (size_t region : {1, 0}) {
      launch(region, number);
      expectAnswer(region, number);
    }
  // What was written for one region is not another's.
  ASSERT_TRUE(driver->write(0, toy::frame(0, 8)));
  launch(1, 9);
  expectAnswer(1, 9);
  Bytes other(driver->design().outputs[0].frameBytes());
  EXPECT_FAULT(Fault::Order, "m_axis_0: it is not of the region that is done",
               driver->read(0, other));
  ASSERT_TRUE(driver->launch(0));
  expectAnswer(0, 8);
  EXPECT_EQ(driver->statistics().done, 8u);
}

/// As frames go through a model: the second region of one while the first has
/// another, and none of a region in a row.
TEST_P(Regions, AnswerInTheOrderOfTheJobs) {
  ASSERT_TRUE(driver->allocate(3));
  launch(0, 0);
  launch(0, 1);
  for (uint64_t number = 0; number < 6; ++number) {
    expectAnswer(0, number);
    launch(1, number);
    if (number > 0)
      expectAnswer(1, number - 1);
    launch(0, number + 2);
    // Oldest first: the next frame's first region, then this one's second.
    if (number == 5) {
      expectAnswer(0, 6);
      expectAnswer(1, 5);
      expectAnswer(0, 7);
    }
  }
  EXPECT_EQ(driver->onTheirWay(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Drivers, Regions,
                         testing::Values("null", "cpu", "simulation", "uart",
                                         "udp", "mpi", "opencl"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

//===----------------------------------------------------------------------===//
// Designs that keep state
//===----------------------------------------------------------------------===//

/// Lines that have a break, and the devices behind them, which it resets. A
/// pseudo terminal has none: this stands before the C library's `ioctl`.
static std::function<void()> breakReaches;

extern "C" int ioctl(int file, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (breakReaches && (request == TIOCMGET || request == TIOCCBRK))
    return 0;
  if (breakReaches && request == TIOCSBRK) {
    breakReaches();
    return 0;
  }
  return int(syscall(SYS_ioctl, file, request, argument));
}

namespace {
class States : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    const std::string kind = GetParam();
    design.keepsState = true;
    auto compute = [this](size_t region, const std::vector<Bytes> &in,
                          std::vector<Bytes> &out, std::string &) {
      if (region == kBegin)
        keeping = {};
      else
        out = {keeping.compute(in[0])};
      return true;
    };
    if (kind == "cpu") {
      driver = makeCpuDriver(compute);
    } else if (kind == "opencl") {
      device = openClDevice(computeToy, RHIZOME_BROKEN_OPENCL);
      OpenClOptions options;
      options.library = RHIZOME_BROKEN_OPENCL;
      options.native = compute;
      driver = makeOpenClDriver(options);
    } else if (kind == "simulation") {
      device = simulationDevice(RHIZOME_TOY_SIMULATOR, "/");
      setenv("RHZ_TOY", "keep", 1);
    } else if (kind == "uart") {
      device = uartDevice(
          [this](size_t, const Bytes &frame) { return keeping.compute(frame); },
          design);
      keeping.kept = 99; // of whoever was there before
      breakReaches = [this] { keeping = {}; };
    }
    if (device && !device->missing.empty())
      GTEST_SKIP() << device->missing;
    if (!driver)
      driver = device->driver();
  }
  void TearDown() override {
    driver.reset();
    device.reset();
    breakReaches = nullptr;
  }
  Design design = toy::design("");
  toy::Keeping keeping;
  std::unique_ptr<Device> device;
  std::unique_ptr<Driver> driver;
};
} // namespace

TEST_P(States, BeginAnewWhenADriverIsOpened) {
  for (int round = 0; round < 2; ++round) {
    Status status = driver->open(design);
    ASSERT_TRUE(status) << status.text;
    toy::Keeping want;
    for (uint64_t number = 0; number < 4; ++number) {
      ASSERT_TRUE(driver->write(0, toy::frame(number)));
      ASSERT_TRUE(driver->launch());
      status = driver->wait(kLong);
      ASSERT_TRUE(status) << status.text;
      Bytes answer(design.outputs[0].frameBytes());
      ASSERT_TRUE(driver->read(0, answer));
      EXPECT_EQ(answer, want.compute(toy::frame(number)))
          << "round " << round << ", frame " << number;
    }
    driver->close();
  }
}

INSTANTIATE_TEST_SUITE_P(Drivers, States,
                         testing::Values("cpu", "simulation", "uart", "opencl"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST(StateDrivers, ThatCannotResetRefuseIt) {
  Design design = toy::design("");
  design.keepsState = true;
  auto uart = uartDevice(computeToy, design);
  EXPECT_FAULT(Fault::Unsupported, "has no break that resets it",
               uart->driver()->open(design));
  auto udp = udpDevice(computeToy, design);
  EXPECT_FAULT(Fault::Unsupported, "a client of nodes cannot reset",
               udp->driver()->open(design));
  EXPECT_FAULT(Fault::Unsupported, "MPI ranks cannot reset",
               makeMpiDriver({})->open(design));
}

TEST(SimulationDriver, SaysWhatTheSimulatorSays) {
  setenv("RHZ_TOY", "error", 1);
  auto driver = simulationDevice(RHIZOME_TOY_SIMULATOR, "/")->driver();
  setenv("RHZ_TOY", "error", 1);
  ASSERT_TRUE(driver->open(toy::design("")));
  ASSERT_TRUE(driver->write(0, toy::frame(0)));
  ASSERT_TRUE(driver->launch());
  EXPECT_FAULT(Fault::Device, "misbehaves: it hangs", driver->wait(kLong));
  setenv("RHZ_TOY", "short", 1);
  ASSERT_TRUE(driver->write(0, toy::frame(0)));
  ASSERT_TRUE(driver->launch());
  EXPECT_FAULT(Fault::Device, "wrote 0 bytes of m_axis_0 instead of 4",
               driver->wait(kLong));
  unsetenv("RHZ_TOY");
  SimulationOptions options;
  options.program = "/no/such/program";
  driver = makeSimulationDriver(options);
  EXPECT_FAULT(Fault::Gone, "'/no/such/program' cannot be run",
               driver->open(toy::design("")));
}

TEST(UartDriver, RefusesWhatIsNoLine) {
  TestFolder folder;
  std::string file = folder.path() + "/file";
  std::ofstream(file) << "no line";
  auto driver = makeUartDriver({file, 1000000});
  EXPECT_FAULT(Fault::Unsupported, "is not a serial line",
               driver->open(toy::design("")));
  driver = makeUartDriver({file + "-absent", 1000000});
  EXPECT_FAULT(Fault::Gone, "cannot open", driver->open(toy::design("")));
  driver = makeUartDriver({file, 12345});
  EXPECT_FAULT(Fault::Unsupported, "no line speed of 12345 baud",
               driver->open(toy::design("")));
  Design design = toy::design("");
  design.inputs.push_back(design.inputs[0]);
  EXPECT_FAULT(Fault::Unsupported, "the design has 2 and 1",
               driver->open(design));
  design.outputs.push_back({"m_axis_1", 8, 8});
  design.regions = {{0, 1, 0, 1}, {1, 1, 1, 0}};
  EXPECT_FAULT(Fault::Unsupported, "region 1 has 1 and 0",
               driver->open(design));
}

TEST(UdpDriver, RefusesDesignsWithoutLinksAndNamesSilentNodes) {
  auto driver = makeUdpDriver({});
  EXPECT_FAULT(Fault::Unsupported, "no links", driver->open(toy::design("")));
  UdpOptions options;
  options.service.nodes = {{"node0", 1}};
  options.listen = "127.0.0.1:0";
  options.patience = 100ms;
  driver = makeUdpDriver(options);
  EXPECT_FAULT(Fault::Gone, "not said where node0 is",
               driver->open(toy::design("")));
  // Nothing answers at a port that a closed socket had.
  rhizome::link::Endpoint endpoint(1, {});
  {
    rhizome::link::UdpSocket socket(endpoint);
    std::string error;
    ASSERT_TRUE(socket.bind("127.0.0.1:0", error)) << error;
    options.places[1] = "127.0.0.1:" + std::to_string(socket.port());
  }
  driver = makeUdpDriver(options);
  EXPECT_FAULT(Fault::Gone, "no answer from node0 (127.0.0.1:",
               driver->open(toy::design("")));
}

TEST(MpiDriver, SaysWhatIsMissingAndWhatRanksSay) {
  TestFolder folder;
  MpiOptions options;
  options.command = {"no-such-launcher", "-n", "2"};
  options.folder = folder.path();
  auto driver = makeMpiDriver(options);
  EXPECT_FAULT(Fault::Unsupported, "openmpi-bin",
               driver->open(toy::design("")));
  options.command = {"sh", "-c",
                     "echo 'rhizome-rank: no such plan' >&2; exit 3"};
  driver = makeMpiDriver(options);
  EXPECT_FAULT(Fault::Gone, "have ended: no such plan (log in '",
               driver->open(toy::design("")));
  options.command = {"sh", "-c", "echo hello; cat"};
  driver = makeMpiDriver(options);
  EXPECT_FAULT(Fault::Gone, "speaks another protocol",
               driver->open(toy::design("")));
  options.command = {"sleep", "20"};
  options.patience = 100ms;
  driver = makeMpiDriver(options);
  EXPECT_FAULT(Fault::Gone, "did not start in time",
               driver->open(toy::design("")));
}
