// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The drivers on a compiled package: the conformance suite with its design, its
// simulator and the interpreter's answers, and the border's conversions against
// the functions of the host that they stand for.
#include "../Runtime/DriverSuite.h"
#include "../TestFolder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Deploy/Service.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Pipeline/Pipeline.h"
#include "rhizome/Simulate/Cluster.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Simulate/Program.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/runtime/border.h"
#include <random>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::runtime;
using namespace rhizome::test;

namespace {
const std::string kExamples = std::string(RHIZOME_SOURCE_DIR) + "/examples/";

/// A compiled package and its functions.
struct Compiled {
  /// `model` is a path below examples/, or MLIR's text.
  Compiled(const std::string &model, const std::string &goal,
           std::optional<numeric::Format> format = std::nullopt,
           bool rawIntegers = false, const std::string &cluster = "") {
    pipeline::CompileRequest request;
    request.model.path = kExamples + model;
    if (model.find('\n') != std::string::npos) {
      folder.write("model.mlir", model);
      request.model.path = folder.path("model.mlir");
    }
    request.model.numberFormat = format;
    request.model.rawIntegers = rawIntegers;
    if (cluster.empty())
      request.device = "xczu3eg";
    request.cluster = cluster;
    request.goal = goal;
    request.acceptNearest = true;
    request.output = folder.path("net.rhz");
    auto result = pipeline::compileModel(request);
    EXPECT_TRUE(bool(result)) << (result ? "" : result.failure().reason());
    auto opened = Package::open(request.output);
    if (!opened)
      throw std::runtime_error(llvm::toString(opened.takeError()));
    package = std::make_unique<Package>(std::move(*opened));
    context.loadDialect<func::FuncDialect, flow::FlowDialect, num::NumDialect,
                        osa::OsaDialect, arith::ArithDialect,
                        linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect>();
    module = parseSourceFile<ModuleOp>(package->modelPath(), &context);
  }
  func::FuncOp function(const char *name) {
    return module->lookupSymbol<func::FuncOp>(name);
  }

