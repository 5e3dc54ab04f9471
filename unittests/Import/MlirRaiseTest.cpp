// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation of linalg that becomes one of osa computes the same as
// before: as loops of the interpreter.
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "rhizome/Import/Mlir/Passes.h"
#include "rhizome/Interp/Interpreter.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace rhizome;

namespace {
std::vector<float> randomValues(int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> pick(-8, 8);
  std::vector<float> values(count);
  for (float &value : values)
    value = float(pick(engine)) / 4;
  return values;
}

class Equivalence : public ::testing::Test {
protected:
  Equivalence() {
    context.loadDialect<func::FuncDialect, arith::ArithDialect,
                        linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect, osa::OsaDialect>();
  }

  /// Arguments but the first become constants.
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    if (!module)
      return module;
    auto function = *module->getOps<func::FuncOp>().begin();
    OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
    while (function.getNumArguments() > 1) {
      unsigned i = function.getNumArguments() - 1;
      auto type = cast<RankedTensorType>(function.getArgument(i).getType());
      auto values = randomValues(type.getNumElements(), i);
      auto attr = DenseElementsAttr::get(type, ArrayRef<float>(values));
      function.getArgument(i).replaceAllUsesWith(
          arith::ConstantOp::create(b, function.getLoc(), attr));
      EXPECT_TRUE(succeeded(function.eraseArgument(i)));
    }
    return module;
  }

  /// As loops alone.
  void generalize(func::FuncOp function) {
    IRRewriter rewriter(&context);
    SmallVector<linalg::LinalgOp> named;
    SmallVector<arith::ConstantOp> constants;
    function.walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::FillOp>(op))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      ASSERT_TRUE(succeeded(linalg::generalizeNamedOp(rewriter, op)));
    }
    function.walk([&](arith::ConstantOp op) { constants.push_back(op); });
    for (arith::ConstantOp op : constants)
      if (auto values = dyn_cast<ElementsAttr>(op.getValue())) {
        rewriter.setInsertionPoint(op);
        rewriter.replaceOpWithNewOp<osa::ConstantOp>(op, op.getType(), values);
      }
  }

  std::vector<float> run(func::FuncOp function) {
    auto type = cast<RankedTensorType>(function.getArgument(0).getType());
    Tensor in;
    in.shape = type.getShape().vec();
    in.isFloat = true;
    in.floats = randomValues(type.getNumElements(), 99);
    auto out = interpret(function, {in});
    EXPECT_TRUE(succeeded(out));
    return succeeded(out) ? out->front().floats : std::vector<float>();
  }

  /// Raises the function, checks that it contains `expected` and no loop, and
  /// that it computes the same.
  void check(const std::string &text, StringRef expected,
             bool loopsStay = false) {
    SCOPED_TRACE(text);
    auto loops = parse(text), raised = parse(text);
    ASSERT_TRUE(loops && raised);
    auto before = *loops->getOps<func::FuncOp>().begin(),
         after = *raised->getOps<func::FuncOp>().begin();
    PassManager pm(&context);
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToOsa());
    ASSERT_TRUE(succeeded(pm.run(*raised)));
    std::string printed;
    llvm::raw_string_ostream(printed) << *raised;
    EXPECT_NE(printed.find(expected.str()), std::string::npos) << printed;
    EXPECT_EQ(printed.find("linalg.generic") != std::string::npos, loopsStay)
        << printed;
    generalize(before);
    auto want = run(before), have = run(after);
    ASSERT_EQ(want.size(), have.size());
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(want[i], have[i], 1e-4 * (1 + std::abs(want[i]))) << i;
  }

  /// One named operation of two operands, from zero.
  void checkNamed(const std::string &name, const std::string &attributes,
                  const std::string &x, const std::string &w,
                  const std::string &y, StringRef expected,
                  const std::string &start = "0.0") {
    check("func.func @f(%x: tensor<" + x + ">, %w: tensor<" + w +
              ">) -> tensor<" + y + "> {\n %z = arith.constant " + start +
              " : f32\n %e = tensor.empty() : tensor<" + y +
              ">\n %i = linalg.fill ins(%z : f32) outs(%e : tensor<" + y +
              ">) -> tensor<" + y + ">\n %r = linalg." + name + " " +
              attributes + " ins(%x, %w : tensor<" + x + ">, tensor<" + w +
              ">) outs(%i : tensor<" + y + ">) -> tensor<" + y +
              ">\n return %r : tensor<" + y + ">\n}",
          expected);
  }

  MLIRContext context;
};

