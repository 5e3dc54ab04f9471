// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite: every driver, before a device of its own kind that can
// be told to fail, does the same in every case.
#include "DriverSuite.h"
#include "../TestFolder.h"
#include "rhizome/runtime/border.h"
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
      device = cpuDevice(subject().compute);
    else if (kind == "simulation" && subject().simulator.empty())
      GTEST_SKIP() << "there is no simulator here";
    else if (kind == "simulation")
      device = simulationDevice(subject().simulator, subject().simulatorFolder);
    else if (kind == "uart")
      device = uartDevice(subject().compute, subject().design);
    else if (kind == "mpi")
      device = mpiDevice(subject().ranks);
    else if (kind == "opencl")
      device = openClDevice(subject().compute, RHIZOME_BROKEN_OPENCL);
    else
      device = udpDevice(subject().compute, subject().design);
    if (!device->missing.empty())
      GTEST_SKIP() << device->missing;
    driver = device->driver();
  }
  void TearDown() override {
    if (device)
      device->stall(false);
    driver.reset();
  }

  Design plain() { return subject().design; }
  const Port &in() { return subject().design.inputs[0]; }
  const Port &out() { return subject().design.outputs[0]; }
  File fileOf(const std::string &name, const Bytes &bytes) {
    std::ofstream(folder.path() + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               std::streamsize(bytes.size()));
    return {name, bytes.size(), rhz_checksum(bytes.data(), bytes.size())};
  }
  /// The design with files of this test's own.
  Design bare() {
    Design design = plain();
    design.folder = folder.path();
    design.images.clear();
    return design;
  }
  Design withSegments() {
    Design design = bare();
    Bytes first(100, 7), second = {1, 2, 3};
    design.segments = {{fileOf("weights.bin", first), "ddr4", 0, 0},
                       {fileOf("table.bin", second), "ddr4", 0, 4096}};
    return design;
  }

  Status launch(uint64_t number) {
    if (Status status = driver->write(0, subject().frame(number)); !status)
      return status;
    return driver->launch();
  }
  void expectAnswer(uint64_t number, Duration patience = kLong) {
    Status status = driver->wait(patience);
    ASSERT_TRUE(status) << status.text;
    Bytes answer(out().frameBytes());
    Bytes want = subject().compute(0, subject().frame(number));
    status = driver->read(0, answer);
    ASSERT_TRUE(status) << status.text;
    EXPECT_EQ(answer, device->computes ? want : Bytes(answer.size())) << number;
  }
  void open() {
    Status status = driver->open(plain());
    ASSERT_TRUE(status) << status.text;
  }

  TestFolder folder;
  std::unique_ptr<Device> device;
  std::unique_ptr<Driver> driver;
};

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
  Bytes bytes(in().frameBytes());
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
  Bytes answer(out().frameBytes());
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
  const size_t size = in().frameBytes();
  EXPECT_FAULT(Fault::Size, "s_axis_0: " + std::to_string(size - 1) + " bytes",
               driver->write(0, Bytes(size - 1)));
  EXPECT_FAULT(Fault::Size, "a frame has " + std::to_string(size),
               driver->write(0, Bytes(size + 3)));
  EXPECT_FAULT(Fault::Size, "no input 1", driver->write(1, Bytes(size)));
  EXPECT_FAULT(Fault::Size, "room for a frame", driver->allocate(0));
  ASSERT_TRUE(launch(1));
  ASSERT_TRUE(driver->wait(kLong));
  Bytes answer(out().frameBytes() - 1);
  EXPECT_FAULT(Fault::Size,
               "m_axis_0: " + std::to_string(answer.size()) + " bytes",
               driver->read(0, answer));
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
  EXPECT_EQ(counts.bytesWritten, 12 * in().frameBytes());
  EXPECT_EQ(counts.bytesRead, 12 * out().frameBytes());
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
    ASSERT_TRUE(driver->write(0, subject().frame(9)));
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
  Design design = bare();
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
  Bytes answer(out().frameBytes());
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

INSTANTIATE_TEST_SUITE_P(Drivers, DriverSuite,
                         testing::Values("null", "cpu", "simulation", "uart",
                                         "udp", "mpi", "opencl"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });
