// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs in random formats: the interpreter and compiled code give the
// same bits. RHIZOME_NUM_PROGRAMS programs.
#include "../HelmholtzKernel.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/Numeric/Runtime.h"
#include "rhizome/Transforms/ApplyFormats.h"
#include "llvm/Support/TargetSelect.h"
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace rhizome;
using numeric::Bits;
using numeric::Format;

namespace {
class NumToArith : public ::testing::Test {
protected:
  MLIRContext context;

  NumToArith() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    DialectRegistry registry;
    registry
        .insert<bufferization::BufferizationDialect, cf::ControlFlowDialect,
                LLVM::LLVMDialect, memref::MemRefDialect, scf::SCFDialect>();
    arith::registerBufferizableOpInterfaceExternalModels(registry);
    linalg::registerBufferizableOpInterfaceExternalModels(registry);
    tensor::registerBufferizableOpInterfaceExternalModels(registry);
    bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
        registry);
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    test::loadKernelDialects(context);
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return module;
  }
  static func::FuncOp kernel(ModuleOp module) {
    for (auto func : module.getOps<func::FuncOp>())
      if (!func.isExternal())
        return func;
    return {};
  }

  /// Results become arguments that are written.
  static void useArguments(func::FuncOp func) {
    OpBuilder b(func.getContext());
    Block &body = func.getBody().front();
    auto memrefOf = [](Type type) {
      auto tensor = cast<RankedTensorType>(type);
      return MemRefType::get(tensor.getShape(), tensor.getElementType());
    };
    b.setInsertionPointToStart(&body);
    for (BlockArgument arg : body.getArguments()) {
      Type type = arg.getType();
      arg.setType(memrefOf(type));
      auto read =
          bufferization::ToTensorOp::create(b, func.getLoc(), type, arg);
      read.setRestrict(true);
      arg.replaceAllUsesExcept(read, read);
    }
    Operation *ret = body.getTerminator();
    b.setInsertionPoint(ret);
    for (Value v : ret->getOperands()) {
      Value arg = body.addArgument(memrefOf(v.getType()), ret->getLoc());
      auto write = bufferization::MaterializeInDestinationOp::create(
          b, ret->getLoc(), Type(), v, arg);
      write.setRestrict(true);
      write.setWritable(true);
    }
    ret->setOperands({});
    func.setType(b.getFunctionType(body.getArgumentTypes(), {}));
  }

  /// Compiles and runs a kernel on patterns.
  std::vector<std::vector<Bits>> run(ModuleOp module,
                                     const std::vector<Tensor> &inputs) {
    std::vector<std::pair<size_t, Format>> outputs;
    for (Type type : kernel(module).getResultTypes())
      outputs.push_back({size_t(cast<ShapedType>(type).getNumElements()),
                         *num::formatOf(type)});
    PassManager first(&context);
    first.addPass(createConvertNumToArith());
    EXPECT_TRUE(succeeded(first.run(module)));
    func::FuncOp func = kernel(module);
    useArguments(func);
    bufferization::OneShotBufferizationOptions options;
    bufferization::BufferizationState state;
    EXPECT_TRUE(
        succeeded(bufferization::runOneShotBufferize(module, options, state)));
    PassManager pm(&context);
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
    pm.addPass(memref::createExpandStridedMetadataPass());
    pm.addPass(createLowerAffinePass());
    pm.addPass(createSCFToControlFlowPass());
    pm.addPass(createArithToLLVMConversionPass());
    pm.addPass(createConvertControlFlowToLLVMPass());
    pm.addPass(createFinalizeMemRefToLLVMConversionPass());
    ConvertFuncToLLVMPassOptions bare;
    bare.useBarePtrCallConv = true;
    pm.addPass(createConvertFuncToLLVMPass(bare));
    pm.addPass(createConvertIndexToLLVMPass());
    pm.addPass(createReconcileUnrealizedCastsPass());
    EXPECT_TRUE(succeeded(pm.run(module)));
    ExecutionEngineOptions engineOptions;
    const auto optimize = makeOptimizingTransformer(1, 0, nullptr);
    engineOptions.transformer = optimize;
    auto engine = ExecutionEngine::create(module, engineOptions);
    if (!engine) {
      ADD_FAILURE() << llvm::toString(engine.takeError());
      return {};
    }
    (*engine)->registerSymbols([](llvm::orc::MangleAndInterner name) {
      llvm::orc::SymbolMap map;
      auto add = [&](StringRef symbol, auto *function) {
        map[name(symbol)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                             llvm::JITSymbolFlags::Exported};
      };
      add("rhizome_num_float", &rhizome_num_float);
      add("rhizome_num_fixed", &rhizome_num_fixed);
      add("rhizome_num_convert", &rhizome_num_convert);
      return map;
    });
    // Buffers of storage, aligned for i128.
    std::vector<std::vector<Bits>> buffers;
    std::vector<void *> pointers, packed;
    auto bytes = [](const Format &f) {
      size_t n = 1;
      while (8 * n < size_t(f.width()))
        n *= 2;
      return n;
    };
    for (const Tensor &t : inputs) {
      const Format format = rhizome::formatOf(t);
      std::vector<Bits> buffer = patternsOf(t), values = buffer;
      for (size_t i = 0; i < values.size(); ++i) {
        Bits v = values[i];
        if (format.isFixed() && format.isSigned)
          v = Bits(__int128(v << (128 - format.width())) >>
                   (128 - format.width()));
        std::memcpy(reinterpret_cast<char *>(buffer.data()) + i * bytes(format),
                    &v, bytes(format));
      }
      buffers.push_back(buffer);
    }
    for (auto &[size, format] : outputs)
      buffers.emplace_back(size);
    for (auto &buffer : buffers)
      pointers.push_back(buffer.data());
    for (void *&pointer : pointers)
      packed.push_back(&pointer);
    auto entry = (*engine)->lookupPacked("k");
    if (!entry) {
      ADD_FAILURE() << llvm::toString(entry.takeError());
      return {};
    }
    (*entry)(packed.data());
    std::vector<std::vector<Bits>> results;
    for (auto [i, output] : llvm::enumerate(outputs)) {
      auto &[size, format] = output;
      std::vector<Bits> values(size);
      const char *from =
          reinterpret_cast<const char *>(buffers[inputs.size() + i].data());
      for (size_t k = 0; k < size; ++k) {
        std::memcpy(&values[k], from + k * bytes(format), bytes(format));
        values[k] &= format.mask();
      }
      results.push_back(values);
    }
    return results;
  }

  void expectSame(const std::string &text, std::mt19937_64 &random) {
    auto module = parse(text);
    ASSERT_TRUE(module);
    std::vector<Tensor> inputs;
    for (Type type : kernel(*module).getArgumentTypes()) {
      Format f = *num::formatOf(type);
      std::vector<Bits> values;
      for (int64_t i = 0; i < cast<ShapedType>(type).getNumElements(); ++i) {
        Bits v = (Bits(random()) << 64 | random()) & f.mask();
        if (f.isFixed() && random() % 2) // smaller magnitudes
          v >>= random() % f.width();
        values.push_back(v);
      }
      inputs.push_back(
          ofPatterns(cast<ShapedType>(type).getShape().vec(), values, f));
    }
    expectSame(text, inputs);
  }

  void expectSame(const std::string &text, const std::vector<Tensor> &inputs) {
    auto interpreted = parse(text), compiled = parse(text);
    ASSERT_TRUE(interpreted && compiled);
    auto want = interpret(kernel(*interpreted), inputs);
    ASSERT_TRUE(succeeded(want));
    auto got = run(*compiled, inputs);
    ASSERT_EQ(got.size(), want->size());
    for (size_t k = 0; k < got.size(); ++k) {
      const std::vector<Bits> patterns = patternsOf((*want)[k]);
      for (size_t i = 0; i < got[k].size(); ++i)
        ASSERT_TRUE(got[k][i] == patterns[i])
            << "element " << i << " of\n"
            << text << "\nis " << uint64_t(patterns[i]) << " interpreted, "
            << uint64_t(got[k][i]) << " compiled";
    }
  }
};

