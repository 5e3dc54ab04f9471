// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// border.c: each rounding, saturation, orders, channels, packing. Agreement
// with the interpreter is tested with the compiler (Pipeline/BorderTest).
#include "rhizome/runtime/border.h"
#include "rhizome/runtime/packing.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

namespace {
const int64_t kSix[] = {6}, kOne[] = {1}, kNoZero[] = {0};
const float kUnit[] = {1.f};

rhz_border plain(unsigned width, int isSigned, int64_t lo, int64_t hi) {
  return {"p",           0, 6, width, isSigned, lo,     hi, 8, 1, kSix, kOne,
          RHZ_HALF_EVEN, 1, 1, kUnit, kNoZero,  nullptr};
}

std::vector<int64_t> codes(const rhz_border &border,
                           const std::vector<float> &x) {
  std::vector<uint8_t> frame(rhz_frame_bytes(&border));
  EXPECT_EQ(rhz_to_frame(&border, x.data(), frame.data(), nullptr), RHZ_OK);
  return rhizome::link::unpackElements(frame, border.width, border.is_signed,
                                       size_t(border.elements));
}
} // namespace

TEST(Border, RoundsAsItSays) {
  const std::vector<float> x = {-1.5f, -0.5f, 0.25f, 0.5f, 1.5f, 2.75f};
  const std::pair<rhz_rounding, std::vector<int64_t>> cases[] = {
      {RHZ_HALF_EVEN, {-2, 0, 0, 0, 2, 3}},
      {RHZ_HALF_UP, {-1, 0, 0, 1, 2, 3}},
      {RHZ_HALF_DOWN, {-2, -1, 0, 0, 1, 3}},
      {RHZ_HALF_AWAY, {-2, -1, 0, 1, 2, 3}},
      {RHZ_HALF_TOWARD_ZERO, {-1, 0, 0, 0, 1, 3}},
      {RHZ_TOWARD_ZERO, {-1, 0, 0, 0, 1, 2}},
      {RHZ_AWAY_FROM_ZERO, {-2, -1, 1, 1, 2, 3}},
      {RHZ_UP, {-1, 0, 1, 1, 2, 3}},
      {RHZ_DOWN, {-2, -1, 0, 0, 1, 2}},
      {RHZ_SIGN, {-1, -1, 1, 1, 1, 1}}};
  for (const auto &[rounding, want] : cases) {
    rhz_border border = plain(8, 1, -128, 127);
    border.rounding = rounding;
    EXPECT_EQ(codes(border, x), want) << rounding;
  }
}

TEST(Border, SaturatesAndRefusesNaN) {
  rhz_border border = plain(5, 1, -15, 12);
  const float big = std::numeric_limits<float>::infinity();
  EXPECT_EQ(codes(border, {big, -big, 12.4f, 13.f, -15.6f, 3e38f}),
            (std::vector<int64_t>{12, -15, 12, 12, -15, 12}));
  const int64_t zero[] = {10};
  border.zero_point = zero;
  EXPECT_EQ(codes(border, {0, 1, 2, 3, -25, -26}),
            (std::vector<int64_t>{10, 11, 12, 12, -15, -15}));
  float x[6] = {0, 0, 0, 0, std::numeric_limits<float>::quiet_NaN(), 0};
  uint8_t frame[4];
  int64_t element = -1;
  EXPECT_EQ(rhz_to_frame(&border, x, frame, &element), RHZ_NAN);
  EXPECT_EQ(element, 4);
}

TEST(Border, TakesIntegersInTheirRange) {
  rhz_border border = plain(3, 0, 0, 5);
  border.scale = nullptr;
  int64_t x[6] = {0, 1, 2, 3, 4, 5}, y[6];
  uint8_t frame[3];
  ASSERT_EQ(rhz_to_frame(&border, x, frame, nullptr), RHZ_OK);
  rhz_from_frame(&border, frame, y);
  EXPECT_TRUE(std::equal(x, x + 6, y));
  x[2] = 6;
  int64_t element = -1;
  EXPECT_EQ(rhz_to_frame(&border, x, frame, &element), RHZ_RANGE);
  EXPECT_EQ(element, 2);
}

TEST(Border, KeepsOrderAndChannels) {
  // [2 channels, 3 columns] in the model, channels-last on the wire; a scale
  // and a zero point for each channel.
  const int64_t sizes[] = {3, 2}, strides[] = {1, 3}, zero[] = {0, 1};
  const float scale[] = {1.f, 2.f}, offset[] = {0.f, 0.5f};
  rhz_border border = plain(8, 1, -128, 127);
  border.digits = 2;
  border.sizes = sizes;
  border.strides = strides;
  border.channels = 2;
  border.inner = 3;
  border.scale = scale;
  border.zero_point = zero;
  EXPECT_EQ(codes(border, {1, 2, 3, 4, 6, 8}),
            (std::vector<int64_t>{1, 3, 2, 4, 3, 5}));
  border.offset = offset;
  const uint8_t frame[] = {1, 3, 2, 4, 3, 5};
  float y[6];
  rhz_from_frame(&border, frame, y);
  EXPECT_EQ(std::vector<float>(y, y + 6),
            (std::vector<float>{1, 2, 3, 4.5f, 6.5f, 8.5f}));
}

TEST(Border, PacksEveryWidthAsTheRuntimeDoes) {
  for (unsigned width = 1; width <= 64; ++width)
    for (int isSigned : {0, 1}) {
      if (width == 64 && !isSigned)
        continue;
      rhz_border border = plain(width, isSigned, INT64_MIN, INT64_MAX);
      border.scale = nullptr;
      const uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
      std::vector<int64_t> x;
      for (uint64_t i = 0; i < 6; ++i) {
        uint64_t bits = (i + 1) * 0x9E3779B97F4A7C15u & mask;
        if (isSigned && width < 64 && bits >> (width - 1))
          bits |= ~mask;
        x.push_back(int64_t(bits));
      }
      std::vector<uint8_t> frame(rhz_frame_bytes(&border));
      ASSERT_EQ(rhz_to_frame(&border, x.data(), frame.data(), nullptr), RHZ_OK);
      EXPECT_EQ(frame, rhizome::link::packElements(x, width));
      std::vector<int64_t> back(6);
      rhz_from_frame(&border, frame.data(), back.data());
      EXPECT_EQ(back, x) << width;
    }
}

TEST(Border, ChecksumIsFnv1a) {
  const uint8_t text[] = {'f', 'o', 'o', 'b', 'a', 'r'};
  EXPECT_EQ(rhz_checksum(text, 0), 0xcbf29ce484222325u);
  EXPECT_EQ(rhz_checksum(text, 6), 0x85944171f73967e8u);
}
