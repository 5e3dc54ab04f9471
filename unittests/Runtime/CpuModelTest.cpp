// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model as machine code by its tables: what the device computes on frames,
// the whole model on tensors, and the whole model with the device's tasks by a
// driver.
#include "rhizome/runtime/cpu.h"
#include "gtest/gtest.h"
#include <cstdint>

using namespace rhizome::runtime;

namespace {
// y = round(2x), then on the device z = y - 3, w = z * z, then v = w / 4.
void quantize(void **at) {
  for (int i = 0; i < 3; ++i)
    static_cast<int8_t *>(at[1])[i] =
        int8_t(2 * static_cast<const float *>(at[0])[i]);
}
void compute(void **at) {
  for (int i = 0; i < 3; ++i) {
    int z = static_cast<const int8_t *>(at[0])[i] - 3;
    static_cast<uint16_t *>(at[1])[i] = uint16_t(z * z);
  }
}
void dequantize(void **at) {
  for (int i = 0; i < 3; ++i) {
    static_cast<float *>(at[1])[i] =
        float(static_cast<const uint16_t *>(at[0])[i]) / 4;
    static_cast<int64_t *>(at[2])[i] = static_cast<const uint16_t *>(at[0])[i];
  }
}

const rhz_cpu_tensor tensors[] = {{"x", 3, 1, 32, 1, 32, 0, 0},
                                  {"codes", 3, 0, 8, 1, 6, -20, 20},
                                  {"squares", 3, 0, 16, 0, 10, 0, 529},
                                  {"v", 3, 1, 32, 1, 32, 0, 0},
                                  {"w", 3, 0, 64, 1, 64, INT64_MIN, INT64_MAX}};
const unsigned x[] = {0}, codes[] = {1}, squares[] = {2}, ends[] = {3, 4};
const rhz_cpu_task tasks[] = {
    {quantize, 0, 1, 1, x, codes, 0, 0, nullptr},
    {compute, 1, 1, 1, codes, squares, 0, 0, nullptr},
    {dequantize, 0, 1, 2, squares, ends, 0, 0, nullptr}};
const rhz_cpu_model model = {5, 3, 1, 2, tensors, tasks, x, ends, 0, nullptr};
} // namespace

TEST(CpuModel, ComputesTheWholeModel) {
  const float in[] = {1.5f, -4, 8};
  float reals[3];
  int64_t ints[3];
  const void *inputs[] = {in};
  void *outputs[] = {reals, ints};
  std::string error;
  ASSERT_TRUE(run(model, inputs, outputs, error)) << error;
  const int64_t want[] = {0, 121, 169};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ints[i], want[i]);
    EXPECT_EQ(reals[i], float(want[i]) / 4);
  }
  EXPECT_FALSE(run(model, {}, outputs, error));
  EXPECT_EQ(error, "the model has 1 inputs and 2 outputs");
}

TEST(CpuModel, ComputesTheDevicesFrames) {
  // 7, -2, 20 in six bits each; 16, 25, 289 in ten.
  const uint32_t frame = 7u | (62u << 6) | (20u << 12);
  const uint32_t answer = 16u | (25u << 10) | (289u << 20);
  auto bytesOf = [](uint32_t word, size_t count) {
    Bytes bytes;
    for (size_t i = 0; i < count; ++i)
      bytes.push_back(uint8_t(word >> 8 * i));
    return bytes;
  };
  Compute compute = computeOf(model);
  std::vector<Bytes> outputs;
  std::string error;
  ASSERT_TRUE(compute(0, {bytesOf(frame, 3)}, outputs, error)) << error;
  EXPECT_EQ(outputs, std::vector<Bytes>{bytesOf(answer, 4)});
  EXPECT_FALSE(compute(0, {}, outputs, error));
  EXPECT_EQ(error, "the model takes other frames than these");
  EXPECT_FALSE(compute(0, {bytesOf(21, 3)}, outputs, error));
  EXPECT_EQ(error, "'codes', element 0: is not from -20 to 20");
}

namespace {
/// Back to codes, between two tasks of the device.
void fold(void **at) {
  for (int i = 0; i < 3; ++i)
    static_cast<int8_t *>(at[1])[i] =
        int8_t(static_cast<const uint16_t *>(at[0])[i] % 21);
}
const rhz_cpu_tensor longTensors[] = {
    tensors[0], tensors[1], tensors[2], {"folded", 3, 0, 8, 1, 6, -20, 20},
    tensors[2], tensors[3], tensors[4]};
const unsigned folded[] = {3}, again[] = {4}, longEnds[] = {5, 6};
const rhz_cpu_task longTasks[] = {
    {quantize, 0, 1, 1, x, codes, 0, 0, nullptr},
    {compute, 1, 1, 1, codes, squares, 0, 0, nullptr},
    {fold, 0, 1, 1, squares, folded, 0, 0, nullptr},
    {compute, 1, 1, 1, folded, again, 0, 0, nullptr},
    {dequantize, 0, 1, 2, again, longEnds, 0, 0, nullptr}};
const rhz_cpu_model longModel = {7,         5, 1,        2, longTensors,
                                 longTasks, x, longEnds, 0, nullptr};

/// The design of the model's two regions.
Design twoRegions() {
  Design design;
  for (const char *name : {"s_axis_0", "s_axis_1"})
    design.inputs.push_back({name, 18, 8});
  for (const char *name : {"m_axis_0", "m_axis_1"})
    design.outputs.push_back({name, 30, 8});
  design.regions = {{0, 1, 0, 1}, {1, 1, 1, 1}};
  return design;
}
} // namespace

TEST(CpuModel, RunsBetweenRegionsOfADevice) {
  constexpr size_t kFrames = 7;
  std::vector<float> in;
  for (size_t i = 0; i < 3 * kFrames; ++i)
    in.push_back(float(i) - 10);
  for (size_t room : {1, 3}) {
    auto driver = makeCpuDriver(computeOf(longModel));
    ASSERT_TRUE(driver->open(twoRegions()));
    ASSERT_TRUE(driver->allocate(room));
    std::vector<float> reals(in.size());
    std::vector<int64_t> ints(in.size());
    const void *inputs[] = {in.data()};
    void *outputs[] = {reals.data(), ints.data()};
    Status status = runOn(longModel, *driver, std::chrono::seconds(60), inputs,
                          outputs, kFrames);
    ASSERT_TRUE(status) << status.text;
    EXPECT_EQ(driver->statistics().done, 2 * kFrames);
    for (size_t f = 0; f < kFrames; ++f) {
      float wantReals[3];
      int64_t wantInts[3];
      const void *one[] = {in.data() + 3 * f};
      void *want[] = {wantReals, wantInts};
      std::string error;
      ASSERT_TRUE(run(longModel, one, want, error)) << error;
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(reals[3 * f + i], wantReals[i]);
        EXPECT_EQ(ints[3 * f + i], wantInts[i]);
      }
    }
    // A design of other regions than the tables say.
    driver->close();
    Design other = twoRegions();
    other.regions = {{0, 2, 0, 2}};
    ASSERT_TRUE(driver->open(other));
    status =
        runOn(longModel, *driver, std::chrono::seconds(60), inputs, outputs, 1);
    EXPECT_EQ(status.fault, Fault::Size);
    EXPECT_EQ(status.text, "the machine code is another model's");
  }
}
