// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames for a model's input: cutting, channel order, normalization, random
// data, and the messages for data that do not fit.
#include "Fixtures.h"
#include "rhizome/Support/ImageSteps.h"

using namespace rhizome;
using namespace rhizome::test;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

namespace {
class FramesTest : public Files {
protected:
  std::string pixels(const std::string &shape, int count) {
    std::string payload;
    for (int i = 0; i < count; ++i)
      payload += char(i);
    return write("pixels.npy", npy("|u1", false, shape, payload));
  }
  static FrameSource open(const std::string &file, InputSpec spec,
                          llvm::StringRef normalize = "") {
    auto n = Normalize::parse(normalize);
    EXPECT_TRUE(bool(n));
    auto source = FrameSource::open(file, std::move(spec), *n);
    if (!source) {
      ADD_FAILURE() << llvm::toString(source.takeError());
      return FrameSource::random({}, 0, 0);
    }
    return *source;
  }
  static std::string refusal(const std::string &file, InputSpec spec,
                             llvm::StringRef normalize = "") {
    auto n = llvm::cantFail(Normalize::parse(normalize));
    auto source = FrameSource::open(file, std::move(spec), n);
    if (!source)
      return llvm::toString(source.takeError());
    return why(source->frame(0));
  }
};

TEST_F(FramesTest, ArraysAreCutAlongTheFirstAxis) {
  FrameSource source =
      open(pixels("(3, 2, 2)", 12), {"x", {1, 1, 2, 2}}, "0..255");
  ASSERT_EQ(source.size(), 3u);
  Tensor frame = llvm::cantFail(source.frame(1));
  EXPECT_EQ(frame.shape, (Ints{1, 1, 2, 2}));
  EXPECT_EQ(frame.floats, (Floats{4, 5, 6, 7}));
  EXPECT_EQ(open(pixels("(2, 2)", 4), {"x", {1, 1, 2, 2}}, "0..1").size(), 1u);
  EXPECT_EQ(open(pixels("(1, 2, 2)", 4), {"x", {1, 1, 2, 2}}, "0..1").size(),
            1u);
  EXPECT_EQ(open(pixels("(5, 4)", 20), {"x", {1, 2, 2}}, "0..1").size(), 5u);
  EXPECT_EQ(open(pixels("(5, 2, 2)", 20), {"x", {1, 4}}, "0..1").size(), 5u);
  EXPECT_EQ(open(pixels("(4,)", 4), {"x", {1, 4}}, "0..1").size(), 1u);
  EXPECT_EQ(open(pixels("(2, 2)", 4), {"x", {1, 2}}, "0..1").size(), 2u);
}

TEST_F(FramesTest, NothingIsResized) {
  std::string message =
      refusal(pixels("(3, 2, 3)", 18), {"image", {1, 1, 2, 2}}, "0..1");
  EXPECT_NE(message.find("it holds [3,2,3], 'image' takes [1,1,2,2]"),
            std::string::npos)
      << message;
  message = refusal(png("x.png", 4, 4, true, std::vector<uint8_t>(48)),
                    {"image", {1, 3, 2, 2}}, "0..1");
  EXPECT_NE(message.find("name what the training did with its images, e.g. "
                         "--images resize=256,crop=224 or gray"),
            std::string::npos)
      << message;
}

TEST_F(FramesTest, ImagesAreBroughtToTheInput) {
  std::vector<uint8_t> pixels;
  for (uint8_t i = 0; i < 12; ++i)
    pixels.insert(pixels.end(), {i, i, i});
  const std::string file = png("x.png", 4, 3, true, pixels);
  auto open = [&](llvm::StringRef path) {
    return FrameSource::open(path, {"image", {1, 1, 1, 2}},
                             llvm::cantFail(Normalize::parse("0..255")),
                             std::make_shared<const ImageSteps>(llvm::cantFail(
                                 ImageSteps::parse("gray,crop=1x2"))));
  };
  EXPECT_EQ(llvm::cantFail(llvm::cantFail(open(file)).frame(0)).floats,
            (Floats{5, 6}));
  EXPECT_NE(why(open(write("a.npy", npy("|u1", false, "(1, 2)", "ab"))))
                .find("--images is for PNG and JPEG images"),
            std::string::npos);
}

TEST_F(FramesTest, FoldersOfClasses) {
  auto image = [&](const std::string &name, uint8_t value) {
    png(name, 1, 1, false, std::vector<uint8_t>(1, value));
  };
  for (const char *name : {"cat", "dog", "empty", ".hidden"})
    llvm::sys::fs::create_directory(path(name));
  image("dog/1.png", 3);
  image("cat/b.png", 2);
  image("cat/a.png", 1);
  image(".hidden/x.png", 9);
  FrameSource source = open(folder.str().str(), {"x", {1, 1}}, "0..255");
  ASSERT_EQ(source.size(), 3u);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(llvm::cantFail(source.frame(size_t(i))).floats,
              (Floats{float(i + 1)}));
  EXPECT_EQ(llvm::cantFail(readLabels(folder)), (Ints{0, 0, 1}));
  // Images next to the folders have no class.
  image("0.png", 7);
  EXPECT_EQ(open(folder.str().str(), {"x", {1, 1}}, "0..255").size(), 1u);
  EXPECT_NE(why(readLabels(folder)).find("no folders of images"),
            std::string::npos);
  EXPECT_NE(refusal(path("empty"), {"x", {1, 1}}, "0..1").find("neither"),
            std::string::npos);
}

TEST_F(FramesTest, NormalizesPixels) {
  auto one = [&](llvm::StringRef how) {
    return llvm::cantFail(open(write("p.npy", npy("|u1", false, "(1, 2)",
                                                  bytes({0, 255}))),
                               {"x", {1, 2}}, how)
                              .frame(0))
        .floats;
  };
  EXPECT_EQ(one("0..1"), (Floats{0, 1}));
  EXPECT_EQ(one("0..255"), (Floats{0, 255}));
  EXPECT_EQ(one("0.5,0.25"), (Floats{-2, 2}));
  EXPECT_EQ(one("0,0.5,1,0.25"), (Floats{0, 2}));
  InputSpec whole{"x", {1, 2}};
  whole.isWhole = true;
  EXPECT_EQ(llvm::cantFail(open(pixels("(1, 2)", 2), whole).frame(0)).floats,
            (Floats{0, 1}));
  EXPECT_NE(
      refusal(pixels("(1, 2)", 2), {"x", {1, 2}}).find("--normalize 0..1"),
      std::string::npos);
  EXPECT_NE(refusal(pixels("(1, 2)", 2), {"x", {1, 2}}, "0,0,0,1,1,1")
                .find("has 3 channels"),
            std::string::npos);
}

TEST_F(FramesTest, NormalizeTexts) {
  for (const char *bad : {"0..2", "a,b", "1", "0,0", "0,1,2", "0,-1", "nan,1"})
    EXPECT_NE(why(Normalize::parse(bad)), "") << bad;
  EXPECT_EQ(llvm::cantFail(Normalize::parse("")).kind, Normalize::Kind::None);
}

TEST_F(FramesTest, ImagesTakeTheInputsChannelOrder) {
  std::string file = png("x.png", 2, 1, true, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(
      llvm::cantFail(open(file, {"x", {1, 3, 1, 2}}, "0..255").frame(0)).floats,
      (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(
      llvm::cantFail(open(file, {"x", {1, 1, 2, 3}}, "0..255").frame(0)).floats,
      (Floats{1, 2, 3, 4, 5, 6}));
  // Per channel, in both orders.
  EXPECT_EQ(
      llvm::cantFail(open(file, {"x", {1, 3, 1, 2}}, "0,0,0,1,2,4").frame(0))
          .floats[5],
      6 / 255.0f / 4);
}

TEST_F(FramesTest, FoldersAreReadInTheOrderOfNames) {
  llvm::cantFail(
      llvm::errorCodeToError(llvm::sys::fs::create_directory(path("images"))));
  png("images/b.png", 1, 1, false, {2});
  png("images/a.png", 1, 1, false, {1});
  jpeg("images/c.jpg", 1, 1, 3);
  write("images/readme.txt", "no image");
  FrameSource source = open(path("images"), {"x", {1, 1, 1, 1}}, "0..255");
  ASSERT_EQ(source.size(), 3u);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(llvm::cantFail(source.frame(i)).floats, (Floats{i + 1.0f}));
}

TEST_F(FramesTest, NpzGivesTheInputsArray) {
  std::string file =
      npz("x.npz",
          {{"y.npy", npy("|i1", false, "(1, 1)", bytes({7}))},
           {"x.npy", npy("|i1", false, "(2, 1)", bytes({8, 9}))}},
          true);
  FrameSource source = open(file, {"x", {1, 1}});
  ASSERT_EQ(source.size(), 2u);
  EXPECT_EQ(llvm::cantFail(source.frame(1)).floats, (Floats{9}));
}

TEST_F(FramesTest, IntegersAreExactOrRefused) {
  auto file = [&](const char *descr, auto... values) {
    std::string payload;
    (payload.append(reinterpret_cast<const char *>(&values), sizeof values),
     ...);
    return write("x.npy", npy(descr, false, "(1, 2)", payload));
  };
  // None of these is exactly representable in float32.
  const int64_t odd = (int64_t(1) << 53) + 1, more = (1 << 24) + 1;
  InputSpec whole{"x", {1, 2}, false};
  EXPECT_EQ(llvm::cantFail(open(file("<i8", odd, more), whole).frame(0)).ints,
            (Ints{odd, more}));
  EXPECT_EQ(
      llvm::cantFail(open(file("<f8", double(more), -0x1p62), whole).frame(0))
          .ints,
      (Ints{more, -(int64_t(1) << 62)}));
  EXPECT_NE(refusal(file("<f8", 0x1p63, 1.0), whole).find("takes integers"),
            std::string::npos);
  EXPECT_NE(refusal(file("<f4", 1.5f, 1.0f), whole).find("takes integers"),
            std::string::npos);
  EXPECT_NE(refusal(file("<u8", uint64_t(1) << 63, uint64_t(0)), whole)
                .find("above 2^63 - 1"),
            std::string::npos);
  InputSpec real{"x", {1, 2}};
  EXPECT_EQ(
      llvm::cantFail(open(file("<i8", more - 1, int64_t(3)), real).frame(0))
          .floats,
      (Floats{0x1p24f, 3}));
  EXPECT_NE(refusal(file("<i8", more, int64_t(0)), real)
                .find("16777217, which float32 does not"),
            std::string::npos);
  // Integers that the model represents as reals keep their type's range.
  InputSpec byte{"x", {1, 2}, true, 0, 255, true};
  EXPECT_NE(refusal(file("<i8", int64_t(256), int64_t(0)), byte)
                .find("it holds 256, outside the range 0..255 of the input"),
            std::string::npos);
  EXPECT_NE(refusal(file("<f4", 0.5f, 1.0f), byte).find("takes integers"),
            std::string::npos);
}

TEST_F(FramesTest, IntegerInputsKeepTheirRange) {
  InputSpec spec{"x", {1, 2}, false, 0, 15};
  EXPECT_EQ(llvm::cantFail(open(pixels("(1, 2)", 2), spec).frame(0)).ints,
            (Ints{0, 1}));
  spec.hi = 0;
  EXPECT_NE(refusal(pixels("(1, 2)", 2), spec).find("outside the range"),
            std::string::npos);
  EXPECT_NE(refusal(pixels("(1, 2)", 2), spec, "0..1").find("takes integers"),
            std::string::npos);
}

TEST_F(FramesTest, RandomFramesDependOnSeedAndIndexOnly) {
  InputSpec spec{"x", {1, 50}, false, -3, 3};
  FrameSource a = FrameSource::random(spec, 7, 9),
              b = FrameSource::random(spec, 7, 2),
              c = FrameSource::random(spec, 8, 2);
  Tensor a1 = llvm::cantFail(a.frame(1));
  EXPECT_EQ(a1.ints, llvm::cantFail(b.frame(1)).ints);
  EXPECT_NE(a1.ints, llvm::cantFail(c.frame(1)).ints);
  EXPECT_NE(a1.ints, llvm::cantFail(a.frame(0)).ints);
  for (int64_t v : a1.ints)
    EXPECT_TRUE(v >= -3 && v <= 3);
  InputSpec real{"x", {1, 50}};
  FrameSource r = FrameSource::random(real, 7, 1, -2, 5);
  for (float v : llvm::cantFail(r.frame(0)).floats)
    EXPECT_TRUE(v >= -2 && v <= 5);
}
} // namespace