const char *const kWindow = "{dilations = dense<[1, 2]> : vector<2xi64>, "
                            "strides = dense<[2, 1]> : vector<2xi64>}";
const char *const kRow = "{dilations = dense<2> : vector<1xi64>, "
                         "strides = dense<2> : vector<1xi64>}";

TEST_F(Equivalence, Convolutions) {
  checkNamed("conv_2d_nchw_fchw", kWindow, "1x3x7x8xf32", "4x3x3x3xf32",
             "1x4x3x4xf32", "osa.conv2d");
  checkNamed("conv_2d_nhwc_hwcf", kWindow, "1x7x8x3xf32", "3x3x3x4xf32",
             "1x3x4x4xf32", "osa.conv2d");
  checkNamed("conv_2d_nhwc_fhwc", kWindow, "1x7x8x3xf32", "4x3x3x3xf32",
             "1x3x4x4xf32", "osa.conv2d");
  checkNamed("conv_2d_ngchw_gfchw", kWindow, "1x2x3x7x8xf32", "2x4x3x3x3xf32",
             "1x2x4x3x4xf32", "groups = 2");
  checkNamed("conv_2d_ngchw_fgchw", kWindow, "1x2x3x7x8xf32", "4x2x3x3x3xf32",
             "1x2x4x3x4xf32", "groups = 2");
  checkNamed("conv_1d_ncw_fcw", kRow, "1x3x9xf32", "4x3x3xf32", "1x4x3xf32",
             "osa.conv2d");
  checkNamed("conv_1d_nwc_wcf", kRow, "1x9x3xf32", "3x3x4xf32", "1x3x4xf32",
             "osa.conv2d");
}

TEST_F(Equivalence, DepthwiseConvolutions) {
  checkNamed("depthwise_conv_2d_nchw_chw", kWindow, "1x3x7x8xf32", "3x3x3xf32",
             "1x3x3x4xf32", "groups = 3");
  checkNamed("depthwise_conv_2d_nhwc_hwc", kWindow, "1x7x8x3xf32", "3x3x3xf32",
             "1x3x4x3xf32", "groups = 3");
  checkNamed("depthwise_conv_2d_nhwc_hwcm", kWindow, "1x7x8x3xf32",
             "3x3x3x2xf32", "1x3x4x3x2xf32", "groups = 3");
}

TEST_F(Equivalence, Pools) {
  for (auto [name, start, op] :
       {std::tuple("max", "0xFF800000", "osa.max_pool"),
        std::tuple("sum", "0.0", "osa.avg_pool")}) {
    checkNamed(std::string("pooling_nchw_") + name, kWindow, "1x3x7x8xf32",
               "3x3xf32", "1x3x3x4xf32", op, start);
    checkNamed(std::string("pooling_nhwc_") + name, kWindow, "1x7x8x3xf32",
               "3x3xf32", "1x3x4x3xf32", op, start);
    checkNamed(std::string("pooling_ncw_") + name, kRow, "1x3x9xf32", "3xf32",
               "1x3x3xf32", op, start);
    checkNamed(std::string("pooling_nwc_") + name, kRow, "1x9x3xf32", "3xf32",
               "1x3x3xf32", op, start);
  }
}

