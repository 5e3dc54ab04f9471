// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every construct that the emitter prints has the operation's meaning: logic
// of many widths in Icarus against the dialect's folders, registers and
// memories against a model of the cycle. Verilator and Yosys accept all of it.
#include "../RtlValues.h"
#include "../TestFolder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Rtl/Emit.h"
#include <random>

using namespace mlir;
using namespace rhizome;
using llvm::APInt;
using rhizome::test::TestFolder;

namespace {
std::string literal(const APInt &value) {
  SmallString<64> digits;
  value.toString(digits, 16, /*Signed=*/false);
  return std::to_string(value.getBitWidth()) + "'h" + digits.str().str();
}

class ConstructsTest : public ::testing::Test {
protected:
  ConstructsTest() { context.getOrLoadDialect<rtl::RtlDialect>(); }

  APInt random(unsigned width) {
    SmallVector<uint64_t> words;
    for (unsigned i = 0; i < width; i += 64)
      words.push_back(rng());
    APInt value(width, words);
    switch (rng() % 6) { // extremes are rare otherwise
    case 0:
      return APInt::getSignedMinValue(width);
    case 1:
      return APInt::getAllOnes(width);
    case 2:
      return value.lshr(width / 2);
    default:
      return value;
    }
  }
  /// The tools accept the file of a module, and its bench prints RIGHT.
  void check(const std::string &name, const std::string &bench) {
    std::string text = folder.read(name + ".sv");
    folder.write("bench.sv", bench);
    if (test::haveTool("verilator"))
      EXPECT_EQ(folder.run("verilator --lint-only -Wall " + name + ".sv"), 0)
          << folder.read("log.txt") << text;
    if (test::haveTool("yosys"))
      EXPECT_EQ(
          folder.run("yosys -q -p 'read_verilog -sv " + name +
                     ".sv; hierarchy -check -top " + name +
                     "; proc; check -assert; memory -nomap; check -assert'"),
          0)
          << folder.read("log.txt") << text;
    if (!test::haveTool("iverilog"))
      return;
    EXPECT_EQ(folder.run("iverilog -g2012 -Wall -s bench -o x " + name +
                         ".sv bench.sv && ./x"),
              0)
        << folder.read("log.txt") << text;
    EXPECT_NE(folder.read("log.txt").find("RIGHT"), std::string::npos)
        << folder.read("log.txt") << text;
  }

