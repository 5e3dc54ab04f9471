// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitter: the text of small designs, and that Verilator, Icarus and Yosys
// accept it without a warning.
#include "rhizome/Rtl/Emit.h"
#include "../TestFolder.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Support/Names.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
// Slices, concatenations, constants, parameters, an unread output, half-read
// vectors, feedback, and names that need repair.
constexpr const char *kDesign = R"mlir(
rtl.module @rhz_top attributes {
    input_names = ["clk_i", "rst_ni", "a", "spare"], output_names = ["y", "carry"],
    comment = "two\nlines"} {
^bb0(%clk: i1, %rst: i1, %a: i12, %spare: i4):
  %low = rtl.extract %a from 2 : (i12) -> i5
  %c = rtl.constant -1 : i3
  %joined = rtl.concat %low, %c : (i5, i3) -> i8
  %mid = rtl.extract %joined from 3 : (i8) -> i4
  %wide = rtl.concat %mid, %mid2 : (i4, i4) -> i8
  %mid2 = rtl.extract %q from 4 : (i8) -> i4
  %q, %n = rtl.instance "conv/1" "delay_by" (%clk, %wide)
    {parameters = {Steps = 3 : i64, Name = "x.hex"},
     input_names = ["clk_i", "d"], output_names = ["q", "never"]}
    : (i1, i8) -> (i8, i2)
  %bit = rtl.extract %q from 7 : (i8) -> i1
  %sum = rtl.instance "conv 1" "inner module" (%q)
    {parameters = {}, input_names = ["x"], output_names = ["y"]} : (i8) -> i8
  rtl.output %sum, %bit : i8, i1
}
rtl.module @"inner module" attributes {input_names = ["x"], output_names = ["y"]} {
^bb0(%x: i8):
  rtl.output %x : i8
}
)mlir";

constexpr const char *kDelay = R"sv(
module delay_by #(parameter int Steps = 1, parameter Name = "") (
  input  logic       clk_i,
  input  logic [7:0] d,
  output logic [7:0] q,
  output logic [1:0] never
);
  logic [8*Steps-1:0] d_q;
  logic [7:0] unused_top;
  always_ff @(posedge clk_i) d_q <= (8 * Steps)'({d_q, d});
  assign unused_top = d_q[7:0];
  assign q = d_q[8*Steps-1-:8];
  assign never = Name == "x.hex" ? 2'd1 : 2'd2;
endmodule
)sv";

class EmitTest : public ::testing::Test {
protected:
  EmitTest()
      : handler(&context, [this](Diagnostic &d) {
          messages += d.str() + "\n";
          return success();
        }) {
    context.getOrLoadDialect<rtl::RtlDialect>();
  }
  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }
  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  TestFolder folder;
};

TEST_F(EmitTest, ToolsAcceptTheDesign) {
  auto module = parse(kDesign);
  ASSERT_TRUE(module) << messages;
  std::vector<std::string> files;
  ASSERT_TRUE(succeeded(emitDesign(*module, folder.path(), &files)))
      << messages;
  EXPECT_EQ(files, (std::vector<std::string>{"inner_module.sv", "rhz_top.sv"}));
  folder.write("delay_by.sv", kDelay);
  std::string top = folder.read("rhz_top.sv");
  EXPECT_NE(top.find("// two\n// lines\nmodule rhz_top ("), std::string::npos);
  EXPECT_NE(top.find(".Name(\"x.hex\"),\n    .Steps(3)"), std::string::npos);
  EXPECT_NE(top.find(") u_conv_1 ("), std::string::npos) << top;
  EXPECT_NE(top.find("u_conv_1_2 ("), std::string::npos) << top;
  EXPECT_NE(top.find("unused_conv_1_never"), std::string::npos) << top;
  if (test::haveTool("verilator"))
    EXPECT_EQ(folder.run("verilator --lint-only -Wall --top-module rhz_top "
                         "rhz_top.sv inner_module.sv delay_by.sv"),
              0)
        << folder.read("log.txt") << top;
  if (test::haveTool("iverilog"))
    EXPECT_EQ(folder.run("iverilog -g2012 -Wall -s rhz_top -o x *.sv"), 0)
        << folder.read("log.txt") << top;
  if (test::haveTool("yosys"))
    EXPECT_EQ(folder.run("yosys -q -p 'read_verilog -sv *.sv; hierarchy -check "
                         "-top rhz_top; proc; check -assert'"),
              0)
        << folder.read("log.txt") << top;
}

