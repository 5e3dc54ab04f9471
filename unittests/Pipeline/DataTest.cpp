// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data files of every format, well-formed and cut short anywhere.
#include "../../lib/Pipeline/Data.h"
#include "../TestFolder.h"
#include "rhizome/Pipeline/Pipeline.h"
#include <zlib.h>

using namespace rhizome;
using namespace rhizome::pipeline;
using rhizome::test::TestFolder;

namespace {
std::string npy(const std::string &type, const std::string &shape,
                const std::string &data, bool fortran = false) {
  std::string header = "{'descr': '" + type +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': (" + shape + "), }\n";
  std::string text("\x93NUMPY\x01\x00", 8);
  text += char(header.size() & 255);
  text += char(header.size() >> 8);
  return text + header + data;
}

std::string le16(unsigned v) { return {char(v & 255), char(v >> 8 & 255)}; }
std::string le32(unsigned v) { return le16(v & 65535) + le16(v >> 16); }

std::string deflated(const std::string &text) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = out.size();
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A zip of one member.
std::string npz(const std::string &name, const std::string &content,
                bool packed) {
  std::string data = packed ? deflated(content) : content;
  std::string tail = le16(packed ? 8 : 0) + le32(0) + le32(0) +
                     le32(data.size()) + le32(content.size()) +
                     le16(name.size()) + le16(0);
  std::string local = "PK\3\4" + le16(20) + le16(0) + tail + name + data;
  std::string central = "PK\1\2" + le16(20) + le16(20) + le16(0) + tail +
                        le16(0) + le16(0) + le16(0) + le32(0) + le32(0) + name;
  return local + central + "PK\5\6" + le32(0) + le16(1) + le16(1) +
         le32(central.size()) + le32(local.size()) + le16(0);
}

const std::string
    kIdx("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\x01\x02\x03\x04\x05\xff", 18);

using Values = std::vector<double>;
using Shape = std::vector<int64_t>;

TEST(Data, NumpyTypesAndOrders) {
  auto bytes = parseNpy(npy("|u1", "2, 2", "\x01\x02\x03\xff"));
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  EXPECT_EQ(bytes->shape, (Shape{2, 2}));
  EXPECT_EQ(bytes->values, (Values{1, 2, 3, 255}));
  auto swapped = parseNpy(npy(">i2", "2,", std::string("\xff\xfe\x01\x00", 4)));
  ASSERT_TRUE(bool(swapped));
  EXPECT_EQ(swapped->values, (Values{-2, 256}));
  auto columns = parseNpy(npy("|i1", "2, 3", "\1\2\3\4\5\6", true));
  ASSERT_TRUE(bool(columns));
  EXPECT_EQ(columns->values, (Values{1, 3, 5, 2, 4, 6}));
  auto half = parseNpy(npy("<f2", "1", "ab"));
  ASSERT_FALSE(bool(half));
  EXPECT_EQ(llvm::toString(half.takeError()),
            "the element type 'f2' is not supported");
  auto huge = parseNpy(npy("<f4", "99999999999, 99999999999", "abcd"));
  ASSERT_FALSE(bool(huge));
  EXPECT_NE(llvm::toString(huge.takeError()).find("truncated"),
            std::string::npos);
}

TEST(Data, ArchivesStoredAndDeflated) {
  for (bool packed : {false, true}) {
    auto arrays =
        parseNpz(npz("x.npy", npy("|u1", "3,", "\x07\x08\x09"), packed));
    ASSERT_TRUE(bool(arrays)) << llvm::toString(arrays.takeError());
    ASSERT_EQ(arrays->size(), 1u);
    EXPECT_EQ((*arrays)[0].name, "x");
    EXPECT_EQ((*arrays)[0].values, (Values{7, 8, 9}));
  }
}

TEST(Data, IdxAndOnnxTensors) {
  auto idx = parseIdx(kIdx);
  ASSERT_TRUE(bool(idx)) << llvm::toString(idx.takeError());
  EXPECT_EQ(idx->shape, (Shape{2, 3}));
  EXPECT_EQ(idx->values, (Values{1, 2, 3, 4, 5, 255}));
  // dims: 2; data_type: INT8; name: "t"; raw_data: -1, 5.
  auto pb = parseOnnxTensor("\x08\x02\x10\x03\x42\x01t\x4a\x02\xff\x05");
  ASSERT_TRUE(bool(pb)) << llvm::toString(pb.takeError());
  EXPECT_EQ(pb->name, "t");
  EXPECT_EQ(pb->values, (Values{-1, 5}));
}

TEST(Data, TruncatedFilesAreRefusedNotRead) {
  for (const std::string &whole :
       {npy("<f4", "2,", "12345678"), kIdx,
        npz("x.npy", npy("|u1", "3,", "\x07\x08\x09"), true)})
    for (size_t length = 0; length < whole.size(); ++length) {
      TestFolder folder;
      folder.write("data", whole.substr(0, length));
      auto arrays = readArrays(folder.path("data"));
      EXPECT_FALSE(bool(arrays)) << length << " of " << whole.size();
      llvm::consumeError(arrays.takeError());
    }
}

TEST(Data, PicturesMoveToChannelsFirst) {
  Array picture;
  picture.shape = {2, 1, 3};
  picture.isImage = true;
  picture.values = {1, 2, 3, 4, 5, 6};
  auto first = cutFrames({picture}, {1, 3, 2, 1}, 0, "p");
  ASSERT_TRUE(bool(first)) << llvm::toString(first.takeError());
  EXPECT_EQ((*first)[0].floats, (std::vector<float>{1, 4, 2, 5, 3, 6}));
  auto last = cutFrames({picture}, {1, 2, 1, 3}, 0, "p");
  ASSERT_TRUE(bool(last));
  EXPECT_EQ((*last)[0].floats, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  auto wrong = cutFrames({picture}, {1, 4}, 0, "p");
  ASSERT_FALSE(bool(wrong));
  EXPECT_EQ(llvm::toString(wrong.takeError()),
            "'p' holds an array of 2x1x3, which is not whole frames of 1x4");
}

TEST(Data, NormalisesAndLimits) {
  Array array;
  array.shape = {2, 2};
  array.values = {0, 255, 51, 102};
  normalise(array, "0..1");
  EXPECT_EQ(array.values, (Values{0, 1, 0.2, 0.4}));
  array.values = {0, 255, 51, 102};
  normalise(array, "0.2,0.5");
  EXPECT_DOUBLE_EQ(array.values[1], 1.6);
  auto frames = cutFrames({array}, {1, 2}, 1, "a");
  ASSERT_TRUE(bool(frames));
  EXPECT_EQ(frames->size(), 1u);
  EXPECT_TRUE(isNormalisation("0.13,0.3"));
  EXPECT_FALSE(isNormalisation("0.13,0"));
  EXPECT_FALSE(isNormalisation("0..2"));
}

TEST(Data, Labels) {
  TestFolder folder;
  folder.write("l.csv", "file,classes,label\na.bin, 12, 7\nb.bin, 12, 2\n");
  auto labels = readLabels(folder.path("l.csv"));
  ASSERT_TRUE(bool(labels)) << llvm::toString(labels.takeError());
  EXPECT_EQ(*labels, (std::vector<int64_t>{7, 2}));
  folder.write("bad.txt", "1\nfive\n");
  labels = readLabels(folder.path("bad.txt"));
  ASSERT_FALSE(bool(labels));
  EXPECT_NE(llvm::toString(labels.takeError())
                .find("bad.txt:2: no integer at the line's end"),
            std::string::npos);
}

TEST(Options, GoalsAndFormats) {
  EXPECT_TRUE(isGoal("throughput=5000/s"));
  EXPECT_TRUE(isGoal("latency=100us"));
  EXPECT_FALSE(isGoal("fast"));
  EXPECT_EQ(parseNumberFormat("fixed:16,10")->fraction, 10);
  EXPECT_FALSE(parseNumberFormat("fixed:17,10"));
  EXPECT_FALSE(parseNumberFormat("fixed:8"));
  EXPECT_FALSE(parseNumberFormat("float"));
}
} // namespace
