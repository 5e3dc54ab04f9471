// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as hardware, simulated: bit for bit the evaluator's results under
// random stalls, and without stalls exactly the predicted cycles.
#include "rhizome/Generator/Loops/KernelUnit.h"
#include "../HelmholtzKernel.h"
#include "../TestFolder.h"
#include "KernelBench.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/Rtl/Emit.h"
#include "rhizome/Solvers/Solvers.h"
#include "rhizome/Transforms/ApplyFormats.h"
#include "rhizome/Transforms/SplitSums.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <functional>
#include <random>
#include <set>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::gen::loops;
using numeric::Bits;
using numeric::Format;
using test::TestFolder;

namespace {
class KernelUnits : public ::testing::Test {
protected:
  MLIRContext context;
  TestFolder folder;
  std::mt19937_64 rng{11};
  UnitOptions options;
  KernelUnit last; ///< the last kernel's
  int64_t uneven = 0, overlaps = 0;
  int64_t interval = 0;     ///< the largest of the last kernel's nests
  bool isChecked = false;   ///< by Verilator's and Yosys' checks, too
  bool isVerilated = false; ///< compiled, for long runs
  bool isParallel = false;  ///< with random orders and copies
  bool isSame = false;      ///< the same for all nests
  int64_t lanes = 0, shared = 0, stored = 0, banked = 0,
          splits = 0; ///< how many, of all
  /// Tensors of which several words pass in a cycle, and of these: spread over
  /// banks, in parts of a beat, with a beat that is filled up.
  int64_t wide = 0, spread = 0, parts = 0, padded = 0;
  bool isRight = true;              ///< what is expected of the results
  std::optional<ModuleSizes> sizes; ///< of the modules, if not whole
  int64_t modules = 0;              ///< how many, of all
  /// Elements of arguments; random ones without it.
  std::function<double(unsigned, size_t)> given;

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
  /// Loops in random order, sums in their own, some of them copied.
  NestChoice randomChoice(linalg::GenericOp op) {
    NestChoice choice;
    auto sizes = op.getStaticLoopRanges();
    auto kinds = op.getIteratorTypesArray();
    std::vector<unsigned> sums;
    for (unsigned loop = 0; loop < sizes.size(); ++loop) {
      choice.order.push_back(loop);
      int64_t copies = 1;
      if (kinds[loop] == utils::IteratorType::parallel && rng() % 3 != 0)
        copies = 1 + int64_t(rng() % uint64_t(sizes[loop]));
      else if (kinds[loop] == utils::IteratorType::reduction)
        sums.push_back(loop);
      choice.copies.push_back(copies);
    }
    std::shuffle(choice.order.begin(), choice.order.end(), rng);
    auto sum = sums.begin();
    for (unsigned &loop : choice.order)
      if (kinds[loop] == utils::IteratorType::reduction)
        loop = *sum++;
    return choice;
  }
  /// Several terms of some sums in one iteration.
  void splitRandomly(func::FuncOp kernel) {
    SmallVector<linalg::GenericOp> nests;
    kernel.walk([&](linalg::GenericOp op) { nests.push_back(op); });
    const bool isEqual = rng() & 1;
    for (linalg::GenericOp op : nests) {
      auto sizes = op.getStaticLoopRanges();
      auto kinds = op.getIteratorTypesArray();
      for (unsigned loop = 0; loop < sizes.size(); ++loop) {
        if (kinds[loop] != utils::IteratorType::reduction || !isSum(op))
          continue;
        int64_t terms = 2;
        if (!isSame || !isEqual)
          do
            terms = 1 + int64_t(rng() % uint64_t(sizes[loop]));
          while (sizes[loop] % terms != 0);
        auto split = splitSum(op, loop, terms);
        ASSERT_TRUE(succeeded(split));
        op = *split;
        splits += terms > 1;
      }
    }
  }
  FailureOr<KernelUnit> unitOf(func::FuncOp kernel,
                               const gen::cost::LogicPace &pace, OpBuilder &b) {
    if (!isParallel)
      return buildKernelUnit(kernel, "kernel_unit", pace, {}, options, b);
    // Not all choices go together.
    ScopedDiagnosticHandler quiet(&context,
                                  [](Diagnostic &) { return success(); });
    FailureOr<KernelUnit> unit = failure();
    for (int trial = 0; trial < 50 && failed(unit); ++trial) {
      std::vector<NestChoice> &choices = options.choices;
      choices.clear();
      for (linalg::GenericOp nest : partsOf(kernel).nests)
        choices.push_back(isSame && !choices.empty() ? choices[0]
                                                     : randomChoice(nest));
      unit = buildKernelUnit(kernel, "kernel_unit", pace, {}, options, b);
    }
    if (failed(unit))
      return unit;
    for (const Nest &nest : unit->nests) {
      lanes += nest.lanes();
      stored += nest.isStored;
    }
    shared += int64_t(unit->nests.size() - unit->groups.size());
    for (const auto &[tensor, banks] : unit->banks) {
      banked += llvm::any_of(banks.factors, [](int64_t n) { return n > 1; });
      auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
      uneven += banks.sizes != shape.vec();
    }
    for (const UnitStage &stage : unit->stages)
      overlaps += int64_t(stage.nests.size() - stage.steps.size());
    return unit;
  }
  void build(const std::string &text, const FormatChoice &choice,
             const gen::cost::LogicPace &pace, Built &out) {
    out.formats = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(out.formats) << text;
    if (choice.format)
      ASSERT_TRUE(succeeded(applyFormats(kernel(*out.formats), choice)));
    if (isParallel)
      splitRandomly(kernel(*out.formats));
    out.integers = out.formats->clone();
    PassManager pm(&context);
    pm.addPass(createConvertNumToArith({.callsQuotients = true}));
    ASSERT_TRUE(succeeded(pm.run(*out.integers)));
    OpBuilder b(&context);
    out.parent = ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(out.parent->getBody());
    auto unit = unitOf(kernel(*out.integers), pace, b);
    ASSERT_TRUE(succeeded(unit));
    out.unit = *unit;
    if (sizes)
      splitModule(out.unit, b, *sizes);
    modules += llvm::range_size(out.parent->getOps<rtl::ModuleOp>());
    ASSERT_TRUE(succeeded(verify(*out.parent)));
  }