// Arithmetic on constants and registers: the text, and values in Icarus.
TEST_F(EmitTest, ArithmeticComputes) {
  auto module = parse(R"mlir(
rtl.module @sums attributes {input_names = ["clk_i", "a_i", "b_i"], output_names = ["x_o", "t_o"]} {
^bb0(%clk: i1, %a: i4, %b: i4):
  %wa = rtl.sign_extend %a : (i4) -> i6
  %wb = rtl.sign_extend %b : (i4) -> i6
  %sum = rtl.add %wa, %wb : i6
  %difference = rtl.sub %sum, %five : i6
  %five = rtl.constant 5 : i6
  %q = rtl.register %difference at %clk : i6
  %positive = rtl.at_least %q, 0 {is_signed = true} : i6
  %many = rtl.at_least %q, 4 {is_signed = true} : i6
  %more = rtl.at_least %q, -3 {is_signed = true} : i6
  %unsigned = rtl.at_least %q, 33 {is_signed = false} : i6
  %one = rtl.mux %positive, %q, %five : i6
  %index = rtl.extract %q from 0 : (i6) -> i2
  %looked = rtl.lookup %index in [3, 1, 4, 1] : (i2) -> i3
  %both = rtl.and %many, %more : i1
  %t = rtl.concat %both, %unsigned, %looked : (i1, i1, i3) -> i5
  rtl.output %one, %t : i6, i5
}
)mlir");
  ASSERT_TRUE(module) << messages;
  ASSERT_TRUE(succeeded(emitDesign(*module, folder.path()))) << messages;
  std::string text = folder.read("sums.sv");
  folder.write("bench.sv", R"sv(
module bench;
  logic clk = 0;
  logic signed [3:0] a, b;
  logic signed [5:0] x, q;
  logic [4:0] t;
  logic [2:0] looked;
  int wrong = 0;
  sums u (.clk_i(clk), .a_i(a), .b_i(b), .x_o(x), .t_o(t));
  initial begin
    for (int i = 0; i < 256; i++) begin
      {a, b} = i[7:0];
      q = 6'(a) + 6'(b) - 6'sd5;
      #1 clk = 1; #1 clk = 0;
      case (q[1:0]) 0: looked = 3; 2: looked = 4; default: looked = 1; endcase
      if (x !== (q >= 0 ? q : 6'sd5)) wrong++;
      if (t !== {looked, $unsigned(q) >= 6'd33, q >= 4}) wrong++;
    end
    if (wrong == 0) $display("RIGHT");
    $finish;
  end
endmodule
)sv");
  if (test::haveTool("verilator"))
    EXPECT_EQ(folder.run("verilator --lint-only -Wall sums.sv"), 0)
        << folder.read("log.txt") << text;
  if (test::haveTool("yosys"))
    EXPECT_EQ(folder.run("yosys -q -p 'read_verilog -sv sums.sv; hierarchy "
                         "-check -top sums; proc; check -assert'"),
              0)
        << folder.read("log.txt") << text;
  if (test::haveTool("iverilog")) {
    EXPECT_EQ(folder.run("iverilog -g2012 -Wall -s bench -o x *.sv && ./x"), 0)
        << folder.read("log.txt") << text;
    EXPECT_NE(folder.read("log.txt").find("RIGHT"), std::string::npos)
        << folder.read("log.txt") << text;
  }
}

TEST_F(EmitTest, SameModuleSameBytes) {
  std::string first, second;
  for (std::string *text : {&first, &second}) {
    auto module = parse(kDesign);
    llvm::raw_string_ostream os(*text);
    for (auto op : module->getOps<rtl::ModuleOp>())
      emitSystemVerilog(op, os);
  }
  EXPECT_EQ(first, second);
}

TEST_F(EmitTest, RefusesRecursionAndClashes) {
  auto recursive = parse(R"mlir(
    rtl.module @a attributes {input_names = [], output_names = ["y"]} {
      %y = rtl.instance "i" "a" ()
        {parameters = {}, input_names = [], output_names = ["y"]} : () -> i8
      rtl.output %y : i8
    })mlir");
  ASSERT_TRUE(recursive) << messages;
  EXPECT_TRUE(failed(emitDesign(*recursive, folder.path())));
  EXPECT_NE(messages.find("instantiates itself"), std::string::npos);
  auto clash = parse(R"mlir(
    rtl.module @"a b" attributes {input_names = [], output_names = []} { rtl.output }
    rtl.module @a_b attributes {input_names = [], output_names = []} { rtl.output }
  )mlir");
  ASSERT_TRUE(clash) << messages;
  EXPECT_TRUE(failed(emitDesign(*clash, folder.path())));
  EXPECT_NE(messages.find("both called 'a_b'"), std::string::npos);
}

TEST_F(EmitTest, RefusesUnwritableFolder) {
  auto module = parse(kDesign);
  EXPECT_TRUE(failed(emitDesign(*module, folder.path("missing"))));
  EXPECT_NE(messages.find("cannot write"), std::string::npos);
}

TEST(Names, AreLegalAndUnique) {
  EXPECT_EQ(legalName("/conv1/Conv:0"), "_conv1_Conv_0");
  EXPECT_EQ(legalName("1x1"), "n1x1");
  EXPECT_EQ(legalName("table"), "table_n");
  EXPECT_EQ(legalName(""), "unnamed");
  EXPECT_EQ(legalName("\xc3\xa9"), "unnamed");
  EXPECT_EQ(legalName("fine_2"), "fine_2");
  NameScope scope;
  EXPECT_EQ(scope.unique("a/b"), "a_b");
  EXPECT_EQ(scope.unique("a.b"), "a_b_2");
  EXPECT_EQ(scope.unique("a_b_2"), "a_b_2_2");
}
// Tools refuse lines of tens of thousands of tokens.
TEST_F(EmitTest, LinesEndInTime) {
  OpBuilder b(&context);
  OwningOpRef<ModuleOp> design = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(design->getBody());
  constexpr unsigned kInputs = 6000;
  SmallVector<Attribute> names;
  for (unsigned i = 0; i < kInputs; ++i)
    names.push_back(b.getStringAttr("input_" + std::to_string(i)));
  auto module = rtl::ModuleOp::create(
      b, b.getUnknownLoc(), "rhz_top", b.getArrayAttr(names),
      b.getArrayAttr({b.getStringAttr("y_o")}), StringAttr());
  Block *body = b.createBlock(&module.getBody());
  for (unsigned i = 0; i < kInputs; ++i)
    body->addArgument(b.getI1Type(), b.getUnknownLoc());
  rtl::OutputOp::create(b, b.getUnknownLoc(),
                        ValueRange{body->getArgument(kInputs - 1)});
  std::vector<std::pair<std::string, std::string>> files;
  ASSERT_TRUE(succeeded(emitDesign(*design, files)));
  SmallVector<StringRef> lines;
  StringRef(files[0].second).split(lines, '\n');
  for (StringRef line : lines)
    EXPECT_LT(line.size(), 100u) << line.str();
  TestFolder folder;
  folder.write("rhz_top.sv", files[0].second);
  for (const char *tool :
       {"verilator --lint-only -Wall rhz_top.sv",
        "iverilog -g2012 -s rhz_top -o x rhz_top.sv",
        "yosys -q -p 'read_verilog -sv rhz_top.sv; check -assert'"})
    if (test::haveTool(StringRef(tool).split(' ').first.str().c_str()))
      EXPECT_EQ(folder.run(tool), 0) << folder.read("log.txt");
}
} // namespace
