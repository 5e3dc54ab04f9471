// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies a node's build files aside, runs the flow's command there, and reads
// figures from its reports by the flow's patterns.
#include "rhizome/Vendor/Run.h"
#include "rhizome/Package/NodeChannels.h"
#include "rhizome/Support/Quoting.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Target/Board.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::vendor;

std::optional<double> RunNode::fmaxMhz() const {
  if (!slackNs)
    return std::nullopt;
  return 1000 / (1000 / clockMhz - *slackNs);
}

bool RunNode::meetsClock() const {
  return slackNs.value_or(0) >= 0 && platformSlackNs.value_or(0) >= 0;
}

bool RunResult::meetsClock() const {
  return all_of(nodes, [](const RunNode &node) { return node.meetsClock(); });
}

/// The flow that a tool's name or path is of, null if there is none.
static const Flow *flowOf(const std::vector<Flow> &flows, StringRef tool) {
  const StringRef name = sys::path::filename(tool);
  for (const Flow &flow : flows)
    if (flow.run &&
        (flow.name == tool || (name != tool && !flow.run->command.empty() &&
                               name == flow.run->command.front())))
      return &flow;
  return nullptr;
}

Expected<bool> vendor::isRunnable(StringRef tool) {
  Expected<std::vector<Flow>> flows = listFlows();
  if (!flows)
    return flows.takeError();
  return flowOf(*flows, tool) != nullptr;
}

Expected<std::string> vendor::findProgram(const Flow &flow, StringRef program,
                                          StringRef folder) {
  std::string looked;
  auto in = [&](const std::string &where) -> std::string {
    looked += (looked.empty() ? "" : ", ") + where;
    ErrorOr<std::string> found = sys::findProgramByName(program, {where});
    return found ? *found : "";
  };
  if (!folder.empty()) {
    if (std::string found = in(folder.str()); !found.empty())
      return found;
    return createStringError("there is no program '%s' in %s",
                             program.str().c_str(), looked.c_str());
  }
  if (ErrorOr<std::string> found = sys::findProgramByName(program))
    return *found;
  std::string unset;
  for (const std::string &name :
       flow.run ? flow.run->roots : std::vector<std::string>()) {
    const char *root = std::getenv(name.c_str());
    if (!root || !*root) {
      unset += (unset.empty() ? "" : " and ") + name;
      continue;
    }
    if (std::string found = in(std::string(root) + "/bin"); !found.empty())
      return found;
  }
  return createStringError(
      "%s is not installed: the program '%s' is not in PATH%s%s%s%s; "
      "--tool-path FOLDER says where it is",
      flow.tool.c_str(), program.str().c_str(),
      looked.empty() ? "" : ", nor in ", looked.c_str(),
      unset.empty() ? "" : ", and not set: ", unset.c_str());
}

namespace {
/// The files of `folder` that a path with '*' in it names, sorted.
std::vector<std::string> filesLike(const std::string &folder,
                                   StringRef pattern) {
  std::string path = folder + "/" + pattern.str();
  if (!pattern.contains('*'))
    return sys::fs::exists(path) ? std::vector<std::string>{path}
                                 : std::vector<std::string>();
  std::vector<std::string> files;
  Expected<GlobPattern> glob = GlobPattern::create(sys::path::filename(path));
  if (!glob) {
    consumeError(glob.takeError());
    return files;
  }
  std::error_code error;
  for (sys::fs::directory_iterator it(sys::path::parent_path(path), error), end;
       it != end && !error; it.increment(error))
    if (glob->match(sys::path::filename(it->path())))
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}

/// Copies a folder's files, and follows no links.
Error copyTree(const std::string &from, const std::string &to) {
  if (Error error = makeNewFolder(to))
    return error;
  for (const std::string &name : namesIn(from)) {
    const std::string source = from + "/" + name, target = to + "/" + name;
    if (!isLink(source) && sys::fs::is_directory(source)) {
      if (name == "out") // of a run by hand, whose reports are not ours
        continue;
      if (Error inner = copyTree(source, target))
        return inner;
      continue;
    }
    if (Error error = copyFile(source, target))
      return error;
  }
  return Error::success();
}

/// The last line with anything in it.
std::string lastLine(const std::string &path) {
  constexpr std::streamoff kMost = 4096;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0)
    return "";
  file.seekg(std::max<std::streamoff>(0, size - kMost));
  std::string end{std::istreambuf_iterator<char>(file), {}};
  StringRef rest = StringRef(end).rtrim();
  return printable(rest.substr(rest.find_last_of('\n') + 1));
}

