// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Real networks, integerized: the CPU path equals the interpreter on random
// frames, compiles within its time, and gives the known accuracies on MNIST.
// The files are next to the checkout; if they are missing, tests are skipped.
#include "../TaskWalk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Import/OnnxImport.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Transforms/Integerize.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;

namespace {
std::string shared(const std::string &path) {
  const char *folder = std::getenv("RHIZOME_SHARED");
  return std::string(folder ? folder : RHIZOME_SHARED_DEFAULT) + "/" + path;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// A network on its three levels.
struct Model {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  func::FuncOp network;
  std::unique_ptr<CompiledFunction> compiled;
  double compileSeconds = 0;

  /// Fails the running test if the model is refused.
  /// `formats` are those of single tensors.
  void load(const std::string &path, std::optional<numeric::Format> fixed,
            bool rawIntegers,
            const std::map<std::string, numeric::Format> &formats = {}) {
    importer::ImportOptions options;
    if (rawIntegers)
      options.rawIntegerFraction = fixed->fractionBits;
    Refusals refusals;
    module = importer::importOnnx(&context, path, options, refusals);
    for (const Refusal &refusal : refusals)
      ADD_FAILURE() << refusal.node << ": " << refusal.reason;
    ASSERT_TRUE(module);
    IntegerizeOptions integers;
    integers.fixed = fixed;
    integers.tensorFormats = formats;
    IntegerizeStats stats;
    bool done = succeeded(integerize(*module, integers, refusals, stats));
    for (const Refusal &refusal : refusals)
      ADD_FAILURE() << refusal.node << ": " << refusal.reason;
    ASSERT_TRUE(done);
    network = module->lookupSymbol<func::FuncOp>("network");
    auto start = std::chrono::steady_clock::now();
    auto result = CompiledFunction::compile(network);
    ASSERT_TRUE(succeeded(result));
    compileSeconds = secondsSince(start);
    compiled = std::move(*result);
  }
};

struct Case {
  const char *file;
  std::optional<numeric::Format> fixed;
  bool rawIntegers;
};

/// The test's name for people.
void PrintTo(const Case &c, std::ostream *os) {
  *os << llvm::sys::path::filename(c.file).str();
}

class Networks : public ::testing::TestWithParam<Case> {};

TEST_P(Networks, CpuEqualsInterpreter) {
  std::string path = shared(GetParam().file);
  if (!llvm::sys::fs::exists(path))
    GTEST_SKIP() << path << " is missing";
  Model model;
  ASSERT_NO_FATAL_FAILURE(
      model.load(path, GetParam().fixed, GetParam().rawIntegers));
  Interpreter interpreter(model.network);
  constexpr int kFrames = 3;
  std::vector<std::vector<Tensor>> frames;
  for (int f = 0; f < kFrames; ++f) {
    std::vector<Tensor> frame;
    for (Type type : model.network.getArgumentTypes()) {
      num::IntType range = num::elementInt(type);
      InputSpec spec{"", cast<RankedTensorType>(type).getShape().vec(), false,
                     range.getLo(), range.getHi()};
      frame.push_back(llvm::cantFail(
          FrameSource::random(spec, frame.size(), kFrames).frame(f)));
    }
    frames.push_back(std::move(frame));
  }
  for (const auto &frame : frames) {
    auto expected = interpreter.run(frame);
    ASSERT_TRUE(succeeded(expected));
    auto got = llvm::cantFail(model.compiled->run(frame));
    ASSERT_EQ(expected->size(), got.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ((*expected)[i].ints, got[i].ints);
  }
  auto start = std::chrono::steady_clock::now();
  int runs = 0;
  for (; secondsSince(start) < 0.2; ++runs)
    llvm::cantFail(model.compiled->run(frames[runs % kFrames]));
  std::printf("  compile %.3f s, %.0f frames/s\n", model.compileSeconds,
              runs / secondsSince(start));
}

#define DOSA(name)                                                             \
  Case {                                                                       \
    "models/cloudFPGA+DOSA/examples/" name ".onnx",                            \
        numeric::Format::fixed(1, 7), true                                     \
  }
#define TFC(name)                                                              \
  Case {                                                                       \
    "models/fastmachinelearning+qonnx_model_zoo/models/MNIST/"                 \
    "Brevitas_FINN_TFC/TFC/" name ".onnx",                                     \
        std::nullopt, false                                                    \
  }
INSTANTIATE_TEST_SUITE_P(
    Shared, Networks,
    ::testing::Values(
        DOSA("CERN"), DOSA("TFC"), DOSA("MNIST_int8"), DOSA("MPCNN"),
        DOSA("PTTCNN_int8"), TFC("TFC_1W1A"), TFC("TFC_2W2A"),
        Case{"models/fastmachinelearning+hls4ml/example-models/onnx/"
             "three_layer_keras.onnx",
             numeric::Format::fixed(6, 10), false},
        Case{"models/emmtrix+emx-onnx-cgen/tests/onnx/"
             "micro_kws_m_static_qdq.onnx",
             std::nullopt, false},
        Case{"models/sonos+tract/onnx/test_cases/qrelu_1/model.onnx",
             std::nullopt, false}));

class Mnist
    : public ::testing::TestWithParam<std::tuple<Case, std::string, int>> {};

TEST_P(Mnist, TenThousandImages) {
  auto [which, normalize, correct] = GetParam();
  std::string folder = "datasets/frej-dahlin+aesia/examples/data/mnist/t10k-";
  std::string path = shared(which.file),
              images = shared(folder + "images-idx3-ubyte.gz"),
              labelFile = shared(folder + "labels-idx1-ubyte.gz");
  for (const std::string &file : {path, images, labelFile})
    if (!llvm::sys::fs::exists(file))
      GTEST_SKIP() << file << " is missing";
  Model model;
  // What leaves a network in a number format does so unrounded here.
  std::map<std::string, numeric::Format> exact;
  if (which.fixed)
    exact.emplace("12", numeric::Format::fixed(18, 14));
  ASSERT_NO_FATAL_FAILURE(
      model.load(path, which.fixed, which.rawIntegers, exact));
  InputSpec spec;
  spec.name = "image";
  spec.shape = cast<RankedTensorType>(
                   flow::tasksOf(*model.module)[0].getArgumentTypes()[0])
                   .getShape()
                   .vec();
  auto start = std::chrono::steady_clock::now();
  FrameSource source = llvm::cantFail(FrameSource::open(
      images, spec, llvm::cantFail(Normalize::parse(normalize))));
  auto labels = llvm::cantFail(readLabels(labelFile));
  ASSERT_EQ(source.size(), 10000u);
  ASSERT_EQ(labels.size(), 10000u);
  TaskWalk tasks(*model.module, [&](ArrayRef<Tensor> in) {
    return llvm::cantFail(model.compiled->run(in));
  });
  int right = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    auto out = tasks.run(llvm::cantFail(source.frame(i)));
    ASSERT_TRUE(succeeded(out));
    const Tensor &t = out->front();
    int64_t best =
        t.isFloat ? std::max_element(t.floats.begin(), t.floats.end()) -
                        t.floats.begin()
        : t.ints.size() == 1
            ? t.ints[0]
            : std::max_element(t.ints.begin(), t.ints.end()) - t.ints.begin();
    right += best == labels[i];
  }
  std::printf("  %d of 10000 right, %.2f s\n", right, secondsSince(start));
  EXPECT_NEAR(right, correct, 5);
}
INSTANTIATE_TEST_SUITE_P(
    Shared, Mnist,
    ::testing::Values(std::tuple(TFC("TFC_1W1A"), "0..1", 9296),
                      std::tuple(TFC("TFC_2W2A"), "0..1", 9660),
                      std::tuple(DOSA("MNIST_int8"), "0..1", 9368)));
} // namespace