  MLIRContext context;
  TestFolder folder;
  std::mt19937_64 rng{7};
};

TEST_F(ConstructsTest, LogicOfManyWidths) {
  for (unsigned width : {1u, 2u, 5u, 8u, 31u, 64u, 65u, 100u}) {
    OpBuilder b(&context);
    Location loc = b.getUnknownLoc();
    OwningOpRef<ModuleOp> parent = ModuleOp::create(loc);
    b.setInsertionPointToEnd(parent->getBody());
    auto module = rtl::ModuleOp::create(
        b, loc, "logic_of", b.getStrArrayAttr({"a_i", "b_i", "n_i", "s_i"}),
        b.getStrArrayAttr({"x_o"}), StringAttr());
    Block *body = b.createBlock(&module.getBody());
    Type type = b.getIntegerType(width);
    Value x = body->addArgument(type, loc), y = body->addArgument(type, loc);
    Value n = body->addArgument(b.getIntegerType(4), loc);
    Value s = body->addArgument(b.getI1Type(), loc);
    SmallVector<Value> results = {
        rtl::AddOp::create(b, loc, x, y),
        rtl::SubOp::create(b, loc, x, y),
        rtl::MulOp::create(b, loc, x, y),
        rtl::AndOp::create(b, loc, x, y),
        rtl::OrOp::create(b, loc, x, y),
        rtl::XorOp::create(b, loc, x, y),
        rtl::NotOp::create(b, loc, x),
        rtl::ShiftLeftOp::create(b, loc, x, n),
        rtl::ShiftRightOp::create(b, loc, x, n),
        rtl::ShiftRightSignedOp::create(b, loc, x, n),
        rtl::ShiftRightSignedOp::create(b, loc, x, y),
        rtl::MuxOp::create(b, loc, s, x, y),
        rtl::SignExtendOp::create(b, loc, b.getIntegerType(width + 3), x),
        rtl::LookupOp::create(
            b, loc, b.getIntegerType(5), n,
            b.getDenseI64ArrayAttr(
                {3, -1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 31}))};
    // Operations on constants, and on values without a name.
    Value constant = rtl::ConstantOp::create(b, loc, type, random(width));
    Value joined = rtl::ConcatOp::create(b, loc, b.getIntegerType(width + 4),
                                         ValueRange{n, x});
    results.push_back(rtl::AddOp::create(b, loc, x, constant));
    results.push_back(rtl::MulOp::create(b, loc, constant, y));
    results.push_back(rtl::ShiftRightSignedOp::create(b, loc, joined, n));
    // Products of factors whose signs are extended, of both or of one.
    results.push_back(rtl::MulOp::create(
        b, loc, rtl::SignExtendOp::create(b, loc, joined.getType(), x),
        joined));
    auto extended = [&](Value v) -> Value {
      return rtl::SignExtendOp::create(b, loc, b.getIntegerType(width + 5), v);
    };
    Value sum = rtl::AddOp::create(b, loc, x, y);
    results.push_back(rtl::MulOp::create(b, loc, extended(x), extended(n)));
    results.push_back(rtl::MulOp::create(b, loc, extended(sum), extended(x)));
    results.push_back(rtl::MulOp::create(
        b, loc, extended(joined),
        rtl::ConstantOp::create(b, loc, b.getIntegerType(width + 5),
                                random(width + 5))));
    results.push_back(rtl::CompareOp::create(b, loc, rtl::Predicate::SignedLess,
                                             x, constant));
    for (rtl::Predicate predicate :
         {rtl::Predicate::Equal, rtl::Predicate::NotEqual,
          rtl::Predicate::SignedLess, rtl::Predicate::SignedAtMost,
          rtl::Predicate::UnsignedLess, rtl::Predicate::UnsignedAtMost})
      results.push_back(rtl::CompareOp::create(b, loc, predicate, x, y));
    for (int64_t bound : {-1, 0, 1}) {
      if (width > 1 || bound == 0)
        results.push_back(
            rtl::AtLeastOp::create(b, loc, b.getI1Type(), x, bound, true));
      if (bound >= 0)
        results.push_back(
            rtl::AtLeastOp::create(b, loc, b.getI1Type(), x, bound, false));
    }
    results.push_back(rtl::ExtractOp::create(
        b, loc, b.getIntegerType((width + 1) / 2), x, int64_t(width / 2)));
    unsigned total = 0;
    for (Value v : results)
      total += v.getType().getIntOrFloatBitWidth();
    Value all = rtl::ConcatOp::create(b, loc, b.getIntegerType(total), results);
    rtl::OutputOp::create(b, loc, all);
    ASSERT_TRUE(succeeded(verify(*parent)));
    ASSERT_TRUE(succeeded(emitDesign(*parent, folder.path())));

    std::string bench = "module bench;\n  int wrong = 0;\n  logic [" +
                        std::to_string(width - 1) +
                        ":0] a, b;\n  logic [3:0] n;\n  logic s;\n  logic [" +
                        std::to_string(total - 1) +
                        ":0] x;\n  logic_of u (.a_i(a), .b_i(b), .n_i(n), "
                        ".s_i(s), .x_o(x));\n  initial begin\n";
    for (int vector = 0; vector < 60; ++vector) {
      SmallVector<APInt> inputs = {random(width), random(width), random(4),
                                   random(1)};
      if (vector % 7 == 0)
        inputs[1] = inputs[0];
      auto values = test::valuesOf(*body, inputs);
      bench += "    {a, b, n, s} = {";
      for (const APInt &input : inputs)
        bench += (&input == &inputs[0] ? "" : ", ") + literal(input);
      bench += "}; #1 if (x !== " + literal(values.at(all)) +
               ") begin wrong++; $display(\"vector " + std::to_string(vector) +
               ": %h, not " + literal(values.at(all)) + "\", x); end\n";
    }
    bench += "    if (wrong == 0) $display(\"RIGHT\");\n  end\nendmodule\n";
    check("logic_of", bench);
  }
}

TEST_F(ConstructsTest, RegistersAndMemories) {
  // Registers of every kind; a memory with contents and two writers, one
  // without contents, and one of a single bit.
  auto module = parseSourceString<ModuleOp>(R"mlir(
rtl.module @state attributes {input_names = ["clk_i", "rst_ni", "en_i", "we_i", "a_i", "c_i", "d_i"], output_names = ["x_o"]} {
^bb0(%clk: i1, %rst: i1, %en: i1, %we: i1, %a: i3, %c: i3, %d: i70):
  %plain = rtl.register %d at %clk : i70
  %enabled = rtl.register %d at %clk enable %en : i70
  %reset = rtl.register %d at %clk reset %rst to -5 : i70 : i70
  %both = rtl.register %d at %clk enable %en reset %rst to 9 : i70 : i70
  %one = rtl.constant 1 : i8
  %count = rtl.register %next at %clk enable %en reset %rst to 250 : i8 : i8
  %next = rtl.add %count, %one : i8
  %m = rtl.memory "always" initial dense<[11, 22, 33, 44, -1]> : tensor<5xi70> : !rtl.memory<5 x i70>
  rtl.write %d to %m[%a] at %clk enable %we : !rtl.memory<5 x i70>
  rtl.write %plain to %m[%c] at %clk enable %en : !rtl.memory<5 x i70>
  %r = rtl.read %m[%a] at %clk : !rtl.memory<5 x i70>
  %s = rtl.read %m[%c] at %clk enable %en : !rtl.memory<5 x i70>
  %low = rtl.extract %d from 0 : (i70) -> i2
  %o = rtl.memory "scratch" : !rtl.memory<8 x i2>
  rtl.write %low to %o[%c] at %clk : !rtl.memory<8 x i2>
  %t = rtl.read %o[%c] at %clk : !rtl.memory<8 x i2>
  %single = rtl.memory "scratch" initial dense<1> : tensor<1xi1> : !rtl.memory<1 x i1>
  %zero = rtl.constant 0 : i1
  %v = rtl.read %single[%zero] at %clk : !rtl.memory<1 x i1>
  %all = rtl.concat %plain, %enabled, %reset, %both, %count, %r, %s, %t, %v : (i70, i70, i70, i70, i8, i70, i70, i2, i1) -> i431
  rtl.output %all : i431
}
)mlir",
                                            &context);
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(emitDesign(*module, folder.path())));

  std::string bench = R"sv(module bench;
  int wrong = 0;
  logic clk = 0, rst, en, we;
  logic [2:0] a, c;
  logic [69:0] d;
  logic [430:0] x;
  state u (.clk_i(clk), .rst_ni(rst), .en_i(en), .we_i(we), .a_i(a), .c_i(c), .d_i(d), .x_o(x));
  initial begin
)sv";
  APInt zero(70, 0), plain = zero, enabled = zero, reset = zero, both = zero;
  APInt r = zero, s = zero, count(8, 0), t(2, 0);
  std::vector<APInt> words = {APInt(70, 11), APInt(70, 22), APInt(70, 33),
                              APInt(70, 44), APInt::getAllOnes(70)};
  std::vector<APInt> scratch(8, APInt(2, 0));
  for (int cycle = 0; cycle < 400; ++cycle) {
    // Initially, everything gets a value.
    bool rst = cycle > 3 && rng() % 20 != 0;
    bool en = cycle > 0 && (cycle < 12 || rng() & 1);
    bool we = cycle > 8 && (rng() & 1);
    uint64_t a = rng() % 5, c = rng() % 5;
    if (cycle < 12)
      c = uint64_t(cycle) % 8;
    // Reads beyond the end are arbitrary: it is only written.
    bool isBeyond = c > 4;
    APInt d = random(70);
    auto readOf = [&](uint64_t at) {
      return at < words.size() ? words[at] : zero;
    };
    APInt wasPlain = plain, nextR = readOf(a), nextS = en ? readOf(c) : s;
    t = scratch[c];
    scratch[c] = d.trunc(2);
    if (we)
      words[a] = d;
    if (en && !isBeyond)
      words[c] = wasPlain;
    plain = d;
    enabled = en ? d : enabled;
    both = !rst ? APInt(70, 9) : en ? d : both;
    reset = rst ? d : APInt(70, uint64_t(-5), true);
    count = !rst ? APInt(8, 250) : en ? count + 1 : count;
    r = nextR;
    s = nextS;
    bench += "    rst = " + std::to_string(rst) +
             "; en = " + std::to_string(en) + "; we = " + std::to_string(we) +
             "; a = " + std::to_string(a) + "; c = " + std::to_string(c) +
             "; d = " + literal(d) + "; #1 clk = 1; #1 clk = 0;\n";
    if (cycle < 12) // the first words are unknown
      continue;
    APInt all(431, 1);
    for (const APInt *part : {&t, &s, &r}) {
      all = all.shl(part->getBitWidth());
      all.insertBits(*part, 0);
    }
    for (const APInt *part : {&count, &both, &reset, &enabled, &plain}) {
      all = all.shl(part->getBitWidth());
      all.insertBits(*part, 0);
    }
    bench += "    if (x !== " + literal(all) + ") begin wrong++; $display(\"" +
             "cycle " + std::to_string(cycle) + ": %h, not " + literal(all) +
             "\", x); end\n";
  }
  bench += "    if (wrong == 0) $display(\"RIGHT\");\n  end\nendmodule\n";
  check("state", bench);
}
} // namespace
