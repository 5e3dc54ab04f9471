// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels on the command line: compile, run, simulate and embed.
#include "Kernel.h"
#include "Commands.h"
#include "Output.h"
#include "rhizome/KernelCommands/Kernel.h"
#include "rhizome/Model/Input.h"
#include "rhizome/Support/Units.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/Support/FileSystem.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::kernelcommands;
using namespace rhizome::model;

/// The section of --help that lists the options of kernels only.
static const char *const kernelGroup = "Kernel options";

void cli::addKernelOptions(CLI::App &command, KernelOptions &options) {
  command
      .add_option("--cpu", options.cpu, "the processor, one of LLVM's names")
      ->option_text("NAME [native]");
  command.add_flag("--cfdlang-compat", options.cfdlangCompat,
                   "right-associative operators, as in the reference "
                   "implementation of CFDlang");
  command.add_flag("--keep-order", options.keepOrder,
                   "compute floating point in the order written, without "
                   "reassociation or contraction");
  command.add_flag("--gemm", options.gemm,
                   "turn contractions into matrix products");
  command
      .add_option_function<std::string>(
          "--numbers",
          [&options](const std::string &text) {
            std::string error;
            options.numbers.format = numeric::Format::parse(text, error);
            if (!options.numbers.format)
              throw CLI::ValidationError("--numbers", error);
          },
          "the number format of values without an annotation, e.g. "
          "'fixed<8,24>', half, 'float<6,9>'")
      ->option_text("FORMAT");
  command
      .add_option_function<std::string>(
          "--rounding",
          [&options](const std::string &text) {
            auto rounding = numeric::parseRounding(text);
            if (!rounding)
              throw CLI::ValidationError(
                  "--rounding", "'" + text +
                                    "' is not nearest_even, nearest_away, "
                                    "toward_zero, up or down");
            options.numbers.rounding = *rounding;
          },
          "rounding in number formats: nearest_even, nearest_away, "
          "toward_zero, up or down")
      ->option_text("DIRECTION [nearest_even]");
  command.add_flag("--saturate", options.numbers.saturate,
                   "in number formats: saturate results that are too large");
  command.add_flag("--fused", options.numbers.fused,
                   "in number formats: round products together with the sums "
                   "they are added to");
  ofKernels(command, {"--cpu", "--cfdlang-compat", "--keep-order", "--gemm",
                      "--numbers", "--rounding", "--saturate", "--fused"});
}

void cli::addUnitOptions(CLI::App &command, UnitChoice &unit) {
  command
      .add_option("--stages", unit.stages,
                  "with a device: the number of pipeline stages into which the "
                  "loop nests are divided; 0: one element at a time")
      ->check(CLI::Range(int64_t(0), kMostStages))
      ->option_text("N [0]");
  command
      .add_option("--resident", unit.residents,
                  "with a device: an input that has one value for all "
                  "elements, read once and kept; may be repeated")
      ->option_text("NAME");
  command
      .add_option("--lanes", unit.lanes,
                  "with a device: elements side by side, whose words share the "
                  "streams' beats")
      ->check(CLI::Range(int64_t(1), kMostLanes))
      ->option_text("N [1]");
  command
      .add_option("--words", unit.words,
                  "with a device: words of a tensor in a beat of a stream; "
                  "without it one, or what serves --goal max-throughput or "
                  "min-latency")
      ->check(CLI::Range(int64_t(1), kMostBeatWords))
      ->option_text("N");
  command.add_flag("--system", unit.isSystem,
                   "with a device: build what is around the unit, too: an AXI4 "
                   "master for each stream, which moves it from or to a buffer "
                   "in off-chip memory, and AXI4-Lite registers for a host");
  command
      .add_option("--units", unit.units,
                  "with --system: as many of them, each with elements of its "
                  "own and with banks of the memory")
      ->check(CLI::Range(int64_t(1), kMostUnits))
      ->option_text("N [1]");
  ofKernels(command, {"--stages", "--resident", "--lanes", "--words",
                      "--system", "--units"});
}

