// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite: every driver, before a device of its own kind that can
// be told to fail, does the same in every case.
#include "../TestFolder.h"
#include "Devices.h"
#include "Toy.h"
#include "rhizome/runtime/border.h"
#include "rhizome/runtime/infer.h"
#include "rhizome/runtime/udp.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace rhizome::runtime;
using namespace rhizome::test;
using namespace std::chrono_literals;

namespace {
/// So long that only what never comes takes it.
constexpr Duration kLong = 60s;
/// So short that what is stalled is not there.
constexpr Duration kShort = 20ms;

class DriverSuite : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    std::string kind = GetParam();
    if (kind == "null")
      device = nullDevice();
    else if (kind == "cpu")
      device = cpuDevice(toy::compute);
    else if (kind == "simulation")
      device = simulationDevice(RHIZOME_TOY_SIMULATOR);
    else if (kind == "uart")
      device = uartDevice(toy::compute, toy::design(""));
    else
      device = udpDevice(toy::compute, toy::design(""));
    driver = device->driver();
  }
  void TearDown() override {
    device->stall(false);
    driver.reset();
  }

  Design plain() { return toy::design(folder.path()); }
  File fileOf(const std::string &name, const Bytes &bytes) {
    std::ofstream(folder.path() + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               std::streamsize(bytes.size()));
    return {name, bytes.size(), rhz_checksum(bytes.data(), bytes.size())};
  }
  Design withSegments() {
    Design design = plain();
    Bytes first(100, 7), second = {1, 2, 3};
    design.segments = {{fileOf("weights.bin", first), "ddr4", 0, 0},
                       {fileOf("table.bin", second), "ddr4", 0, 4096}};
    return design;
  }

  Status launch(uint64_t number) {
    if (Status status = driver->write(0, toy::frame(number)); !status)
      return status;
    return driver->launch();
  }
  void expectAnswer(uint64_t number, Duration patience = kLong) {
    Status status = driver->wait(patience);
    ASSERT_TRUE(status) << status.text;
    Bytes answer(3), want = toy::compute(toy::frame(number));
    status = driver->read(0, answer);
    ASSERT_TRUE(status) << status.text;
    EXPECT_EQ(answer, device->computes ? want : Bytes(3)) << number;
  }
  void open() {
    Status status = driver->open(plain());
    ASSERT_TRUE(status) << status.text;
  }

  TestFolder folder;
  std::unique_ptr<Device> device;
  std::unique_ptr<Driver> driver;
};

#define EXPECT_FAULT(wanted, words, call)                                      \
  do {                                                                         \
    Status status = (call);                                                    \
    EXPECT_EQ(status.fault, wanted) << status.text;                            \
    EXPECT_NE(status.text.find(words), std::string::npos) << status.text;      \
  } while (false)
} // namespace

TEST_P(DriverSuite, OpensClosesAndOpensAgain) {
  EXPECT_STREQ(driver->name(), GetParam());
  driver->close();
  for (int round = 0; round < 2; ++round) {
    open();
    ASSERT_TRUE(launch(round));
    expectAnswer(round);
    driver->close();
    driver->close();
  }
}

TEST_P(DriverSuite, IsOpenedOnce) {
  open();
  EXPECT_FAULT(Fault::Order, "open already", driver->open(plain()));
  ASSERT_TRUE(launch(0));
  expectAnswer(0);
}

TEST_P(DriverSuite, DoesNothingBeforeItIsOpen) {
  Bytes bytes(5);
  EXPECT_FAULT(Fault::Order, "not open", driver->allocate(1));
  EXPECT_FAULT(Fault::Order, "not open", driver->load(0, bytes));
  EXPECT_FAULT(Fault::Order, "not open", driver->loadAll());
  EXPECT_FAULT(Fault::Order, "not open", driver->write(0, bytes));
  EXPECT_FAULT(Fault::Order, "not open", driver->launch());
  EXPECT_FAULT(Fault::Order, "not open", driver->wait(kShort));
  EXPECT_FAULT(Fault::Order, "not open", driver->read(0, bytes));
}