  static std::string hex(Bits v) {
    std::string digits;
    do
      digits.insert(digits.begin(), "0123456789abcdef"[int(v & 15)]);
    while (v >>= 4);
    return digits;
  }

  /// True if an argument of the kernel stays.
  bool stays(const KernelUnit &unit, unsigned argument) {
    return llvm::any_of(options.residents, [&](size_t i) {
      Value v = unit.inputs[i].getDefiningOp()->getOperand(0);
      return cast<BlockArgument>(v).getArgNumber() == argument;
    });
  }

  /// Runs elements through the simulated unit; checks values, and cycles if
  /// nothing stalls.
  void simulate(const std::string &text, const FormatChoice &choice,
                const gen::cost::LogicPace &pace, int elements, bool stalls) {
    Built k;
    ASSERT_NO_FATAL_FAILURE(build(text, choice, pace, k));
    std::vector<std::string> files;
    ASSERT_TRUE(succeeded(emitDesign(*k.parent, folder.path(), &files)));
    const std::string sources = llvm::join(files, " ");
    last = k.unit;
    interval = 0;
    for (const auto &[v, width] : k.unit.widths) {
      const int64_t size = cast<RankedTensorType>(v.getType()).getNumElements();
      auto banks = k.unit.banks.find(v);
      wide += width > 1;
      spread += banks != k.unit.banks.end() && banks->second.spread > 1;
      parts += width > 1 && width < k.unit.words;
      padded += size > k.unit.words && size % k.unit.words != 0;
    }
    for (const Nest &nest : k.unit.nests) {
      EXPECT_EQ(schedule::verify(nest.problem, nest.schedule), std::nullopt);
      schedule::Effort effort;
      effort.nodes = 100;
      if (constexpr int kFew = 60; nest.problem.size() < kFew) {
        auto exact = schedule::scheduleExactly(nest.problem, effort);
        ASSERT_TRUE(exact.schedule);
        EXPECT_EQ(schedule::verify(nest.problem, *exact.schedule),
                  std::nullopt);
        EXPECT_LE(exact.schedule->interval, nest.schedule.interval);
      }
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

    llvm::DenseMap<Value, std::vector<std::string>> words; // by element
    std::vector<Tensor> inputs(kernel(*k.formats).getNumArguments());
    Interpreter interpreter(kernel(*k.formats));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int e = 0; e < elements; ++e) {
      for (auto [i, type] :
           llvm::enumerate(kernel(*k.formats).getArgumentTypes())) {
        if (e > 0 && stays(k.unit, unsigned(i)))
          continue;
        auto shaped = cast<RankedTensorType>(type);
        std::vector<double> data(size_t(shaped.getNumElements()));
        for (auto [at, value] : llvm::enumerate(data))
          value = given ? given(unsigned(i), at) : uniform(rng);
        inputs[i] =
            numbersOf(shaped.getShape(), data,
                      shaped.getElementType().isF32() ? Format::binary32()
                                                      : Format::binary64());
      }
      auto keep = [&](Value v, const Tensor &tensor) {
        std::string &text = words[v].emplace_back();
        for (Bits word : patternsOf(tensor))
          text += hex(word) + "\n";
      };
      for (auto [v, input] :
           llvm::zip_equal(kernel(*k.integers).getArguments(), inputs))
        keep(v, input);
      auto ran =
          interpreter.run(inputs, [&](Operation *op, const Tensor &result) {
            Operation *same = matching.lookup(op);
            if (same && same->getNumResults() == 1)
              keep(same->getResult(0), result);
          });
      ASSERT_TRUE(succeeded(ran));
    }
    for (const auto &streams : {k.unit.inStreams, k.unit.outStreams})
      for (const UnitStream &stream : streams) {
        std::string text;
        const bool isOut = StringRef(stream.name).starts_with("m_");
        for (int e = 0; e < (stream.isOnce ? 1 : elements); ++e)
          for (Value v : stream.tensors) {
            text += words.at(v)[size_t(e)];
            // What fills a beat up is not read, and written as zeros.
            for (int64_t n =
                     cast<RankedTensorType>(v.getType()).getNumElements();
                 n % k.unit.words != 0; ++n)
              text += isOut ? "0\n" : "1\n";
          }
        folder.write(stream.name + ".hex", text);
      }
    const Value result = k.unit.outputs.front();
    folder.write("bench.sv",
                 test::kernelBench(k.unit,
                                   choice.format
                                       ? choice.format->width()
                                       : getElementTypeOrSelf(result.getType())
                                             .getIntOrFloatBitWidth(),
                                   elements, stalls));
    if (isChecked && test::haveTool("verilator"))
      EXPECT_EQ(folder.run("verilator --lint-only -Wall --top kernel_unit " +
                           sources),
                0)
          << folder.read("log.txt");
    if (isChecked && test::haveTool("yosys"))
      EXPECT_EQ(folder.run("yosys -q -p 'read_verilog -sv " + sources +
                           "; "
                           "hierarchy -check -top kernel_unit; proc; check "
                           "-assert; memory -nomap; check -assert'"),
                0)
          << folder.read("log.txt");
    const std::string run =
        isVerilated
            ? "verilator --binary --timing -O3 -Wno-fatal -Wno-lint --top "
              "bench -o x bench.sv " +
                  sources + " && obj_dir/x"
            : "iverilog -g2012 -s bench -o x " + sources + " bench.sv && ./x";
    ASSERT_EQ(folder.run(run), 0) << folder.read("log.txt");
    std::string log = folder.read("log.txt");
    EXPECT_EQ(log.find("RIGHT") != std::string::npos, isRight) << log << text;
    const int64_t cycles = k.unit.latency() + (elements - 1) * k.unit.cycles();
    if (!stalls)
      EXPECT_NE(log.find("CYCLES " + std::to_string(cycles) + "\n"),
                std::string::npos)
          << log << cycles << " predicted";
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

TEST_F(KernelUnits, HelmholtzInFloats) {
  if (!test::haveTool("iverilog"))
    return;
  // CI takes the published size in double, compiled.
  const char *elements = std::getenv("RHIZOME_KERNEL_ELEMENTS");
  isVerilated = elements && test::haveTool("verilator");
  FormatChoice half, custom;
  half.format = Format::floating(5, 10);
  custom.format = Format::floating(6, 14, std::nullopt, /*subnormals=*/false);
  std::vector<FormatChoice> choices = {FormatChoice()};
  if (!elements)
    choices.insert(choices.end(), {half, custom});
  for (const FormatChoice &choice : choices)
    for (bool stalls : {false, true}) {
      isChecked = !stalls && !elements;
      // Operators are shared within a stage.
      options.stages = choice.format == custom.format ? 3 : 0;
      simulate(test::helmholtz(elements ? 11 : 3), choice, {7 * 32, 27, 20},
               stalls && elements ? std::atoi(elements) : 2, stalls);
      if (HasFatalFailure())
        return;
      EXPECT_GT(interval, 1) << "a sum takes several cycles";
    }
}

/// A softmax over rows, with logarithms of its results.
std::string softmax(const std::string &type, bool isRelu) {
  const std::string m = "tensor<2x4x" + type + ">",
                    v = "tensor<2x" + type + ">";
  const std::string rows = "affine_map<(i,j) -> (i)>",
                    all = "affine_map<(i,j) -> (i,j)>";
  auto nest = [&](const std::string &maps, const std::string &kinds,
                  const std::string &in, const std::string &out,
                  const std::string &types, const std::string &body) {
    const bool isRow = out == "%r";
    return " = linalg.generic {indexing_maps = [" + maps + ", " +
           (isRow ? rows : all) + "], iterator_types = [\"parallel\", \"" +
           kinds + "\"]} ins(" + in + " : " + types + ") outs(" + out + " : " +
           (isRow ? v : m) + ") {\n" + body + "} -> " + (isRow ? v : m) + "\n";
  };
  const std::string two = "^bb0(%x: " + type + ", %y: " + type +
                          ", %o: " + type + "):\n",
                    one = "^bb0(%x: " + type + ", %o: " + type + "):\n";
  auto yield = [&](const char *value) {
    return std::string("linalg.yield ") + value + " : " + type + "\n";
  };
  std::string text = "func.func @f(%a: " + m + ") -> " + m +
                     " {\n%zero = arith.constant 0.0 : " + type +
                     "\n%e = tensor.empty() : " + m +
                     "\n%n = tensor.empty() : " + v +
                     "\n%r = linalg.fill ins(%zero : " + type +
                     ") outs(%n : " + v + ") -> " + v + "\n";
  std::string in = "%a";
  if (isRelu) {
    text += "%p" + nest(all, "parallel", "%a", "%e", m,
                        one + "%q = arith.constant 0.25 : " + type +
                            "\n%c = arith.cmpf ogt, %x, %q : " + type +
                            "\n%s = arith.select %c, %x, %q : " + type + "\n" +
                            yield("%s"));
    in = "%p";
  }
  text += "%x1" + nest(all, "parallel", in, "%e", m,
                       one + "%q = math.exp %x : " + type + "\n" + yield("%q"));
  text += "%s1" +
          nest(all, "reduction", "%x1", "%r", m,
               one + "%q = arith.addf %o, %x : " + type + "\n" + yield("%q"));
  text += "%y1" +
          nest(all + ", " + rows, "parallel", "%x1, %s1", "%e", m + ", " + v,
               two + "%q = arith.divf %x, %y : " + type +
                   "\n%l = math.log %q : " + type +
                   "\n%t = arith.subf %q, %l : " + type + "\n" + yield("%t"));
  return text + "return %y1 : " + m + "\n}\n";
}

TEST_F(KernelUnits, SoftmaxEqualsTheEvaluator) {
  if (!test::haveTool("iverilog"))
    return;
  FormatChoice half;
  half.format = Format::floating(5, 10);
  for (const FormatChoice &choice : {half, fixed(6, 10), FormatChoice()})
    for (bool stalls : {false, true}) {
      isChecked = !stalls;
      simulate(softmax(choice.format ? "f64" : "f32", true), choice,
               {7 * 32, 27, 20}, 3, stalls);
      if (HasFatalFailure())
        return;
    }
}

TEST_F(KernelUnits, AllComparisonsEqualTheEvaluator) {
  if (!test::haveTool("iverilog"))
    return;
  for (const char *text :
       {"float<2,1>", "float<2,1,flush>", "float<2,1,finite>", "fixed<2,2>",
        "fixed<1,2,unsigned>"}) {
    FormatChoice choice;
    std::string error;
    choice.format = Format::parse(text, error);
    const Format &f = *choice.format;
    const numeric::Arithmetic n(f, numeric::Rounding::NearestEven,
                                numeric::defaultOverflow(f));
    // All pairs of numbers, and of those that are none.
    const size_t patterns = size_t(f.mask()) + 1;
    given = [&](unsigned argument, size_t at) {
      return n.toDouble(argument == 0 ? at / patterns : at % patterns);
    };
    const std::string t =
        "tensor<" + std::to_string(patterns * patterns) + "xf64>";
    std::string body, results, types;
    for (const char *predicate :
         {"olt", "oeq", "ole", "ogt", "one", "oge", "ord", "uno", "ult", "ueq",
          "ule", "ugt", "une", "uge"}) {
      const std::string name = std::string("%is_") + predicate;
      body += name +
              " = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
              "affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
              "iterator_types = [\"parallel\"]} ins(%a, %b : " +
              t + ", " + t + ") outs(%e : " + t +
              ") {\n^bb0(%x: f64, %y: f64, %o: f64):\n%c = arith.cmpf " +
              predicate +
              ", %x, %y : f64\n%s = arith.select %c, %one, %zero : f64\n"
              "linalg.yield %s : f64\n} -> " +
              t + "\n";
      results += (results.empty() ? "" : ", ") + name;
      types += (types.empty() ? "" : ", ") + t;
    }
    simulate("func.func @k(%a: " + t + ", %b: " + t + ") -> (" + types +
                 ") {\n%one = arith.constant 1.0 : f64\n%zero = "
                 "arith.constant 0.0 : f64\n%e = tensor.empty() : " +
                 t + "\n" + body + "return " + results + " : " + types +
                 "\n}\n",
             choice, {7 * 32, 27, 20}, 1, false);
    if (HasFailure())
      FAIL() << text;
  }
}

/// A kernel on tensors of random shapes: a contraction with its indices in
/// random order, then a product with the first operand's transpose.
std::string randomKernel(std::mt19937_64 &rng,
                         std::vector<int> sizes = {1, 2, 3, 4, 5}) {
  auto size = [&] { return std::to_string(sizes[rng() % sizes.size()]); };
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

TEST_F(KernelUnits, RandomOrdersAndCopies) {
  if (!test::haveTool("iverilog"))
    return;
  isParallel = true;
  const int rounds = 24;
  for (int round = 0; round < rounds; ++round) {
    FormatChoice choice = fixed(1 + int(rng() % 3), 1 + int(rng() % 16));
    choice.saturate = rng() & 1;
    int64_t levels = 2 + int64_t(rng() % 10);
    options.stages = size_t(std::max<int64_t>(0, round % 6 - 3));
    isChecked = round == 0;
    simulate(round % 4 == 3 ? randomConvolution(rng)
                            : randomKernel(rng, {2, 4, 6, 8}),
             choice, {32 * levels}, 2, round % 2 != 0);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(lanes, 100);
  EXPECT_GT(stored, 4) << "few sums wait in memory";
  EXPECT_GT(banked, 20);
  EXPECT_GT(splits, 10);
  EXPECT_GT(uneven, 10);
}

TEST_F(KernelUnits, WideBeats) {
  if (!test::haveTool("iverilog"))
    return;
  const int64_t words[] = {2, 3, 4, 5, 6, 8, 12, 16};
  for (int round = 0; round < 32; ++round) {
    FormatChoice choice = fixed(1 + int(rng() % 3), 1 + int(rng() % 16));
    options.words = words[rng() % 8];
    options.stages = size_t(std::max<int64_t>(0, round % 6 - 3));
    options.residents.clear();
    if (round % 5 == 0)
      options.residents = {rng() % 2};
    isParallel = round % 3 != 0;
    isChecked = round < 2;
    if (!isParallel)
      options.choices.clear();
    simulate(round % 4 == 3 ? randomConvolution(rng)
                            : randomKernel(rng, {2, 3, 4, 5, 6, 8}),
             choice, {32 * (2 + int64_t(rng() % 10))}, 3, round % 2 != 0);
    if (HasFailure())
      return;
  }
  EXPECT_GT(wide, 40);
  EXPECT_GT(spread, 10);
  EXPECT_GT(wide - spread, 10) << "few are in the banks of nests";
  EXPECT_GT(parts, 10);
  EXPECT_GT(padded, 10);
}

TEST_F(KernelUnits, ABeatMayHoldMoreThanATensor) {
  if (!test::haveTool("iverilog"))
    return;
  options.words = 0;
  simulate(test::helmholtz(3), fixed(8, 24), {8 * 32}, 3, /*stalls=*/true);
  EXPECT_GT(last.words, 8);
  for (bool stalls : {false, true}) {
    options.words = 64;
    simulate(test::helmholtz(3), fixed(8, 24), {8 * 32}, 3, stalls);
    EXPECT_EQ(last.readCycles, 3);
    EXPECT_EQ(last.writeCycles, 2);
  }
  // No bank is spared: beats pass a word at a time.
  options.words = 6;
  options.spare = gen::Resources();
  simulate(test::helmholtz(3), fixed(8, 24), {8 * 32}, 3, /*stalls=*/false);
  EXPECT_EQ(last.readCycles, 9 + 2 * 27);
}

/// Products of matrices one after the other.
std::string matrixChain(const std::vector<int> &sizes) {
  auto type = [](int n, int m) {
    return "tensor<" + std::to_string(n) + "x" + std::to_string(m) + "xf64>";
  };
  std::string arguments, body, last = "%a0";
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    std::string n = std::to_string(i);
    arguments += (i ? ", %a" : "%a") + n + ": " + type(sizes[i], sizes[i + 1]);
    if (i == 0)
      continue;
    std::string out = type(sizes[0], sizes[i + 1]);
    body += "%e" + n + " = tensor.empty() : " + out + "\n%i" + n +
            " = linalg.fill ins(%z : f64) outs(%e" + n + " : " + out + ") -> " +
            out + "\n%s" + n +
            " = linalg.generic {indexing_maps = [affine_map<(i,j,k) -> (i,k)>, "
            "affine_map<(i,j,k) -> (k,j)>, affine_map<(i,j,k) -> (i,j)>], "
            "iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} "
            "ins(" +
            last + ", %a" + n + " : " + type(sizes[0], sizes[i]) + ", " +
            type(sizes[i], sizes[i + 1]) + ") outs(%i" + n + " : " + out +
            ") {\n^bb0(%x: f64, %y: f64, %o: f64):\n%p = arith.mulf %x, %y : "
            "f64\n%q = arith.addf %o, %p : f64\nlinalg.yield %q : f64\n} -> " +
            out + "\n";
    last = "%s" + n;
  }
  std::string out = type(sizes[0], sizes.back());
  return "func.func @f(" + arguments + ") -> " + out +
         " {\n%z = arith.constant 0.0 : f64\n" + body + "return " + last +
         " : " + out + "\n}\n";
}

TEST_F(KernelUnits, IndependentNestsWorkAtTheSameTime) {
  if (!test::haveTool("iverilog"))
    return;
  isParallel = true;
  for (int round = 0; round < 6; ++round) {
    // Both read %a.
    simulate("func.func @f(%a: tensor<6x5xf64>, %b: tensor<5xf64>, %c: "
             "tensor<6xf64>) -> (tensor<6xf64>, tensor<5xf64>) {\n%z = "
             "arith.constant 0.0 : f64\n%e = tensor.empty() : tensor<6xf64>\n"
             "%i = linalg.fill ins(%z : f64) outs(%e : tensor<6xf64>) -> "
             "tensor<6xf64>\n%g = tensor.empty() : tensor<5xf64>\n"
             "%h = linalg.fill ins(%z : f64) outs(%g : tensor<5xf64>) -> "
             "tensor<5xf64>\n%s = linalg.generic {indexing_maps = "
             "[affine_map<(i,k) -> (i,k)>, affine_map<(i,k) -> (k)>, "
             "affine_map<(i,k) -> (i)>], iterator_types = [\"parallel\", "
             "\"reduction\"]} ins(%a, %b : tensor<6x5xf64>, tensor<5xf64>) "
             "outs(%i : tensor<6xf64>) {\n^bb0(%x: f64, %y: f64, %o: f64):\n"
             "%p = arith.mulf %x, %y : f64\n%q = arith.addf %o, %p : f64\n"
             "linalg.yield %q : f64\n} -> tensor<6xf64>\n"
             "%t = linalg.generic {indexing_maps = "
             "[affine_map<(i,k) -> (k,i)>, affine_map<(i,k) -> (k)>, "
             "affine_map<(i,k) -> (i)>], iterator_types = [\"parallel\", "
             "\"reduction\"]} ins(%a, %c : tensor<6x5xf64>, tensor<6xf64>) "
             "outs(%h : tensor<5xf64>) {\n^bb0(%x: f64, %y: f64, %o: f64):\n"
             "%p = arith.mulf %x, %y : f64\n%q = arith.addf %o, %p : f64\n"
             "linalg.yield %q : f64\n} -> tensor<5xf64>\n"
             "return %s, %t : tensor<6xf64>, tensor<5xf64>\n}\n",
             fixed(4, 12), {32 * 8}, 2, round % 2 != 0);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(overlaps, 2);
}

TEST_F(KernelUnits, SumsOfFloatsTakeTurnsInMemory) {
  if (!test::haveTool("iverilog"))
    return;
  isParallel = true;
  for (int round = 0; round < 4; ++round) {
    FormatChoice choice;
    choice.format = Format::floating(4 + int(rng() % 4), 3 + int(rng() % 9));
    simulate(round % 2 ? matrixChain({4, 6, 4, 6})
                       : randomKernel(rng, {4, 6, 8}),
             choice, {32 * (4 + int64_t(rng() % 6)), 27, 20}, 2, round % 4 < 2);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(stored, 0);
}

TEST_F(KernelUnits, AlikeNestsShareADatapath) {
  if (!test::haveTool("iverilog"))
    return;
  isParallel = isSame = true;
  for (int round = 0; round < 40 && shared < 6; ++round) {
    simulate(matrixChain({4, 6, 4, 8}), fixed(4, 12), {32 * 8}, 2,
             round % 2 != 0);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GE(shared, 6);
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
    EXPECT_TRUE(
        failed(buildKernelUnit(kernel(*module), "f", {256}, {}, {}, b)));
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

/// The memories of the tensors that are computed in a unit, but no result.
std::set<std::string> temporaries(const KernelUnit &unit) {
  std::set<std::string> names;
  for (const UnitMemory &memory : unit.memories)
    for (Value v : memory.tensors)
      if (!llvm::is_contained(unit.inputs, v) &&
          !llvm::is_contained(unit.outputs, v))
        names.insert(memory.name);
  return names;
}

TEST_F(KernelUnits, TemporariesShareMemories) {
  if (!test::haveTool("iverilog"))
    return;
  // Three memories of a cube, of which one begins with D, and S.
  simulate(test::helmholtz(4), fixed(8, 24), {8 * 32}, 3, /*stalls=*/true);
  EXPECT_EQ(last.memories.size(), 4u);
  // Alone, the six temporaries need two.
  options.lifetimes = [](std::vector<schedule::Lifetime> &lifetimes) {
    for (size_t t : {0, 1, 2, 9})
      lifetimes[t] = {lifetimes[t].words, lifetimes[t].width, 0, 100};
  };
  simulate(test::helmholtz(4), fixed(8, 24), {8 * 32}, 2, /*stalls=*/false);
  EXPECT_EQ(last.memories.size(), 6u);
  EXPECT_EQ(temporaries(last).size(), 2u);
}

TEST_F(KernelUnits, AWrongLifetimeIsSeenInSimulation) {
  if (!test::haveTool("iverilog"))
    return;
  // D, which r reads after three nests, as if the first were the last of them.
  isRight = false;
  options.lifetimes = [](std::vector<schedule::Lifetime> &lifetimes) {
    auto longest = llvm::max_element(
        llvm::drop_begin(lifetimes), [](const auto &a, const auto &b) {
          return a.last - a.first < b.last - b.first;
        });
    longest->last = longest->first;
  };
  simulate(test::helmholtz(3), fixed(8, 24), {8 * 32}, 1, /*stalls=*/false);
}

TEST_F(KernelUnits, StagesOverlap) {
  if (!test::haveTool("iverilog"))
    return;
  for (size_t stages : {1, 2, 3, 7})
    for (bool isResident : {false, true})
      for (bool stalls : {false, true}) {
        options.stages = stages;
        options.residents.clear();
        if (isResident)
          options.residents = {0};
        isChecked = stalls;
        simulate(test::helmholtz(3), fixed(8, 24), {8 * 32}, 12, stalls);
        if (HasFatalFailure())
          return;
        EXPECT_EQ(last.stages.size(), stages + 4);
        EXPECT_EQ(last.stages[0].isOnce, isResident);
      }
  // What stays is read once by a serial unit, too.
  options.stages = 0;
  options.residents = {0};
  for (bool stalls : {false, true})
    simulate(test::helmholtz(3), fixed(8, 24), {8 * 32}, 3, stalls);
}

/// A nest that doubles a part of its input.
std::string partOf(int64_t whole, int64_t part, int64_t stride) {
  return llvm::formatv(R"mlir(
#same = affine_map<(i) -> (i)>
func.func @part(%u: tensor<{0}xf64>) -> tensor<{1}xf64> {{
  %part = tensor.extract_slice %u[0] [{1}] [{2}]
    : tensor<{0}xf64> to tensor<{1}xf64>
  %init = tensor.empty() : tensor<{1}xf64>
  %w = linalg.generic {{indexing_maps = [#same, #same],
      iterator_types = ["parallel"]} ins(%part : tensor<{1}xf64>)
      outs(%init : tensor<{1}xf64>) {{
  ^bb0(%x: f64, %out: f64):
    %y = arith.addf %x, %x : f64
    linalg.yield %y : f64
  } -> tensor<{1}xf64>
  return %w : tensor<{1}xf64>
}
)mlir",
                       whole, part, stride);
}

TEST_F(KernelUnits, StagesReadPartsOfSlots) {
  if (!test::haveTool("iverilog"))
    return;
  // What is read and what is written have addresses of as many bits.
  constexpr int64_t kParts[][3] = {{4, 3, 1},  {14, 12, 1}, {16, 9, 1},
                                   {16, 7, 2}, {16, 8, 1},  {9, 6, 1}};
  for (auto [whole, part, stride] : kParts)
    for (size_t stages : {0, 1}) {
      options.stages = stages;
      simulate(partOf(whole, part, stride), fixed(20, 4), {8 * 32}, 5,
               /*stalls=*/part % 2 != 0);
    }
}

TEST_F(KernelUnits, SeveralModules) {
  if (!test::haveTool("iverilog"))
    return;
  const ModuleSizes some[] = {{0, 1}, {0, 10}, {0, 40}, {30, 25}, {0, 10000}};
  for (int round = 0; round < 15; ++round) {
    sizes = some[round % 5];
    options.stages = size_t(std::max(0, round % 4 - 1));
    options.words = round % 3 + 1;
    isChecked = round < 5;
    isParallel = round % 2 != 0;
    if (!isParallel)
      options.choices.clear();
    simulate(randomKernel(rng, {2, 3, 4}), fixed(2, 1 + int(rng() % 16)),
             {32 * (2 + int64_t(rng() % 10))}, 3, round % 2 != 0);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(modules, 100);
}

TEST_F(KernelUnits, AWordInEveryCycle) {
  if (!test::haveTool("iverilog"))
    return;
  // A column of S at a time: as many products as points on a side.
  const int64_t points = 4, cube = points * points * points;
  options.stages = 7;
  options.residents = {0};
  for (int nest = 0; nest < 7; ++nest)
    options.choices.push_back({{},
                               nest == 3
                                   ? std::vector<int64_t>{1, 1, 1}
                                   : std::vector<int64_t>{points, 1, 1, 1}});
  for (bool stalls : {false, true}) {
    simulate(test::helmholtz(int(points)), fixed(8, 24), {8 * 32}, 10, stalls);
    EXPECT_LE(last.cycles(), cube + 8);
  }
}

TEST(KernelUnitCycles, HaveThePublishedRatios) {
  // D4.2's kernel for 11 points a side: S, D and u are read, v is written.
  KernelUnit unit;
  unit.readCycles = 121 + 2 * 1331;
  unit.computeCycles = 13876;
  unit.writeCycles = 1331;
  const auto serial = double(unit.cycles());
  EXPECT_EQ(serial, 17990);
  unit.isDataflow = true;
  EXPECT_NEAR(serial / double(unit.cycles()), 1.296, 0.0005);
  // Seven stages of computing: reading is the longest.
  unit.computeCycles = 13876 / 7;
  EXPECT_NEAR(serial / double(unit.cycles()), 6.46, 0.005);
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
      RecordProperty("cycles", std::to_string(last.cycles()));
    }
}
} // namespace
