// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as hardware, simulated: bit for bit the evaluator's results under
// random stalls, and without stalls exactly the predicted cycles.
#include "rhizome/Generator/Hls/KernelUnit.h"
#include "../HelmholtzKernel.h"
#include "../TestFolder.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Emit/Emit.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/Transforms/ApplyFormats.h"
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::gen::hls;
using numeric::Bits;
using numeric::Format;
using test::TestFolder;

namespace {
class KernelUnits : public ::testing::Test {
protected:
  MLIRContext context;
  TestFolder folder;
  std::mt19937_64 rng{11};
  int64_t cycles = 0;       ///< predicted for the last kernel
  int64_t interval = 0;     ///< the largest of the last kernel's nests
  bool isChecked = false;   ///< by Verilator's and Yosys' checks, too
  bool isVerilated = false; ///< compiled, for long runs

  KernelUnits() {
    test::loadKernelDialects(context);
    context.loadDialect<rtl::RtlDialect>();
  }

  /// The kernel in formats, with their integers, and its unit.
  struct Built {
    OwningOpRef<ModuleOp> formats, integers, parent;
    KernelUnit unit;
  };
  static func::FuncOp kernel(ModuleOp module) {
    for (auto func : module.getOps<func::FuncOp>())
      if (!func.isExternal())
        return func;
    return {};
  }
  void build(const std::string &text, const FormatChoice &choice,
             const gen::cost::LogicPace &pace, Built &out) {
    out.formats = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(out.formats) << text;
    ASSERT_TRUE(succeeded(applyFormats(kernel(*out.formats), choice)));
    out.integers = out.formats->clone();
    PassManager pm(&context);
    pm.addPass(createConvertNumToArith());
    ASSERT_TRUE(succeeded(pm.run(*out.integers)));
    OpBuilder b(&context);
    out.parent = ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(out.parent->getBody());
    auto unit =
        buildKernelUnit(kernel(*out.integers), "kernel_unit", pace, {}, b);
    ASSERT_TRUE(succeeded(unit));
    out.unit = *unit;
    ASSERT_TRUE(succeeded(verify(*out.parent)));
  }

  static std::string hex(Bits v) {
    std::string digits;
    do
      digits.insert(digits.begin(), "0123456789abcdef"[int(v & 15)]);
    while (v >>= 4);
    return digits;
  }

