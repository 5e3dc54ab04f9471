// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a placed and routed iCE40 design back to sources for a simulator: the
// netlist that entered the router, or what the bitstream holds.
#include "Router.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Synth/PlaceRoute.h"
#include "rhizome/Synth/Shell.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::synth;

namespace {
/// What simulators need before netlists of iCE40 cells: Yosys' models leave
/// out defaults of inputs, which Verilator does not read, if told to.
constexpr const char *kPrologue = "`timescale 1ps/1ps\n"
                                  "`define NO_ICE40_DEFAULT_ASSIGNMENTS\n";

/// Yosys' models of the iCE40 cells.
Expected<std::string> cellModels() {
  Expected<std::string> yosys = findTool("yosys");
  if (!yosys)
    return yosys.takeError();
  std::string path = (sys::path::parent_path(sys::path::parent_path(*yosys)) +
                      "/share/yosys/ice40/cells_sim.v")
                         .str();
  if (!sys::fs::exists(path))
    return createStringError("Yosys' models of the iCE40 cells are missing: "
                             "'%s'",
                             path.c_str());
  return path;
}

/// icebox_vlog declares ports in the module's head and again as wires, which
/// only some simulators read: puts the declarations behind the head.
Error splitPorts(std::string &text) {
  size_t module = text.find("module "), open = text.find('(', module),
         close = text.find(");", module);
  if (module == std::string::npos || close == std::string::npos || open > close)
    return createStringError("icebox_vlog wrote no module");
  SmallVector<StringRef> ports;
  std::string inside = text.substr(open + 1, close - open - 1), names, lines;
  StringRef(inside).split(ports, ',');
  for (StringRef port : ports) {
    port = port.trim();
    names += (names.empty() ? "" : ", ") + port.rsplit(' ').second.str();
    lines += port.str() + ";\n";
  }
  text.replace(open + 1, close + 2 - open - 1, names + ");\n" + lines);
  return Error::success();
}

/// The netlist of the bitstream in `folder`, made once.
Expected<std::string> decode(const std::string &folder,
                             const std::string &bitstream) {
  std::string path = folder + "/bitstream.v";
  if (sys::fs::exists(path))
    return path;
  Expected<std::string> unpack = findRouterTool("iceunpack");
  if (!unpack)
    return unpack.takeError();
  Expected<std::string> icebox = findRouterTool("icebox_vlog");
  if (!icebox)
    return icebox.takeError();
  std::string bits = folder + "/unpacked.txt", raw = folder + "/icebox.v";
  if (Error error = runTool(*unpack, {bitstream, bits}, folder,
                            folder + "/iceunpack.log"))
    return std::move(error);
  if (Error error = runTool(
          *icebox, {"-s", "-n", kBoardTop, "-p", folder + "/board.pcf", bits},
          folder, raw))
    return std::move(error);
  Expected<std::string> text = readFile(raw);
  if (!text)
    return text.takeError();
  if (Error error = splitPorts(*text))
    return std::move(error);
  if (Error error = writeAtomically(path, kPrologue + *text))
    return std::move(error);
  return path;
}
} // namespace

/// What the bench of several regions is made of besides, as the shell is.
static Error addConverters(std::vector<std::string> &files) {
  Expected<std::string> library = rtlDir();
  if (!library)
    return library.takeError();
  for (const char *file : {"/src/rhz_counter.sv", "/shell/rhz_bytes_to_axis.sv",
                           "/shell/rhz_axis_to_bytes.sv"})
    files.push_back(*library + file);
  return Error::success();
}

Expected<BoardSources> rhizome::boardSources(const Package &package,
                                             BoardLevel level) {
  const PlannedNode &node = package.plan().nodes.front();
  SmallString<256> absolute(package.results("nextpnr"));
  if (std::error_code error = sys::fs::make_absolute(absolute))
    return errorCodeToError(error);
  std::string folder = absolute.str().str();
  // The board that was routed for, or the plan's.
  std::string name = package.plan().board;
  std::string summary = package.results("nextpnr.json");
  if (sys::fs::exists(summary)) {
    Expected<std::string> text = readFile(summary);
    if (!text)
      return text.takeError();
    Expected<json::Value> value = parseJson(*text);
    if (!value)
      return value.takeError();
    const json::Object *object = value->getAsObject();
    const json::Object *used =
        object ? object->getObject("utilization") : nullptr;
    if (object)
      name = object->getString("board").value_or("").str();
    if (level == BoardLevel::Bitstream && used &&
        (used->get("ICESTORM_DSP") || used->get("ICESTORM_SPRAM")))
      return createStringError("the IceStorm tools cannot decode the DSP "
                               "blocks of this bitstream; --level netlist "
                               "simulates what entered the router");
  } else if (level != BoardLevel::Rtl) {
    return createStringError("'%s' has not been placed and routed; first run "
                             "'rhizome synth --tool nextpnr'",
                             package.dir().c_str());
  }
  if (name.empty())
    return createStringError("no board is known for '%s'; compile it with "
                             "--board, or give one to 'rhizome synth --tool "
                             "nextpnr'",
                             package.dir().c_str());
  Expected<Board> board = loadBoard(name);
  if (!board)
    return board.takeError();
  if (Error error = checkShell(package.plan(), node, *board))
    return std::move(error);
  if (level != BoardLevel::Rtl && node.family != "ice40")
    return createStringError("netlists and bitstreams are simulated for iCE40 "
                             "devices; '%s' has a device of the family '%s'",
                             board->name.c_str(), node.family.c_str());
  BoardSources sources;
  sources.top = kBenchTop;
  sources.cyclesPerFrame = lineCycles(node, *board);
  if (std::error_code error =
          sys::fs::create_directories(folder, true, sys::fs::all_all))
    return createStringError(error, "cannot make the folder '%s': %s",
                             folder.c_str(), error.message().c_str());
  auto write = [&](const char *file, const std::string &text) -> Error {
    sources.files.push_back(folder + "/" + file);
    return writeAtomically(sources.files.back(), text);
  };
  if (level == BoardLevel::Rtl) {
    Expected<std::vector<std::string>> rtl = rtlFiles(package, node, true);
    if (!rtl)
      return rtl.takeError();
    sources.files = std::move(*rtl);
    if (Error error = write("rhz_board.sv", boardText(node, *board)))
      return std::move(error);
  } else {
    Expected<std::string> cells = cellModels();
    if (!cells)
      return cells.takeError();
    if (level == BoardLevel::Netlist) {
      Expected<std::string> text = readFile(folder + "/netlist.v");
      if (!text)
        return text.takeError();
      if (Error error = write("netlist_sim.v", kPrologue + *text))
        return std::move(error);
    } else {
      std::string bitstream = folder + "/" + board->name + ".bin";
      if (!sys::fs::exists(bitstream))
        return createStringError("there is no bitstream '%s'; the design "
                                 "missed its clock",
                                 bitstream.c_str());
      Expected<std::string> netlist = decode(folder, bitstream);
      if (!netlist)
        return netlist.takeError();
      sources.files.push_back(*netlist);
    }
    sources.files.push_back(*cells);
  }
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  sources.files.push_back(*data + "/sim/rhz_tb_uart.sv");
  if (node.inputs.size() > 1) {
    sources.files.push_back(*data + "/sim/rhz_tb_uart_regions.sv");
    // Towards the bench the shell's converters stand at the other side.
    if (level != BoardLevel::Rtl)
      if (Error error = addConverters(sources.files))
        return std::move(error);
  }
  if (Error error = write("rhz_bench.sv", benchText(node, *board)))
    return std::move(error);
  return sources;
}
