// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line: parses, runs one command, returns its exit code.
#include "Commands.h"
#include "rhizome/Support/Version.h"

using namespace rhizome;

int main(int argc, char **argv) {
  CLI::App app("Rhizome compiles quantised neural networks into hardware that "
               "computes the same bits, and proves it by simulation.",
               "rhizome");
  app.set_version_flag("--version", rhizome::version());
  app.require_subcommand(1);
  app.footer("Examples:\n"
             "  rhizome compile model.onnx --device xc7z020 -o model.rhz\n"
             "  rhizome simulate model.rhz -n 20\n"
             "  rhizome COMMAND --help tells more.");
  cli::Run run;
  cli::addExplore(app, run);
  cli::addCompile(app, run);
  cli::addAnalyse(app, run);
  cli::addSimulate(app, run);
  cli::addRun(app, run);
  cli::addEmbed(app, run);
  cli::addEvaluate(app, run);
  cli::addCoverage(app, run);
  cli::addFormats(app, run);
  cli::addSynth(app, run);
  cli::addCharacterise(app, run);
  cli::addReport(app, run);
  cli::addTargets(app, run);
  cli::addDoctor(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return run();
}