TEST_P(DriverSuite, KeepsTheOrderOfCalls) {
  open();
  Bytes answer(3);
  EXPECT_FAULT(Fault::Order, "no frame is done", driver->read(0, answer));
  EXPECT_FAULT(Fault::Order, "no frame is on its way", driver->wait(kShort));
  EXPECT_FAULT(Fault::Order, "was not written", driver->launch());
  ASSERT_TRUE(launch(3));
  EXPECT_FAULT(Fault::Order, "no frame is done", driver->read(0, answer));
  EXPECT_FAULT(Fault::Order, "on their way", driver->allocate(4));
  expectAnswer(3);
  // The inputs of a frame are its own.
  EXPECT_FAULT(Fault::Order, "was not written", driver->launch());
}

TEST_P(DriverSuite, TakesWholeFramesOnly) {
  open();
  EXPECT_FAULT(Fault::Size, "s_axis_0: 4 bytes", driver->write(0, Bytes(4)));
  EXPECT_FAULT(Fault::Size, "a frame has 5", driver->write(0, Bytes(8)));
  EXPECT_FAULT(Fault::Size, "no input 1", driver->write(1, Bytes(5)));
  EXPECT_FAULT(Fault::Size, "room for a frame", driver->allocate(0));
  ASSERT_TRUE(launch(1));
  ASSERT_TRUE(driver->wait(kLong));
  Bytes answer(2);
  EXPECT_FAULT(Fault::Size, "m_axis_0: 2 bytes", driver->read(0, answer));
  EXPECT_FAULT(Fault::Size, "no output 1", driver->read(1, answer));
}

TEST_P(DriverSuite, AnswersBitExactly) {
  open();
  for (uint64_t number = 0; number < 12; ++number) {
    ASSERT_TRUE(launch(number));
    expectAnswer(number);
  }
  const Statistics &counts = driver->statistics();
  EXPECT_EQ(counts.launched, 12u);
  EXPECT_EQ(counts.done, 12u);
  EXPECT_EQ(counts.timeOuts, 0u);
  EXPECT_EQ(counts.bytesWritten, 60u);
  EXPECT_EQ(counts.bytesRead, 36u);
  EXPECT_LE(counts.shortest, counts.longest);
  EXPECT_LE(counts.longest, counts.sum);
}

TEST_P(DriverSuite, HasTwoFramesOnTheirWay) {
  open();
  ASSERT_TRUE(driver->allocate(2));
  for (uint64_t number = 0; number < 10; number += 2) {
    ASSERT_TRUE(launch(number));
    ASSERT_TRUE(launch(number + 1));
    EXPECT_EQ(driver->onTheirWay(), 2u);
    ASSERT_TRUE(driver->write(0, toy::frame(9)));
    EXPECT_FAULT(Fault::Order, "(2) are on their way", driver->launch());
    expectAnswer(number);
    expectAnswer(number + 1);
  }
}

TEST_P(DriverSuite, RefusesWrongSegments) {
  Design design = withSegments();
  if (!device->hasMemory) {
    EXPECT_FAULT(Fault::Unsupported, "'weights.bin'", driver->open(design));
    return;
  }
  ASSERT_TRUE(driver->open(design));
  EXPECT_FAULT(Fault::Segment, "no segment 2", driver->load(2, Bytes(3)));
  EXPECT_FAULT(Fault::File, "'weights.bin' has 99 bytes, not 100",
               driver->load(0, Bytes(99, 7)));
  EXPECT_FAULT(Fault::File, "'weights.bin' was altered",
               driver->load(0, Bytes(100, 8)));
  ASSERT_TRUE(driver->load(0, Bytes(100, 7)));
  EXPECT_FAULT(Fault::Segment, "'table.bin' was not loaded", launch(0));
  ASSERT_TRUE(driver->loadAll());
  ASSERT_TRUE(launch(0));
  expectAnswer(0);
}

TEST_P(DriverSuite, NamesMissingFiles) {
  if (device->hasMemory) {
    Design design = withSegments();
    unlink((folder.path() + "/table.bin").c_str());
    ASSERT_TRUE(driver->open(design));
    EXPECT_FAULT(Fault::File, "'table.bin' is missing", driver->loadAll());
    EXPECT_FAULT(Fault::Segment, "'table.bin' was not loaded", launch(0));
    fileOf("table.bin", {1, 2});
    EXPECT_FAULT(Fault::File, "'table.bin' has 2 bytes, not 3",
                 driver->loadAll());
    driver->close();
  }
  Design design = plain();
  design.images = {fileOf("rom.hex", {'0', 'a', '\n'})};
  fileOf("rom.hex", {'0', 'b', '\n'});
  if (!device->readsFiles) {
    ASSERT_TRUE(driver->open(design));
    return;
  }
  EXPECT_FAULT(Fault::File, "'rom.hex' was altered", driver->open(design));
  unlink((folder.path() + "/rom.hex").c_str());
  EXPECT_FAULT(Fault::File, "'rom.hex' is missing", driver->open(design));
  fileOf("rom.hex", {'0', 'a', '\n'});
  ASSERT_TRUE(driver->open(design));
}

