// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome report: redraws a package's page, with the measurements made since.
#include "Report.h"
#include "Commands.h"
#include "Output.h"
#include "rhizome/Report/Report.h"
#include "llvm/Support/raw_ostream.h"

using namespace rhizome;
using namespace rhizome::cli;

void cli::redrawReport(const std::string &dir) {
  llvm::Expected<Package> package = Package::open(dir, Changes::Ignore);
  if (!package)
    return llvm::consumeError(package.takeError());
  llvm::consumeError(report::write(*package));
}

static int runReport(const std::string &dir, const std::string &baseline,
                     Changes changes, bool json) {
  auto package = Package::open(dir, changes);
  if (!package)
    return failWith(llvm::toString(package.takeError()), json);
  printNotes(package->notes());
  std::string skipped;
  ProgressLine line(!json);
  if (!baseline.empty()) {
    line.show("measuring ONNX Runtime …");
    if (llvm::Error error = report::measureBaseline(*package, baseline))
      skipped = llvm::toString(std::move(error));
    line.show("");
  }
  if (llvm::Error error = report::write(*package))
    return failWith(llvm::toString(std::move(error)), json);
  std::string page = report::pageOf(*package);
  if (json) {
    llvm::json::Object object{{"ok", true},
                              {"report", llvm::json::fixUTF8(page)}};
    if (!skipped.empty())
      object["baseline_skipped"] = llvm::json::fixUTF8(skipped);
    printJson(std::move(object));
    return 0;
  }
  if (!skipped.empty())
    llvm::errs() << noteLabel() << "SKIPPED the CPU baseline: " << skipped
                 << "\n";
  llvm::outs() << page << "\n";
  return 0;
}

void cli::addReport(CLI::App &app, Run &run) {
  struct Options {
    std::string dir, baseline;
    bool acceptChanges = false, trust = false, json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "report", "Redraw a package's report.html, including measurements.");
  command->add_option("DIR", options->dir, "a package")->required();
  command
      ->add_option("--baseline", options->baseline,
                   "also measure this ONNX file with ONNX Runtime, batch 1, "
                   "with one thread and with all")
      ->option_text("MODEL");
  addPackageChecks(*command, options->acceptChanges, options->trust);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("The page contains its data and its drawing library and "
                  "needs no network. Every\n"
                  "compile writes it; simulate and synth draw it again, with "
                  "their results.\n"
                  "Examples:\n"
                  "  rhizome report net.rhz\n"
                  "  rhizome report net.rhz --baseline net.onnx");
  command->callback([options, &run] {
    run = [options] {
      return runReport(options->dir, options->baseline,
                       changesFor(options->acceptChanges, options->trust),
                       options->json);
    };
  });
}
