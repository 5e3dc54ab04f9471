// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The readers: every kind of file and element, the writer's round trip, and
// damage, which must never do more than fail.
#include "Fixtures.h"
#include "rhizome/Support/Resources.h"
#include <cstdio>
#include <random>
#include <sys/stat.h>

using namespace rhizome;
using namespace rhizome::test;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

namespace {
class DataTest : public Files {
protected:
  Tensor npyOf(const std::string &descr, const std::string &payload,
               const std::string &shape = "(2,)") {
    return read(write("x.npy", npy(descr, false, shape, payload)));
  }
};

TEST_F(DataTest, NpyElementTypes) {
  EXPECT_EQ(npyOf("|u1", bytes({1, 255})).ints, (Ints{1, 255}));
  EXPECT_EQ(npyOf("|i1", bytes({1, 255})).ints, (Ints{1, -1}));
  EXPECT_EQ(npyOf("|b1", bytes({0, 1})).ints, (Ints{0, 1}));
  EXPECT_EQ(npyOf("<i2", bytes({1, 0, 254, 255})).ints, (Ints{1, -2}));
  EXPECT_EQ(npyOf(">u2", bytes({0, 1, 255, 254})).ints, (Ints{1, 65534}));
  EXPECT_EQ(npyOf(">i4", bytes({0, 0, 0, 1, 255, 255, 255, 255})).ints,
            (Ints{1, -1}));
  EXPECT_EQ(npyOf("<u4", bytes({1, 0, 0, 0, 255, 255, 255, 255})).ints,
            (Ints{1, 4294967295}));
  EXPECT_EQ(
      npyOf("<i8", bytes({254, 255, 255, 255, 255, 255, 255, 255}), "(1,)")
          .ints,
      (Ints{-2}));
  EXPECT_EQ(npyOf("<f2", bytes({0, 0x3c, 0, 0xc0})).floats, (Floats{1, -2}));
  EXPECT_EQ(npyOf("<f4", bytes({0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf})).floats,
            (Floats{1, -0.5f}));
  EXPECT_EQ(npyOf(">f8", bytes({0x3f, 0xf0, 0, 0, 0, 0, 0, 0}), "(1,)").floats,
            (Floats{1}));
  EXPECT_NE(
      why(readTensor(write("big.npy", npy("<u8", false, "(1,)",
                                          bytes({0, 0, 0, 0, 0, 0, 0, 0x80})))))
          .find("above 2^63 - 1"),
      std::string::npos);
  EXPECT_NE(why(readTensor(write("c.npy",
                                 npy("<c8", false, "(1,)", std::string(8, 0)))))
                .find("'<c8' are no numbers"),
            std::string::npos);
}

TEST_F(DataTest, NpyShapesOrdersAndVersions) {
  EXPECT_EQ(npyOf("|u1", bytes({7}), "()").shape, (Ints{}));
  Tensor t = read(
      write("f.npy", npy("|u1", true, "(2, 3)", bytes({1, 4, 2, 5, 3, 6}), 2)));
  EXPECT_EQ(t.shape, (Ints{2, 3}));
  EXPECT_EQ(t.ints, (Ints{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(
      read(write("v3.npy", npy("|u1", false, "(1,1)", bytes({9}), 3))).ints,
      (Ints{9}));
  EXPECT_NE(
      why(readTensor(write("v9.npy", npy("|u1", false, "(1,)", bytes({9}), 9))))
          .find("version 9"),
      std::string::npos);
}

TEST_F(DataTest, NpyHeadersThatLie) {
  for (const char *shape :
       {"(3,)", "(4294967296, 4294967296)", "(9223372036854775807,)", "(-1,)",
        "(0,)", "(1,2", "(x,)", "1,", "(99999999999999999999,)"})
    EXPECT_NE(why(readTensor(
                  write("x.npy", npy("|u1", false, shape, bytes({1, 2}))))),
              "")
        << shape;
  // One element without an axis.
  for (const std::string &none :
       {npy("<f8", false, "()", bytes({1, 2})), bytes({0, 0, 14, 0}),
        bytes({16, 1, 0x4a, 1, 7})})
    EXPECT_NE(why(readTensor(write("none", none))).find("ends before"),
              std::string::npos);
}

TEST_F(DataTest, WriterRoundTrips) {
  Tensor ints = Tensor::ofInts({2, 1, 2}, {1, -2, INT64_MAX, INT64_MIN});
  ASSERT_FALSE(writeNpy(path("i.npy"), ints));
  Tensor back = read(path("i.npy"));
  EXPECT_EQ(back.shape, ints.shape);
  EXPECT_EQ(back.ints, ints.ints);
  Tensor reals = Tensor::ofFloats({3}, {0.1f, -1e30f, 0});
  ASSERT_FALSE(writeNpy(path("f.npy"), reals));
  EXPECT_EQ(read(path("f.npy")).floats, reals.floats);
  ASSERT_FALSE(writeNpy(path("s.npy"), Tensor::ofInts({}, {5})));
  EXPECT_EQ(read(path("s.npy")).shape, (Ints{}));
  EXPECT_NE(llvm::toString(writeNpy(path("no/such/folder.npy"), ints))
                .find("cannot be written"),
            std::string::npos);
}

TEST_F(DataTest, FramesAreWrittenOneByOne) {
  write("old.npy", "what stood there");
  auto content = [&](const char *name) {
    return llvm::cantFail(readFile(path(name)));
  };
  {
    NpyWriter writer =
        llvm::cantFail(NpyWriter::create(path("old.npy"), true, {1, 2}, 9));
    ASSERT_FALSE(writer.add(Tensor::ofFloats({1, 2}, {1, 2})));
    EXPECT_EQ(content("old.npy"), "what stood there");
  } // given up
  EXPECT_EQ(content("old.npy"), "what stood there");
  NpyWriter writer =
      llvm::cantFail(NpyWriter::create(path("old.npy"), true, {1, 2}, 9));
  std::vector<Tensor> frames;
  for (int f = 0; f < 3; ++f) {
    frames.push_back(Tensor::ofFloats({1, 2}, {float(f), 0.5f}));
    ASSERT_FALSE(writer.add(frames.back()));
  }
  ASSERT_FALSE(writer.finish());
  Tensor back = read(path("old.npy"));
  EXPECT_EQ(back.shape, (Ints{3, 1, 2}));
  EXPECT_EQ(back.floats, (std::vector<float>{0, 0.5f, 1, 0.5f, 2, 0.5f}));
  EXPECT_EQ(content("old.npy"), ::npyOf(frames));
  EXPECT_NE(
      llvm::toString(
          NpyWriter::create(path("no/such.npy"), true, {1}, 1).takeError())
          .find("cannot be written"),
      std::string::npos);
}

TEST_F(DataTest, NpzStoredAndDeflated) {
  for (bool deflate : {false, true}) {
    std::string file =
        npz("x.npz",
            {{"a.npy", npy("|u1", false, "(2,)", bytes({1, 2}))},
             {"b.npy", npy("|i1", false, "(1000,)", std::string(1000, 3))}},
            deflate);
    auto b = readTensor(file, "b");
    ASSERT_TRUE(bool(b)) << why(std::move(b));
    EXPECT_EQ(b->ints, Ints(1000, 3));
    EXPECT_NE(why(readTensor(file, "c")).find("name one of 'a', 'b'"),
              std::string::npos);
  }
}

TEST_F(DataTest, IdxPlainAndGzipped) {
  std::string idx =
      bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 255});
  for (std::string file : {write("x.idx", idx), gz("x.idx.gz", idx)}) {
    Tensor t = read(file);
    EXPECT_EQ(t.shape, (Ints{2, 1, 2}));
    EXPECT_EQ(t.ints, (Ints{1, 2, 3, 255}));
  }
  EXPECT_EQ(
      read(write("i.idx", bytes({0, 0, 12, 1, 0, 0, 0, 1, 255, 255, 255, 254})))
          .ints,
      (Ints{-2}));
  EXPECT_NE(why(readTensor(write("y", bytes({0, 0, 7, 1, 0, 0, 0, 1, 1}))))
                .find("element type 7"),
            std::string::npos);
}

TEST_F(DataTest, TensorProtoRawAndTyped) {
  // dims 2 and 1, data_type int8, raw_data; dims 2, float, float_data packed.
  Tensor raw =
      read(write("raw.pb", bytes({8, 2, 8, 1, 16, 3, 0x4a, 2, 5, 255})));
  EXPECT_EQ(raw.shape, (Ints{2, 1}));
  EXPECT_EQ(raw.ints, (Ints{5, -1}));
  EXPECT_EQ(read(write("f.pb", bytes({8, 2, 16, 1, 0x22, 8, 0, 0, 0x80, 0x3f, 0,
                                      0, 0, 0xc0})))
                .floats,
            (Floats{1, -2}));
  EXPECT_NE(
      why(readTensor(write("few.pb", bytes({8, 3, 16, 3, 0x4a, 2, 5, 255}))))
          .find("ends before the elements"),
      std::string::npos);
  EXPECT_NE(why(readTensor(write("words.txt", "neither this nor that")))
                .find("give .npy"),
            std::string::npos);
}

TEST_F(DataTest, Images) {
  Tensor rgb = read(png("x.png", 2, 1, true, {1, 2, 3, 250, 251, 252}));
  EXPECT_EQ(rgb.shape, (Ints{1, 2, 3}));
  EXPECT_EQ(rgb.ints, (Ints{1, 2, 3, 250, 251, 252}));
  Tensor gray = read(png("g.png", 2, 2, false, {0, 100, 200, 255}));
  EXPECT_EQ(gray.shape, (Ints{2, 2, 1}));
  EXPECT_EQ(gray.ints, (Ints{0, 100, 200, 255}));
  Tensor flat = read(jpeg("x.jpg", 8, 16, 77));
  EXPECT_EQ(flat.shape, (Ints{16, 8, 1}));
  EXPECT_EQ(flat.ints, Ints(128, 77));
}

TEST_F(DataTest, Labels) {
  auto labels =
      readLabels(write("l.idx", bytes({0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 9})));
  ASSERT_TRUE(bool(labels));
  EXPECT_EQ(*labels, (Ints{7, 0, 9}));
  ASSERT_FALSE(writeNpy(path("f.npy"), Tensor::ofFloats({2, 1}, {3, 4})));
  EXPECT_EQ(llvm::cantFail(readLabels(path("f.npy"))), (Ints{3, 4}));
  EXPECT_EQ(llvm::cantFail(readLabels(
                write("l.csv", "a.bin, 12, 7\n\nb.bin, 12, \"-3\"\r\n5"))),
            (Ints{7, -3, 5}));
  EXPECT_NE(why(readLabels(write("l.txt", "1\ntwo\n"))).find("line 2"),
            std::string::npos);
  ASSERT_FALSE(writeNpy(path("h.npy"), Tensor::ofFloats({1}, {0.5f})));
  EXPECT_NE(why(readLabels(path("h.npy"))).find("labels are class numbers"),
            std::string::npos);
}

TEST_F(DataTest, WhatIsNoFileIsNotWaitedFor) {
  const std::string pipe = write("gone", "");
  ASSERT_EQ(std::remove(pipe.c_str()), 0);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string &path : {pipe, std::string("/dev/zero")}) {
    EXPECT_EQ(why(readTensor(path)),
              "cannot read '" + path + "': it is no file");
    auto text = readFile(path);
    EXPECT_EQ(text ? "" : llvm::toString(text.takeError()),
              "cannot read '" + path + "': it is no file");
  }
}

TEST_F(DataTest, MissingAndEmptyFiles) {
  EXPECT_NE(why(readTensor(path("none"))).find("cannot read"),
            std::string::npos);
  EXPECT_NE(why(readTensor(write("empty", ""))).find("the file is empty"),
            std::string::npos);
}

/// A first scan of the means, then one for each bit of each coefficient.
std::vector<jpeg_scan_info> scansByBit(int coefficients) {
  std::vector<jpeg_scan_info> scans = {{1, {0}, 0, 0, 0, 0}};
  constexpr int kTop = 10;
  for (int k = 1; k <= coefficients; ++k)
    for (int bit = kTop; bit >= 0; --bit)
      scans.push_back({1, {0}, k, k, bit == kTop ? 0 : bit + 1, bit});
  return scans;
}

TEST_F(DataTest, ProgressiveImagesTakeBoundedMemoryAndTime) {
  std::string file = jpeg("p.jpg", 8, 16, 77, scansByBit(40));
  EXPECT_EQ(read(file).shape, (std::vector<int64_t>{16, 8, 1}));
  EXPECT_NE(why(readTensor(jpeg("q.jpg", 8, 16, 77, scansByBit(63))))
                .find("it has more than 500 scans"),
            std::string::npos);
  // The same file with a header that states 65,000 x 65,000 pixels: libjpeg
  // would allocate all of their coefficients.
  auto buffer = llvm::MemoryBuffer::getFile(file, false, false);
  ASSERT_TRUE(bool(buffer));
  std::string bomb = (*buffer)->getBuffer().str();
  size_t frame = bomb.find("\xff\xc2");
  ASSERT_NE(frame, std::string::npos);
  bomb.replace(frame + 5, 4, bytes({0xfd, 0xe8, 0xfd, 0xe8}));
  EXPECT_NE(why(readTensor(write("b.jpg", bomb)))
                .find("its header states 65000 x 65000 pixels"),
            std::string::npos);
}

TEST_F(DataTest, DamagedFilesOnlyFail) {
  std::string array = npy("<f4", false, "(4, 4)", std::string(64, 1));
  std::string idx = bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4});
  std::vector<std::string> files = {
      write("a.npy", array),
      npz("a.npz", {{"a.npy", array}}, true),
      npz("b.npz", {{"a.npy", array}, {"b.npy", array}}, false),
      write("a.idx", idx),
      gz("a.idx.gz", idx),
      write("a.pb", bytes({8, 2, 8, 1, 16, 3, 0x4a, 2, 5, 255})),
      png("a.png", 5, 4, true, std::vector<uint8_t>(60, 9)),
      jpeg("a.jpg", 9, 9, 33)};
  std::mt19937 random(1);
  int reads = 0;
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file, false, false);
    ASSERT_TRUE(bool(buffer));
    std::string good = (*buffer)->getBuffer().str();
    auto attempt = [&](const std::string &content) {
      why(readArrays("damaged", content));
      ++reads;
    };
    for (size_t n = 0; n < good.size(); ++n)
      attempt(good.substr(0, n));
    for (int i = 0; i < 400; ++i) {
      std::string bad = good;
      for (unsigned k = 0; k < 1 + random() % 3; ++k)
        bad[random() % bad.size()] = char(random());
      attempt(bad);
    }
  }
  EXPECT_GT(reads, 4000);
}
} // namespace
