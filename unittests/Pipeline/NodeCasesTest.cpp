// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's own node cases in simulated hardware: every case with an operation
// that the coverage assigns to the FPGA is compiled, and its RTL must give the
// interpreter's integers and the outputs that the case expects. A float case is
// built in fixed point, where only the former can be checked. There is no list:
// the cases follow from the compiler's coverage.
#include "../Import/NodeCases.h"
#include "../TestFolder.h"
#include "rhizome/Evaluate/Evaluate.h"
#include "rhizome/Pipeline/Pipeline.h"
#include "llvm/ADT/StringExtras.h"
#include <iostream>

using namespace rhizome;
using namespace rhizome::evaluate;
using namespace rhizome::model;
using namespace rhizome::pipeline;
using namespace rhizome::test;

namespace {
struct Counts {
  int claimed = 0, equal = 0;
};

/// Compiles and simulates a case; returns the error, or "".
std::string inHardware(const TestFolder &folder, const ModelRequest &model,
                       const std::string &data, const onnx::GraphProto &graph) {
  CompileRequest compile;
  compile.model = model;
  compile.device = "xcku060-role";
  compile.goal = "min-resources";
  compile.output = folder.path("case.rhz");
  llvm::sys::fs::remove_directories(compile.output);
  rhizome::Result<CompileResult> compiled = compileModel(compile);
  if (!compiled) {
    std::string why;
    for (const Refusal &cause : compiled.failure().causes)
      why += cause.node + ": " + cause.reason;
    return "not compiled: " + why;
  }
  SimulateRequest simulate;
  simulate.package = compile.output;
  simulate.fourState = true;
  simulate.stallsIn = simulate.stallsOut = 20;
  std::set<std::string> constant;
  for (const onnx::TensorProto &tensor : graph.initializer())
    constant.insert(tensor.name());
  for (int i = 0; i < graph.input_size(); ++i)
    if (!constant.count(graph.input(i).name()))
      simulate.inputs.push_back({dataOfNodeCase(data, true, i), ""});
  if (!model.numberFormat)
    for (int i = 0; i < graph.output_size(); ++i)
      simulate.expect.push_back(dataOfNodeCase(data, false, i));
  auto simulated = simulatePackage(simulate);
  if (!simulated)
    return "not simulated: " + simulated.failure().reason();
  const SimulateResult &result = *simulated;
  if (result.mismatches)
    return "differs from the interpreter: " + result.firstMismatch;
  if (result.unexpected > 0)
    return "differs from the case: " + result.firstMismatch;
  return "";
}

/// Runs a case, with its inputs from number `firstConstant` on made constant,
/// if the coverage assigns an operation to the FPGA. Returns whether it does.
bool runCase(const TestFolder &folder, const std::string &name,
             size_t firstConstant, std::optional<numeric::Format> format,
             Counts &counts) {
  std::string data = std::string(kNodeCases) + "/" + name;
  auto model = readNodeCase(data, firstConstant);
  if (!model)
    return false;
  folder.write("case.onnx", model->SerializeAsString());
  ModelRequest request;
  request.path = folder.path("case.onnx");
  request.numberFormat = format;
  auto coverage = coverModel(request);
  if (!coverage || !coverage->isBuildable || coverage->fpga == 0)
    return false;
  ++counts.claimed;
  std::string why = inHardware(folder, request, data, model->graph());
  counts.equal += why.empty();
  EXPECT_EQ(why, "") << name << " with inputs constant from number "
                     << firstConstant;
  return true;
}

/// Calls `run` with every RHIZOME_NODE_CASE_STEP-th case's name and its number
/// of inputs, from number RHIZOME_NODE_CASE_FIRST on; without a step with those
/// whose names hold RHIZOME_NODE_CASE_FILTER, or `sample`.
void forCases(const char *sample,
              llvm::function_ref<void(const std::string &, int)> run) {
  const char *step = std::getenv("RHIZOME_NODE_CASE_STEP");
  const char *first = std::getenv("RHIZOME_NODE_CASE_FIRST");
  const char *filter = std::getenv("RHIZOME_NODE_CASE_FILTER");
  for (auto [number, name] : llvm::enumerate(nodeCaseNames())) {
    if (step ? number % std::stoul(step) != (first ? std::stoul(first) : 0)
             : name.find(filter ? filter : sample) == std::string::npos)
      continue;
    std::string folder = std::string(kNodeCases) + "/" + name;
    if (auto model = readNodeCase(folder, 1 << 20))
      run(name, model->graph().input_size());
  }
}

class NodeCases : public testing::Test {
protected:
  void SetUp() override {
    if (nodeCaseNames().empty())
      GTEST_SKIP() << "SKIPPED: " << kNodeCases
                   << " (libonnx-testdata) is missing";
    if (!haveTool("iverilog"))
      GTEST_SKIP();
  }
  TestFolder folder;
  Counts counts;
};

TEST_F(NodeCases, OfIntegersThroughRtl) {
  forCases("qlinearmatmul_2D", [&](const std::string &name, int inputs) {
    for (int k = inputs; k > 0; --k)
      runCase(folder, name, size_t(k), std::nullopt, counts);
  });
  EXPECT_GT(counts.claimed, 0);
  std::cout << counts.equal << " of " << counts.claimed
            << " claimed networks give what their cases expect\n";
}

TEST_F(NodeCases, InFixedPointThroughRtl) {
  forCases("concat_1d_axis_0", [&](const std::string &name, int inputs) {
    bool claimed = false;
    for (int k = inputs; k > 0 && !claimed; --k)
      claimed = runCase(folder, name, size_t(k), numeric::Format::fixed(4, 4),
                        counts);
  });
  EXPECT_GT(counts.claimed, 0);
  std::cout << counts.equal << " of " << counts.claimed
            << " claimed networks give what the interpreter computes\n";
}
} // namespace
