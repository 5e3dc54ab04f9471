// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model's own functions, and which element types belong together.
#include "ModelBuilder.h"

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;
using Values = std::vector<float>;

namespace {
/// A function of one output y.
onnx::FunctionProto &function(ModelBuilder &m, const std::string &name,
                              const std::vector<std::string> &inputs) {
  auto &f = *m.proto.add_functions();
  f.set_name(name);
  f.set_domain("local");
  for (const std::string &i : inputs)
    f.add_input(i);
  f.add_output("y");
  return f;
}

onnx::NodeProto &body(onnx::FunctionProto &f, const std::string &op,
                      const std::vector<std::string> &inputs,
                      const std::string &output,
                      const std::string &domain = "") {
  auto &n = *f.add_node();
  n.set_op_type(op);
  n.set_name("inner_" + op);
  n.set_domain(domain);
  for (const std::string &i : inputs)
    n.add_input(i);
  n.add_output(output);
  return n;
}

void refer(onnx::NodeProto &n, const std::string &name, const std::string &to) {
  auto *a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::FLOAT);
  a->set_ref_attr_name(to);
}

/// y = leaky(leaky(x)), where leaky multiplies by 2 and takes its slope from
/// the call, or from the outer function's.
ModelBuilder nested() {
  ModelBuilder m;
  m.input("x", {1, 2});
  auto &inner = function(m, "Leaky", {"x"});
  inner.add_attribute("slope");
  refer(body(inner, "LeakyRelu", {"t"}, "y"), "alpha", "slope");
  body(inner, "Add", {"x", "x"}, "t"); // unsorted
  auto &outer = function(m, "Twice", {"x"});
  outer.add_attribute("s");
  refer(body(outer, "Leaky", {"x"}, "t", "local"), "slope", "s");
  refer(body(outer, "Leaky", {"t"}, "y", "local"), "slope", "s");
  m.output("y");
  return m;
}

TEST(ImportFunction, BodiesTakeTheCallsPlace) {
  ModelBuilder m = nested();
  m.set(m.node("Twice", {"x"}, {"y"}, "local"), "s", 0.5f);
  Imported i(m);
  EXPECT_EQ(i.count("osa.leaky_relu"), 2) << i.text();
  EXPECT_EQ(valuesOf(i, {{3, -4}}), (Values{12, -4}));
}

TEST(ImportFunction, AttributesThatNobodyGivesAreDefaults) {
  ModelBuilder m = nested();
  m.node("Twice", {"x"}, {"y"}, "local");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{1, -10000}}), (Values{4, -4}));
}

TEST(ImportFunction, DefaultsOfTheFunctionsOwn) {
  ModelBuilder m = nested();
  // FunctionProto.attribute_proto is newer than libonnx 1.12: written by hand.
  onnx::AttributeProto half;
  half.set_name("s");
  half.set_type(onnx::AttributeProto::FLOAT);
  half.set_f(0.5f);
  auto &outer = *m.proto.mutable_functions(1);
  outer.clear_attribute();
  outer.GetReflection()->MutableUnknownFields(&outer)->AddLengthDelimited(
      11, half.SerializeAsString());
  m.node("Twice", {"x"}, {"y"}, "local");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{3, -4}}), (Values{12, -4}));
}

TEST(ImportFunction, NamesTellCallAndNode) {
  ModelBuilder m = nested();
  body(*m.proto.mutable_functions(0), "NonZero", {"t"}, "z");
  m.proto.mutable_functions(0)->add_output("z");
  m.proto.mutable_functions(1)->mutable_node(1)->add_output("z2");
  m.proto.mutable_functions(1)->add_output("z2");
  m.node("Twice", {"x"}, {"y"}, "local").add_output("z");
  m.output("z");
  Imported i(m);
  EXPECT_TRUE(i.contains("Twice_y/inner_Leaky/inner_NonZero | NonZero"))
      << i.text();
}

/// The first refusal of a model whose only function is changed by `change`.
template <typename Change> std::string refusal(Change change) {
  ModelBuilder m;
  m.input("x", {1, 2});
  auto &f = function(m, "F", {"x"});
  body(f, "Relu", {"x"}, "y");
  auto &call = m.node("F", {"x"}, {"y"}, "local");
  m.output("y");
  change(m, f, call);
  Imported i(m);
  EXPECT_FALSE(i.module);
  return i.refusals.empty() ? "" : i.refusals.front().reason;
}

