// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome __complete WORD...: completions of the last word, one per line, for
// the completion scripts of bash, zsh and fish. If it prints none, the shell
// completes file names.
#include "Commands.h"
#include "rhizome/Pipeline/Phases.h"
#include "rhizome/Target/Target.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace rhizome;
using llvm::StringRef;

template <typename T>
static std::vector<std::string>
namesOf(llvm::Expected<std::vector<T>> described) {
  std::vector<std::string> names;
  if (!described) {
    llvm::consumeError(described.takeError());
    return names;
  }
  for (const T &each : *described)
    names.push_back(each.name);
  return names;
}

/// The values that `option` takes, if they can be listed.
static std::vector<std::string> valuesOf(const CLI::Option &option) {
  StringRef name = option.get_lnames().empty()
                       ? StringRef()
                       : StringRef(option.get_lnames().front());
  if (name == "device")
    return namesOf(listDevices());
  if (name == "board")
    return namesOf(listBoards());
  if (name == "cluster")
    return namesOf(listClusters());
  std::vector<std::string> values;
  if (name == "compile-to" || name == "compile-from") {
    for (const pipeline::PhaseInfo &phase : pipeline::phases())
      values.push_back(phase.name);
    return values;
  }
  // A set of values is described as TEXT:{rtl,cluster}.
  std::string type = option.get_type_name();
  auto [before, set] = StringRef(type).split('{');
  llvm::SmallVector<StringRef> members;
  set.split('}').first.split(members, ',', -1, /*KeepEmpty=*/false);
  for (StringRef member : members)
    values.push_back(member.str());
  return values;
}

static const CLI::Option *findOption(const CLI::App &command, StringRef word) {
  if (!word.consume_front("--"))
    return nullptr;
  for (const CLI::Option *option : command.get_options())
    if (option->check_lname(word.str()))
      return option;
  return nullptr;
}

static int complete(const CLI::App &app, std::vector<std::string> words) {
  if (words.empty())
    words.emplace_back();
  StringRef last = words.back();
  std::vector<std::string> candidates;
  const CLI::App *command = nullptr;
  for (const CLI::App *each : app.get_subcommands({}))
    if (!each->get_group().empty()) {
      if (words.size() == 1)
        candidates.push_back(each->get_name());
      else if (each->get_name() == words.front())
        command = each;
    }
  if (command) {
    auto [name, value] = last.split('=');
    if (last.contains('=')) {
      if (const CLI::Option *option = findOption(*command, name))
        for (const std::string &each : valuesOf(*option))
          candidates.push_back((name + "=" + each).str());
    } else if (last.starts_with("-")) {
      for (const CLI::Option *option : command->get_options())
        for (const std::string &each : option->get_lnames())
          candidates.push_back("--" + each);
    } else if (const CLI::Option *option =
                   findOption(*command, words[words.size() - 2])) {
      candidates = valuesOf(*option);
    }
  }
  for (const std::string &each : candidates)
    if (StringRef(each).starts_with(last))
      llvm::outs() << each << "\n";
  return 0;
}

void cli::addCompletion(CLI::App &app, Run &run) {
  // The words may look like options; keep them as they are.
  CLI::App *command = app.add_subcommand("__complete")->group("");
  command->prefix_command();
  command->callback([&app, &run, command] {
    run = [&app, command] { return complete(app, command->remaining()); };
  });
}