/// A random elementwise program over random formats.
class Writer {
public:
  explicit Writer(std::mt19937_64 &random) : random(random) {}

  std::string program() {
    std::string arguments, ins, types, block, body;
    for (int i = 0; i < 3; ++i) {
      Format f = format();
      std::string tensor = "tensor<32x" + typeOf(f) + ">";
      std::string n = std::to_string(i);
      arguments += (i ? ", %a" : "%a") + n + ": " + tensor;
      ins += (i ? ", %a" : "%a") + n;
      types += (i ? ", " : "") + tensor;
      block += (i ? ", %x" : "%x") + n + ": " + typeOf(f);
      values.push_back({"%x" + n, f});
    }
    for (int i = 0; i < 6; ++i)
      body += operation("%v" + std::to_string(i));
    auto [last, f] = values.back();
    std::string out = "tensor<32x" + typeOf(f) + ">";
    return "func.func @k(" + arguments + ") -> " + out +
           " {\n  %e = tensor.empty() : " + out +
           "\n  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
           "affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> "
           "(i)>], iterator_types = [\"parallel\"]} ins(" +
           ins + " : " + types + ") outs(%e : " + out + ") {\n  ^bb0(" + block +
           ", %old: " + typeOf(f) + "):\n" + body + "    linalg.yield " + last +
           " : " + typeOf(f) + "\n  } -> " + out + "\n  return %r : " + out +
           "\n}\n";
  }

private:
  std::mt19937_64 &random;
  std::vector<std::pair<std::string, Format>> values;