  TestFolder folder;
  std::unique_ptr<Package> package;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

Compiled &tiny() {
  static Compiled compiled("tiny-digits/tiny_digits_qdq_int8.onnx",
                           "throughput=1000/s");
  return compiled;
}

/// The same model on two nodes with links.
const Package &tinyCluster() {
  static Compiled compiled("tiny-digits/tiny_digits_qdq_int8.onnx",
                           "max-throughput", std::nullopt, false, "ku060x2");
  return *compiled.package;
}

/// A stream's port for frames of whole bytes.
BorderPort bytePort(BorderPort port) {
  port.dataWidth = 8;
  return port;
}

Bytes golden(size_t, const Bytes &frame) {
  static Interpreter interpreter(tiny().function("network"));
  const PlannedNode &node = tiny().package->plan().nodes[0];
  auto answer =
      interpreter.run({unpackFrame(frame.data(), bytePort(node.inputs[0]))});
  EXPECT_TRUE(succeeded(answer));
  return llvm::cantFail(packFrame((*answer)[0], bytePort(node.outputs[0])));
}

Bytes drawn(uint64_t number) {
  std::mt19937 random(unsigned(number) + 1);
  Bytes bytes(tiny().package->plan().nodes[0].inputs[0].elements());
  for (uint8_t &byte : bytes)
    byte = uint8_t(random() % 17);
  return bytes;
}
} // namespace

static bool hasVerilator() {
  auto found = findTool("verilator");
  bool good = bool(found);
  llvm::consumeError(found.takeError());
  return good;
}

const Subject &rhizome::test::subject() {
  static const Subject subject = [] {
    Subject s;
    s.design = llvm::cantFail(deploy::designOf(*tiny().package));
    s.compute = golden;
    s.frame = drawn;
    if (!hasVerilator())
      return s;
    SimulatorProgram built = llvm::cantFail(buildSimulator(*tiny().package));
    tiny().folder.write("simulator", "#!/bin/sh\n"
                                     "case $RHZ_TOY in\n"
                                     "stall) exec tail -f /dev/null;;\n"
                                     "die) kill -KILL $$;;\n"
                                     "esac\n"
                                     "exec '" +
                                         built.program + "' \"$@\"\n");
    EXPECT_EQ(tiny().folder.run("chmod +x simulator"), 0);
    s.simulator = tiny().folder.path("simulator");
    s.simulatorFolder = built.folder;
    if (auto job = rankJob(tinyCluster(), {})) {
      // Each test has a folder of its own, by which it finds its ranks.
      const std::string run = tiny().folder.path("run.json");
      EXPECT_FALSE(llvm::sys::fs::rename(job->folder + "/run.json", run));
      llvm::sys::fs::remove_directories(job->folder);
      s.ranks = {"sh", "-c", "cp \"$1\" \"$2\" && shift 2 && exec \"$@\"",
                 "sh", run,  "FOLDER"};
      for (const std::string &word : job->command)
        s.ranks.push_back(word == job->folder ? "FOLDER" : word);
    } else {
      llvm::errs() << llvm::toString(job.takeError()) << "\n";
    }
    return s;
  }();
  return subject;
}

//===----------------------------------------------------------------------===//
// The border
//===----------------------------------------------------------------------===//

namespace {
/// The plan's border as the runtime's table.
struct Table {
  explicit Table(const HostBorder &border) {
    for (const OrderDigit &digit : border.order) {
      sizes.push_back(digit.size);
      strides.push_back(digit.stride);
    }
    auto rounding = llvm::find(roundingNames(), border.rounding);
    table.port = "";
    table.elements = border.elements();
    table.width = border.element.width();
    table.is_signed = border.element.isSigned();
    table.lo = border.element.lo;
    table.hi = border.element.hi;
    table.beat_bits = 8;
    table.digits = int(sizes.size());
    table.sizes = sizes.data();
    table.strides = strides.data();
    table.rounding = rhz_rounding(rounding - roundingNames().begin());
    table.channels = border.channels;
    table.inner = border.inner;
    table.scale = border.scale.empty() ? nullptr : border.scale.data();
    table.zero_point = border.zeroPoint.data();
    table.offset = border.offset.empty() ? nullptr : border.offset.data();
  }
  std::vector<int64_t> sizes, strides;
  rhz_border table = {};
};

/// The conversions in C against the interpreter of the host's tasks, with
/// reals around every step and far outside.
void expectSame(Compiled &compiled, bool isComplete) {
  const HostSection &host = compiled.package->plan().host;
  ASSERT_EQ(host.complete, isComplete);
  ASSERT_EQ(host.toDevice.size(), 1u);
  ASSERT_EQ(host.fromDevice.size(), 1u);
  const PlannedNode &node = compiled.package->plan().nodes[0];
  std::mt19937 random(7);
  Interpreter epilogue(compiled.function("host1"));
  Table to(host.toDevice[0]), from(host.fromDevice[0]);
  for (int round = 0; isComplete && round < 20; ++round) {
    const HostTensor &tensor = host.inputs[0];
    ASSERT_TRUE(tensor.isFloat);
    const float step = host.toDevice[0].scale[0];
    const int64_t span = host.toDevice[0].element.hi + 9;
    std::vector<float> x;
    for (int64_t i = 0; i < host.toDevice[0].elements(); ++i) {
      float value = float(int64_t(random() % uint64_t(4 * span)) - span) / 2;
      x.push_back((value + (i % 3 == 0 ? 1e-3f * float(round) : 0)) * step);
    }
    Bytes frame(rhz_frame_bytes(&to.table));
    ASSERT_EQ(rhz_to_frame(&to.table, x.data(), frame.data(), nullptr), RHZ_OK);
    auto want = interpret(compiled.function("host0"),
                          {Tensor::ofFloats(tensor.shape, x)});
    ASSERT_TRUE(succeeded(want));
    EXPECT_EQ(unpackFrame(frame.data(), bytePort(node.inputs[0])).ints,
              (*want)[0].ints);
  }
  const StreamElement &element = host.fromDevice[0].element;
  for (int round = 0; round < 20; ++round) {
    std::vector<int64_t> codes;
    for (int64_t i = 0; i < host.fromDevice[0].elements(); ++i)
      codes.push_back(
          element.lo +
          int64_t(random() % uint64_t(element.hi - element.lo + 1)));
    Tensor tensor = Tensor::ofInts(node.outputs[0].shape, codes);
    Bytes frame = llvm::cantFail(packFrame(tensor, bytePort(node.outputs[0])));
    std::vector<float> y(codes.size());
    ASSERT_TRUE(host.outputs[0].isFloat);
    rhz_from_frame(&from.table, frame.data(), y.data());
    auto want = epilogue.run({tensor});
    ASSERT_TRUE(succeeded(want));
    EXPECT_EQ(y, (*want)[0].floats);
    EXPECT_EQ(host.outputs[0].shape, (*want)[0].shape);
  }
}
} // namespace

TEST(PackageBorder, ConvertsAsTheInterpreterDoes) { expectSame(tiny(), true); }

TEST(PackageBorder, HasChannelsAndOffsets) {
  Compiled compiled("digits/digits_qonnx_w4a4.onnx", "min-resources");
  EXPECT_EQ(compiled.package->plan().host.fromDevice[0].channels, 10);
  EXPECT_FALSE(compiled.package->plan().host.fromDevice[0].offset.empty());
  expectSame(compiled, true);
}

TEST(PackageBorder, SaysWhereTheHostComputes) {
  Compiled compiled("digits/digits_qdq_int8.onnx", "min-resources");
  EXPECT_FALSE(compiled.package->plan().host.inputs[0].ofModel);
  EXPECT_TRUE(compiled.package->plan().host.outputs[0].ofModel);
  expectSame(compiled, false);
}

TEST(PackageBorder, TakesCodesOfANumberFormat) {
  std::string error, note;
  auto format = model::parseNetworkFormat("fixed<1,7>", error, note);
  ASSERT_TRUE(format) << error;
  Compiled compiled("lenet5/lenet5_codes.onnx", "min-resources", format, true);
  expectSame(compiled, true);
}

/// A network of one maximum between a host's functions.
static std::string pooling(const std::string &before, const std::string &after,
                           const std::string &outputs = R"("y")") {
  return R"(module attributes {flow.tasks = [@host0, @network, @host1],
    flow.inputs = ["x"], flow.outputs = [)" +
         outputs + "]} {\n" + before + R"(
func.func @network(%x: tensor<1x4x4x3x!num.int<u8>>
        {flow.tensor = "codes of x", rhizome.name = "x"})
    -> (tensor<1x2x2x3x!num.int<u8>>
        {flow.tensor = "codes of y", rhizome.name = "y"})
    attributes {flow.place = #flow.place<fpga>} {
  %p = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x4x3x!num.int<u8>>) -> tensor<1x2x2x3x!num.int<u8>>
  return %p : tensor<1x2x2x3x!num.int<u8>>
}
)" + after +
         "}\n";
}