TEST_F(Equivalence, Products) {
  checkNamed("matmul", "", "2x3xf32", "3x4xf32", "2x4xf32", "osa.dense");
  checkNamed("vecmat", "", "3xf32", "3x4xf32", "4xf32", "osa.dense");
  checkNamed("batch_matmul", "", "1x2x3xf32", "1x3x4xf32", "1x2x4xf32",
             "osa.dense");
  checkNamed("matmul",
             "indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
             "affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, "
             "n)>]",
             "2x3xf32", "4x3xf32", "2x4xf32", "osa.dense");
  // The constant on the left.
  check(
      R"(func.func @f(%x: tensor<3x4xf32>, %w: tensor<2x3xf32>) -> tensor<2x4xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    %r = linalg.matmul ins(%w, %x : tensor<2x3xf32>, tensor<3x4xf32>) outs(%i : tensor<2x4xf32>) -> tensor<2x4xf32>
    return %r : tensor<2x4xf32>
  })",
      "osa.dense");
  // One matrix for a batch, and an initial value that is not a bias.
  check(
      R"(func.func @f(%x: tensor<2x2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x2x4xf32> {
    %z = arith.constant 0.0 : f32
    %b = tensor.empty() : tensor<2x3x4xf32>
    %v = linalg.broadcast ins(%w : tensor<3x4xf32>) outs(%b : tensor<2x3x4xf32>) dimensions = [0]
    %e = tensor.empty() : tensor<2x2x4xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
    %r = linalg.batch_matmul ins(%x, %v : tensor<2x2x3xf32>, tensor<2x3x4xf32>) outs(%i : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
    %s = linalg.batch_matmul ins(%x, %v : tensor<2x2x3xf32>, tensor<2x3x4xf32>) outs(%r : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
    return %s : tensor<2x2x4xf32>
  })",
      "osa.add");
}

TEST_F(Equivalence, Biases) {
  check(
      R"(func.func @f(%x: tensor<1x2x5x5xf32>, %w: tensor<4x2x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x3x3xf32> {
    %e = tensor.empty() : tensor<1x4x3x3xf32>
    %i = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) dimensions = [0, 2, 3]
    %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) outs(%i : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
    return %r : tensor<1x4x3x3xf32>
  })",
      "tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<1x3x3x4xf32>");
  // It differs between positions.
  check(
      R"(func.func @f(%x: tensor<1x2x5x5xf32>, %w: tensor<4x2x3x3xf32>, %b: tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
    %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) outs(%b : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
    return %r : tensor<1x4x3x3xf32>
  })",
      "osa.add");
}

/// A loop over [2, 3, 4] of one tensor, as maps and a body.
std::string loopOf(const std::string &maps, const std::string &kinds,
                   const std::string &out, const std::string &start,
                   const std::string &body) {
  return "func.func @f(%x: tensor<2x3x4xf32>) -> tensor<" + out +
         "> {\n %z = arith.constant " + start +
         " : f32\n %e = tensor.empty() : tensor<" + out +
         ">\n %i = linalg.fill ins(%z : f32) outs(%e : tensor<" + out +
         ">) -> tensor<" + out + ">\n %r = linalg.generic {indexing_maps = [" +
         maps + "], iterator_types = [" + kinds +
         "]} ins(%x : tensor<2x3x4xf32>) outs(%i : tensor<" + out +
         ">) {\n ^bb0(%in: f32, %out: f32):\n " + body +
         "\n linalg.yield %v : f32\n } -> tensor<" + out +
         ">\n return %r : tensor<" + out + ">\n}";
}

TEST_F(Equivalence, Reductions) {
  const std::string id = "affine_map<(a, b, c) -> (a, b, c)>, ";
  const std::string p = "\"parallel\"", r = "\"reduction\"";
  struct Case {
    std::string map, kinds, out;
  };
  for (const Case &c : {Case{"(a, b)", p + "," + p + "," + r, "2x3xf32"},
                        Case{"(a, c)", p + "," + r + "," + p, "2x4xf32"},
                        Case{"(a, 0, c)", p + "," + r + "," + p, "2x1x4xf32"},
                        Case{"(b)", r + "," + p + "," + r, "3xf32"},
                        Case{"()", r + "," + r + "," + r, "f32"}}) {
    std::string maps = id + "affine_map<(a, b, c) -> " + c.map + ">";
    check(
        loopOf(maps, c.kinds, c.out, "0.0", "%v = arith.addf %in, %out : f32"),
        "osa.avg_pool");
    check(loopOf(maps, c.kinds, c.out, "0xFF800000",
                 "%v = arith.maximumf %out, %in : f32"),
          "osa.max_pool");
  }
  // No such operation, and another initial value.
  std::string maps = id + "affine_map<(a, b, c) -> (a, b)>";
  check(loopOf(maps, p + "," + p + "," + r, "2x3xf32", "1.0",
               "%v = arith.mulf %in, %out : f32"),
        "rhizome.why_host = \"the FPGA has no unit for this reduction\"", true);
}

