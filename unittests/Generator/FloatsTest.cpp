// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point operators, simulated with a new case in every cycle, give the
// patterns of `numeric::Arithmetic`, which MPFR checks: all operands of small
// formats, random ones of large. RHIZOME_FLOAT_CASES random cases each;
// RHIZOME_FLOAT_BITS is the largest exhaustive width.
#include "../TestFolder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Rtl/Emit.h"
#include "rhizome/Units/Floats/Operators.h"
#include "llvm/Support/Program.h"
#include <random>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::gen::floats;
using numeric::Arithmetic;
using numeric::Bits;
using numeric::Format;
using numeric::Overflow;
using numeric::Rounding;
using test::TestFolder;

namespace {
int setting(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

Format parse(const char *text) {
  std::string error;
  auto f = Format::parse(text, error);
  EXPECT_TRUE(f) << error;
  return f.value_or(Format::binary32());
}

constexpr Rounding kRoundings[] = {Rounding::NearestEven, Rounding::NearestAway,
                                   Rounding::TowardZero, Rounding::Up,
                                   Rounding::Down};

/// Operands of every kind: any pattern, neighbors in exponent, edges.
Bits operand(std::mt19937_64 &random, const Format &f, Bits other) {
  const Bits any = random() & uint64_t(f.mask());
  if (f.isFixed()) // of every size
    return (random() & 1 ? any : any >> (random() % unsigned(f.width())));
  const Bits sign = Bits(random() & 1) << (f.width() - 1);
  const Bits one = Bits(1) << f.mantissaBits;
  switch (random() % 8) {
  case 0: // the other's, but for some low bits
    return other ^ (any >> (random() % unsigned(f.width()))) ^ sign;
  case 1: // few ones
    return (one >> (random() % unsigned(f.mantissaBits + 1)) |
            Bits(1) << (random() % unsigned(f.width()))) |
           sign;
  case 2: // near an edge
    return f.greatest() ^ (random() & 7) ^ sign;
  case 3: // small magnitudes
    return any >> (random() % unsigned(f.width())) | sign;
  case 4:
  case 5: { // an exponent near the other's
    Bits field = (other / one + random() % 7 - 3) * one & (f.mask() >> 1);
    return field | (any & (one - 1)) | sign;
  }
  case 6: // infinities, NaN, and their neighbors
    return ((f.mask() >> 1) - one + 1 - (random() & 1)) | sign |
           (random() % 4 ? 0 : any & (one - 1));
  default:
    return any;
  }
}

class FloatOperators : public ::testing::Test {
protected:
  MLIRContext context;
  TestFolder folder;
  std::mt19937_64 random{5};
  OwningOpRef<ModuleOp> holder;
  std::unique_ptr<Operators> operators;
  std::string instances, checks;
  int tested = 0;
  int64_t most = 0; ///< cases of one operator

  FloatOperators() { context.loadDialect<rtl::RtlDialect>(); }

  void start(const gen::cost::LogicPace &pace) {
    OpBuilder b(&context);
    operators = std::make_unique<Operators>(&context, pace, gen::CostContext());
    holder = ModuleOp::create(b.getUnknownLoc());
    instances.clear();
    checks.clear();
    tested = 0;
    most = 0;
  }

  static std::string hex(Bits v) {
    std::string digits;
    do
      digits.insert(digits.begin(), "0123456789abcdef"[int(v & 15)]);
    while (v >>= 4);
    return digits;
  }
  static Bits evaluate(const Arithmetic &n, const Operator &op,
                       const Bits *in) {
    if (op.from)
      return n.convert(*op.from, in[0]);
    switch (op.function) {
    case Function::Add:
      return n.add(in[0], in[1]);
    case Function::Sub:
      return n.sub(in[0], in[1]);
    case Function::Mul:
      return n.mul(in[0], in[1]);
    case Function::Fma:
      return n.fma(in[0], in[1], in[2]);
    case Function::Div:
      return n.div(in[0], in[1]);
    case Function::Sqrt:
      return n.sqrt(in[0]);
    case Function::Min:
      return n.min(in[0], in[1]);
    case Function::Max:
      return n.max(in[0], in[1]);
    case Function::Exp:
      return n.exp(in[0]);
    case Function::Log:
      return n.log(in[0]);
    case Function::Neg:
      return n.neg(in[0]);
    case Function::Abs:
      return n.abs(in[0]);
    }
    return 0;
  }

  /// Single's arguments whose results are nearest to what rounding decides
  /// on, as doubles.
  static std::vector<double> hardest(Function function) {
    if (function == Function::Exp)
      return {0x1.fffffep-24,  0x1.fffffcp-23, -0x1.000002p-22, 0x1.fffff8p-22,
              -0x1.000004p-21, 0x1.fffffp-21,  -0x1.000008p-20, 0x1.7fffeep-20,
              -0x1.800012p-20, 0x1.ffffep-20,  -0x1.00001p-19,  0x1.7fffdcp-19};
    if (function == Function::Log)
      return {0x1.b121a6p+76, 0x1.bacb4ap+25, 0x1.108a5ap-66, 0x1.2fe614p+117,
              0x1.c09d7cp+27, 0x1.2f1fd6p+3,  0x1.22d57p-65,  0x1.5190cp+78,
              0x1.827a74p-7,  0x1.1ff606p+33, 0x1.007e58p+27, 0x1.6351d8p+95};
    return {};
  }

  /// Adds an operator with `cases` random cases, or all if that is 0.
  void test(Function function, const Arithmetic &n, int64_t cases) {
    test(Operator(function, n), n, cases);
  }
  void test(const Operator &op, const Arithmetic &n, int64_t cases) {
    const Format from = op.operandFormat();
    OpBuilder b(&context);
    b.setInsertionPointToEnd(holder->getBody());
    const unsigned width = unsigned(from.width());
    const unsigned resultWidth = unsigned(n.format().width());
    // As a design has it: an instance in a module.
    const std::string name = "case_" + std::to_string(tested);
    SmallVector<StringRef> names = {"clk_i", "a_i", "b_i", "c_i"};
    names.truncate(op.operands() + 1);
    auto module = rtl::ModuleOp::create(
        b, b.getUnknownLoc(), name, b.getStrArrayAttr(names),
        b.getStrArrayAttr({"x_o"}), StringAttr());
    Block *body = b.createBlock(&module.getBody());
    body->addArgument(b.getI1Type(), b.getUnknownLoc());
    for (unsigned i = 0; i < op.operands(); ++i)
      body->addArgument(b.getIntegerType(width), b.getUnknownLoc());
    Value result = operators->instance(op, body->getArgument(0),
                                       body->getArguments().drop_front(), b,
                                       b.getUnknownLoc());
    rtl::OutputOp::create(b, b.getUnknownLoc(), result);
    const int64_t latency = operators->of(op).latency;

    std::string in[3], want;
    auto add = [&](const Bits *operands) {
      for (unsigned i = 0; i < op.operands(); ++i)
        in[i] += hex(operands[i]) + "\n";
      want += hex(evaluate(n, op, operands)) + "\n";
    };
    int64_t count = 0;
    // Three operands are too many for every day.
    const unsigned bits = setting("RHIZOME_FLOAT_BITS", 4) > 4 ? 16 : 8;
    if (cases == 0 && width * op.operands() > bits) {
      cases = bits == 8 ? 200 : 20000;
    } else if (cases == 0) {
      const Bits all = Bits(1) << (width * op.operands());
      for (Bits v = 0; v < all; ++v, ++count) {
        Bits operands[3];
        for (unsigned i = 0; i < op.operands(); ++i)
          operands[i] = v >> (width * i) & from.mask();
        add(operands);
      }
    }
    if (!op.from && from == Format::binary32())
      for (double x : hardest(op.function)) {
        const Bits operands[3] = {n.fromDouble(x)};
        add(operands);
        ++count;
      }
    for (; count < cases; ++count) {
      Bits operands[3] = {random() & uint64_t(from.mask())};
      for (int i : {0, 1, 2})
        operands[i] = operand(random, from, operands[i ? i - 1 : 0]);
      add(operands);
    }
    auto text = [](int64_t v) { return std::to_string(v); };
    const std::string t = text(tested++), range = "[" + text(width - 1) + ":0]",
                      wide = "[" + text(resultWidth - 1) + ":0]";
    std::string ports;
    instances += "  logic " + range + " x" + t + ", want" + t +
                 " [0:" + text(count - 1) + "]";
    for (unsigned i = 0; i < op.operands(); ++i) {
      const std::string file = std::string("abc").substr(i, 1) + t;
      instances += ", " + file + " [0:" + text(count - 1) + "]";
      folder.write(file + ".hex", in[i]);
      ports += std::string(", .") + "abc"[i] + "_i(" + file + "[at % " +
               text(count) + "])";
    }
    folder.write("want" + t + ".hex", want);
    instances += ";\n  " + name + " u" + t + " (.clk_i(clk)" + ports +
                 ", .x_o(x" + t + "));\n  initial begin\n    $readmemh(\"want" +
                 t + ".hex\", want" + t + ");\n";
    for (unsigned i = 0; i < op.operands(); ++i) {
      const std::string file = std::string("abc").substr(i, 1) + t;
      instances += "    $readmemh(\"" + file + ".hex\", " + file + ");\n";
    }
    instances += "  end\n";
    // In the cycle `at`, the result of the case `latency` before is there.
    const std::string index = "at - " + text(latency);
    checks += "    if (" + index + " >= 0 && " + index + " < " + text(count) +
              " && x" + t + " !== want" + t + "[" + index +
              "]) begin\n      wrong = wrong + 1;\n      if (wrong < 5) "
              "$display(\"" +
              op.name() + " " + numeric::name(n.rounding()) +
              ": case %0d is %h, not %h\", " + index + ", x" + t + ", want" +
              t + "[" + index + "]);\n    end\n";
    most = std::max(most, count + latency);
  }

  /// Compiling takes longer than running; of single files clang needs a third
  /// to a tenth of gcc's time, of a whole test about half.
  static std::string compiler() {
    for (std::string name : {"clang++-22", "clang++"})
      if (llvm::sys::findProgramByName(name))
        return "-MAKEFLAGS 'CXX=" + name +
               " CFG_CXXFLAGS_COROUTINES=-std=gnu++20 OPT_FAST=-O1 "
               "OPT_SLOW=-O0 OPT_GLOBAL=-O1'";
    return "-MAKEFLAGS 'OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O1'";
  }

  void run(bool isVerilated) {
    ASSERT_TRUE(succeeded(verify(*holder)));
    ASSERT_TRUE(succeeded(emitDesign(*holder, folder.path())));
    folder.write(
        "bench.sv",
        "`timescale 1ns/1ps\nmodule bench;\n  logic clk = 0;\n  int at "
        "= 0, wrong = 0;\n" +
            instances +
            "  always #1 clk = !clk;\n  always @(negedge clk) begin\n" +
            checks + "    if (at == " + std::to_string(most) +
            ") begin\n      if (wrong == 0) $display(\"RIGHT\");\n"
            "      $finish;\n    end\n  end\n  always @(posedge clk) at "
            "<= at + 1;\nendmodule\n");
    const std::string command =
        isVerilated ? "verilator --binary --timing -O3 --x-assign fast "
                      "--x-initial fast --output-split 20000 " +
                          compiler() +
                          " -Wno-fatal -Wno-lint --top bench -o x bench.sv "
                          "case_*.sv rhz_f*.sv && obj_dir/x"
                    : "iverilog -g2012 -s bench -o x bench.sv case_*.sv "
                      "rhz_f*.sv && ./x";
    ASSERT_EQ(folder.run(command), 0) << folder.read("log.txt");
    std::string log = folder.read("log.txt");
    EXPECT_NE(log.find("RIGHT"), std::string::npos) << log;
    if (const char *kept = std::getenv("RHIZOME_FLOAT_KEEP"))
      folder.run(std::string("cp *.sv ") + kept);
  }
};

class ExhaustiveFloats : public FloatOperators,
                         public ::testing::WithParamInterface<const char *> {};

TEST_P(ExhaustiveFloats, EqualTheEvaluator) {
  const int bits = setting("RHIZOME_FLOAT_BITS", 4);
  const Format f = parse(GetParam());
  if (f.width() > bits || !test::haveTool("iverilog"))
    return;
  start({7 * 32, 27, 20});
  for (Rounding rounding : kRoundings)
    for (Overflow overflow : {Overflow::Infinity, Overflow::Saturate})
      for (Function function : kFunctions) {
        // What does not round has no rounding.
        const bool isExact =
            function == Function::Min || function == Function::Max ||
            function == Function::Neg || function == Function::Abs;
        if ((f.finite && overflow == Overflow::Infinity) ||
            (isExact && rounding != Rounding::NearestEven))
          continue;
        const Arithmetic n(f, rounding, overflow);
        if (Operator(function, n).isBuilt())
          test(function, n, 0);
      }
  run(bits > 4 && test::haveTool("verilator"));
}

INSTANTIATE_TEST_SUITE_P(Formats, ExhaustiveFloats,
                         ::testing::Values("float<2,1>", "float<2,2>",
                                           "float<3,2>", "float<2,3,flush>",
                                           "float<3,2,finite>",
                                           "float<3,3,bias=-2>", "float<4,3>",
                                           "float<4,3,finite>",
                                           "float<4,3,flush>", "float<5,2>"));

class RandomFloats : public FloatOperators,
                     public ::testing::WithParamInterface<const char *> {};

TEST_P(RandomFloats, EqualTheEvaluator) {
  if (!test::haveTool("iverilog"))
    return;
  const int cases = setting("RHIZOME_FLOAT_CASES", 100);
  const Format f = parse(GetParam());
  // Pipelines of different depths.
  const int64_t levels[] = {7, 3, 12};
  for (int64_t level : llvm::ArrayRef(levels).take_front(cases > 100 ? 3 : 1)) {
    start({32 * level, 27, 20});
    int next = 0;
    for (Function function : kFunctions) {
      Overflow overflow = numeric::defaultOverflow(f);
      const Operator op(function,
                        Arithmetic(f, Rounding::NearestEven, overflow));
      // e^x and log x have their own test.
      if (!op.isBuilt() || function == Function::Exp ||
          function == Function::Log)
        continue;
      test(function, Arithmetic(f, Rounding::NearestEven, overflow), cases);
      if (level == 7 && cases > 100)
        test(function, Arithmetic(f, kRoundings[1 + next++ % 4], overflow),
             cases);
    }
    run(cases > 1000 && test::haveTool("verilator"));
    if (HasFailure())
      FAIL() << level << " levels of logic between registers";
  }
}

/// Functions whose results are approximated first, and those of fixed point;
/// all operands of 16 bits in the long form.
class Elementary : public FloatOperators,
                   public ::testing::WithParamInterface<const char *> {};

TEST_P(Elementary, EqualsTheEvaluator) {
  if (!test::haveTool("iverilog"))
    return;
  const int cases = setting("RHIZOME_FLOAT_CASES", 60);
  const Format f = parse(GetParam());
  const bool isLong = cases > 1000;
  if (f.width() > 32 && !isLong)
    return;
  start({7 * 32, 27, 20});
  int next = 0;
  for (Function function :
       {Function::Exp, Function::Log, Function::Div, Function::Sqrt})
    for (Rounding rounding : kRoundings) {
      // On ordinary days two roundings each.
      if (!isLong && ++next % 5 > 1)
        continue;
      const Overflow overflow = f.isFloat() ? numeric::defaultOverflow(f)
                                : next % 2  ? Overflow::Saturate
                                            : Overflow::Wrap;
      const Arithmetic n(f, rounding, overflow);
      const bool isUnary = function != Function::Div;
      if ((function == Function::Exp || function == Function::Log ||
           f.isFixed()) &&
          Operator(function, n).isBuilt())
        test(function, n, isLong && isUnary && f.width() <= 16 ? 0 : cases);
    }
  run(isLong && test::haveTool("verilator"));
}

/// Conversions between all pairs, small ones with all operands.
TEST_F(FloatOperators, Conversions) {
  if (!test::haveTool("iverilog"))
    return;
  const int cases = setting("RHIZOME_FLOAT_CASES", 100);
  const char *formats[] = {"half",
                           "single",
                           "double",
                           "bfloat16",
                           "float<4,3>",
                           "float<4,3,finite>",
                           "float<3,2,flush>",
                           "float<4,11,bias=-3>",
                           "float<6,9,bias=40,flush,finite>",
                           "fixed<8,24>",
                           "fixed<3,2>",
                           "fixed<2,4,unsigned>",
                           "fixed<24,40>",
                           "int8",
                           "fixed<-2,9>"};
  start({7 * 32, 27, 20});
  int next = 0;
  for (const char *one : formats)
    for (const char *other : formats) {
      const Format from = parse(one), to = parse(other);
      if (from == to || (from.isFixed() && to.isFixed()))
        continue;
      for (Overflow overflow :
           {Overflow::Wrap, Overflow::Saturate, Overflow::Infinity}) {
        if (overflow == (to.isFixed() ? Overflow::Infinity : Overflow::Wrap))
          continue;
        // A few on ordinary days.
        const int number = next++;
        if (cases <= 100 && number % 16 != 0)
          continue;
        const Arithmetic n(to, kRoundings[number % 5], overflow);
        test(Operator(from, n), n, from.width() <= 8 ? 0 : cases);
      }
    }
  run(cases > 1000 && test::haveTool("verilator"));
}

INSTANTIATE_TEST_SUITE_P(
    Formats, Elementary,
    ::testing::Values("half", "bfloat16", "single", "double",
                      "float<8,16,flush>", "float<6,9,finite>",
                      "float<5,10,bias=-3>", "fixed<8,24>", "fixed<6,10>",
                      "fixed<4,5>", "fixed<1,11>", "fixed<9,5,unsigned>",
                      "fixed<12,-1>", "fixed<-2,14>", "int12", "fixed<24,40>"));

INSTANTIATE_TEST_SUITE_P(Formats, RandomFloats,
                         ::testing::Values("half", "single", "double",
                                           "float<6,9,finite>",
                                           "float<8,23,flush>",
                                           "float<4,11,bias=-3>",
                                           "float<5,18,bias=40,flush>"));
} // namespace
