// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line: parses, runs one command, returns its exit code.
#include "Commands.h"
#include "Config.h"
#include "Help.h"
#include "Output.h"
#include "Spellings.h"
#include "rhizome/Support/Program.h"
#include "rhizome/Support/Spelling.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Support/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace rhizome;

/// The error for a command or option that does not exist; "" if all exist.
static std::string unknownWord(const CLI::App &app, int argc, char **argv) {
  llvm::StringRef first = argc > 1 ? argv[1] : "-";
  const CLI::App *command = nullptr;
  std::vector<std::string> known;
  if (first.starts_with("-")) {
    for (const CLI::Option *option : app.get_options())
      for (const std::string &name : option->get_lnames())
        known.push_back("--" + name);
    if (const std::string other = cli::otherWord(first); !other.empty())
      return "unknown option '" + first.str() + "'" + other;
    return first.starts_with("--") && !llvm::is_contained(known, first)
               ? "unknown option '" + first.str() + "'" + meant(first, known)
               : "";
  }
  for (const CLI::App *each : app.get_subcommands({})) {
    if (each->get_group().empty())
      continue;
    known.push_back(each->get_name());
    if (first == known.back())
      command = each;
  }
  if (!command) {
    if (const std::string option = "--" + first.str();
        app.get_option_no_throw(option))
      return "unknown command '" + first.str() + "'; did you mean '" + option +
             "'?";
    const std::string other = cli::otherWord(first);
    return "unknown command '" + first.str() + "'" +
           (other.empty() ? meant(first, known) : other);
  }
  known.clear();
  for (const CLI::Option *option : command->get_options())
    for (const std::string &name : option->get_lnames())
      known.push_back("--" + name);
  for (llvm::StringRef word : llvm::ArrayRef(argv, argc).drop_front(2)) {
    word = word.split('=').first;
    if (word == "--")
      break;
    if (word.starts_with("--") && !llvm::is_contained(known, word))
      return "'" + command->get_name() + "' has no option '" + word.str() +
             "'" + meant(word, known);
  }
  return "";
}

/// `help` and `help COMMAND` as `--help` and `COMMAND --help`; false if there
/// is no such command.
static bool readHelp(const CLI::App &app, int &argc, char **argv) {
  static char help[] = "--help";
  if (argc < 2 || argv[1] != llvm::StringRef("help"))
    return true;
  if (argc > 2 && argv[2] != llvm::StringRef("help")) {
    argv[1] = argv[2];
    argc = 3;
  }
  argc = std::min(argc, argv[1] == llvm::StringRef("help") ? 2 : 3);
  argv[argc - 1] = help;
  return argc == 2 || unknownWord(app, 2, argv).empty();
}

/// What a command returned, or 1 if its output could not be written.
static int finished(int status) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (!out.has_error())
    return status;
  const std::error_code error = out.error();
  out.clear_error(); // or the destructor aborts
  if (error != std::errc::broken_pipe)
    llvm::errs() << cli::errorLabel()
                 << "the output cannot be written: " << error.message() << "\n";
  return status ? status : 1;
}

static int runCommand(int argc, char **argv) {
  CLI::App app("Rhizome compiles quantized neural networks into hardware that "
               "computes the same bits, and proves it by simulation.",
               "rhizome");
  app.set_version_flag("--version", rhizome::version());
  app.require_subcommand(1);
  app.footer("Examples:\n"
             "  rhizome compile model.onnx --device xc7z020 -o model.rhz\n"
             "  rhizome simulate model.rhz -n 20\n"
             "  rhizome help COMMAND tells more.");
  cli::Run run;
  cli::addExplore(app, run);
  cli::addCompile(app, run);
  cli::addAnalyze(app, run);
  cli::addSimulate(app, run);
  cli::addRun(app, run);
  cli::addEmbed(app, run);
  cli::addEvaluate(app, run);
  cli::addTrace(app, run);
  cli::addPrecision(app, run);
  cli::addCoverage(app, run);
  cli::addFormats(app, run);
  cli::addSynth(app, run);
  cli::addCharacterize(app, run);
  cli::addReport(app, run);
  cli::addTargets(app, run);
  cli::addDoctor(app, run);
  cli::addCompletion(app, run);
  cli::arrangeHelp(app);
  if (argc == 1) {
    llvm::errs() << app.help();
    return 2;
  }
  cli::respell(argc, argv);
  const bool hasCommand = readHelp(app, argc, argv);
  cli::ConfigFile config;
  if (std::string problem; !config.enter(app, argc, argv, problem)) {
    llvm::errs() << cli::errorLabel() << withoutControls(problem) << "\n";
    return 2;
  }
  try {
    if (!hasCommand)
      throw CLI::ExtrasError({argv[1]});
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    cli::printHelp(app);
    return finished(0);
  } catch (const CLI::ParseError &error) {
    std::string what = unknownWord(app, argc, argv);
    if (error.get_exit_code() != 0 && !what.empty()) {
      llvm::errs() << cli::errorLabel() << what
                   << "\nRun with --help for more information.\n";
      return 2;
    }
    if (error.get_exit_code() == 0)
      return app.exit(error);
    llvm::errs() << cli::errorLabel()
                 << withoutControls(config.placeOf(error.what()) +
                                    cli::parseMessage(error))
                 << "\nRun with --help for more information.\n";
    return 2;
  }
  return finished(run());
}

int main(int argc, char **argv) {
  const bool json =
      llvm::is_contained(llvm::ArrayRef(argv, argc), llvm::StringRef("--json"));
  return runProgram([&] { return runCommand(argc, argv); },
                    [&](llvm::StringRef reason) {
                      finished(cli::failWith(reason.str(), json));
                    });
}
