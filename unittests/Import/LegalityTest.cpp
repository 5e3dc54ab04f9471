// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models that ONNX's checker refuses: too many inputs or outputs, element types
// that contradict each other or the operation. Each differs in one point from a
// model that is accepted.
#include "ModelBuilder.h"

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;

namespace {
/// x → QuantizeLinear → DequantizeLinear → y; the zero points' types, and
/// changes of the two nodes.
struct Pair {
  int first = TensorProto::UINT8, second = TensorProto::UINT8;
  bool hasZero = true;
  ModelBuilder m{21, 10};
  onnx::NodeProto *quantize = nullptr, *dequantize = nullptr;

  Pair &build() {
    m.input("x", {1, 2});
    m.floats("s", {}, {0.5f});
    zero("z", first);
    zero("z2", second);
    quantize = hasZero ? &m.node("QuantizeLinear", {"x", "s", "z"}, {"q"})
                       : &m.node("QuantizeLinear", {"x", "s"}, {"q"});
    dequantize = &m.node("DequantizeLinear", {"q", "s", "z2"}, {"y"});
    m.output("y");
    return *this;
  }
  void zero(const char *name, int type) {
    auto &t = m.tensor(name, {}, type);
    type == TensorProto::INT64 ? t.add_int64_data(0) : t.add_int32_data(0);
  }
  void declare(const char *name, int type) {
    auto *info = m.graph().add_value_info();
    info->set_name(name);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  }
};

void expectRefused(const ModelBuilder &m, llvm::StringRef what) {
  Imported i(m);
  EXPECT_FALSE(i.module);
  EXPECT_TRUE(i.contains(what)) << i.text();
  for (const Refusal &r : i.refusals) {
    EXPECT_FALSE(r.node.empty()) << i.text();
    EXPECT_FALSE(r.remedy.empty()) << i.text();
  }
}

TEST(ImportLegality, ThePairItself) {
  EXPECT_TRUE(Imported(Pair().build().m).module);
  Pair declared;
  declared.build().declare("q", TensorProto::UINT8);
  declared.m.set(*declared.quantize, "output_dtype",
                 int64_t(TensorProto::UINT8));
  EXPECT_TRUE(Imported(declared.m).module);
  Pair without;
  without.hasZero = false;
  EXPECT_TRUE(Imported(without.build().m).module);
}

TEST(ImportLegality, AFourthInput) {
  Pair first;
  first.build().quantize->add_input("z");
  expectRefused(first.m, "QuantizeLinear_q | QuantizeLinear | it has 4 inputs, "
                         "QuantizeLinear takes 2 to 3 | remove 'z'");
  Pair second;
  second.build().dequantize->add_input("z");
  expectRefused(second.m, "it has 4 inputs, DequantizeLinear takes 2 to 3");
  // An empty name means none.
  Pair empty;
  empty.build().quantize->add_input("");
  EXPECT_TRUE(Imported(empty.m).module);
}

TEST(ImportLegality, InputsOfOtherOperations) {
  for (auto [op, takes, given] : {std::tuple{"Relu", 1, 2},
                                  {"Softmax", 1, 2},
                                  {"Add", 2, 3},
                                  {"Sign", 1, 2},
                                  {"Sub", 2, 1},
                                  {"Where", 3, 2}}) {
    ModelBuilder m;
    m.input("x", {1, 2});
    m.node(op, std::vector<std::string>(given, "x"), {"y"});
    m.output("y");
    expectRefused(m, "it has " + std::to_string(given) + " inputs, " + op +
                         " takes " + std::to_string(takes));
  }
}

TEST(ImportLegality, ZeroPointAndOutputOfDifferentTypes) {
  Pair points;
  points.second = TensorProto::INT8;
  expectRefused(points.build().m,
                "DequantizeLinear_y | DequantizeLinear | its inputs 0 and 2 "
                "have the types uint8 and int8, which must be one");
  Pair attribute;
  attribute.build();
  attribute.m.set(*attribute.quantize, "output_dtype",
                  int64_t(TensorProto::INT8));
  expectRefused(attribute.m,
                "its zero point has the type uint8, its output_dtype is int8");
  Pair declared;
  declared.build().declare("q", TensorProto::INT8);
  expectRefused(declared.m, "QuantizeLinear_q | QuantizeLinear | it gives "
                            "uint8, but the file declares its output 'q' as "
                            "int8");
  Pair fallback; // uint8 without a zero point
  fallback.hasZero = false;
  fallback.second = TensorProto::INT8;
  expectRefused(fallback.build().m, "the types uint8 and int8");
  Pair real;
  real.build();
  real.m.graph()
      .mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(TensorProto::INT8);
  expectRefused(real.m, "it gives float, but the file declares its output 'y' "
                        "as int8");
}

TEST(ImportLegality, ZeroPointsOfTypesThatNothingIsQuantizedTo) {
  for (int type : {TensorProto::INT64, TensorProto::INT32}) {
    Pair pair;
    pair.first = pair.second = type;
    expectRefused(pair.build().m, "for which QuantizeLinear is not defined");
  }
}

TEST(ImportLegality, IntegerOperationsAreOfBytes) {
  for (const char *op : {"MatMulInteger", "ConvInteger"})
    for (int type : {TensorProto::INT16, TensorProto::UINT8}) {
      ModelBuilder m;
      bool isConv = op[0] == 'C';
      m.input("x",
              isConv ? std::vector<int64_t>{1, 1, 3, 3}
                     : std::vector<int64_t>{1, 4},
              type);
      m.ints("w",
             isConv ? std::vector<int64_t>{1, 1, 2, 2}
                    : std::vector<int64_t>{4, 1},
             type, {1, 2, 3, 4});
      m.node(op, {"x", "w"}, {"y"});
      m.output("y");
      if (type == TensorProto::UINT8)
        EXPECT_TRUE(Imported(m).module) << Imported(m).text();
      else
        expectRefused(m, std::string("its input 0 has the type int16, for "
                                     "which ") +
                             op + " is not defined");
    }
}

TEST(ImportLegality, DeclaredTypesOfOtherOperations) {
  for (auto [op, type, says] :
       {std::tuple{"Relu", TensorProto::INT8, "it gives float"},
        {"Softmax", TensorProto::INT32, "it gives float"},
        {"ArgMax", TensorProto::FLOAT, "it gives int64"}}) {
    ModelBuilder m;
    m.input("x", {1, 4});
    m.node(op, {"x"}, {"y"});
    m.output("y");
    m.graph()
        .mutable_output(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->set_elem_type(type);
    expectRefused(m, says);
  }
  // Converters between float types leave the old ones in the file.
  ModelBuilder half;
  half.input("x", {1, 4}, TensorProto::FLOAT16);
  half.node("Relu", {"x"}, {"y"});
  half.output("y");
  half.graph()
      .mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(TensorProto::FLOAT);
  EXPECT_TRUE(Imported(half).module) << Imported(half).text();
}

TEST(ImportLegality, TypesOfIndicesAndTruths) {
  ModelBuilder m;
  m.input("x", {1, 4});
  m.ints("i", {2}, TensorProto::INT16, {0, 1});
  m.ints("s", {2}, TensorProto::INT32, {4, 1});
  m.set(m.node("Gather", {"x", "i"}, {"a"}), "axis", int64_t(1));
  m.node("Reshape", {"x", "s"}, {"b"});
  m.node("Not", {"s"}, {"c"});
  for (const char *name : {"a", "b", "c"})
    m.output(name);
  expectRefused(m, "its input 1 has the type int16, for which Gather");
  Imported i(m);
  EXPECT_EQ(i.refusals.size(), 3u) << i.text();
  EXPECT_TRUE(i.contains("int32, for which Reshape is not defined | store it "
                         "as int64"));
  EXPECT_TRUE(i.contains("put a Cast to bool before it"));
}

TEST(ImportLegality, ConvOfCodes) {
  ModelBuilder m;
  m.input("x", {1, 1, 3, 3}, TensorProto::UINT8);
  m.ints("w", {1, 1, 2, 2}, TensorProto::UINT8, {1, 2, 3, 4});
  m.node("Relu", {"x"}, {"r"}); // the type passes through
  m.node("Conv", {"r", "w"}, {"y"});
  m.output("y");
  expectRefused(m, "its input 0 has the type uint8, for which Conv is not "
                   "defined | put a DequantizeLinear before each");
}
} // namespace