TEST(ImportFunction, WhatCannotBeWrittenOutIsRefused) {
  using F = onnx::FunctionProto;
  using N = onnx::NodeProto;
  EXPECT_EQ(refusal([](ModelBuilder &, F &f, N &) {
              body(f, "F", {"x"}, "z", "local");
            }),
            "the function calls itself: 'F' calls 'F'");
  EXPECT_EQ(refusal([](ModelBuilder &, F &, N &n) { n.add_input("x"); }),
            "it has 2 inputs, the function takes 1");
  EXPECT_EQ(refusal([](ModelBuilder &, F &, N &n) { n.add_output("z"); }),
            "it has 2 outputs, the function gives 1");
  EXPECT_EQ(refusal([](ModelBuilder &m, F &, N &n) { m.set(n, "a", 1.0f); }),
            "the function has no attribute 'a'");
  EXPECT_EQ(refusal([](ModelBuilder &, F &f, N &) {
              refer(*f.mutable_node(0), "alpha", "b");
            }),
            "the function's node 'inner_Relu' takes its attribute 'alpha' "
            "from 'b', which the function does not have");
  EXPECT_EQ(refusal([](ModelBuilder &m, F &f, N &n) {
              f.add_attribute("a");
              refer(*f.mutable_node(0), "alpha", "a");
              m.set(n, "a", int64_t(3));
            }),
            "its attribute 'a' holds another kind of value than the "
            "function's node 'inner_Relu' expects");
  EXPECT_EQ(refusal([](ModelBuilder &, F &f, N &) { f.add_input("x"); }),
            "two inputs of the function are named 'x'");
  EXPECT_EQ(
      refusal([](ModelBuilder &m, F &f, N &) { *m.proto.add_functions() = f; }),
      "two functions of domain 'local' have this name");
  EXPECT_EQ(refusal([](ModelBuilder &, F &f, N &) {
              f.GetReflection()->MutableUnknownFields(&f)->AddLengthDelimited(
                  11, "\xff");
            }),
            "a default of its attributes is damaged");
  EXPECT_EQ(refusal([](ModelBuilder &, F &f, N &) {
              f.mutable_node(0)->set_op_type("Softmax");
              auto *set = f.add_opset_import();
              set->set_version(11);
            }),
            "the function has opset 11, the model 13, and Softmax changed its "
            "meaning between them");
}

TEST(ImportFunction, DepthAndNumberAreBounded) {
  ModelBuilder m;
  m.input("x", {1});
  for (int k = 0; k < 70; ++k) {
    auto &f = function(m, "F" + std::to_string(k), {"x"});
    std::string next = "F" + std::to_string(k + 1);
    body(f, next, {"x"}, "t", "local");
    body(f, k < 20 ? next : "Relu", {"t"}, "y", k < 20 ? "local" : "");
  }
  body(function(m, "F70", {"x"}), "Relu", {"x"}, "y");
  auto &call = m.node("F3", {"x"}, {"y"}, "local");
  m.output("y");
  Imported deep(m);
  EXPECT_TRUE(deep.contains("more than 64 functions call each other"))
      << deep.text();
  call.set_op_type("F10"); // 2^10 times 50 nodes
  importer::ImportOptions options;
  options.limits.nodes = 10000;
  Imported many(m, options);
  EXPECT_TRUE(many.contains("have too many nodes")) << many.text();
}

TEST(ImportTypes, InputsOfOneTypeAreOfOneType) {
  auto refusal = [](const std::string &op, std::vector<int> types) {
    ModelBuilder m;
    std::vector<std::string> names;
    for (int type : types) {
      names.push_back("x" + std::to_string(names.size()));
      m.input(names.back(), {1, 1}, type);
    }
    m.node(op, names, {"y"});
    m.output("y");
    Imported i(m);
    return i.refusals.empty() ? "" : i.refusals.front().reason;
  };
  const int f32 = TensorProto::FLOAT, f16 = TensorProto::FLOAT16,
            s8 = TensorProto::INT8, u8 = TensorProto::UINT8;
  EXPECT_EQ(refusal("MatMulInteger", {u8, u8, s8}),
            "its inputs 0 and 2 have the types uint8 and int8, which must be "
            "one");
  EXPECT_EQ(refusal("MatMulInteger", {s8, u8, s8}), "");
  EXPECT_EQ(refusal("MatMulIntegerToFloat", {s8, u8, f16, f32}),
            "its inputs 2 and 3 have the types float16 and float, which must "
            "be one");
  EXPECT_EQ(refusal("Add", {f32, f16}),
            "its inputs 0 and 1 have the types float and float16, which must "
            "be one");
  EXPECT_EQ(refusal("DequantizeLinear", {s8, f32, u8}),
            "its inputs 0 and 2 have the types int8 and uint8, which must be "
            "one");
}
} // namespace