class Runs {
public:
  Runs(const Package &package, const RunOptions &options, const Flow &flow)
      : package(package), options(options), flow(flow) {}
  Expected<RunResult> run();

private:
  Error choose();
  Error build(const PlannedNode &node);
  Error place(const PlannedNode &node, const std::string &to);
  Error execute(const PlannedNode &node, const std::string &folder,
                RunNode &result);
  Error readReports(const std::string &folder, RunNode &result);
  Error readReport(const FlowReport &report, const std::string &folder,
                   RunNode &result);
  void take(const std::string &name, StringRef text, double scale,
            RunNode &result);

  const Package &package;
  const RunOptions &options;
  const Flow &flow;
  std::optional<Board> board;
  std::string use = "alone"; ///< of the flow's scripts
  std::string root;          ///< results/<flow>, absolute
  std::string program, path; ///< the command's, and PATH for its children
  RunResult result;
};

/// The board, the programs and the folder.
Error Runs::choose() {
  if (!package.plan().board.empty()) {
    Expected<Board> loaded = loadBoard(package.plan().board);
    if (!loaded)
      return loaded.takeError();
    if (std::string kind = nameOf(loaded->host()).str();
        flow.run->scripts.count(kind)) {
      board = std::move(*loaded);
      use = kind;
    }
  }
  std::string folder = options.folder;
  if (folder.empty() && options.tool != flow.name)
    folder = sys::path::parent_path(options.tool).str();
  std::vector<std::string> folders;
  for (const std::string &name : flow.programs) {
    Expected<std::string> found = findProgram(flow, name, folder);
    if (!found)
      return found.takeError();
    SmallString<256> absolute(*found);
    if (std::error_code error = sys::fs::make_absolute(absolute))
      return errorCodeToError(error);
    folders.push_back(sys::path::parent_path(absolute).str());
    if (name == flow.run->command.front())
      program = absolute.str().str();
  }
  if (program.empty()) { // such as make
    Expected<std::string> found = findTool(flow.run->command.front());
    if (!found)
      return found.takeError();
    program = *found;
  }
  const char *ours = std::getenv("PATH");
  path = "PATH=" + join(folders, ":") + ":" + (ours ? ours : "");

  SmallString<256> place(package.results(flow.name));
  if (std::error_code error = sys::fs::make_absolute(place))
    return errorCodeToError(error);
  // What an earlier run has left would look like a result of this one.
  if (Error error = package.removeResult(flow.name + ".json"))
    return error;
  if (Error error = package.emptyResults(flow.name))
    return error;
  root = place.str().str();
  return Error::success();
}

/// Runs the command until it ends, is too slow, or the user interrupts it.
Error Runs::execute(const PlannedNode &node, const std::string &folder,
                    RunNode &one) {
  Process process;
  process.program = program;
  process.arguments.assign(flow.run->command.begin() + 1,
                           flow.run->command.end());
  if (auto script = flow.run->scripts.find(use);
      script != flow.run->scripts.end())
    process.arguments.push_back(script->second);
  process.folder = folder;
  process.log = one.log;
  process.environment = {path};
  Confinement wanted;
  wanted.writable = {root};
  wanted.programs = Confinement::Programs::Any;
  wanted.isLarge = true;
  if (Error error =
          package.confinement(std::move(wanted)).moveInto(process.confinement))
    return error;
  using namespace std::chrono;
  const auto begin = steady_clock::now();
  auto seconds = [&] {
    return duration<double>(steady_clock::now() - begin).count();
  };
  const std::string name = sys::path::filename(flow.run->command.front()).str();
  ProcessRunner runner(1);
  if (Error error = runner.start(process))
    return error;
  while (!runner.wait(milliseconds(250))) {
    if (options.progress)
      options.progress({node.name, lastLine(one.log), seconds()});
    if (options.timeoutS > 0 && seconds() > options.timeoutS)
      return createStringError(
          "%s has not ended after %.0f s and was stopped; its log is '%s', "
          "which ends with: %s",
          name.c_str(), options.timeoutS, one.log.c_str(),
          lastLine(one.log).c_str());
  }
  one.seconds = seconds();
  if (process.status)
    return toolError(name, process.status, one.log);
  return Error::success();
}

/// A figure of a report by its name there.
void Runs::take(const std::string &name, StringRef text, double scale,
                RunNode &one) {
  if (name == "version") {
    result.version = printable(text.trim());
    return;
  }
  std::string digits = text.str();
  llvm::erase(digits, ',');
  double value = 0;
  if (StringRef(digits).getAsDouble(value))
    return;
  value *= scale;
  if (name == "slack_ns")
    one.slackNs = std::min(one.slackNs.value_or(value), value);
  else if (name == "platform_slack_ns")
    one.platformSlackNs = std::min(one.platformSlackNs.value_or(value), value);
  else if (name == "power_w")
    one.powerW = value;
  else
    one.measured[name] = value;
}