TEST_F(Equivalence, Elementwise) {
  const std::string id = "affine_map<(a, b, c) -> (a, b, c)>";
  const std::string kinds = "\"parallel\", \"parallel\", \"parallel\"";
  auto body = [&](const std::string &text) {
    return loopOf(id + ", " + id, kinds, "2x3x4xf32", "0.0", text);
  };
  check(body("%v = arith.maximumf %in, %z : f32"), "osa.relu");
  check(body("%c = arith.cmpf olt, %in, %z : f32\n"
             "%v = arith.select %c, %z, %in : f32"),
        "osa.relu");
  check(body("%a = arith.constant 1.5 : f32\n%b = arith.constant -0.5 : f32\n"
             "%m = arith.minimumf %in, %a : f32\n"
             "%v = arith.maximumf %m, %b : f32"),
        "osa.clip");
  check(body("%a = arith.constant 2.0 : f32\n%m = arith.mulf %in, %in : f32\n"
             "%n = arith.addf %m, %a : f32\n%s = math.sqrt %n : f32\n"
             "%v = arith.subf %s, %in : f32"),
        "osa.unary sqrt");
  check(body("%t = math.tanh %in : f32\n%g = math.erf %t : f32\n"
             "%v = math.absf %g : f32"),
        "osa.unary erf");
  check(body("%v = math.sin %in : f32"), "the FPGA has no unit for this loop",
        true);
}

TEST_F(Equivalence, MovesAndBroadcasts) {
  check(
      R"(func.func @f(%x: tensor<2x3x4xf32>, %b: tensor<3xf32>) -> tensor<4x2x3xf32> {
    %e = tensor.empty() : tensor<4x2x3xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (b, c, a)>, affine_map<(a, b, c) -> (c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %b : tensor<2x3x4xf32>, tensor<3xf32>) outs(%e : tensor<4x2x3xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %v = arith.addf %in, %in_0 : f32
      linalg.yield %v : f32
    } -> tensor<4x2x3xf32>
    return %r : tensor<4x2x3xf32>
  })",
      "permutation = array<i64: 2, 0, 1>");
  check(
      R"(func.func @f(%x: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<2x3xf32> {
    %e = tensor.empty() : tensor<2x3xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<2x3xf32>, tensor<2xf32>) outs(%e : tensor<2x3xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %v = arith.mulf %in, %in_0 : f32
      linalg.yield %v : f32
    } -> tensor<2x3xf32>
    return %r : tensor<2x3xf32>
  })",
      "tensor<2x1xf32>");
  check(R"(func.func @f(%x: tensor<2x3xf32>) -> tensor<4x2x3xf32> {
    %e = tensor.empty() : tensor<4x2x3xf32>
    %r = linalg.broadcast ins(%x : tensor<2x3xf32>) outs(%e : tensor<4x2x3xf32>) dimensions = [0]
    return %r : tensor<4x2x3xf32>
  })",
        "no unit for linalg.broadcast", true);
}