void cli::ofKernels(CLI::App &command, const std::vector<std::string> &names) {
  for (const std::string &name : names)
    command.get_option(name)->group(kernelGroup);
}

bool cli::checkOptionsOf(const CLI::App &command, const std::string &path,
                         const std::vector<std::string> &common) {
  const model::InputKind kind = model::inputKind(path);
  const bool isKernel = model::isKernel(kind);
  if (kind != model::InputKind::BrokenMlir && llvm::sys::fs::exists(path))
    checkOptions(command, isKernel, common);
  return isKernel;
}

void cli::checkOptions(const CLI::App &command, bool isKernel,
                       const std::vector<std::string> &common) {
  for (const CLI::Option *option : command.get_options()) {
    if (option->count() == 0 || option->get_positional() ||
        llvm::is_contained(common, option->get_name()) ||
        (option->get_group() == kernelGroup) == isKernel)
      continue;
    throw CLI::ValidationError(option->get_name(),
                               isKernel ? "a kernel does not take it, only a "
                                          "network"
                                        : "a network does not take it, only a "
                                          "kernel");
  }
}

void cli::refuseKernelOptions(const CLI::App &command,
                              const std::vector<std::string> &except) {
  for (const CLI::Option *option : command.get_options())
    if (option->count() && option->get_group() == kernelGroup &&
        !llvm::is_contained(except, option->get_name()))
      throw CLI::ValidationError(option->get_name(),
                                 "the package's kernel is compiled with its "
                                 "own: leave it out");
}

int cli::failWithPlaces(const Failure &failure, bool json) {
  const std::string &error = failure.reason();
  if (json || llvm::StringRef(error).count('\n') < 2)
    failWith(error, json);
  else
    llvm::errs() << withoutControls(error);
  return failure.exitCode();
}

static llvm::json::Object workJson(const KernelWork &work) {
  return llvm::json::Object{{"macs", work.macs},
                            {"operations", work.operations}};
}

static llvm::json::Array textsJson(const std::vector<std::string> &texts) {
  llvm::json::Array out;
  for (const std::string &text : texts)
    out.push_back(llvm::json::fixUTF8(text));
  return out;
}

int cli::runKernelCompile(const KernelRequest &request, bool json) {
  if (request.options.exploreFormats)
    return runExploreFormats(request, json);
  ProgressLine line(!json);
  line.show("compiling the kernel …");
  rhizome::Result<KernelResult> compiled = compileKernel(request);
  line.show("");
  if (!compiled)
    return failWithPlaces(compiled.failure(), json);
  const KernelResult &result = *compiled;
  if (json) {
    llvm::json::Object object{
        {"ok", true},
        {"package", llvm::json::fixUTF8(result.package)},
        {"seconds", result.seconds},
        {"work", result.isCounted ? llvm::json::Value(llvm::json::Object{
                                        {"direct", workJson(result.direct)},
                                        {"chosen", workJson(result.chosen)}})
                                  : llvm::json::Value(nullptr)},
        {"inputs", textsJson(result.inputs)},
        {"outputs", textsJson(result.outputs)},
        {"statements", textsJson(result.statements)},
        {"files", textsJson(result.files)}};
    if (request.options.gemm)
      object["matmuls"] = result.matmuls;
    if (!result.notes.empty())
      object["notes"] = textsJson(result.notes);
    printJson(std::move(object));
    return 0;
  }
  for (const std::string &note : result.notes)
    llvm::errs() << noteLabel() << withoutControls(note) << "\n";
  if (!result.package.empty())
    llvm::outs() << result.package << "  (" << decimal(result.seconds, 2)
                 << " s)\n";
  if (result.isCounted) {
    Table table({"one application", "as written", "chosen"});
    table.add({"multiply-accumulates", grouped(result.direct.macs),
               grouped(result.chosen.macs)});
    table.add({"operations", grouped(result.direct.operations),
               grouped(result.chosen.operations)});
    table.print();
  } else {
    llvm::outs() << "its arithmetic is not counted: the trips of its loops are "
                    "not constant\n";
  }
  for (const std::string &statement : result.statements)
    llvm::outs() << "  " << statement << "\n";
  if (request.options.gemm)
    llvm::outs() << result.matmuls << " matrix products\n";
  return 0;
}

