// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel for frames behind the runtime's driver: elements of all widths
// become words and words elements, as rhz_engine_unit's borders do it; programs
// for another core are reported.
#include "../TestFolder.h"
#include "RandomProgram.h"
#include "rhizome/Engine/OpenCl.h"
#include "rhizome/runtime/border.h"
#include "rhizome/runtime/drivers.h"

using namespace rhizome;
using namespace rhizome::engine;
using namespace rhizome::engine::test;
using namespace rhizome::runtime;

namespace {
constexpr Duration kLong = std::chrono::seconds(60);

uint64_t elementOf(const Bytes &frame, int64_t number, int64_t width) {
  uint64_t value = 0;
  for (int64_t i = 0; i < width; ++i) {
    const int64_t bit = number * width + i;
    value |= uint64_t(frame[size_t(bit / 8)] >> (bit % 8) & 1) << i;
  }
  return value;
}

/// A core that gives what it takes, word by word.
struct Copier {
  FrameKernel kernel;
  rhizome::test::TestFolder folder;
  engine::Program program;

  Copier(int64_t inWidth, bool isSigned, int64_t outWidth, int64_t bias) {
    kernel.core = coreOf(4, 8, 32, 1, 3);
    kernel.base = 4096;
    kernel.room = 64;
    kernel.program = 8;
    kernel.in = {21, 7, inWidth, isSigned, bias, 0};
    kernel.out = {21, 7, outWidth, false, bias, 0};
    for (FrameFormat *format : {&kernel.in, &kernel.out})
      format->paddedBytes = (format->elements * format->width + 31) / 32 * 4;
    isa::Load load;
    load.port = isa::Load::Stream;
    load.columns = kernel.in.words(4);
    load.place_column = 1;
    isa::Store store;
    store.port = isa::Store::Stream;
    store.columns = load.columns;
    store.place_column = 1;
    program.instructions = {load, store, isa::End()};
    seal(program, kernel.core);
  }

  /// The driver, open and with the program in its memory; what went wrong is in
  /// `status`.
  std::unique_ptr<Driver> open(runtime::Status &status) {
    folder.write("engine.cl", kernel.text());
    std::vector<uint8_t> bytes(size_t(kernel.program * kernel.core.in));
    const std::vector<uint8_t> instructions = toBytes(program);
    bytes.insert(bytes.end(), instructions.begin(), instructions.end());
    folder.write("program", std::string(bytes.begin(), bytes.end()));
    Design design;
    design.folder = folder.path();
    auto portOf = [](const char *name, const FrameFormat &format) {
      return Port{name, uint64_t(format.elements * format.width), 32};
    };
    design.inputs = {portOf("s_axis_0", kernel.in)};
    design.outputs = {portOf("m_axis_0", kernel.out)};
    design.segments = {
        {{"program", bytes.size(), rhz_checksum(bytes.data(), bytes.size())},
         "ddr4",
         0,
         kernel.base},
        {{"space", 0, rhz_checksum(nullptr, 0)},
         "ddr4",
         0,
         kernel.base + kernel.room * kernel.core.in}};
    folder.write("space", "");
    design.program = {"engine.cl", kernel.name(),
                      uint64_t(kernel.spaceBytes())};
    auto driver = makeOpenClDriver({});
    status = driver->open(std::move(design));
    if (status)
      status = driver->loadAll();
    return driver;
  }
};

class EngineFrames : public testing::Test {
protected:
  void SetUp() override {
    Copier copier(8, false, 8, 0);
    runtime::Status status;
    copier.open(status);
    if (status.fault == Fault::Unsupported)
      GTEST_SKIP() << status.text;
    ASSERT_TRUE(status) << status.text;
  }
};
} // namespace

TEST_F(EngineFrames, HaveElementsOfAllWidths) {
  std::mt19937 random(5);
  for (auto [inWidth, isSigned, outWidth, bias] : {std::tuple(8, false, 8, 128),
                                                   {1, false, 9, 1},
                                                   {5, true, 6, 3},
                                                   {9, true, 9, 0},
                                                   {7, false, 3, -5}}) {
    SCOPED_TRACE(std::to_string(inWidth) + " bits to " +
                 std::to_string(outWidth));
    Copier copier(inWidth, isSigned, outWidth, bias);
    runtime::Status status;
    auto driver = copier.open(status);
    ASSERT_TRUE(status) << status.text;
    for (int round = 0; round < 3; ++round) {
      Bytes frame(driver->design().inputs[0].frameBytes());
      for (uint8_t &byte : frame)
        byte = uint8_t(random());
      ASSERT_TRUE(driver->write(0, frame));
      ASSERT_TRUE(driver->launch());
      status = driver->wait(kLong);
      ASSERT_TRUE(status) << status.text;
      Bytes answer(driver->design().outputs[0].frameBytes());
      ASSERT_TRUE(driver->read(0, answer));
      for (int64_t i = 0; i < 21; ++i) {
        auto value = int64_t(elementOf(frame, i, inWidth));
        if (isSigned && value >> (inWidth - 1))
          value -= int64_t(1) << inWidth;
        // What a byte of the core holds.
        const int64_t held = int8_t(value - bias) + bias;
        EXPECT_EQ(elementOf(answer, i, outWidth),
                  uint64_t(held) & ((uint64_t(1) << outWidth) - 1))
            << i;
      }
    }
  }
}

TEST_F(EngineFrames, AreForOneCoreAndOneInstructionSet) {
  for (auto [member, words] :
       {std::pair(&isa::Head::isa, "for the instruction set"),
        {&isa::Head::core, "for the core"},
        {&isa::Head::instructions, "instructions, more than its memory"},
        {&isa::Head::blocks, "blocks of weights wait"}}) {
    Copier copier(8, false, 8, 0);
    copier.program.head.*member += 40;
    runtime::Status status;
    auto driver = copier.open(status);
    ASSERT_TRUE(status) << status.text;
    ASSERT_TRUE(driver->write(0, Bytes(21)));
    ASSERT_TRUE(driver->launch());
    status = driver->wait(kLong);
    EXPECT_EQ(status.fault, Fault::Device);
    EXPECT_NE(status.text.find(words), std::string::npos) << status.text;
  }
}
