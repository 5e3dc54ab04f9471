// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a client keeps from frame to frame.
#include "rhizome/runtime/drivers.h"
#include "rhizome/runtime/infer.h"
#include <gtest/gtest.h>

using namespace rhizome::runtime;

namespace {
const int64_t kOne[] = {1};
const rhz_tensor kInputs[] = {{"x", RHZ_INT64, 1, 1, kOne, 1},
                              {"h", RHZ_INT64, 1, 1, kOne, 1}};
const rhz_tensor kOutputs[] = {{"y", RHZ_INT64, 1, 1, kOne, 1}};

rhz_border border(const char *port, int tensor) {
  return {port, tensor,        1, 8, 0,       0,       255,    8, 1, kOne,
          kOne, RHZ_HALF_EVEN, 1, 1, nullptr, nullptr, nullptr};
}

/// y = x + h, and y is the next h.
bool sum(size_t, const std::vector<Bytes> &in, std::vector<Bytes> &out,
         std::string &error) {
  if (in[0][0] == 255) {
    error = "the device is broken";
    return false;
  }
  out = {Bytes{uint8_t(in[0][0] + in[1][0])}};
  return true;
}

struct Sums {
  explicit Sums(const int64_t *initial)
      : to{border("s_axis_0", 0), border("s_axis_1", 1)},
        from{border("m_axis_0", 0)}, state{1, 0, initial},
        model{"sums", 1,       2,    1,      kInputs, kOutputs, 2,
              1,      to,      from, 0,      0,       nullptr,  nullptr,
              0,      nullptr, 1,    &state, 0,       nullptr},
        inference(model, "", makeCpuDriver(sum)) {
    EXPECT_TRUE(inference.open(4));
  }
  std::vector<int64_t> run(std::vector<int64_t> x) {
    std::vector<int64_t> y(x.size());
    const void *inputs[] = {x.data(), nullptr};
    void *outputs[] = {y.data()};
    status = inference.infer(inputs, outputs, x.size());
    return y;
  }
  rhz_border to[2], from[1];
  rhz_state state;
  rhz_model model;
  Inference inference;
  Status status;
};

TEST(State, GoesFromFrameToFrameAndFromCallToCall) {
  Sums sums(nullptr);
  EXPECT_EQ(sums.run({1, 2, 3}), (std::vector<int64_t>{1, 3, 6}));
  EXPECT_EQ(sums.run({4}), (std::vector<int64_t>{10}));
  sums.inference.reset();
  EXPECT_EQ(sums.run({1, 1}), (std::vector<int64_t>{1, 2}));
}

TEST(State, BeginsAsItIsSaid) {
  const int64_t seven = 7;
  Sums sums(&seven);
  EXPECT_EQ(sums.run({1, 1}), (std::vector<int64_t>{8, 9}));
  sums.inference.reset();
  EXPECT_EQ(sums.run({2}), (std::vector<int64_t>{9}));
}

TEST(State, AFailedFrameLeavesItAsItWas) {
  Sums sums(nullptr);
  sums.run({5, 255});
  EXPECT_FALSE(sums.status);
  EXPECT_EQ(sums.run({1}), (std::vector<int64_t>{6}));
  EXPECT_TRUE(sums.status) << sums.status.text;
}
/// y = x + h on a device that keeps h itself, from 10.
TEST(State, OfTheDeviceBeginsAnewWithAReset) {
  rhz_border to[] = {border("s_axis_0", 0)}, from[] = {border("m_axis_0", 0)};
  rhz_model model = {"kept", 1,       1,    1,       kInputs, kOutputs, 1,
                     1,      to,      from, 0,       0,       nullptr,  nullptr,
                     0,      nullptr, 0,    nullptr, 1,       nullptr};
  uint8_t kept = 0;
  int begun = 0;
  auto device = [&](size_t region, const std::vector<Bytes> &in,
                    std::vector<Bytes> &out, std::string &error) {
    if (region == kBegin) {
      kept = 10;
      ++begun;
      return true;
    }
    if (in[0][0] == 255) {
      error = "the device is broken";
      return false;
    }
    kept = uint8_t(kept + in[0][0]);
    out = {Bytes{kept}};
    return true;
  };
  Inference inference(model, "", makeCpuDriver(device));
  ASSERT_TRUE(inference.open(2));
  auto run = [&](std::vector<int64_t> x) {
    std::vector<int64_t> y(x.size());
    const void *inputs[] = {x.data()};
    void *outputs[] = {y.data()};
    Status status = inference.infer(inputs, outputs, x.size());
    return status ? y : std::vector<int64_t>{-1};
  };
  EXPECT_EQ(run({1, 2, 3}), (std::vector<int64_t>{11, 13, 16}));
  EXPECT_EQ(run({4}), (std::vector<int64_t>{20}));
  inference.reset();
  EXPECT_EQ(run({1}), (std::vector<int64_t>{11}));
  EXPECT_EQ(run({255}), (std::vector<int64_t>{-1}));
  EXPECT_EQ(run({5}), (std::vector<int64_t>{15})) << "after a failure";
  EXPECT_EQ(begun, 3);
}
} // namespace