/// Prints what a run on this CPU gave, or why it failed.
static int show(const rhizome::Result<KernelRunResult> &done, bool isChecked,
                bool json) {
  if (!done)
    return failWithPlaces(done.failure(), json);
  const KernelRunResult &result = *done;
  bool good = result.mismatches == 0;
  if (json) {
    llvm::json::Object object{
        {"ok", true},
        {"frames", result.frames},
        {"mismatches", result.mismatches},
        {"measured",
         llvm::json::Object{{"throughput_per_s", result.throughputPerS}}},
        {"seconds", result.seconds},
        {"outputs", textsJson(result.outputs)},
        {"single", result.isSingle}};
    if (!result.notes.empty())
      object["notes"] = textsJson(result.notes);
    if (isChecked)
      object["largest_error"] = result.largestError;
    if (!result.firstMismatch.empty())
      object["first_mismatch"] = result.firstMismatch;
    printJson(std::move(object));
    return good ? 0 : 1;
  }
  printNotes(result.notes);
  llvm::outs() << grouped(result.frames)
               << (result.frames == 1 ? " frame" : " frames");
  if (isChecked)
    llvm::outs() << ", "
                 << verdict(result.mismatches,
                            grouped(result.mismatches) +
                                " mismatches with the formula")
                 << ", largest relative error "
                 << llvm::formatv("{0:e2}", result.largestError);
  llvm::outs() << "\n";
  if (!result.firstMismatch.empty())
    llvm::outs() << "first: " << result.firstMismatch << "\n";
  llvm::outs() << rateText(result.throughputPerS)
               << " applications per second\n";
  return good ? 0 : 1;
}

int cli::runKernelShown(const KernelRunRequest &request, bool json) {
  ProgressLine line(!json);
  if (request.check)
    line.announce("computing, and comparing with the interpreter, which takes "
                  "many times as long …");
  else
    line.show("computing …");
  rhizome::Result<KernelRunResult> done = runKernel(request);
  line.show("");
  return show(done, request.check, json);
}

int cli::runKernelPackage(const HardwareRunRequest &request, bool json) {
  ProgressLine line(!json);
  if (request.check)
    line.announce("computing, and comparing with the interpreter, which takes "
                  "many times as long …");
  else
    line.show("computing …");
  rhizome::Result<KernelRunResult> done = runPackageOnCpu(request);
  line.show("");
  return show(done, request.check, json);
}

void cli::addEmbed(CLI::App &app, Run &run) {
  struct Options {
    EmbedRequest request;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  EmbedRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "embed", "Compile the kernels inside a Fortran or C++ file.");
  command
      ->add_option("FILE", request.path,
                   "a .f90, .c or .cpp file with kernels between markers")
      ->required();
  command
      ->add_option("-o,--output", request.output,
                   "the folder for the objects and the rewritten file")
      ->required();
  addKernelOptions(*command, request.options);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Markers are '!$rhizome kernel NAME' and '!$rhizome end' in Fortran,\n"
      "'#pragma rhizome kernel NAME' and '#pragma rhizome end' in C and C++.\n"
      "Examples:\n"
      "  rhizome embed solver.f90 -o build/kernels\n"
      "  rhizome embed solver.cpp -o build/kernels --json");
  command->callback([options, &run] {
    run = [options] {
      rhizome::Result<EmbedResult> embedded = embedKernels(options->request);
      if (!embedded)
        return failWithPlaces(embedded.failure(), options->json);
      const EmbedResult &result = *embedded;
      if (options->json) {
        printJson(llvm::json::Object{{"ok", true},
                                     {"kernels", textsJson(result.kernels)},
                                     {"files", textsJson(result.files)}});
        return 0;
      }
      for (const std::string &file : result.files)
        llvm::outs() << options->request.output << "/" << file << "\n";
      return 0;
    };
  });
}
