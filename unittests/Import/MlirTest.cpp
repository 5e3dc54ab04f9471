// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks as MLIR files: what a file is, its border, its names, and what is
// refused.
#include "../TestFolder.h"
#include "rhizome/Import/Mlir/MlirImport.h"
#include "rhizome/Import/Mlir/Passes.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

namespace {
/// What a file's text gives.
struct Read {
  explicit Read(const std::string &text, const MlirOptions &options = {}) {
    folder.write("net.mlir", text);
    path = folder.path("net.mlir");
    module = importMlir(&context, path, options, refusals);
  }
  std::string text() const {
    std::string all;
    for (const Refusal &r : refusals)
      all += r.node + " (" + r.op + "): " + r.reason + " | " + r.remedy + "\n";
    return all;
  }
  std::string printed() {
    std::string out;
    llvm::raw_string_ostream(out) << *module;
    return out;
  }
  void expectRefused(StringRef what) {
    EXPECT_FALSE(module);
    EXPECT_NE(text().find(what.str()), std::string::npos) << text();
  }

  test::TestFolder folder;
  std::string path;
  MLIRContext context;
  Refusals refusals;
  OwningOpRef<ModuleOp> module;
};

/// A network of one layer, with what the test changes.
std::string network(const std::string &argument = "tensor<1x2xf32>",
                    const std::string &before = "") {
  return before + "func.func @main(%x: " + argument +
         ") -> tensor<1x2xf32> {\n"
         "  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : "
         "tensor<2x2xf32>\n"
         "  %z = arith.constant 0.0 : f32\n"
         "  %e = tensor.empty() : tensor<1x2xf32>\n"
         "  %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x2xf32>) -> "
         "tensor<1x2xf32>\n"
         "  %r = linalg.matmul ins(%x, %w : tensor<1x2xf32>, "
         "tensor<2x2xf32>) outs(%i : tensor<1x2xf32>) -> tensor<1x2xf32>\n"
         "  return %r : tensor<1x2xf32>\n}\n";
}

const char *const kIntegers =
    "func.func @anything(%x: tensor<1x2x!num.int<u8>>) -> "
    "tensor<1x2x!num.int<u8>> {\n"
    "  %y = osa.requantize %x {multiplier = array<i64: 1>, offset = array<i64: "
    "1>, shift = 1 : i64} : (tensor<1x2x!num.int<u8>>) -> "
    "tensor<1x2x!num.int<u8>>\n  return %y : tensor<1x2x!num.int<u8>>\n}\n";

TEST(MlirFile, IsToldByItsContent) {
  EXPECT_TRUE(isMlir("// a comment\n\n#map = affine_map<() -> ()>\n"));
  EXPECT_TRUE(isMlir("module {\n}"));
  EXPECT_TRUE(isMlir("\"builtin.module\"() ({}) : () -> ()"));
  EXPECT_TRUE(isMlir("func.func @f() {return}"));
  EXPECT_FALSE(isMlir("! Fortran's comment\nvar input a : [3]"));
  EXPECT_FALSE(isMlir(StringRef("\x08\x08\x12", 3)));
  EXPECT_FALSE(isMlir(""));
  EXPECT_FALSE(isMlir("// nothing else"));

  test::TestFolder folder;
  auto kind = [&](const std::string &text) {
    folder.write("x", text);
    return mlirKind(folder.path("x"));
  };
  EXPECT_EQ(kind(network()), MlirKind::Network);
  EXPECT_EQ(kind(kIntegers), MlirKind::IntegerNetwork);
  EXPECT_EQ(kind("func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {return "
                 "%a : tensor<2xf32>}"),
            MlirKind::Kernel);
  EXPECT_EQ(kind("func.func @f(%a: tensor<2xf64>) -> tensor<2xf64> {\n"
                 "%c = arith.constant dense<[1.0, 2.0]> : tensor<2xf64>\n"
                 "return %a : tensor<2xf64>}"),
            MlirKind::Kernel);
  std::string marked = network();
  marked.replace(marked.find(") -> tensor<1x2xf32> {"), 22,
                 ") -> tensor<1x2xf32> attributes {rhizome.kernel} {");
  EXPECT_EQ(kind("module {" + marked + "}"), MlirKind::Kernel) << marked;
  EXPECT_EQ(kind("module {"), std::nullopt);
}

TEST(MlirFile, NamesItsBorderAndOperations) {
  Read plain(network());
  ASSERT_TRUE(plain.module) << plain.text();
  auto main = plain.module->lookupSymbol<func::FuncOp>("main");
  EXPECT_EQ(main.getArgAttrOfType<StringAttr>(0, "rhizome.name"), "input0");
  EXPECT_EQ(main.getResultAttrOfType<StringAttr>(0, "rhizome.name"), "output0");
  for (auto dense : main.getOps<osa::DenseOp>())
    EXPECT_EQ(osa::nodeName(dense), "dense_1");

  std::string text = network("tensor<1x2xf32> loc(\"image\")");
  text.replace(text.find("-> tensor<1x2xf32>\n  return"), 18,
               "-> tensor<1x2xf32> loc(\"layer.weight\")");
  Read named(text);
  ASSERT_TRUE(named.module) << named.text();
  main = named.module->lookupSymbol<func::FuncOp>("main");
  EXPECT_EQ(main.getArgAttrOfType<StringAttr>(0, "rhizome.name"), "image");
  for (auto dense : main.getOps<osa::DenseOp>())
    EXPECT_EQ(osa::nodeName(dense), "layer.weight");
}

TEST(MlirFile, InlinesWhatItCalls) {
  Read read("func.func private @half(%x: tensor<1x2xf32>) -> tensor<1x2xf32> "
            "{\n %h = arith.constant dense<0.5> : tensor<1x2xf32>\n %y = "
            "arith.mulf %x, %h : tensor<1x2xf32>\n return %y : "
            "tensor<1x2xf32>\n}\n" +
            network());
  EXPECT_TRUE(read.module) << read.text();
}

TEST(MlirFile, TakesWholeNumbers) {
  Read read(network(), {{}, {{"input0", {false, 8}}}});
  ASSERT_TRUE(read.module) << read.text();
  EXPECT_NE(read.printed().find("osa.quantize %arg0"), std::string::npos);
  EXPECT_NE(read.printed().find("rhizome.range = array<i64: 0, 255>"),
            std::string::npos);
}

TEST(MlirFile, CompletesANetworkOfIntegers) {
  Read read(kIntegers);
  ASSERT_TRUE(read.module) << read.text();
  std::string text = read.printed();
  for (const char *what : {"@host0(%arg0: tensor<1x2xf32>", "@network(",
                           "@host1(%arg0: tensor<1x2x!num.int<u8>>"})
    EXPECT_NE(text.find(what), std::string::npos) << text;
  // What it has written, it reads.
  Read again(text);
  EXPECT_TRUE(again.module) << again.text();

  Read options(kIntegers, {{{"x", {1}}}, {}});
  options.expectRefused("whose inputs have shapes and types");
  std::string wide = kIntegers;
  for (size_t at; (at = wide.find("u8")) != std::string::npos;)
    wide.replace(at, 2, "u30");
  Read tooWide(wide);
  tooWide.expectRefused("integers of 30 bits, float32 holds 24");
  std::string hostOnly = text, blocks = text;
  size_t place = hostOnly.find("#flow.place<fpga>");
  Read noFpga(hostOnly.replace(place, 17, "#flow.place<host>"));
  noFpga.expectRefused("none of the tasks is the FPGA's");
  place = text.find("#flow.place<host>"); // @host0 takes reals
  Read reals(std::string(text).replace(place, 17, "#flow.place<fpga>"));
  reals.expectRefused("takes or gives other than tensors of !num.int");
  place = blocks.find("return");
  Read twoBlocks(blocks.insert(place, "cf.br ^end\n^end:\n  "));
  twoBlocks.expectRefused("the task is not one block of operations");
  size_t at = text.find(", @host1");
  Read halved(text.erase(at, 8));
  halved.expectRefused("C4: no task gives the model's output 'output0'");
}

/// Three trips, or as many as `end` says, around a product with one layer's
/// weights.
std::string repeated(const std::string &end) {
  return "func.func @main(%x: tensor<1x2xf32>, %n: tensor<1xi64>) -> "
         "tensor<1x2xf32> {\n"
         "  %zero = arith.constant 0 : index\n"
         "  %one = arith.constant 1 : index\n" +
         end +
         "  %r = scf.for %t = %zero to %end step %one iter_args(%p = %x) -> "
         "(tensor<1x2xf32>) {\n"
         "    %e = tensor.empty() : tensor<1x2xf32>\n"
         "    %s = linalg.exp ins(%p : tensor<1x2xf32>) outs(%e : "
         "tensor<1x2xf32>) -> tensor<1x2xf32>\n"
         "    scf.yield %s : tensor<1x2xf32>\n"
         "  }\n"
         "  return %r : tensor<1x2xf32>\n}\n";
}

TEST(MlirImport, BodiesWithATripCountStayLoops) {
  Read three(repeated("  %end = arith.constant 3 : index\n"));
  ASSERT_TRUE(three.module) << three.text();
  EXPECT_NE(three.printed().find("scf.for"), std::string::npos);

  Read many(repeated("  %end = arith.constant 3000000 : index\n"));
  many.expectRefused("it has 3000000 trips");

  Read scalar(
      "func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {\n"
      "  %zero = arith.constant 0 : index\n"
      "  %one = arith.constant 1 : index\n"
      "  %end = arith.constant 3 : index\n"
      "  %n = scf.for %t = %zero to %end step %one "
      "iter_args(%p = %zero) -> (index) {\n"
      "    %u = arith.addi %p, %t : index\n    scf.yield %u : index\n  }\n"
      "  %e = tensor.extract_slice %x[0, %n] [1, 2] [1, 1] : "
      "tensor<1x2xf32> to tensor<1x2xf32>\n"
      "  return %e : tensor<1x2xf32>\n}\n");
  scalar.expectRefused("it gives index");

  Read unknown(repeated("  %place = arith.constant 0 : index\n"
                        "  %many = tensor.extract %n[%place] : tensor<1xi64>\n"
                        "  %end = arith.index_cast %many : i64 to index\n"));
  unknown.expectRefused("its trip count is not known");
}

/// A loop that %n ends, which `inside` reads.
std::string repeatedWhile(const std::string &outside, const std::string &inside,
                          const std::string &passed) {
  return "func.func @main(%x: tensor<1x2xf32>, %n: tensor<i64>) -> "
         "tensor<1x2xf32> {\n"
         "  %zero = arith.constant 0 : i64\n"
         "  %e = tensor.empty() : tensor<1x2xf32>\n" +
         outside +
         "  %r = scf.while (%p = %x) : (tensor<1x2xf32>) -> "
         "(tensor<1x2xf32>) {\n" +
         inside +
         "    %go = arith.cmpi sgt, %m, %zero : i64\n"
         "    scf.condition(%go) " +
         passed +
         " : tensor<1x2xf32>\n  } do {\n"
         "  ^bb0(%p: tensor<1x2xf32>):\n"
         "    %s = linalg.exp ins(%p : tensor<1x2xf32>) outs(%e : "
         "tensor<1x2xf32>) -> tensor<1x2xf32>\n"
         "    scf.yield %s : tensor<1x2xf32>\n"
         "  }\n"
         "  return %r : tensor<1x2xf32>\n}\n";
}

TEST(MlirImport, BodiesWithAConditionStayLoops) {
  const std::string read = "    %m = tensor.extract %n[] : tensor<i64>\n";
  Read good(repeatedWhile("", read, "%p"));
  ASSERT_TRUE(good.module) << good.text();
  EXPECT_NE(good.printed().find("scf.while"), std::string::npos);

  Read other(repeatedWhile(
      "",
      read + "    %q = linalg.exp ins(%p : tensor<1x2xf32>) outs(%e : "
             "tensor<1x2xf32>) -> tensor<1x2xf32>\n",
      "%q"));
  other.expectRefused("its condition passes on something else than what the "
                      "loop carries");

  Read scalar(repeatedWhile(read, "", "%p"));
  scalar.expectRefused("the importer does not know this operation");
}

TEST(MlirRefusals, SayWhereAndWhatWouldWork) {
  Read broken("module {\n  func.func @main(\n");
  broken.expectRefused("net.mlir:2");
  broken.expectRefused("as text of MLIR 22");

  Read torch("module {\n func.func @main(%x: tensor<1x2xf32>) -> "
             "tensor<1x2xf32> {\n %c = arith.constant dense<[[1.0, 2.0]]> : "
             "tensor<1x2xf32>\n %y = \"torch.aten.relu\"(%x) : "
             "(tensor<1x2xf32>) -> tensor<1x2xf32>\n %z = "
             "\"torch.aten.relu\"(%y) : (tensor<1x2xf32>) -> "
             "tensor<1x2xf32>\n %v = \"torch.aten.selu\"(%z) : "
             "(tensor<1x2xf32>) -> tensor<1x2xf32>\n return %v : "
             "tensor<1x2xf32>\n }\n}");
  EXPECT_EQ(torch.refusals.size(), 3u);
  torch.expectRefused(
      "(torch.aten.relu): the importer does not know this operation");
  torch.expectRefused("net.mlir:6");
  torch.expectRefused("(torch.aten.selu)");
  torch.expectRefused("linalg-on-tensors");

  Read several(network() + "func.func @other(%x: tensor<1xf32>) -> "
                           "tensor<1xf32> {return %x : tensor<1xf32>}");
  EXPECT_TRUE(several.module) << several.text(); // there is a @main
  std::string text = network();
  text.replace(text.find("@main"), 5, "@first");
  Read ambiguous(text + "func.func @other(%x: tensor<1xf32>) -> "
                        "tensor<1xf32> {return %x : tensor<1xf32>}");
  ambiguous.expectRefused("several public functions: @first, @other");

  Read shape(network(), {{{"input0", {1, 3}}, {"y", {1}}}, {}});
  shape.expectRefused("the shape [1, 3] is given for this input, the file has "
                      "[1, 2]");
  shape.expectRefused("a shape is given for this name, but the model has no "
                      "such input");
  Read type(network(), {{}, {{"y", {true, 8}}}});
  type.expectRefused("a type is given for this name");
}

TEST(MlirRefusals, NameEveryTypeAndOperation) {
  auto with = [](const std::string &type, const std::string &body) {
    return Read("func.func @main(%x: tensor<" + type + ">) -> tensor<" + type +
                "> {\n%c = osa.constant {value = dense<1.0> : tensor<2xf32>} "
                ": () -> tensor<2xf32>\n" +
                body + "\n}");
  };
  Read half = with("2xf16", "return %x : tensor<2xf16>");
  half.expectRefused("tensor<2xf16>");
  half.expectRefused("export the network in float32");
  Read dynamic = with("?xf32", "return %x : tensor<?xf32>");
  dynamic.expectRefused("export it with tensors of known size");
  Read infinite =
      with("2xf32", "%k = osa.constant {value = dense<0x7F800000> : "
                    "tensor<2xf32>} : () -> tensor<2xf32>\n%y = osa.add %x, "
                    "%k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"
                    "return %y : tensor<2xf32>");
  infinite.expectRefused("a constant that a layer reads is infinite");
  const std::string loop =
      "%e = tensor.empty() : tensor<2xf32>\n%r = linalg.generic "
      "{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
      "iterator_types = [\"parallel\"]} ins(%x : tensor<2xf32>) outs(%e : "
      "tensor<2xf32>) {\n^bb0(%in: f32, %out: f32):\n%v = math.cbrt %in : "
      "f32\nlinalg.yield %v : f32\n} -> tensor<2xf32>\nreturn %r : "
      "tensor<2xf32>";
  Read scalar = with("2xf32", loop);
  scalar.expectRefused("(math.cbrt): the host has no such operation on "
                       "scalars");
  Read unknown = with(
      "2xf32", "%i = arith.constant 0 : index\n%s = tensor.extract %x[%i] : "
               "tensor<2xf32>\n%y = tensor.splat %s : tensor<2xf32>\nreturn "
               "%y : tensor<2xf32>");
  unknown.expectRefused("(tensor.splat): the importer does not know this "
                        "operation in a network");
  Read narrow = with(
      "2xf32",
      "%e = tensor.empty() : tensor<2xi16>\n%r = linalg.generic "
      "{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
      "iterator_types = [\"parallel\"]} ins(%x : tensor<2xf32>) outs(%e : "
      "tensor<2xi16>) {\n^bb0(%in: f32, %out: i16):\n%v = arith.fptosi "
      "%in : f32 to i16\nlinalg.yield %v : i16\n} -> tensor<2xi16>\n%o = "
      "tensor.empty() : tensor<2xf32>\n%q = linalg.generic {indexing_maps = "
      "[affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = "
      "[\"parallel\"]} ins(%r : tensor<2xi16>) outs(%o : tensor<2xf32>) "
      "{\n^bb0(%in: i16, %out: f32):\n%v = arith.sitofp %in : i16 to "
      "f32\nlinalg.yield %v : f32\n} -> tensor<2xf32>\nreturn %q : "
      "tensor<2xf32>");
  narrow.expectRefused("it gives tensor<2xi16>");
}
} // namespace
