// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers in the type that the file gives them, wherever they come from; the
// type of outputs; integers that become addresses or divisors; tensors without
// elements.
#include "ModelBuilder.h"
#include "rhizome/Cpu/Function.h"

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;
using Ints = std::vector<int64_t>;

namespace {
/// The integers of the only output for a real input.
Ints intsOf(Imported &i, const std::vector<float> &x) {
  std::vector<Tensor> out = i.run({x});
  if (out.size() != 1) {
    ADD_FAILURE() << i.text();
    return {};
  }
  if (!out[0].isFloat)
    return out[0].ints;
  return Ints(out[0].floats.begin(), out[0].floats.end());
}

std::string typeOfOutput(Imported &i) {
  if (!i.module)
    return i.text();
  auto type = i.main().getResultAttrOfType<mlir::StringAttr>(0, "rhizome.type");
  return type ? type.str() : "";
}

void cast(ModelBuilder &m, const std::string &from, const std::string &to,
          int type) {
  m.set(m.node("Cast", {from}, {to}), "to", int64_t(type));
}

/// An int64 constant of any value.
void int64(ModelBuilder &m, const std::string &name, int64_t value) {
  m.tensor(name, {}, TensorProto::INT64).add_int64_data(value);
}

TEST(ImportIntegerTypes, ArithmeticAfterACastWrapsInTheDeclaredType) {
  const struct {
    int type;
    const char *name, *op;
    int32_t constant;
    Ints expected; ///< of 5, 100, −128, 120
  } cases[] = {
      {TensorProto::INT8, "int8", "Add", 100, {105, -56, -28, -36}},
      {TensorProto::INT8, "int8", "Sub", 100, {-95, 0, 28, 20}},
      {TensorProto::INT8, "int8", "Mul", 3, {15, 44, -128, 104}},
      {TensorProto::INT16, "int16", "Mul", 300, {1500, 30000, 27136, -29536}},
      {TensorProto::INT32,
       "int32",
       "Mul",
       1 << 26,
       {5 << 26, int32_t(0x90000000), 0, int32_t(0xe0000000)}},
      {TensorProto::INT32, "int32", "Div", -7, {0, -14, 18, -17}},
      {TensorProto::INT8, "int8", "Mod", 7, {5, 2, 5, 1}},
  };
  for (const auto &c : cases) {
    ModelBuilder m;
    m.input("x", {4});
    cast(m, "x", "q", c.type);
    m.ints("c", {}, c.type, {c.constant});
    m.node(c.op, {"q", "c"}, {"y"});
    m.output("y");
    Imported i(m);
    EXPECT_EQ(intsOf(i, {5, 100, -128, 120}), c.expected)
        << c.op << " " << c.name << "\n"
        << i.text();
    EXPECT_EQ(typeOfOutput(i), c.name);
  }
}

TEST(ImportIntegerTypes, SixtyFourBitsAfterACast) {
  ModelBuilder m;
  m.input("x", {4});
  cast(m, "x", "q", TensorProto::INT64);
  int64(m, "c", int64_t(1) << 33);
  int64(m, "one", 1);
  m.node("Add", {"q", "c"}, {"s"});
  m.node("Add", {"s", "one"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(intsOf(i, {5e9f, -7e9f, 100, 0x1p60f}),
            (Ints{13589934593, 1589934593, 8589934693,
                  (int64_t(1) << 60) + (int64_t(1) << 33) + 1}));
  EXPECT_EQ(typeOfOutput(i), "int64");
}

TEST(ImportIntegerTypes, BetweenQuantizersTheNetworkStandsForWhatFits) {
  for (int64_t factor : {3, 1 << 20}) {
    ModelBuilder m;
    m.input("x", {4});
    m.floats("s", {}, {1});
    m.ints("z", {}, TensorProto::INT8, {0});
    m.node("QuantizeLinear", {"x", "s", "z"}, {"xq"});
    m.node("DequantizeLinear", {"xq", "s", "z"}, {"xd"});
    cast(m, "xd", "q", TensorProto::INT32);
    m.ints("c", {}, TensorProto::INT32, {int32_t(factor)});
    m.node("Mul", {"q", "c"}, {"p"});
    m.node("Mul", {"p", "c"}, {"y"});
    m.output("y");
    Imported i(m);
    // The second product of the large one may wrap around.
    EXPECT_EQ(i.count("osa.mul"), factor == 3 ? 2 : 0) << i.text();
    EXPECT_EQ(intsOf(i, {1, -5, 127, -128}),
              factor == 3 ? (Ints{9, -45, 1143, -1152}) : (Ints{0, 0, 0, 0}));
  }
}

TEST(ImportIntegerTypes, ReductionsWrap) {
  ModelBuilder m;
  m.input("x", {1, 4});
  cast(m, "x", "q", TensorProto::INT32);
  m.ints("c", {}, TensorProto::INT32, {1 << 30});
  m.node("Mul", {"q", "c"}, {"p"});
  m.set(m.node("ReduceSum", {"p"}, {"y"}), "keepdims", int64_t(0));
  m.output("y");
  Imported i(m);
  EXPECT_EQ(intsOf(i, {1, 1, 1, 0}), (Ints{int32_t(0xc0000000)})) << i.text();
}

TEST(ImportIntegerTypes, OutputsOfAnotherTypeThanDeclaredAreRefused) {
  ModelBuilder m;
  m.input("x", {2}, TensorProto::INT32);
  m.ints("c", {}, TensorProto::INT32, {1});
  m.node("BitwiseAnd", {"x", "c"}, {"y"});
  m.output("y");
  m.graph()
      .mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(TensorProto::INT8);
  Imported i(m);
  EXPECT_TRUE(i.contains("declared as int8, but the operations before it give "
                         "int32"))
      << i.text();
}

TEST(ImportIntegerTypes, AKernelShapeThatContradictsTheWeights) {
  ModelBuilder m;
  m.input("x", {1, 1, 6, 6});
  m.ramp("w", {2, 1, 3, 3});
  m.set(m.node("Conv", {"x", "w"}, {"y"}), "kernel_shape", {5, 5});
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.contains("its kernel_shape is [5, 5], its weights have"))
      << i.text();
}

//===----------------------------------------------------------------------===//
// Tensors without elements
//===----------------------------------------------------------------------===//

TEST(ImportEmpty, ConcatOfOneIsItsInput) {
  for (const char *op : {"Concat", "Sum", "Max", "Min"}) {
    ModelBuilder m;
    m.input("x", {1, 3});
    auto &n = m.node(op, {"x"}, {"c"});
    if (std::string(op) == "Concat")
      m.set(n, "axis", int64_t(1));
    m.node("Relu", {"c"}, {"y"});
    m.output("y");
    Imported i(m);
    EXPECT_EQ(i.count("osa.concat"), 0);
    EXPECT_EQ(valuesOf(i, {{1, -2, 3}}), (std::vector<float>{1, 0, 3})) << op;
  }
}

TEST(ImportEmpty, ConcatLeavesOutWhatIsEmpty) {
  for (size_t at : {0, 1, 2}) {
    ModelBuilder m;
    m.input("x", {1, 4, 1});
    m.floats("k", {1, 1, 1}, {7});
    m.floats("e", {1, 0, 1}, {});
    std::vector<std::string> in = {"x", "k"};
    in.insert(in.begin() + ptrdiff_t(at), "e");
    m.set(m.node("Concat", in, {"y"}), "axis", int64_t(1));
    m.output("y");
    Imported i(m);
    EXPECT_EQ(valuesOf(i, {{1, 2, 3, 4}}), (std::vector<float>{1, 2, 3, 4, 7}));
  }
}

TEST(ImportEmpty, ComputedTensorsMayBeEmpty) {
  ModelBuilder m;
  m.input("x", {1, 4});
  m.int64s("two", {2});
  m.int64s("one", {1});
  m.node("Slice", {"x", "two", "two", "one"}, {"e"});
  m.set(m.node("Concat", {"e", "x", "e"}, {"y"}), "axis", int64_t(1));
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{1, 2, 3, 4}}), (std::vector<float>{1, 2, 3, 4}))
      << i.text();
}

