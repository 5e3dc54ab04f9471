// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome coverage: where each operation of a model runs, which generators can
// build it, and why not the others.
#include "Analyze.h"
#include "Commands.h"
#include "Kernel.h"
#include "ModelOptions.h"
#include "Output.h"
#include "Quantization.h"
#include "Tasks.h"
#include "rhizome/Pipeline/Pipeline.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::kernelcommands;
using namespace rhizome::model;
using namespace rhizome::pipeline;

static llvm::json::Object toJson(const CoverageResult &result) {
  llvm::json::Array ops;
  for (const CoverageRow &row : result.rows) {
    llvm::json::Object op{{"node", row.node},
                          {"op", row.op},
                          {"runs_on", row.onHost ? "host" : "fpga"}};
    if (row.onHost) {
      op["reason"] = row.reason;
      op["remedy"] = row.remedy;
    }
    if (!row.generators.empty()) { // those that were asked
      llvm::json::Object generators;
      for (auto &[name, reason] : row.generators)
        generators[name] = reason.empty() ? llvm::json::Value(true)
                                          : llvm::json::Value(reason);
      op["type"] = row.type;
      op["generators"] = std::move(generators);
    }
    ops.push_back(std::move(op));
  }
  return llvm::json::Object{
      {"ok", result.isBuildable},     {"ops", std::move(ops)},
      {"fpga", result.fpga},          {"host", result.host},
      {"copies_in", result.copiesIn}, {"copies_out", result.copiesOut}};
}

static void printCoverage(const ModelRequest &request,
                          const CoverageResult &result) {
  std::vector<std::string> head = {"node", "op", "type"};
  for (const CoverageRow &row : result.rows)
    if (head.size() < 3 + row.generators.size())
      for (auto &[name, reason] : row.generators)
        head.push_back(name);
  Table fpga(head), host({"node", "op", "why not on the FPGA"});
  for (const CoverageRow &row : result.rows) {
    if (row.onHost) {
      host.add({row.node, row.op, row.reason.empty() ? "-" : row.reason});
      continue;
    }
    std::vector<std::string> cells = {row.node, row.op, row.type};
    for (auto &[name, reason] : row.generators)
      cells.push_back(reason.empty() ? "yes" : "no: " + reason);
    fpga.add(cells);
  }
  if (!fpga.empty()) {
    llvm::outs() << "on the FPGA\n";
    fpga.print();
  }
  if (!host.empty()) {
    llvm::outs() << (fpga.empty() ? "" : "\n") << "on the host\n";
    host.print();
  }
  llvm::outs() << "\n"
               << counted(result.fpga, "operation") << " on the FPGA, "
               << grouped(result.host) << " on the host; "
               << counted(result.copiesIn, "tensor") << " to the FPGA, "
               << grouped(result.copiesOut) << " back\n";
  printTasks(result.tasks);
  if (result.fpga == 0)
    llvm::outs() << "\nnothing runs on the FPGA"
                 << (request.calibration || request.numberFormat
                         ? "\n"
                         : ": quantize the model, or give --calibration or "
                           "--number-format 'fixed<I,F>'\n");
}

static int runCoverage(const ModelRequest &request, bool json) {
  ProgressLine line(!json);
  line.show("coverage …");
  auto covered = coverModel(request);
  line.show("");
  if (!covered)
    return failWith(covered.failure(), json);
  CoverageResult &result = *covered;
  if (json) {
    llvm::json::Object object = toJson(result);
    object["analysis"] = std::move(result.analysis);
    object["tasks"] = toJSON(result.tasks);
    reportQuantization(request, object);
    printJson(std::move(object));
  } else {
    printQuantization(request);
    printCoverage(request, result);
    if (result.fpga) {
      llvm::outs() << "\n";
      printAnalysis(result.analysis);
    }
  }
  return result.isBuildable ? 0 : 1;
}

/// One row for each operation, one column for each generator and the CPU.
static int runKernelCoverage(const std::string &path,
                             const KernelOptions &options, bool json) {
  auto covered = coverKernel(path, options);
  if (!covered)
    return failWith(covered.failure(), json);
  const CoverageResult &result = *covered;
  if (json) {
    llvm::json::Object object = toJson(result);
    object["kernel"] = true;
    printJson(std::move(object));
    return 0;
  }
  std::vector<std::string> head = {"variable", "operation", "type"};
  if (!result.rows.empty())
    for (auto &[name, reason] : result.rows.front().generators)
      head.push_back(name);
  head.push_back("cpu");
  Table table(head);
  for (const CoverageRow &row : result.rows) {
    std::vector<std::string> cells = {row.node, row.op, row.type};
    for (auto &[name, reason] : row.generators)
      cells.push_back(reason.empty() ? "yes" : "no: " + reason);
    cells.push_back("yes");
    table.add(cells);
  }
  table.print();
  llvm::outs() << "\n"
               << counted(result.fpga + result.host, "operation")
               << " of a kernel, of which hardware is built for "
               << grouped(result.fpga) << "\n";
  return 0;
}

void cli::addCoverage(CLI::App &app, Run &run) {
  struct Options {
    ModelRequest request;
    KernelOptions kernel;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "coverage",
      "Show for each operation where it runs, which generators can build it,\n"
      "and why the others cannot; what the network needs, and the roofs of "
      "the\n"
      "default device (analyze shows others). Fails if the model is refused.");
  command
      ->add_option("MODEL", options->request.path,
                   "a network: .onnx, .mlir; or a kernel: .cfd, .mlir")
      ->required();
  addModelOptions(*command, options->request);
  addKernelOptions(*command, options->kernel);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n"
                  "  rhizome coverage net_qdq.onnx\n"
                  "  rhizome coverage torch.mlir --calibration train.npz\n"
                  "  rhizome coverage helmholtz.cfd --numbers 'fixed<8,24>'");
  command->callback([options, command, &run] {
    const bool isKernel =
        checkOptionsOf(*command, options->request.path, {"--json"});
    run = [options, isKernel] {
      if (isKernel)
        return runKernelCoverage(options->request.path, options->kernel,
                                 options->json);
      return runCoverage(options->request, options->json);
    };
  });
}
