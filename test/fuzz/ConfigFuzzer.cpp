// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome.yaml: its options become words of a command line, which is parsed, or
// it is refused.
#include "../../tools/rhizome/Config.h"
#include "Scratch.h"

using namespace rhizome;

namespace {
struct Values {
  std::string model, text;
  std::vector<std::string> list;
  double number = 0;
  bool flag = false, dump = false;
};

/// Options of each kind that compile has.
void addOptions(CLI::App &app, const char *name, Values &values) {
  CLI::App *command = app.add_subcommand(name);
  command->add_option("MODEL", values.model)->required();
  command->add_option("--device", values.text);
  command->add_option("--goal", values.text);
  command->add_option("--bits", values.list)->take_all();
  command->add_option("--weights", values.list)->take_all();
  command->add_option("--shape", values.list)->take_all();
  command->add_option("--clock-mhz", values.number)
      ->check(CLI::Range(0.001, 10000.0));
  command->add_flag("--accept-nearest", values.flag);
  command->add_option("-o,--output", values.text);
  cli::addConfig(*command, values.dump);
}
} // namespace

RHIZOME_FUZZ_TARGET(config, bytes) {
  fuzz::Scratch scratch(bytes);
  std::string path = scratch.path();
  for (const char *name : {"compile", "explore"}) {
    Values values;
    CLI::App app;
    addOptions(app, "compile", values);
    addOptions(app, "explore", values);
    std::string program = "rhizome", command = name, option = "--config";
    char *given[] = {program.data(), command.data(), option.data(), path.data(),
                     nullptr};
    int argc = 4;
    char **argv = given;
    cli::ConfigFile config;
    if (std::string problem; !config.enter(app, argc, argv, problem)) {
      fuzz::require(!problem.empty());
      continue;
    }
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
      fuzz::require(error.what()[0] != 0);
    }
  }
}
