// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan's `host` section: ports belong to tensors by name, whatever their
// order, and only the model's own tensors have the model's names.
#include "rhizome/Deploy/Border.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Model/HostModel.h"
#include "rhizome/Transforms/Integerize.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;

namespace {
/// Three layers of one input, of equal sizes and unlike scales; the model gives
/// the last first.
std::string threeOutputs() {
  std::string text = R"mlir(
func.func @main(%x: tensor<1x4xf32> {rhizome.name = "x"}, %z: tensor<1x4xf32> {rhizome.name = "z"}) -> (tensor<1x4xf32> {rhizome.name = "third"}, tensor<1x4xf32> {rhizome.name = "first"}, tensor<1x4xf32> {rhizome.name = "second"}) {
)mlir";
  auto quantized = [&](const std::string &name, const std::string &from,
                       const std::string &scale) {
    text += "  %" + name + "q = osa.quantize %" + from + " {scale = dense<" +
            scale +
            "> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : "
            "(tensor<1x4xf32>) -> tensor<1x4x!num.int<s8>>\n  %" +
            name + " = osa.dequantize %" + name + "q {scale = dense<" + scale +
            "> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : "
            "(tensor<1x4x!num.int<s8>>) -> tensor<1x4xf32>\n";
  };
  auto dense = [&](const std::string &name, const std::string &from,
                   const std::string &scale) {
    text += "  %" + name +
            "c = osa.constant {value = dense<[[1, 2, 3, 4], [-1, -2, -3, -4], "
            "[4, 1, 2, 3], [5, 6, 7, 8]]> : tensor<4x4xi8>} : () -> "
            "tensor<4x4x!num.int<s8>>\n  %" +
            name + "w = osa.dequantize %" + name + "c {scale = dense<" + scale +
            "> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : "
            "(tensor<4x4x!num.int<s8>>) -> tensor<4x4xf32>\n  %" +
            name + " = osa.dense %" + from + ", %" + name +
            "w : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32> loc(\"" +
            name + "\"(\"MatMul\"(\"" + name + "_t\")))\n";
  };
  quantized("a", "x", "0.5");
  quantized("b", "z", "0.125");
  dense("one", "a", "0.25");
  dense("two", "a", "2.0");
  dense("three", "b", "8.0");
  return text + "  %soft = osa.softmax %two {axis = 1 : i64} : "
                "(tensor<1x4xf32>) -> tensor<1x4xf32>\n"
                "  return %three, %one, %soft : tensor<1x4xf32>, "
                "tensor<1x4xf32>, tensor<1x4xf32>\n}";
}

struct Bordered : testing::Test {
  void SetUp() override {
    model::loadDialects(context);
    module = parseSourceString<ModuleOp>(threeOutputs(), &context);
    ASSERT_TRUE(module);
    Refusals refusals;
    IntegerizeStats stats;
    ASSERT_TRUE(succeeded(integerize(*module, {}, refusals, stats)));
    network = fpgaNetwork(*module);
    inputs = model::hostPorts(network, false);
    outputs = model::hostPorts(network, true);
    ASSERT_EQ(inputs.size(), 2u);
    ASSERT_EQ(outputs.size(), 3u);
  }

  /// What a caller reads at the ports, by the tensor's name.
  static std::map<std::string, HostBorder>
  byName(const std::vector<HostBorder> &borders,
         const std::vector<HostTensor> &tensors) {
    std::map<std::string, HostBorder> all;
    for (HostBorder border : borders) {
      const std::string name = tensors[size_t(border.tensor)].name;
      border.tensor = 0;
      all[name] = border;
    }
    return all;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp network;
  std::vector<BorderPort> inputs, outputs;
};
} // namespace

TEST_F(Bordered, PortsInAnyOrderHaveTheirOwnScales) {
  auto known = deploy::hostSectionOf(*module, inputs, outputs);
  auto scaleOf = [](const HostSection &host, const std::string &name) {
    return byName(host.fromDevice, host.outputs).at(name).scale.front();
  };
  EXPECT_EQ(scaleOf(known, "first"), 0.5f * 0.25f);
  EXPECT_EQ(scaleOf(known, "third"), 0.125f * 8.0f);
  EXPECT_EQ(scaleOf(known, "two_t"), 0.5f * 2.0f);
  std::vector<BorderPort> order = outputs;
  auto byPort = [](const BorderPort &a, const BorderPort &b) {
    return a.port < b.port;
  };
  llvm::sort(order, byPort);
  std::reverse(inputs.begin(), inputs.end());
  do {
    auto host = deploy::hostSectionOf(*module, inputs, order);
    EXPECT_EQ(byName(host.fromDevice, host.outputs),
              byName(known.fromDevice, known.outputs));
    EXPECT_EQ(byName(host.toDevice, host.inputs),
              byName(known.toDevice, known.inputs));
    for (auto [border, port] : llvm::zip_equal(host.fromDevice, order))
      EXPECT_EQ(border.port, port.port);
  } while (std::next_permutation(order.begin(), order.end(), byPort));
}

TEST_F(Bordered, OnlyTheModelsTensorsHaveItsNames) {
  auto host = deploy::hostSectionOf(*module, inputs, outputs);
  EXPECT_FALSE(host.complete);
  std::map<std::string, bool> names;
  for (const HostTensor &tensor : host.outputs)
    names[tensor.name] = tensor.ofModel;
  EXPECT_EQ(names, (std::map<std::string, bool>{
                       {"first", true}, {"third", true}, {"two_t", false}}));
}