  /// Runs elements through the simulated unit; checks values, and cycles if
  /// nothing stalls.
  void simulate(const std::string &text, const FormatChoice &choice,
                const gen::cost::LogicPace &pace, int elements, bool stalls) {
    Built k;
    ASSERT_NO_FATAL_FAILURE(build(text, choice, pace, k));
    ASSERT_TRUE(succeeded(emitDesign(*k.parent, folder.path())));
    cycles = k.unit.cycles();
    interval = 0;
    for (const Nest &nest : k.unit.nests) {
      EXPECT_EQ(schedule::verify(nest.problem, nest.schedule), std::nullopt);
      interval = std::max(interval, nest.schedule.interval);
    }
    // The operations correspond one by one.
    auto operations = [](ModuleOp module) {
      std::vector<Operation *> ops;
      for (Operation &op : kernel(module).getBody().front())
        ops.push_back(&op);
      return ops;
    };
    auto from = operations(*k.formats), to = operations(*k.integers);
    ASSERT_EQ(from.size(), to.size());
    DenseMap<Operation *, Operation *> matching;
    for (size_t i = 0; i < from.size(); ++i)
      matching[from[i]] = to[i];

    std::string offered, expected;
    int64_t words = 0, results = 0;
    Interpreter interpreter(kernel(*k.formats));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int e = 0; e < elements; ++e) {
      std::vector<Tensor> inputs;
      for (Type type : kernel(*k.formats).getArgumentTypes()) {
        auto shaped = cast<RankedTensorType>(type);
        std::vector<double> data(size_t(shaped.getNumElements()));
        for (double &value : data)
          value = uniform(rng);
        inputs.push_back(
            numbersOf(shaped.getShape(), data, Format::binary64()));
      }
      DenseMap<Value, std::vector<Bits>> values;
      auto ran =
          interpreter.run(inputs, [&](Operation *op, const Tensor &result) {
            if (Operation *same = matching.lookup(op))
              if (same->getNumResults() == 1 && !result.patterns.empty())
                values[same->getResult(0)] = result.patterns;
          });
      ASSERT_TRUE(succeeded(ran));
      for (Value v : k.unit.inputs)
        for (Bits word : values.at(v)) {
          offered += hex(word) + "\n";
          ++words;
        }
      for (Value v : k.unit.outputs)
        for (Bits word : values.at(v)) {
          expected += hex(word) + "\n";
          ++results;
        }
    }
    folder.write("in.hex", offered);
    folder.write("want.hex", expected);
    int64_t width = 0;
    Block &body = k.unit.module.getBody().front();
    width = body.getArgument(3).getType().getIntOrFloatBitWidth();
    int64_t outWidth =
        body.getTerminator()->getOperand(2).getType().getIntOrFloatBitWidth();
    int64_t bits = choice.format->width();
    auto count = [](int64_t n) { return std::to_string(n); };
    // Patterns are offered without their sign's copies.
    folder.write(
        "bench.sv",
        "`timescale 1ns/1ps\nmodule bench;\n  logic [" + count(bits - 1) +
            ":0] give [" + count(words) + "], want [" + count(results) +
            "];\n  logic clk = 0, rst = 0, iv = 0, ir, ov, oready = 0;\n  "
            "logic ol;\n  logic [" +
            count(outWidth - 1) +
            ":0] od;\n  int g = 0, w = 0, wrong = 0, cycle = 0, first = -1;\n"
            "  kernel_unit u (.clk_i(clk), .rst_ni(rst), .s_axis_0_tvalid(iv), "
            ".s_axis_0_tlast(1'b0), .s_axis_0_tdata(" +
            count(width) + "'($signed(give[g < " + count(words) +
            " ? g : 0]))), .m_axis_0_tready(oready), .s_axis_0_tready(ir), "
            ".m_axis_0_tvalid(ov), .m_axis_0_tdata(od), "
            ".m_axis_0_tlast(ol));\n  always #1 clk = !clk;\n"
            "  always @(posedge clk) begin\n    cycle <= cycle + 1;\n"
            "    if (rst) begin\n      if (iv && ir) begin\n"
            "        g <= g + 1;\n        if (first < 0) first <= cycle;\n"
            "      end\n      if (ov && oready) begin\n"
            "        if (od[" +
            count(bits - 1) +
            ":0] !== want[w]) begin\n          wrong <= wrong + 1;\n"
            "          if (wrong < 3) $display(\"word %0d is %h, not %h\", w, "
            "od, want[w]);\n        end\n        if (ol !== ((w + 1) % " +
            count(results / elements) +
            " == 0)) wrong <= wrong + 1;\n        w <= w + 1;\n        if (w + "
            "1 == " +
            count(results) +
            ") begin\n          $display(\"CYCLES %0d\", cycle - first + 1);\n"
            "          if (wrong == 0 && od[" +
            count(bits - 1) +
            ":0] === want[w]) $display(\"RIGHT\");\n          $finish;\n"
            "        end\n      end\n    end\n  end\n"
            "  always @(negedge clk) begin\n    rst <= cycle > 3;\n" +
            (stalls ? "    if (!iv || ir_was) iv <= cycle > 4 && $urandom % 3 "
                      "!= 0;\n    oready <= $urandom % 3 != 0;\n"
                    : "    iv <= cycle > 4;\n    oready <= 1;\n") +
            "    if (g >= " + count(words) +
            ") iv <= 0;\n    if (cycle > 100000000) $finish;\n  end\n"
            "  logic ir_was = 0;\n  always @(posedge clk) ir_was <= ir;\n"
            "  initial begin\n    $readmemh(\"in.hex\", give);\n"
            "    $readmemh(\"want.hex\", want);\n  end\nendmodule\n");
    if (isChecked && test::haveTool("verilator"))
      EXPECT_EQ(folder.run("verilator --lint-only -Wall kernel_unit.sv"), 0)
          << folder.read("log.txt");
    if (isChecked && test::haveTool("yosys"))
      EXPECT_EQ(folder.run("yosys -q -p 'read_verilog -sv kernel_unit.sv; "
                           "hierarchy -check -top kernel_unit; proc; check "
                           "-assert; memory -nomap; check -assert'"),
                0)
          << folder.read("log.txt");
    const std::string run =
        isVerilated
            ? "verilator --binary --timing -O3 -Wno-fatal -Wno-lint --top "
              "bench -o x bench.sv kernel_unit.sv && obj_dir/x"
            : "iverilog -g2012 -s bench -o x kernel_unit.sv bench.sv && ./x";
    ASSERT_EQ(folder.run(run), 0) << folder.read("log.txt");
    std::string log = folder.read("log.txt");
    EXPECT_NE(log.find("RIGHT"), std::string::npos) << log << text;
    if (!stalls)
      EXPECT_NE(log.find("CYCLES " + count(k.unit.cycles() * elements) + "\n"),
                std::string::npos)
          << log << k.unit.readCycles << " + " << k.unit.computeCycles << " + "
          << k.unit.writeCycles;
  }
};

FormatChoice fixed(int integer, int fraction) {
  FormatChoice choice;
  choice.format = Format::fixed(integer, fraction);
  return choice;
}

