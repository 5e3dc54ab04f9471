// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images resized, cropped and turned to gray: the pixels are those that Pillow
// 12.1 and torchvision's center crop gave for the same images.
#include "rhizome/Support/ImageSteps.h"
#include "Fixtures.h"

using namespace rhizome;
using namespace rhizome::test;

namespace {
NamedTensor drawn(std::vector<int64_t> shape) {
  NamedTensor image;
  image.isPixels = image.isImage = true;
  image.tensor.shape = shape;
  uint32_t state = 12345;
  for (int64_t i = 0; i < shape[0] * shape[1] * shape[2]; ++i) {
    state = (state * 1103515245u + 12345u) & 0x7fffffffu;
    image.tensor.ints.push_back(state >> 16 & 255);
  }
  return image;
}

/// FNV-1a of the pixels.
uint64_t hashOf(const Tensor &image) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int64_t pixel : image.ints)
    hash = (hash ^ uint64_t(pixel)) * 0x100000001b3;
  return hash;
}

std::string refusal(llvm::StringRef steps, std::vector<int64_t> shape) {
  auto parsed = ImageSteps::parse(steps);
  if (!parsed)
    return llvm::toString(parsed.takeError());
  auto image = parsed->apply(drawn(shape), "a.png");
  return image ? "" : llvm::toString(image.takeError());
}
} // namespace

TEST(ImageSteps, PixelsArePillows) {
  struct Case {
    std::vector<int64_t> shape;
    const char *steps;
    std::vector<int64_t> result;
    uint64_t hash;
  };
  const Case cases[] = {
      {{37, 53, 3}, "resize=16", {16, 22, 3}, 0x3731583872495855},
      {{37, 53, 3}, "resize=16:bicubic", {16, 22, 3}, 0x4c46da4b04b12839},
      {{53, 37, 1}, "resize=28x28", {28, 28, 1}, 0xb7bd804d7592855f},
      {{9, 7, 3}, "resize=20x31:bicubic", {20, 31, 3}, 0x97f647c2e48bbdb5},
      {{64, 48, 3}, "resize=33,crop=28", {28, 28, 3}, 0xab52cfa8cae5b4a0},
      {{31, 40, 3}, "gray", {31, 40, 1}, 0x162e623fe5912a3d},
      {{31, 40, 3}, "resize=28x28,gray", {28, 28, 1}, 0xe144f1706767f1c9},
      {{12, 12, 1}, "rgb,crop=7x5", {7, 5, 3}, 0xf9a034baaf7878dc},
      {{37, 53, 3},
       "gray,resize=20x21:bicubic",
       {20, 21, 1},
       0x473b91986c9e02e9},
  };
  for (const Case &each : cases) {
    ImageSteps steps = llvm::cantFail(ImageSteps::parse(each.steps));
    NamedTensor image = llvm::cantFail(steps.apply(drawn(each.shape), "a.png"));
    EXPECT_EQ(image.tensor.shape, each.result) << each.steps;
    EXPECT_EQ(hashOf(image.tensor), each.hash) << each.steps;
  }
}

TEST(ImageSteps, WrongOnesAreRefused) {
  for (const char *text :
       {"size=4", "resize", "resize=0", "resize=4x", "resize=99999",
        "crop=4:bicubic", "gray=1", "resize=4:nearest", ",", "resize=4 gray"})
    EXPECT_NE(refusal(text, {8, 8, 3}).find("is no step"), std::string::npos)
        << text;
  EXPECT_NE(refusal("crop=9", {8, 20, 3}).find("too few for a crop of 9 x 9"),
            std::string::npos);
  EXPECT_NE(refusal("resize=9000", {1, 20, 1}).find("give both sides"),
            std::string::npos);
  EXPECT_EQ(refusal("", {8, 8, 3}), "");
}