TEST_P(DriverSuite, WaitsAgainAfterATimeOut) {
  if (!device->isMortal)
    return; // it has no device that could be late
  open();
  device->stall(true);
  ASSERT_TRUE(launch(5));
  EXPECT_FAULT(Fault::TimeOut, "", driver->wait(kShort));
  EXPECT_EQ(driver->onTheirWay(), 1u);
  EXPECT_EQ(driver->statistics().timeOuts, 1u);
  Bytes answer(3);
  EXPECT_FAULT(Fault::Order, "no frame is done", driver->read(0, answer));
  device->stall(false);
  if (std::string(GetParam()) == "simulation") {
    // The child that hangs does not come back.
    driver->close();
    open();
    ASSERT_TRUE(launch(5));
  }
  expectAnswer(5);
}

TEST_P(DriverSuite, NoticesThatTheDeviceIsGone) {
  if (!device->isMortal)
    return;
  open();
  ASSERT_TRUE(launch(1));
  expectAnswer(1);
  device->die();
  Status status = launch(2);
  if (status)
    status = driver->wait(device->deathPatience);
  EXPECT_EQ(status.fault, device->death) << status.text;
  EXPECT_FALSE(status.text.empty());
  if (device->death == Fault::Gone) {
    EXPECT_FAULT(Fault::Gone, "close the driver", launch(3));
    EXPECT_FAULT(Fault::Gone, "close the driver", driver->wait(kShort));
    EXPECT_FAULT(Fault::Gone, "close the driver", driver->loadAll());
  }
  driver->close();
  device->revive();
  driver = device->driver();
  open();
  ASSERT_TRUE(launch(4));
  expectAnswer(4);
}

TEST_P(DriverSuite, ForgetsFramesWhenItIsClosed) {
  open();
  ASSERT_TRUE(driver->allocate(2));
  ASSERT_TRUE(launch(1));
  ASSERT_TRUE(launch(2));
  // What a pseudo terminal's peer still answers no break can stop.
  if (std::string(GetParam()) != "uart") {
    driver->close();
    open();
    EXPECT_EQ(driver->onTheirWay(), 0u);
    ASSERT_TRUE(launch(3));
    expectAnswer(3);
  }
}

TEST_P(DriverSuite, InfersOnTensors) {
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
  const rhz_model model = {"toy", 1,   1,     1, &in, &out,    1,
                           1,     &to, &from, 0, 0,   nullptr, nullptr};
  Inference inference(model, folder.path(), std::move(driver));
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
      EXPECT_EQ(y[5 * f + i], float(code < 8 ? code : code - 16) * 0.125f + 1);
    }
  }
  x[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FAULT(Fault::Size, "input 'x', frame 1, element 2: NaN",
               inference.infer(inputs, outputs, frames));
  x[7] = 0;
  status = inference.infer(inputs, outputs, frames);
  EXPECT_TRUE(status) << status.text;
}

INSTANTIATE_TEST_SUITE_P(Drivers, DriverSuite,
                         testing::Values("null", "cpu", "simulation", "uart",
                                         "udp"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST(SimulationDriver, SaysWhatTheSimulatorSays) {
  setenv("RHZ_TOY", "error", 1);
  auto driver = simulationDevice(RHIZOME_TOY_SIMULATOR)->driver();
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
  EXPECT_FAULT(Fault::Unsupported, "has 2 and 1", driver->open(design));
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
    rhizome::link::UdpDriver socket(endpoint);
    std::string error;
    ASSERT_TRUE(socket.bind("127.0.0.1:0", error)) << error;
    options.places[1] = "127.0.0.1:" + std::to_string(socket.port());
  }
  driver = makeUdpDriver(options);
  EXPECT_FAULT(Fault::Gone, "no answer from node0 (127.0.0.1:",
               driver->open(toy::design("")));
}