//===----------------------------------------------------------------------===//
// Indices and divisors that the model computes
//===----------------------------------------------------------------------===//

/// The error of machine code and of the interpreter for integers as the only
/// input, or what both compute.
std::string outcome(Imported &i, const Ints &values) {
  if (!i.module)
    return i.text();
  auto main = i.main();
  auto shape =
      mlir::cast<mlir::RankedTensorType>(main.getArgumentTypes()[0]).getShape();
  std::vector<Tensor> in = {Tensor::ofInts(shape.vec(), values)};
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&i.context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          said = diagnostic.str();
                                          return mlir::success();
                                        });
  auto plain = interpret(main, in);
  auto compiled = CompiledFunction::compile(main);
  if (mlir::failed(compiled))
    return "it does not compile: " + said;
  auto fast = (*compiled)->run(in);
  if (mlir::failed(plain) != !fast)
    return "they disagree: " + said +
           (fast ? "" : llvm::toString(fast.takeError()));
  std::string text;
  if (!fast) {
    std::string why = llvm::toString(fast.takeError());
    return llvm::StringRef(why).ends_with(said) ? why : why + " | " + said;
  }
  EXPECT_EQ((*fast)[0].floats, (*plain)[0].floats);
  EXPECT_EQ((*fast)[0].ints, (*plain)[0].ints);
  for (float v : (*fast)[0].floats)
    text += std::to_string(int(v)) + " ";
  for (int64_t v : (*fast)[0].ints)
    text += std::to_string(v) + " ";
  return text;
}