Error Runs::readReport(const FlowReport &report, const std::string &folder,
                       RunNode &one) {
  std::set<std::string> found;
  std::vector<std::string> files = filesLike(folder, report.file);
  for (const std::string &file : files) {
    Expected<std::string> text = readFile(file);
    if (!text)
      return text.takeError();
    for (const auto &[name, pattern] : report.values) {
      Regex regex(pattern, Regex::Newline);
      SmallVector<StringRef> groups;
      auto scale = report.scale.find(name);
      // A slack is given for several clocks or corners: the worst one counts.
      for (StringRef rest = *text; regex.match(rest, &groups);
           rest = rest.substr(size_t(groups[0].end() - rest.data()))) {
        take(name, groups.back(),
             scale == report.scale.end() ? 1 : scale->second, one);
        found.insert(name);
        if (!StringRef(name).ends_with("slack_ns") || groups[0].empty())
          break;
      }
    }
  }
  for (const std::string &name : report.required) {
    if (files.empty())
      return createStringError(
          "%s has ended, but without its report '%s/%s'; its log is '%s'",
          flow.tool.c_str(), folder.c_str(), report.file.c_str(),
          one.log.c_str());
    if (!found.count(name))
      return createStringError("the report '%s' of %s does not say '%s'; the "
                               "log is '%s'",
                               files.front().c_str(), flow.tool.c_str(),
                               name.c_str(), one.log.c_str());
  }
  return Error::success();
}

/// A node's RTL and its build files for the flow. The latter are programs, so
/// they are made as a compile makes them, whatever the package holds.
Error Runs::place(const PlannedNode &node, const std::string &to) {
  const Plan &plan = package.plan();
  auto refuse = [&](Error why) {
    return createStringError(
        "the build files for %s cannot be made again (%s), and those in the "
        "package are programs; if you trust it, say --trust",
        flow.tool.c_str(), toString(std::move(why)).c_str());
  };
  Expected<Device> device = loadDevice(node.device);
  if (!device)
    return refuse(device.takeError());
  std::vector<std::string> ignored;
  std::optional<BoardProject> project;
  std::optional<Board> around;
  if (!plan.board.empty())
    if (Error error = loadBoard(plan.board).moveInto(around))
      return refuse(std::move(error));
  if (options.boardProject)
    if (Error error = options
                          .boardProject(plan, node, *device,
                                        around ? &*around : nullptr, ignored)
                          .moveInto(project))
      return refuse(std::move(error));
  const bool isKernels = plan.kernel && plan.kernel->system;
  auto files =
      filesOf(node, *device, node.clockMhz, ignored,
              nodeConfiguration(plan, node), project ? &*project : nullptr,
              isKernels ? &*plan.kernel->system : nullptr);
  if (!files)
    return refuse(files.takeError());
  // What an earlier node's tools have left in the way is not followed.
  if (Error error = makeFolders(root, node.name + "/rtl"))
    return error;
  for (const auto *list : {&node.rtl, &node.simulationModels})
    for (const std::string &name : *list) {
      if (Error error = makeFolders(to + "/rtl", sys::path::parent_path(name)))
        return error;
      if (Error error =
              copyFile(package.rtlPath(node) + "/" + name, to + "/rtl/" + name))
        return error;
    }
  if (Error error = package.copyImages(node, to + "/rtl"))
    return error;
  if (Error error =
          writeBytes(to + "/rtl/files.f", join(node.rtl, "\n") + "\n"))
    return error;
  for (const FlowFile &file : *files) {
    if (Error error = makeFolders(to, sys::path::parent_path(file.path)))
      return error;
    if (Error error = writeBytes(to + "/" + file.path, file.text))
      return error;
  }
  return Error::success();
}