TEST(PackageBorder, FollowsOrdersAndChannels) {
  Compiled compiled(pooling(R"(
func.func @host0(%x: tensor<1x3x4x4xf32> {flow.tensor = "x", rhizome.name = "x"})
    -> (tensor<1x4x4x3x!num.int<u8>> {flow.tensor = "codes of x"})
    attributes {flow.place = #flow.place<host>} {
  %q = osa.quantize %x rounding(half_away) {axis = 1,
      scale = dense<[0.5, 0.25, 2.0]> : tensor<3xf32>,
      zero_point = dense<[1, 2, 3]> : tensor<3xi64>}
      : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4x!num.int<u8>>
  %t = osa.transpose %q {permutation = array<i64: 0, 2, 3, 1>}
      : (tensor<1x3x4x4x!num.int<u8>>) -> tensor<1x4x4x3x!num.int<u8>>
  return %t : tensor<1x4x4x3x!num.int<u8>>
}
)",
                            R"(
func.func @host1(%y: tensor<1x2x2x3x!num.int<u8>> {flow.tensor = "codes of y"})
    -> (tensor<1x3x4xf32> {flow.tensor = "y", rhizome.name = "y"})
    attributes {flow.place = #flow.place<host>} {
  %t = osa.transpose %y {permutation = array<i64: 0, 3, 1, 2>}
      : (tensor<1x2x2x3x!num.int<u8>>) -> tensor<1x3x2x2x!num.int<u8>>
  %d = osa.dequantize %t {axis = 1,
      scale = dense<[0.5, 0.1, 2.0]> : tensor<3xf32>,
      zero_point = dense<[1, 2, 3]> : tensor<3xi64>}
      : (tensor<1x3x2x2x!num.int<u8>>) -> tensor<1x3x2x2xf32>
  %r = osa.reshape %d : (tensor<1x3x2x2xf32>) -> tensor<1x3x4xf32>
  return %r : tensor<1x3x4xf32>
}
)"),
                    "min-resources");
  const HostSection &host = compiled.package->plan().host;
  EXPECT_EQ(host.toDevice[0].order,
            (std::vector<OrderDigit>{{16, 1}, {3, 16}}));
  EXPECT_EQ(host.toDevice[0].inner, 16);
  EXPECT_EQ(host.fromDevice[0].inner, 4);
  expectSame(compiled, true);
}

