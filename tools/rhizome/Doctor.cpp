// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome doctor: which tools of others are here, and what each enables.
#include "Commands.h"
#include "Output.h"
#include "rhizome/Support/Resources.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

using namespace rhizome;
using namespace rhizome::cli;

namespace {
struct Tool {
  const char *program, *versionOption, *enables;
  bool required;
};

constexpr Tool kTools[] = {
    {"verilator", "--version", "simulate --level rtl", true},
    {"g++", "--version", "simulate --level rtl (builds the simulator)", true},
    {"make", "--version", "simulate --level rtl (builds the simulator)", true},
    {"ccache", "--version", "faster builds of simulators", false},
    {"iverilog", "-V", "simulate --four-state", false},
    {"vvp", "-V", "simulate --four-state", false},
    {"yosys", "-V", "synthesis estimates with free tools", false},
    {"nextpnr-ecp5", "--version", "place and route for ECP5", false},
    {"nextpnr-ice40", "--version", "place and route for iCE40", false},
    {"icebox_vlog", "-h", "simulate --level bitstream", false},
    {"vivado", "-version", "AMD synthesis and bitstreams", false},
    {"vitis_hls", "-version", "AMD high-level synthesis", false},
    {"quartus_sh", "--version", "Intel synthesis and bitstreams", false},
    {"mpirun", "--version", "simulation of clusters", false},
};

/// The first line that a tool prints about its version, "" if it fails.
std::string versionOf(const std::string &path, const char *option) {
  llvm::SmallString<128> file;
  if (llvm::sys::fs::createTemporaryFile("rhizome-doctor", "txt", file))
    return "";
  llvm::sys::ExecuteAndWait(
      path, {path, option}, std::nullopt,
      {llvm::StringRef(""), llvm::StringRef(file), llvm::StringRef("")},
      /*SecondsToWait=*/20);
  auto text = readFile(file);
  llvm::sys::fs::remove(file);
  if (!text) {
    llvm::consumeError(text.takeError());
    return "";
  }
  return llvm::StringRef(*text).ltrim().split('\n').first.rtrim().str();
}
} // namespace

static int runDoctor(bool json) {
  bool good = true;
  llvm::json::Array list;
  Table table({"tool", "state", "enables", "version"});
  for (const Tool &tool : kTools) {
    auto path = llvm::sys::findProgramByName(tool.program);
    std::string version = path ? versionOf(*path, tool.versionOption) : "";
    good &= path || !tool.required;
    list.push_back(llvm::json::Object{{"name", tool.program},
                                      {"found", bool(path)},
                                      {"required", tool.required},
                                      {"version", version},
                                      {"enables", tool.enables}});
    table.add({tool.program,
               path            ? "found"
               : tool.required ? "MISSING"
                               : "not installed",
               tool.enables, version});
  }
  std::string problems;
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
  if (json) {
    printJson(llvm::json::Object{{"ok", good},
                                 {"tools", std::move(list)},
                                 {"folders", std::move(folders)}});
    return good ? 0 : 1;
  }
  table.print();
  llvm::errs() << problems;
  if (good)
    llvm::outs() << "\nEverything that compile and simulate need is here.\n";
  else
    llvm::outs() << "\nSomething that simulate needs is missing; on Debian: "
                    "apt-get install verilator g++ make\n";
  return good ? 0 : 1;
}

void cli::addDoctor(CLI::App &app, Run &run) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand(
      "doctor", "Say which outside tools are installed and what they enable.");
  command->add_flag("--json", *json, "one JSON object on stdout");
  command->footer("Example:\n  rhizome doctor");
  command->callback(
      [json, &run] { run = [json] { return runDoctor(*json); }; });
}