TEST_F(Equivalence, TruthsAndInfinities) {
  // Where x is above 0.5 minus infinity, otherwise x, like masks.
  check(
      R"(func.func @f(%x: tensor<2x3xf32>, %m: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %h = arith.constant 0.5 : f32
    %low = arith.constant dense<0xFF800000> : tensor<2x3xf32>
    %no = arith.constant false
    %n = tensor.empty() : tensor<2x3xi1>
    %t = linalg.fill ins(%no : i1) outs(%n : tensor<2x3xi1>) -> tensor<2x3xi1>
    %c = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%t : tensor<2x3xi1>) {
    ^bb0(%in: f32, %out: i1):
      %w = arith.cmpf ogt, %in, %h : f32
      %v = arith.ori %w, %out : i1
      linalg.yield %v : i1
    } -> tensor<2x3xi1>
    %flat = tensor.collapse_shape %c [[0, 1]] : tensor<2x3xi1> into tensor<6xi1>
    %again = tensor.expand_shape %flat [[0, 1]] output_shape [2, 3] : tensor<6xi1> into tensor<2x3xi1>
    %e = tensor.empty() : tensor<2x3xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%again, %low, %x : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %v = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %v : f32
    } -> tensor<2x3xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %v = math.exp %in : f32
      linalg.yield %v : f32
    } -> tensor<2x3xf32>
    return %r : tensor<2x3xf32>
  })",
      "tensor<2x3xi64>", true);
}

TEST_F(Equivalence, PlacesOfMaxima) {
  const std::string text =
      R"(func.func @f(%x: tensor<2x5xf32>) -> tensor<2xf32> {
    %z = arith.constant 0 : i64
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<2xi64>
    %i = linalg.fill ins(%z : i64) outs(%e : tensor<2xi64>) -> tensor<2xi64>
    %o = tensor.empty() : tensor<2xf32>
    %l = linalg.fill ins(%low : f32) outs(%o : tensor<2xf32>) -> tensor<2xf32>
    %m:2 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x5xf32>) outs(%l, %i : tensor<2xf32>, tensor<2xi64>) {
    ^bb0(%in: f32, %out: f32, %at: i64):
      %k = linalg.index 1 : index
      %n = arith.index_cast %k : index to i64
      %b = arith.maximumf %in, %out : f32
      %c = arith.cmpf ogt, %in, %out : f32
      %p = arith.select %c, %n, %at : i64
      linalg.yield %b, %p : f32, i64
    } -> (tensor<2xf32>, tensor<2xi64>)
    %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%m#0, %m#1 : tensor<2xf32>, tensor<2xi64>) outs(%o : tensor<2xf32>) {
    ^bb0(%in: f32, %in_0: i64, %out: f32):
      %n = arith.sitofp %in_0 : i64 to f32
      %v = arith.addf %in, %n : f32
      linalg.yield %v : f32
    } -> tensor<2xf32>
    return %r : tensor<2xf32>
  })";
  // The interpreter has no loops of two results to compare with.
  auto raised = parse(text);
  ASSERT_TRUE(raised);
  PassManager pm(&context);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToOsa());
  ASSERT_TRUE(succeeded(pm.run(*raised)));
  auto function = *raised->getOps<func::FuncOp>().begin();
  EXPECT_FALSE(function.getOps<osa::ArgMaxOp>().empty());
  EXPECT_FALSE(function.getOps<osa::MaxPoolOp>().empty());
  auto values = randomValues(10, 99), have = run(function);
  ASSERT_EQ(have.size(), 2u);
  for (int row : {0, 1}) {
    auto begin = values.begin() + 5 * row;
    auto largest = std::max_element(begin, begin + 5);
    EXPECT_EQ(have[row], *largest + float(largest - begin));
  }
}

TEST_F(Equivalence, Powers) {
  const std::string id = "affine_map<(a, b, c) -> (a, b, c)>";
  std::string text =
      loopOf(id + ", " + id, "\"parallel\", \"parallel\", \"parallel\"",
             "2x3x4xf32", "0.0",
             "%n = arith.constant 3 : i64\n"
             "%v = math.fpowi %in, %n : f32, i64");
  auto raised = parse(text);
  PassManager pm(&context);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToOsa());
  ASSERT_TRUE(succeeded(pm.run(*raised)));
  auto have = run(*raised->getOps<func::FuncOp>().begin());
  auto values = randomValues(24, 99);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(have[i], values[i] * values[i] * values[i]);
}
} // namespace
