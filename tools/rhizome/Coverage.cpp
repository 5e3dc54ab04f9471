// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome coverage: what each generator can build of a model, and why not.
#include "Analyse.h"
#include "Commands.h"
#include "ModelOptions.h"
#include "Output.h"
#include "Quantisation.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::pipeline;

static int runCoverage(const ModelRequest &request, bool json) {
  CoverageResult result = coverModel(request);
  if (!result.error.empty())
    return failWith(result.error, json);
  if (!result.refused.empty())
    return failWith(result.refused, json);
  if (json) {
    llvm::json::Array nodes, host;
    for (const CoverageRow &row : result.rows) {
      llvm::json::Object generators;
      for (auto &[name, reason] : row.generators)
        generators[name] = reason.empty() ? llvm::json::Value(true)
                                          : llvm::json::Value(reason);
      nodes.push_back(
          llvm::json::Object{{"node", row.node},
                             {"op", row.op},
                             {"type", row.type},
                             {"generators", std::move(generators)}});
    }
    for (const std::string &name : result.host)
      host.push_back(name);
    llvm::json::Object object{{"ok", result.ok},
                              {"nodes", std::move(nodes)},
                              {"host", std::move(host)},
                              {"analysis", std::move(result.analysis)}};
    reportQuantisation(request, object);
    printJson(std::move(object));
    return result.ok ? 0 : 1;
  }
  printQuantisation(request);
  std::vector<std::string> head = {"node", "op", "type"};
  if (!result.rows.empty())
    for (auto &[name, reason] : result.rows[0].generators)
      head.push_back(name);
  Table table(head);
  for (const CoverageRow &row : result.rows) {
    std::vector<std::string> cells = {row.node, row.op, row.type};
    for (auto &[name, reason] : row.generators)
      cells.push_back(reason.empty() ? "yes" : "no: " + reason);
    table.add(cells);
  }
  table.print();
  for (const std::string &name : result.host)
    llvm::outs() << "on the host: " << name << "\n";
  llvm::outs() << "\n";
  printAnalysis(result.analysis);
  return result.ok ? 0 : 1;
}

void cli::addCoverage(CLI::App &app, Run &run) {
  struct Options {
    ModelRequest request;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "coverage",
      "Say for each operation which generator can build it, and why not; what "
      "it\nneeds, and the roofs of a KU060 role.");
  command->add_option("MODEL", options->request.path, "an .onnx file")
      ->required();
  addModelOptions(*command, options->request);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Example:\n  rhizome coverage net_qdq.onnx");
  command->callback([options, &run] {
    run = [options] { return runCoverage(options->request, options->json); };
  });
}