TEST_F(KernelUnits, HelmholtzEqualsTheEvaluator) {
  if (!test::haveTool("iverilog"))
    return;
  for (FormatChoice choice : {fixed(24, 40), fixed(8, 24)})
    for (bool stalls : {false, true}) {
      isChecked = !stalls;
      simulate(test::helmholtz(3), choice, {8 * 32}, 3, stalls);
      if (HasFatalFailure())
        return;
    }
}

/// A kernel on tensors of random shapes: a contraction with its indices in
/// random order, then a product with the first operand's transpose.
std::string randomKernel(std::mt19937_64 &rng) {
  auto size = [&] { return std::to_string(1 + rng() % 5); };
  std::string n = size(), m = size(), k = size(), l = size();
  bool isSwapped = rng() & 1, isLast = rng() & 1;
  std::string a = isSwapped ? k + "x" + n : n + "x" + k;
  std::string b = l + "x" + k + "x" + m, c = n + "x" + m;
  // The reductions are the loops 0 and 3, or 2 and 3.
  std::string dims = isLast ? "(i,j,k,l)" : "(k,i,j,l)";
  std::string kinds = isLast ? "\"parallel\", \"parallel\", \"reduction\""
                             : "\"reduction\", \"parallel\", \"parallel\"";
  auto f64 = [](const std::string &shape) {
    return "tensor<" + shape + "xf64>";
  };
  std::string text =
      "func.func @f(%a: " + f64(a) + ", %b: " + f64(b) + ", %c: " + f64(c) +
      ") -> " + f64(c) + " {\n%z = arith.constant 0.25 : f64\n%e = " +
      "tensor.empty() : " + f64(c) +
      "\n%i = linalg.fill ins(%z : f64) outs(%e : " + f64(c) + ") -> " +
      f64(c) + "\n%s = linalg.generic {indexing_maps = [affine_map<" + dims +
      " -> " + (isSwapped ? "(k,i)" : "(i,k)") + ">, affine_map<" + dims +
      " -> (l,k,j)>, affine_map<" + dims + " -> (i,j)>], iterator_types = [" +
      kinds + ", \"reduction\"]} ins(%a, %b : " + f64(a) + ", " + f64(b) +
      ") outs(%i : " + f64(c) + ") {\n^bb0(%x: f64, %y: f64, %o: f64):\n" +
      "%p = arith.mulf %x, %y : f64\n%q = arith.addf %o, %p : f64\n" +
      "linalg.yield %q : f64\n} -> " + f64(c) + "\n%d = linalg.generic " +
      "{indexing_maps = [affine_map<(i,j) -> (i,j)>, affine_map<(i,j) -> "
      "(i,j)>, affine_map<(i,j) -> (i,j)>], iterator_types = [\"parallel\", "
      "\"parallel\"]} ins(%s, %c : " +
      f64(c) + ", " + f64(c) + ") outs(%e : " + f64(c) +
      ") {\n^bb0(%x: f64, %y: f64, %o: f64):\n%p = arith.subf %x, %y : f64\n" +
      "%q = arith.maximumf %p, %y : f64\nlinalg.yield %q : f64\n} -> " +
      f64(c) + "\nreturn %d : " + f64(c) + "\n}\n";
  return text;
}

/// A convolution whose input is read at sums of loops: from an offset, with
/// steps and dilations, and backwards along its second dimension.
std::string randomConvolution(std::mt19937_64 &rng) {
  auto below = [&](int64_t n) { return int64_t(rng() % uint64_t(n)); };
  auto text = [](int64_t n) { return std::to_string(n); };
  const int64_t rows = 1 + below(4), columns = 1 + below(4);
  const int64_t a = 1 + below(3), c = 1 + below(3), step = 1 + below(2);
  const int64_t dilation = 1 + below(3), offset = below(3);
  std::string u = text(offset + step * (rows - 1) + dilation * (a - 1) + 1) +
                  "x" + text(columns + c - 1 + below(2)) + "xf64";
  std::string w = text(a) + "x" + text(c) + "xf64";
  std::string v = text(rows) + "x" + text(columns) + "xf64";
  std::string maps = "affine_map<(i,j,a,c) -> (i * " + text(step) + " + a * " +
                     text(dilation) + " + " + text(offset) + ", j - c + " +
                     text(c - 1) +
                     ")>, affine_map<(i,j,a,c) -> (a, c)>, "
                     "affine_map<(i,j,a,c) -> (i,j)>";
  auto tensor = [](const std::string &shape) {
    return "tensor<" + shape + ">";
  };
  return "func.func @f(%u: " + tensor(u) + ", %w: " + tensor(w) + ") -> " +
         tensor(v) + " {\n%z = arith.constant 0.0 : f64\n%e = " +
         "tensor.empty() : " + tensor(v) +
         "\n%i = linalg.fill ins(%z : f64) outs(%e : " + tensor(v) + ") -> " +
         tensor(v) + "\n%s = linalg.generic {indexing_maps = [" + maps +
         "], iterator_types = [\"parallel\", \"parallel\", \"reduction\", "
         "\"reduction\"]} ins(%u, %w : " +
         tensor(u) + ", " + tensor(w) + ") outs(%i : " + tensor(v) +
         ") {\n^bb0(%x: f64, %y: f64, %o: f64):\n%p = arith.mulf %x, %y : "
         "f64\n%q = arith.addf %o, %p : f64\nlinalg.yield %q : f64\n} -> " +
         tensor(v) + "\nreturn %s : " + tensor(v) + "\n}\n";
}