  static std::string typeOf(const Format &f) {
    if (f == Format::binary64())
      return "f64";
    if (f == Format::binary32())
      return "f32";
    if (f.isFixed())
      return "!num.fixed<" + std::to_string(f.integerBits) + ", " +
             std::to_string(f.fractionBits) +
             (f.isSigned ? ">" : ", unsigned>");
    return "!num.float<" + std::to_string(f.exponentBits) + ", " +
           std::to_string(f.mantissaBits) +
           ", bias = " + std::to_string(f.bias) +
           (f.subnormals ? "" : ", flush") + (f.finite ? ", finite>" : ">");
  }
  Format format() {
    if (random() % 8 == 0)
      return random() % 2 ? Format::binary64() : Format::binary32();
    if (random() % 4 == 0)
      return Format::floating(3 + int(random() % 8), 1 + int(random() % 30), {},
                              random() % 2, random() % 2);
    int width = 1 + int(random() % (random() % 3 ? 64 : 128));
    int fraction = int(random() % unsigned(width + 8)) - 4;
    return Format::fixed(width - fraction, fraction, random() % 4 != 0);
  }
  std::string how(const Format &f) {
    bool native = f == Format::binary64() || f == Format::binary32();
    auto overflow = numeric::defaultOverflow(f);
    if (!native && random() % 2)
      overflow = numeric::Overflow::Saturate;
    return std::string(" rounding(") +
           numeric::name(numeric::Rounding(native ? 0 : random() % 5)) +
           ") overflow(" + numeric::name(overflow) + ")";
  }
  std::string cast(const std::string &from, const Format &a,
                   const std::string &to, const Format &b) {
    return "    " + to + " = num.cast " + from + how(b) + " : " + typeOf(a) +
           " to " + typeOf(b) + "\n";
  }
  std::string operation(const std::string &name) {
    Format f = format();
    while (f == Format::binary64() || f == Format::binary32())
      f = format();
    // Operands are arbitrary earlier values in the operation's format.
    std::string text, operands[3];
    for (int i = 0; i < 3; ++i) {
      auto [value, from] = values[random() % values.size()];
      operands[i] = name + "c" + std::to_string(i);
      text += cast(value, from, operands[i], f);
    }
    static const char *const ops[] = {"add", "sub", "mul", "div",
                                      "min", "max", "fma", "neg",
                                      "abs", "mul", "fma", "sqrt"};
    if (random() % 6 == 0) { // a selection
      static const char *const predicates[] = {
          "olt", "oeq", "ole", "ogt", "one", "oge", "ord",
          "uno", "ult", "ueq", "ule", "ugt", "une", "uge"};
      text += "    " + name + "b = num.compare " + predicates[random() % 14] +
              ", " + operands[0] + ", " + operands[1] + " : " + typeOf(f) +
              "\n    " + name + " = arith.select " + name + "b, " +
              operands[random() % 3] + ", " + operands[2] + " : " + typeOf(f) +
              "\n";
      values.push_back({name, f});
      return text;
    }
    std::string op = ops[random() % 12];
    text += "    " + name + " = num." + op + " " + operands[0];
    bool unary = op == "neg" || op == "abs" || op == "sqrt";
    if (!unary)
      text += ", " + operands[1];
    if (op == "fma")
      text += ", " + operands[2];
    values.push_back({name, f});
    return text + how(f) + " : " + typeOf(f) + "\n";
  }
};
} // namespace

TEST_F(NumToArith, RandomProgramsGiveTheInterpretersBits) {
  const char *text = std::getenv("RHIZOME_NUM_PROGRAMS");
  const int programs = text ? std::atoi(text) : 12;
  for (int seed = 0; seed < programs; ++seed) {
    std::mt19937_64 random(seed);
    expectSame(Writer(random).program(), random);
    if (HasFatalFailure())
      return;
  }
}