Error Runs::build(const PlannedNode &node) {
  RunNode one;
  one.name = node.name;
  one.device = node.device;
  one.clockMhz = node.clockMhz;
  one.budget = node.budget;
  const Prediction &p = package.plan().nodes.size() == 1
                            ? package.plan().predicted
                            : node.predicted;
  one.predicted = {{"lut", double(p.lut)},
                   {"ff", double(p.ff)},
                   {"dsp", double(p.dsp)},
                   {"bram", p.bram},
                   {"uram", double(p.uram)}};
  const std::string from = package.path("nodes/" + node.name),
                    to = root + "/" + node.name;
  if (!sys::fs::is_directory(from + "/" + flow.name))
    return createStringError(
        "the package has no build files for %s in '%s/%s': it does not support "
        "the device '%s', or the network (as 'rhizome compile' said)",
        flow.tool.c_str(), from.c_str(), flow.name.c_str(),
        node.device.c_str());
  one.log = root + "/" + node.name + ".log";
  if (Error error = package.isTrusted() ? copyTree(from, to) : place(node, to))
    return error;
  const std::string folder = to + "/" + flow.name;
  if (Error error = execute(node, folder, one))
    return error;
  for (const FlowReport &report : flow.run->reports)
    if (Error error = readReport(report, folder, one))
      return error;
  if (auto file = flow.run->results.find(use);
      file != flow.run->results.end()) {
    std::vector<std::string> files = filesLike(folder, file->second);
    if (files.empty())
      return createStringError(
          "%s has ended, but without '%s/%s'; its log is '%s'",
          flow.tool.c_str(), folder.c_str(), file->second.c_str(),
          one.log.c_str());
    one.result = files.front();
  }
  if (board && !board->flash.empty() && one.meetsClock())
    result.flash = board->flash + " " + shellWord(one.result);
  result.nodes.push_back(std::move(one));
  return Error::success();
}

Expected<RunResult> Runs::run() {
  result.flow = flow.name;
  result.tool = flow.tool;
  if (Error error = choose())
    return std::move(error);
  for (const PlannedNode &node : package.plan().nodes) {
    if (!node.rtlOf.empty())
      continue;
    if (flow.run->needsPlatform) {
      Expected<Device> device = loadDevice(node.device);
      if (!device)
        return device.takeError();
      if (device->platform.empty())
        return createStringError(
            "%s builds for a platform, and the file of the device '%s' names "
            "none ('platform'); 'make PLATFORM=NAME' in '%s/%s' takes one",
            flow.tool.c_str(), node.device.c_str(),
            package.path("nodes/" + node.name).c_str(), flow.name.c_str());
    }
    if (Error error = build(node))
      return std::move(error);
  }
  std::string text = formatv("{0:2}\n", json::Value(toJson(result))).str();
  if (Error error = package.writeResult(flow.name + ".json", text))
    return std::move(error);
  return std::move(result);
}

json::Object objectOf(const std::map<std::string, double> &counts) {
  json::Object object;
  for (const auto &[name, count] : counts)
    object[name] = count;
  return object;
}
} // namespace

json::Object vendor::toJson(const RunResult &result) {
  json::Array nodes;
  std::map<std::string, double> predicted, measured;
  for (const RunNode &node : result.nodes) {
    json::Object budget;
    for (const auto &[name, count] : node.budget)
      budget[name] = count;
    json::Object one{{"name", node.name},
                     {"device", node.device},
                     {"clock_mhz", node.clockMhz},
                     {"meets_clock", node.meetsClock()},
                     {"budget", std::move(budget)},
                     {"predicted", objectOf(node.predicted)},
                     {"measured", objectOf(node.measured)},
                     {"result", json::fixUTF8(node.result)},
                     {"log", json::fixUTF8(node.log)},
                     {"seconds", node.seconds}};
    if (node.slackNs) {
      one["slack_ns"] = *node.slackNs;
      one["fmax_mhz"] = *node.fmaxMhz();
    }
    if (node.platformSlackNs)
      one["platform_slack_ns"] = *node.platformSlackNs;
    if (node.powerW)
      one["power_w"] = *node.powerW;
    nodes.push_back(std::move(one));
    for (const auto &[name, count] : node.predicted)
      predicted[name] += count;
    for (const auto &[name, count] : node.measured)
      measured[name] += count;
  }
  // The least clock of all nodes, beside what was planned.
  for (const RunNode &node : result.nodes)
    if (std::optional<double> fmax = node.fmaxMhz();
        fmax &&
        (!measured.count("clock_mhz") || *fmax < measured["clock_mhz"])) {
      measured["clock_mhz"] = *fmax;
      predicted["clock_mhz"] = node.clockMhz;
    }
  return json::Object{{"ok", result.meetsClock()},
                      {"flow", result.flow},
                      {"tool", result.tool},
                      {"version", result.version},
                      {"meets_clock", result.meetsClock()},
                      {"flash", json::fixUTF8(result.flash)},
                      {"predicted", objectOf(predicted)},
                      {"measured", objectOf(measured)},
                      {"nodes", std::move(nodes)}};
}

Expected<RunResult> vendor::run(const Package &package,
                                const RunOptions &options) {
  Expected<std::vector<Flow>> flows = listFlows();
  if (!flows)
    return flows.takeError();
  const Flow *flow = flowOf(*flows, options.tool);
  if (!flow)
    return createStringError("'%s' is no tool that is run",
                             options.tool.c_str());
  return Runs(package, options, *flow).run();
}
