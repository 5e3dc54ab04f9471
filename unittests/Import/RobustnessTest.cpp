// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bad files: each gives refusals and no module, whatever is wrong with it; and
// files that are only unusual are read.
#include "../TestFolder.h"
#include "ModelBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include <random>

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;

namespace {
ModelBuilder smallNetwork() {
  ModelBuilder m(11);
  m.input("x", {1, 2, 6, 6});
  m.ramp("w", {3, 2, 3, 3}, 0.01f);
  m.ramp("b", {3});
  m.ints("fc", {27, 4}, TensorProto::INT8, std::vector<int32_t>(108, 3));
  m.floats("s", {}, {0.5f});
  auto &c = m.node("Conv", {"x", "w", "b"}, {"c"});
  m.set(c, "strides", {2, 2});
  m.set(c, "pads", {1, 1, 1, 1});
  m.node("Relu", {"c"}, {"r"});
  m.node("Flatten", {"r"}, {"f"});
  m.node("DequantizeLinear", {"fc", "s"}, {"wd"});
  m.node("MatMul", {"f", "wd"}, {"y"});
  m.output("y");
  return m;
}

/// A refusal with a reason, and nothing else.
void expectRefused(Imported &i, llvm::StringRef part) {
  EXPECT_FALSE(i.module);
  ASSERT_FALSE(i.refusals.empty());
  EXPECT_TRUE(i.contains(part)) << i.text();
}

TEST(ImportRobust, TheSmallNetworkItself) {
  Imported i(smallNetwork());
  EXPECT_TRUE(i.module) << i.text();
}

TEST(ImportRobust, NoModelAtAll) {
  Imported empty{std::string()};
  expectRefused(empty, "the file is empty");
  Imported text(std::string("this is not a model\n"));
  expectRefused(text, "not an ONNX model");
  Imported noGraph(onnx::ModelProto().SerializeAsString() + "\x08\x08");
  expectRefused(noGraph, "holds no ONNX graph");
  mlir::MLIRContext context;
  Refusals refusals;
  EXPECT_FALSE(
      importer::importOnnx(&context, "/no/such/file.onnx", {}, refusals));
  EXPECT_FALSE(importer::importOnnx(&context, "/", {}, refusals));
  EXPECT_EQ(refusals.size(), 2u);
}

TEST(ImportRobust, FoldedConstantsAreBoundedTogether) {
  ModelBuilder m;
  m.input("x", {1, 4});
  m.int64s("n", {1000, 4});
  std::string sum = "x";
  for (int i = 0; i < 3; ++i) {
    std::string name = std::to_string(i);
    m.node("ConstantOfShape", {"n"}, {"c" + name});
    m.node("Add", {sum, "c" + name}, {"s" + name});
    sum = "s" + name;
  }
  m.output(sum);
  EXPECT_TRUE(Imported(m).module);
  importer::ImportOptions options;
  options.limits.foldedElements = 10000;
  Imported bounded(m, options);
  expectRefused(bounded, "elements still allowed");
  options.limits.bytes = 100;
  Imported small(m, options);
  expectRefused(small, "more than the 100 allowed");
}

TEST(ImportRobust, Versions) {
  ModelBuilder oldOpset(6), newOpset(29), oldIr(13, 2), newIr(13, 15);
  for (ModelBuilder *m : {&oldOpset, &newOpset, &oldIr, &newIr}) {
    m->input("x", {1});
    m->node("Relu", {"x"}, {"y"});
    m->output("y");
    Imported i(*m);
    expectRefused(i, "we read");
  }
}

TEST(ImportRobust, CycleNamesItsNodesOnly) {
  ModelBuilder m;
  m.input("x", {1});
  m.node("Add", {"x", "c"}, {"a"});
  m.node("Relu", {"a"}, {"b"});
  m.node("Relu", {"b"}, {"c"});
  m.node("Relu", {"c"}, {"y"});
  m.output("y");
  Imported i(m);
  expectRefused(i, "a cycle through 'Add_a', 'Relu_b', 'Relu_c'");
  EXPECT_FALSE(i.contains("Relu_y"));
}

TEST(ImportRobust, UnsortedNodesAndInitializersAmongInputs) {
  ModelBuilder m;
  m.input("w", {1});
  m.input("x", {1});
  m.floats("w", {1}, {2});
  m.node("Relu", {"a"}, {"y"});
  m.node("Add", {"x", "w"}, {"a"});
  m.output("y");
  Imported i(m);
  ASSERT_TRUE(i.module) << i.text();
  EXPECT_EQ(i.main().getNumArguments(), 1u);
}

TEST(ImportRobust, DeadNodesDoNotMatter) {
  ModelBuilder m;
  m.input("x", {1});
  m.node("NoSuchOperation", {"x"}, {"dead"});
  m.node("Relu", {"x"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.module) << i.text();
}

TEST(ImportRobust, EverythingIsRefusedAtOnce) {
  ModelBuilder m;
  m.input("x", {1, 2});
  m.node("NonZero", {"x"}, {"a"});
  m.node("If", {"a"}, {"b"});
  m.node("LSTM", {"b", "b", "b"}, {"c"});
  m.node("Adam", {"a"}, {"d"}, "ai.onnx.preview.training");
  m.set(m.node("Softmax", {"x"}, {"e"}), "axis", int64_t(5));
  for (const char *name : {"c", "d", "e"})
    m.output(name);
  Imported i(m);
  EXPECT_FALSE(i.module);
  EXPECT_EQ(i.refusals.size(), 3u) << i.text();
  EXPECT_TRUE(i.contains(
      "NonZero_a | NonZero | the operation NonZero is not supported"));
  EXPECT_TRUE(i.contains("inference mode"));
  EXPECT_TRUE(i.contains("its axis 5 is out of range"));
}

/// Neither an opset that we don't read nor inputs that nobody can judge hide
/// what else is to be refused.
TEST(ImportRobust, NothingHidesTheOtherRefusals) {
  ModelBuilder m(99);
  m.input("x", {1});
  m.node("NonZero", {"x"}, {"a"});
  m.node("Unique", {"a"}, {"b"});
  m.node("Relu", {"b"}, {"y"});
  m.output("y");
  Imported opset(m);
  expectRefused(opset, "the file has opset 99");
  EXPECT_EQ(opset.refusals.size(), 3u) << opset.text();
  EXPECT_TRUE(opset.contains("Unique_b | Unique | the operation Unique"));

  ModelBuilder n;
  n.input("x", {1, 2});
  auto &lost = n.tensor("w", {2, 2}, TensorProto::FLOAT);
  lost.set_data_location(TensorProto::EXTERNAL);
  auto *entry = lost.add_external_data();
  entry->set_key("location");
  entry->set_value("nowhere.bin");
  n.tensor("short", {2}, TensorProto::FLOAT).add_float_data(1);
  n.ints("k", {2}, TensorProto::INT32, {1, 2});
  n.node("MatMul", {"x", "w"}, {"a"});
  n.node("Add", {"a", "short"}, {"b"});
  n.set(n.node("Relu", {"b"}, {"c"}), "slope", int64_t(1));
  n.node("Add", {"x", "k"}, {"d"});
  n.node("NonZero", {"c"}, {"e"});
  for (const char *name : {"d", "e"})
    n.output(name);
  Imported i(n);
  expectRefused(i, "w | initializer | its external data is missing");
  EXPECT_TRUE(i.contains("short | initializer | it holds 1 values"));
  EXPECT_TRUE(i.contains("Relu_c | Relu | its attribute 'slope'"));
  EXPECT_TRUE(i.contains("Add_d | Add | its inputs 0 and 1 have the types"));
  EXPECT_TRUE(i.contains("NonZero_e | NonZero | the operation NonZero"));
  EXPECT_EQ(i.refusals.size(), 5u) << i.text();
}

TEST(ImportRobust, NamesThatDoNotFit) {
  ModelBuilder m;
  m.input("x", {1});
  m.input("x", {1});
  m.floats("w", {1}, {1});
  m.floats("w", {1}, {2});
  m.node("Add", {"x", "missing"}, {"a"});
  m.node("Relu", {"x"}, {"a"});
  m.output("a");
  m.output("nobody");
  Imported i(m);
  expectRefused(i, "two initializers have the same name");
  EXPECT_TRUE(i.contains("two graph inputs have the same name"));
  EXPECT_TRUE(i.contains("its input 'missing' is neither"));
  EXPECT_TRUE(i.contains("the tensor 'a' is produced twice"));
  EXPECT_TRUE(i.contains("no node produces this graph output"));
}

TEST(ImportRobust, NamesThatAreNotUtf8) {
  ModelBuilder m(13);
  m.input("x", {1});
  m.node("Relu", {"x"}, {"y\xff"});
  m.output("y\xff");
  Imported i(m);
  expectRefused(i, "is not UTF-8");
}

TEST(ImportRobust, SizesThatDoNotFit) {
  ModelBuilder m = smallNetwork();
  m.graph().mutable_initializer(0)->set_dims(0, 4);
  Imported data(m);
  expectRefused(data, "its shape [4, 2, 3, 3] needs 72");
  m.graph().mutable_initializer(0)->set_dims(0, int64_t(1) << 40);
  Imported huge(m);
  expectRefused(huge, "at most 2^31");
  m.graph().mutable_initializer(0)->set_dims(0, -3);
  Imported negative(m);
  expectRefused(negative, "must not be negative");
}

TEST(ImportRobust, HugeTensorsAreNeverAllocated) {
  ModelBuilder m;
  m.input("x", {1, 65536, 65536});
  m.int64s("shape", {1 << 20, 1 << 20});
  m.node("ConstantOfShape", {"shape"}, {"k"});
  m.node("Add", {"x", "k"}, {"y"});
  m.output("y");
  Imported i(m);
  expectRefused(i, "this graph input's shape [1, 65536, 65536]");
  EXPECT_TRUE(i.contains("a constant of shape [1048576, 1048576]"));
  ModelBuilder grow;
  grow.input("x", {1 << 20, 1});
  grow.ramp("k", {1, 4096});
  grow.node("Add", {"x", "k"}, {"y"});
  grow.output("y");
  Imported j(grow);
  expectRefused(j, "its output of shape [1048576, 4096]");
}

TEST(ImportRobust, WrongTypesAndMissingShapes) {
  ModelBuilder m;
  m.input("text", {1}, TensorProto::STRING);
  auto *bare = m.graph().add_input();
  bare->set_name("bare");
  bare->mutable_type()->mutable_tensor_type()->set_elem_type(
      TensorProto::FLOAT);
  for (const char *name : {"text", "bare"})
    m.output(name);
  Imported i(m);
  expectRefused(i,
                "text | input | this graph input has the element type string");
  EXPECT_TRUE(i.contains("give it one: --shape bare=1"));
}

TEST(ImportRobust, AttributesOfAnotherKind) {
  ModelBuilder m = smallNetwork();
  auto &conv = *m.graph().mutable_node(0);
  m.set(conv, "group", 2.0f);
  m.set(conv, "dilations", int64_t(1));
  Imported i(m);
  expectRefused(i, "'group' holds another kind of value");
  EXPECT_TRUE(i.contains("'dilations' holds another kind of value"));
}

/// Operations that share a function in the importer do not share attributes.
TEST(ImportRobust, AttributesOfAnotherOperation) {
  ModelBuilder m;
  m.input("x", {1, 2});
  m.set(m.node("Shrink", {"x"}, {"a"}), "lambd", 0.5f);
  m.set(m.node("ThresholdedRelu", {"x"}, {"b"}), "lambd", 0.5f);
  m.output("a");
  m.output("b");
  Imported i(m);
  EXPECT_EQ(i.refusals.size(), 1u) << i.text();
  expectRefused(i, "ThresholdedRelu_b | ThresholdedRelu | its attribute "
                   "'lambd' is not supported");
  EXPECT_TRUE(i.contains("ThresholdedRelu is supported with alpha"));
}

/// Also where its operation is written out as others.
TEST(ImportRobust, WeightsThatCannotBeRead) {
  ModelBuilder m;
  m.input("x", {1, 2}, TensorProto::UINT8);
  m.floats("s", {}, {1});
  m.ints("z", {}, TensorProto::UINT8, {0});
  auto &w = m.tensor("w", {2, 2}, TensorProto::UINT8);
  w.set_data_location(TensorProto::EXTERNAL);
  auto *entry = w.add_external_data();
  entry->set_key("location");
  entry->set_value("absent.bin");
  m.node("QLinearMatMul", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(i.refusals.size(), 1u) << i.text();
  expectRefused(i, "w | initializer");
}

TEST(ImportRobust, ResizeWithScalesAndSizes) {
  ModelBuilder m;
  m.input("x", {1, 1, 2, 2});
  m.floats("scales", {4}, {1, 1, 2, 2});
  m.int64s("sizes", {4});
  m.set(m.node("Resize", {"x", "", "scales", "sizes"}, {"y"}), "mode", "cubic");
  m.output("y");
  Imported i(m);
  expectRefused(i, "its scales and sizes are not constant, or do not fit");
}

TEST(ImportRobust, OutputsThatAnOperationDoesNotHave) {
  ModelBuilder m;
  m.input("x", {1, 1, 2, 2});
  m.node("QuickGelu", {"x"}, {"", "a"}, "com.microsoft");
  auto &mean = m.node("ReduceMean", {"x"}, {"", "b"});
  m.set(mean, "axes", {2, 3});
  m.set(mean, "keepdims", int64_t(0));
  m.output("a");
  m.output("b");
  Imported i(m);
  expectRefused(i, "its output 1 ('a') is used, which QuickGelu does not have");
  EXPECT_TRUE(i.contains("it has 2 outputs, ReduceMean gives 1"));
  EXPECT_EQ(i.refusals.size(), 2u) << i.text();
}

TEST(ImportRobust, TensorsWithoutElements) {
  ModelBuilder m;
  m.input("x", {1, 2});
  m.tensor("none", {0, 2}, TensorProto::FLOAT);
  m.node("Add", {"x", "none"}, {"y"});
  m.output("y");
  Imported i(m);
  expectRefused(i, "has no elements");
}

TEST(ImportRobust, ExternalDataBesideTheModelOnly) {
  TestFolder folder;
  ModelBuilder m;
  m.input("x", {2});
  auto &t = m.tensor("w", {2}, TensorProto::FLOAT);
  t.set_data_location(TensorProto::EXTERNAL);
  auto *entry = t.add_external_data();
  entry->set_key("location");
  entry->set_value("weights.bin");
  m.node("Add", {"x", "w"}, {"y"});
  m.output("y");
  const float weights[] = {1, 2};
  folder.write("weights.bin",
               std::string(reinterpret_cast<const char *>(weights), 8));
  folder.write("model.onnx", m.bytes());
  mlir::MLIRContext context;
  Refusals refusals;
  EXPECT_TRUE(
      importer::importOnnx(&context, folder.path("model.onnx"), {}, refusals));
  for (const char *bad : {"../weights.bin", "/etc/passwd", "absent.bin", ""}) {
    entry->set_value(bad);
    folder.write("model.onnx", m.bytes());
    refusals.clear();
    EXPECT_FALSE(importer::importOnnx(&context, folder.path("model.onnx"), {},
                                      refusals));
    EXPECT_EQ(refusals.size(), 1u) << bad;
  }
}

/// Imports damaged bytes: a module or refusals, never both and never neither.
void importDamaged(const std::string &bytes) {
  Imported i(bytes);
  EXPECT_NE(bool(i.module), !i.refusals.empty());
}

void damage(const std::string &bytes, unsigned rounds) {
  std::mt19937 random(1);
  for (unsigned k = 0; k < rounds; ++k)
    importDamaged(bytes.substr(0, bytes.size() * k / rounds));
  for (unsigned k = 0; k < rounds; ++k) {
    std::string flipped = bytes;
    for (unsigned n = 1 + random() % 4; n-- > 0;)
      flipped[random() % flipped.size()] = char(random());
    importDamaged(flipped);
  }
}

TEST(ImportRobust, DamagedSmallNetwork) { damage(smallNetwork().bytes(), 700); }

TEST(ImportRobust, DamagedRealModels) {
  const char *root = std::getenv("RHIZOME_SHARED");
  std::string models =
      std::string(root ? root : RHIZOME_SHARED_DEFAULT) + "/models/";
  for (const char *name :
       {"sonos+tract/onnx/test_cases/qrelu_1/model.onnx",
        "nod-ai+SHARK-TestSuite/e2eshark/onnx/models/QuantizedMLP/model.onnx",
        "fastmachinelearning+hls4ml/example-models/onnx/"
        "conv1d_small_keras.onnx",
        "fastmachinelearning+hls4ml/test/pytest/bnn_model_fc_1layer.onnx"}) {
    auto file = llvm::MemoryBuffer::getFile(models + name);
    if (!file) {
      std::fprintf(stderr, "SKIPPED: no file %s%s\n", models.c_str(), name);
      continue;
    }
    damage((*file)->getBuffer().str(), 150);
  }
}
} // namespace