/// Native floats around every border of a fixed-point format.
static std::vector<Bits> aroundBorders(const Format &from, const Format &to,
                                       size_t count, std::mt19937_64 &random) {
  const int mantissa = from.mantissaBits, top = (1 << from.exponentBits) - 1;
  const Bits one = Bits(1), ones = (one << mantissa) - 1;
  std::vector<Bits> values;
  while (values.size() < count) {
    // Half a quantum to twice the range; now and then a field at random, zeros
    // and subnormals, infinities and NaNs.
    int field = from.bias - to.fractionBits - 3 +
                int(random() % unsigned(to.width() + mantissa + 6));
    if (random() % 8 == 0)
      field = random() % 4 ? (random() % 2 ? 0 : top) : int(random());
    field = std::clamp(field, 0, top);
    Bits digits = random() & ones;
    switch (random() % 4) {
    case 0: // a power of two, sometimes more or less
      digits = random() % 2 ? 0 : ones;
      break;
    case 1: // ties
      digits &= ones << random() % unsigned(mantissa + 1) & ones;
      break;
    case 2: // one bit below a tie, or a short one
      digits >>= random() % unsigned(mantissa + 1);
      break;
    }
    values.push_back(Bits(random() % 2) << (from.width() - 1) |
                     Bits(unsigned(field)) << mantissa | digits);
  }
  return values;
}

TEST_F(NumToArith, NativeFloatsToFixedPointGiveTheInterpretersBits) {
  std::mt19937_64 random(1);
  struct {
    int width, fraction;
  } formats[] = {{1, 0},   {3, 1},   {8, -3},  {16, 10},  {31, 24},
                 {32, 8},  {33, 12}, {62, 40}, {63, 0},   {64, 40},
                 {64, -9}, {65, 64}, {127, 3}, {128, 64}, {40, 250}};
  for (auto [name, from] : {std::pair("f64", Format::binary64()),
                            std::pair("f32", Format::binary32())})
    for (auto [width, fraction] : formats)
      for (bool isSigned : {true, false}) {
        Format f = Format::fixed(width - fraction, fraction, isSigned);
        const std::string type =
            "!num.fixed<" + std::to_string(width - fraction) + ", " +
            std::to_string(fraction) + (isSigned ? ">" : ", unsigned>");
        // All roundings and overflows in one loop.
        std::string maps = "affine_map<(i) -> (i)>", outs, types, block, body,
                    yielded, yields, results;
        for (int k = 0; k < 10; ++k) {
          const std::string comma = k ? ", " : "", n = std::to_string(k);
          maps += ", affine_map<(i) -> (i)>";
          outs += comma + "%e";
          types += comma + "tensor<192x" + type + ">";
          block += ", %o" + n + ": " + type;
          body += "    %v" + n + " = num.cast %x rounding(" +
                  numeric::name(numeric::Rounding(k % 5)) + ") overflow(" +
                  numeric::name(numeric::Overflow(k / 5)) + ") : " + name +
                  " to " + type + "\n";
          yielded += comma + "%v" + n;
          yields += comma + type;
          results += comma + "%r#" + n;
        }
        const std::string in = std::string("tensor<192x") + name + ">";
        expectSame(
            "func.func @k(%a: " + in + ") -> (" + types +
                ") {\n  %e = tensor.empty() : tensor<192x" + type +
                ">\n  %r:10 = linalg.generic {indexing_maps = [" + maps +
                "], iterator_types = [\"parallel\"]} ins(%a : " + in +
                ") outs(" + outs + " : " + types + ") {\n  ^bb0(%x: " + name +
                block + "):\n" + body + "    linalg.yield " + yielded + " : " +
                yields + "\n  } -> (" + types + ")\n  return " + results +
                " : " + types + "\n}\n",
            {ofPatterns({192}, aroundBorders(from, f, 192, random), from)});
        if (HasFatalFailure())
          return;
      }
}

