// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome evaluate: the accuracy of a model on labelled data.
#include "Commands.h"
#include "ModelOptions.h"
#include "Output.h"
#include "Quantisation.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::pipeline;

static int runEvaluate(EvaluateRequest request, bool json) {
  ProgressLine line(!json);
  request.progress = [&line](llvm::StringRef phase) {
    line.show(phase.str() + " …");
  };
  EvaluateResult result = evaluateModel(request);
  line.show("");
  if (!result.error.empty())
    return failWith(result.error, json);
  if (!result.refused.empty())
    return failWith(result.refused, json);
  double accuracy =
      result.frames ? double(result.correct) / double(result.frames) : 0;
  if (json) {
    llvm::json::Object object{{"frames", result.frames},
                              {"correct", result.correct},
                              {"accuracy", accuracy},
                              {"seconds", result.seconds}};
    reportQuantisation(request.model, object);
    printJson(std::move(object));
    return 0;
  }
  printQuantisation(request.model);
  llvm::outs() << grouped(result.correct) << " of " << grouped(result.frames)
               << " correct, " << decimal(accuracy * 100, 2) << " % ("
               << result.backend << ", " << decimal(result.seconds, 1)
               << " s)\n";
  return 0;
}

void cli::addEvaluate(CLI::App &app, Run &run) {
  struct Options {
    EvaluateRequest request;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  EvaluateRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "evaluate", "Measure a model's or a package's accuracy on data.");
  command->add_option("MODEL", request.model.path, "an .onnx file or a package")
      ->required();
  command
      ->add_option("--data", request.data.path,
                   "inputs: .npy .npz .pb idx(.gz) .png .jpg or a folder")
      ->required();
  command
      ->add_option("--labels", request.labels,
                   "classes: .npy, idx(.gz) or text, one a line")
      ->required();
  addNormalise(*command, request.data.normalise);
  addLevel(*command, request.level, false);
  command->add_option("-n,--frames", request.frames, "the first N frames only")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 32))
      ->option_text("N");
  command
      ->add_option("--device", request.device,
                   "for --level rtl from a model file")
      ->capture_default_str();
  addModelOptions(*command, request.model);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  rhizome evaluate net.onnx --data t10k-images.idx3-ubyte.gz \\\n"
      "      --labels t10k-labels.idx1-ubyte.gz --normalise 0..1\n"
      "  rhizome evaluate net.rhz --data x.npy --labels y.npy --level rtl -n "
      "200");
  command->callback([options, &run] {
    run = [options] { return runEvaluate(options->request, options->json); };
  });
}