TEST(PackageBorder, TellsIntegersAndWhatPassesTheBorder) {
  Compiled compiled(pooling(R"(
func.func @host0(%x: tensor<1x4x4x3xf32> {flow.tensor = "x", rhizome.name = "x"})
    -> (tensor<1x4x4x3x!num.int<u8>> {flow.tensor = "codes of x"})
    attributes {flow.place = #flow.place<host>} {
  %t = osa.multi_threshold %x {thresholds =
      dense<[[-0.5, 0.5, 1.5]]> : tensor<1x3xf32>}
      : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3x!num.int<u8>>
  return %t : tensor<1x4x4x3x!num.int<u8>>
}
)",
                            R"(
func.func @host1(%y: tensor<1x2x2x3x!num.int<u8>> {flow.tensor = "codes of y"})
    -> (tensor<1x2x2x3x!num.int<u8>>
            {flow.tensor = "codes", rhizome.name = "codes"},
        tensor<1x2x2x3xf32> {flow.tensor = "reals", rhizome.name = "reals"})
    attributes {flow.place = #flow.place<host>} {
  %d = osa.dequantize %y {scale = dense<0.5> : tensor<1xf32>,
      zero_point = dense<0> : tensor<1xi64>}
      : (tensor<1x2x2x3x!num.int<u8>>) -> tensor<1x2x2x3xf32>
  return %y, %d : tensor<1x2x2x3x!num.int<u8>>, tensor<1x2x2x3xf32>
}
)",
                            R"("codes", "reals")"),
                    "min-resources");
  const HostSection &host = compiled.package->plan().host;
  EXPECT_FALSE(host.complete);
  ASSERT_EQ(host.inputs.size(), 1u);
  EXPECT_FALSE(host.inputs[0].isFloat || host.inputs[0].ofModel);
  ASSERT_EQ(host.outputs.size(), 1u);
  EXPECT_EQ(host.outputs[0].name, "codes");
  EXPECT_FALSE(host.outputs[0].isFloat);
  EXPECT_TRUE(host.outputs[0].ofModel);
}

//===----------------------------------------------------------------------===//
// rhizome run
//===----------------------------------------------------------------------===//

TEST(RunPackage, GivesTheInterpretersAnswersByEveryDriver) {
  deploy::RunRequest request;
  request.frames = 4;
  for (deploy::DriverKind kind :
       {deploy::DriverKind::Null, deploy::DriverKind::Cpu,
        deploy::DriverKind::Simulation, deploy::DriverKind::Uart,
        deploy::DriverKind::Mpi, deploy::DriverKind::OpenCl}) {
    if (kind == deploy::DriverKind::Simulation && !hasVerilator())
      continue;
    if (kind == deploy::DriverKind::Mpi && subject().ranks.empty())
      continue;
    if (kind == deploy::DriverKind::OpenCl &&
        !openClDevice(golden, RHIZOME_BROKEN_OPENCL)->missing.empty())
      continue;
    request.package = kind == deploy::DriverKind::Mpi ? tinyCluster().dir()
                                                      : tiny().package->dir();
    auto board = uartDevice(golden, subject().design);
    request.driver = kind;
    request.driverOptions.port = uartPort(*board);
    request.driverOptions.stallsIn = request.driverOptions.stallsOut = 40;
    auto run = deploy::runPackage(request);
    ASSERT_TRUE(bool(run)) << run.failure().reason();
    const deploy::RunResult &result = *run;
    EXPECT_EQ(result.frames, 4);
    EXPECT_EQ(result.checked, kind != deploy::DriverKind::Null);
    EXPECT_EQ(result.mismatches, 0) << result.firstMismatch;
  }
}

TEST(RunPackage, SaysOfWhatKindAFailureIs) {
  auto kindOf = [](const deploy::RunRequest &request) {
    auto run = deploy::runPackage(request);
    EXPECT_FALSE(bool(run));
    return run.failure().kind;
  };
  deploy::RunRequest request;
  request.package = tiny().package->dir();
  EXPECT_EQ(kindOf(request), Failure::Kind::Usage); // no driver
  request.driver = deploy::DriverKind::Udp;         // without links
  EXPECT_EQ(kindOf(request), Failure::Kind::Usage);
  request.driver = deploy::DriverKind::Uart; // which nobody has plugged in
  request.driverOptions.port = "/dev/no-such-line";
  EXPECT_EQ(kindOf(request), Failure::Kind::Environment);
  request.driver = deploy::DriverKind::Cpu;
  request.inputs.push_back({"no-such-file.npy"});
  EXPECT_EQ(kindOf(request), Failure::Kind::Input);
  request = {};
  request.package = "no-such-folder";
  EXPECT_EQ(kindOf(request), Failure::Kind::Input);
  deploy::ServeRequest serve;
  serve.package = tiny().package->dir();
  serve.node = "node0";
  auto served = deploy::serveNode(serve);
  ASSERT_FALSE(bool(served));
  EXPECT_EQ(served.failure().kind, Failure::Kind::Input); // it has no links
}