/// All pairs of patterns and predicates; the evaluator as C++ compares doubles.
TEST_F(NumToArith, ComparisonsOfAllPairs) {
  const std::pair<const char *, std::function<bool(double, double)>>
      predicates[] = {
          {"olt", [](double x, double y) { return x < y; }},
          {"oeq", [](double x, double y) { return x == y; }},
          {"ole", [](double x, double y) { return x <= y; }},
          {"ogt", [](double x, double y) { return x > y; }},
          {"one", [](double x, double y) { return x < y || x > y; }},
          {"oge", [](double x, double y) { return x >= y; }},
          {"ord", [](double x, double y) { return x == x && y == y; }},
          {"uno", [](double x, double y) { return x != x || y != y; }},
          {"ult", [](double x, double y) { return !(x >= y); }},
          {"ueq", [](double x, double y) { return !(x < y || x > y); }},
          {"ule", [](double x, double y) { return !(x > y); }},
          {"ugt", [](double x, double y) { return !(x <= y); }},
          {"une", [](double x, double y) { return x != y; }},
          {"uge", [](double x, double y) { return !(x < y); }}};
  for (auto [type, text] :
       {std::pair("!num.float<3, 2>", "float<3,2>"),
        std::pair("!num.float<2, 3, flush>", "float<2,3,flush>"),
        std::pair("!num.float<3, 1, finite>", "float<3,1,finite>"),
        std::pair("!num.fixed<2, 3>", "fixed<2,3>"),
        std::pair("!num.fixed<3, 1, unsigned>", "fixed<3,1,unsigned>")}) {
    std::string error;
    const Format f = *Format::parse(text, error);
    const numeric::Arithmetic n(f, numeric::Rounding::NearestEven,
                                numeric::defaultOverflow(f));
    std::vector<Bits> x, y;
    for (Bits a = 0; a <= f.mask(); ++a)
      for (Bits b = 0; b <= f.mask(); ++b) {
        x.push_back(a);
        y.push_back(b);
      }
    const std::string t =
        "tensor<" + std::to_string(x.size()) + "x" + type + ">";
    const std::string how = std::string(" rounding(up) overflow(saturate) ") +
                            ": f64 to " + type + "\n";
    std::string maps = "affine_map<(i) -> (i)>, affine_map<(i) -> (i)>", outs,
                types, block, body, yielded, yields, results;
    for (auto [k, predicate] : llvm::enumerate(predicates)) {
      const std::string comma = k ? ", " : "", number = std::to_string(k);
      maps += ", affine_map<(i) -> (i)>";
      outs += comma + "%e";
      types += comma + t;
      block += ", %o" + number + ": " + type;
      body += "%c" + number + " = num.compare " + predicate.first +
              ", %x, %y : " + type + "\n%v" + number + " = arith.select %c" +
              number + ", %one, %zero : " + type + "\n";
      yielded += comma + "%v" + number;
      yields += comma + type;
      results += comma + "%r#" + number;
    }
    const std::string program =
        "func.func @k(%a: " + t + ", %b: " + t + ") -> (" + types +
        ") {\n%e = tensor.empty() : " + t +
        "\n%f1 = arith.constant 1.0 : f64\n%f0 = arith.constant 0.0 : f64\n"
        "%r:14 = linalg.generic {indexing_maps = [" +
        maps + "], iterator_types = [\"parallel\"]} ins(%a, %b : " + t + ", " +
        t + ") outs(" + outs + " : " + types + ") {\n^bb0(%x: " + type +
        ", %y: " + type + block + "):\n%one = num.cast %f1" + how +
        "%zero = num.cast %f0" + how + body + "linalg.yield " + yielded +
        " : " + yields + "\n} -> (" + types + ")\nreturn " + results + " : " +
        types + "\n}\n";
    const std::vector<Tensor> inputs = {ofPatterns({int64_t(x.size())}, x, f),
                                        ofPatterns({int64_t(y.size())}, y, f)};
    expectSame(program, inputs);
    auto module = parse(program);
    ASSERT_TRUE(module);
    auto evaluated = interpret(kernel(*module), inputs);
    ASSERT_TRUE(succeeded(evaluated));
    for (auto [k, predicate] : llvm::enumerate(predicates)) {
      const std::vector<Bits> got = patternsOf((*evaluated)[k]);
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(n.toDouble(got[i]) == 1,
                  predicate.second(n.toDouble(x[i]), n.toDouble(y[i])))
            << text << " " << predicate.first << " " << uint64_t(x[i]) << " "
            << uint64_t(y[i]);
    }
  }
}

TEST_F(NumToArith, HelmholtzGivesTheInterpretersBits) {
  for (const char *text :
       {"fixed<24,40>", "fixed<8,24>", "half", "float<6,9,flush,finite>"}) {
    FormatChoice choice;
    std::string error;
    choice.format = Format::parse(text, error);
    auto interpreted = parse(test::helmholtz(4));
    kernel(*interpreted).setSymName("k");
    ASSERT_TRUE(succeeded(applyFormats(kernel(*interpreted), choice)));
    OwningOpRef<ModuleOp> compiled = interpreted->clone();
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Tensor> inputs;
    for (Type type : kernel(*interpreted).getArgumentTypes()) {
      std::vector<double> values(cast<ShapedType>(type).getNumElements());
      for (double &v : values)
        v = uniform(random);
      inputs.push_back(numbersOf(cast<ShapedType>(type).getShape().vec(),
                                 values, Format::binary64()));
    }
    auto want = interpret(kernel(*interpreted), inputs);
    ASSERT_TRUE(succeeded(want));
    auto got = run(*compiled, inputs);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(got[0] == patternsOf((*want)[0])) << text;
  }
}