TEST_F(KernelUnits, IndicesMayBeSumsOfLoops) {
  if (!test::haveTool("iverilog"))
    return;
  for (int round = 0; round < 6; ++round) {
    simulate(randomConvolution(rng), fixed(3, 9), {32 * 8}, 2, round % 2 != 0);
    if (HasFatalFailure())
      return;
  }
}

TEST_F(KernelUnits, RandomShapesFormatsAndPeriods) {
  if (!test::haveTool("iverilog"))
    return;
  const numeric::Rounding roundings[] = {
      numeric::Rounding::NearestEven, numeric::Rounding::NearestAway,
      numeric::Rounding::TowardZero, numeric::Rounding::Up,
      numeric::Rounding::Down};
  int slow = 0;
  for (int round = 0; round < 12; ++round) {
    // Few integer bits, so that results overflow.
    FormatChoice choice = fixed(1 + int(rng() % 3), 1 + int(rng() % 30));
    choice.rounding = roundings[rng() % 5];
    choice.saturate = rng() & 1;
    choice.fused = rng() & 1;
    int64_t levels = 2 + int64_t(rng() % 10);
    simulate(randomKernel(rng), choice, {32 * levels}, 3, round % 3 != 0);
    if (HasFatalFailure())
      return;
    slow += interval > 1;
  }
  EXPECT_GT(slow, 0) << "no sum took more than a cycle";
}

TEST_F(KernelUnits, WhatIsNotBuiltIsNamed) {
  std::string problem;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    problem += diagnostic.str();
    return success();
  });
  auto refuse = [&](const std::string &text) {
    problem.clear();
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << problem;
    OpBuilder b(&context);
    OwningOpRef<ModuleOp> parent = ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(parent->getBody());
    EXPECT_TRUE(failed(buildKernelUnit(kernel(*module), "f", {256}, {}, b)));
    EXPECT_NE(problem.find("remedy: "), std::string::npos) << problem;
    EXPECT_TRUE(parent->getBody()->empty());
  };
  auto nest = [](const std::string &inner) {
    return "func.func @f(%a: tensor<4xi8>) -> tensor<4xi8> {\n%e = "
           "tensor.empty() : tensor<4xi8>\n%x = linalg.generic {indexing_maps "
           "= [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
           "iterator_types = [\"parallel\"]} ins(%a : tensor<4xi8>) outs(%e : "
           "tensor<4xi8>) {\n^bb0(%v: i8, %o: i8):\n" +
           inner + "\n} -> tensor<4xi8>\nreturn %x : tensor<4xi8>\n}";
  };
  refuse(nest("%q = arith.divsi %v, %v : i8\nlinalg.yield %q : i8"));
  EXPECT_NE(problem.find("quotients"), std::string::npos) << problem;
  refuse(nest("%q = arith.addi %v, %o : i8\nlinalg.yield %q : i8"));
  EXPECT_NE(problem.find("starts from values"), std::string::npos) << problem;
  refuse("func.func @f(%a: tensor<4xf64>) -> tensor<4xf64> {\nreturn %a : "
         "tensor<4xf64>\n}");
  EXPECT_NE(problem.find("--numbers"), std::string::npos) << problem;
}

TEST_F(KernelUnits, HelmholtzOverManyElements) {
  // CI takes the published size; it must be compiled to be simulated.
  const char *elements = std::getenv("RHIZOME_KERNEL_ELEMENTS");
  const int64_t points = elements ? 11 : 4;
  isVerilated = elements && test::haveTool("verilator");
  for (FormatChoice choice : {fixed(24, 40), fixed(8, 24)})
    for (bool stalls : {false, true}) {
      simulate(test::helmholtz(points), choice, {8 * 32},
               stalls && elements ? std::atoi(elements) : 2, stalls);
      if (HasFatalFailure())
        return;
      RecordProperty("cycles", std::to_string(cycles));
    }
}
} // namespace