TEST(ImportIndices, OutsideOfATableIsAnError) {
  const struct {
    const char *op;
    std::vector<int64_t> shape;
  } cases[] = {{"Gather", {3}}, {"GatherElements", {3}}, {"GatherND", {3, 1}}};
  for (const auto &c : cases) {
    ModelBuilder m;
    m.ramp("t", {8});
    m.input("i", c.shape, TensorProto::INT64);
    m.node(c.op, {"t", "i"}, {"y"});
    m.output("y");
    Imported i(m);
    EXPECT_EQ(outcome(i, {0, 7, -8}), "0 7 0 ") << c.op;
    for (int64_t wrong : {int64_t(8), int64_t(-9), int64_t(5000),
                          int64_t(1000000000000), INT64_MIN, INT64_MAX})
      EXPECT_EQ(outcome(i, {0, wrong, 99}),
                "'" + std::string(c.op) + "_y': its index at element 1 is " +
                    std::to_string(wrong) + ", it must be from -8 to 7");
  }
}

TEST(ImportIndices, UpdatesOutsideOfATensorAreErrors) {
  for (const char *op : {"ScatterElements", "ScatterND"}) {
    ModelBuilder m(16);
    m.ramp("t", {8});
    m.floats("u", {2}, {50, 60});
    m.input("i", op == std::string("ScatterND") ? Ints{2, 1} : Ints{2},
            TensorProto::INT64);
    m.node(op, {"t", "i", "u"}, {"y"});
    m.output("y");
    Imported i(m);
    EXPECT_EQ(outcome(i, {-1, 0}), "60 1 2 3 4 5 6 50 ");
    EXPECT_EQ(outcome(i, {0, 8}), "'" + std::string(op) +
                                      "_y': its index at element 1 is 8, it "
                                      "must be from -8 to 7");
  }
}

TEST(ImportIndices, RowsOfATableAndSequences) {
  ModelBuilder m;
  m.ramp("t", {3, 2});
  m.input("i", {2}, TensorProto::INT32);
  m.node("Gather", {"t", "i"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(outcome(i, {2, -3}), "4 5 0 1 ");
  EXPECT_NE(outcome(i, {2, 3}).find("is 3, it must be from -3 to 2"),
            std::string::npos);
  ModelBuilder r;
  r.ramp("t", {3, 2});
  r.input("n", {2}, TensorProto::INT64);
  r.node("ReverseSequence", {"t", "n"}, {"y"});
  r.output("y");
  Imported j(r);
  EXPECT_EQ(outcome(j, {3, 1}), "4 1 2 3 0 5 ");
  EXPECT_NE(outcome(j, {3, 4}).find("its length at element 1 is 4"),
            std::string::npos);
}

TEST(ImportIndices, DivisorsOfZeroAndMinusOne) {
  for (const char *op : {"Div", "Mod"}) {
    ModelBuilder m;
    int64(m, "t", INT64_MIN);
    m.input("i", {2}, TensorProto::INT64);
    m.node(op, {"t", "i"}, {"y"});
    m.output("y");
    Imported i(m);
    EXPECT_EQ(outcome(i, {-1, 1}), op == std::string("Div")
                                       ? "-9223372036854775808 "
                                         "-9223372036854775808 "
                                       : "0 0 ");
    EXPECT_EQ(outcome(i, {3, 0}),
              "'" + std::string(op) + "_y': its divisor at element 1 is 0");
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

TEST(ImportMessages, OperationsAndOpsetsOfOtherDomains) {
  ModelBuilder m;
  m.proto.clear_opset_import();
  m.addDomain("ai.onnx.ml", 3);
  m.input("x", {2, 3});
  m.node("ArrayFeatureExtractor", {"x", "x"}, {"y"}, "ai.onnx.ml");
  m.output("y");
  Imported i(m);
  ASSERT_EQ(i.refusals.size(), 1u) << i.text();
  EXPECT_TRUE(i.contains("of domain 'ai.onnx.ml' is not supported"));
  ModelBuilder s;
  s.proto.clear_opset_import();
  s.input("x", {2, 3});
  s.node("Relu", {"x"}, {"y"});
  s.output("y");
  Imported j(s);
  EXPECT_TRUE(j.contains("imports no opset of ONNX's domain")) << j.text();
  ModelBuilder a;
  a.input("x", {1, 4, 8});
  a.ramp("w", {8, 24});
  a.set(a.node("Attention", {"x", "w"}, {"y"}, "com.microsoft"), "num_heads",
        int64_t(2));
  a.output("y");
  Imported k(a);
  EXPECT_TRUE(k.contains("the operation Attention of domain 'com.microsoft' is "
                         "not supported"))
      << k.text();
}

TEST(ImportMessages, DimensionsThatWereTakenAsOne) {
  ModelBuilder m;
  m.input("x", {1, 3, -1, -1});
  m.set(m.node("MaxPool", {"x"}, {"y"}), "kernel_shape", {2, 2});
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.contains("taken as 1: give sizes, such as --shape x=1,3,64,64"))
      << i.text();
}
} // namespace
