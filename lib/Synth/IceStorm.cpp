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

/// The netlist of the bitstream in `folder`.
Expected<std::string> decode(const Package &package, const std::string &folder,
                             const Board &board) {
  Expected<std::string> unpack = findRouterTool("iceunpack");
  if (!unpack)
    return unpack.takeError();
  Expected<std::string> icebox = findRouterTool("icebox_vlog");
  if (!icebox)
    return icebox.takeError();
  // In a folder of its own, with our names.
  const std::string own = folder + "/decode";
  if (Error error = removeTree(own))
    return std::move(error);
  if (Error error = makeNewFolder(own))
    return std::move(error);
  if (Error error =
          copyFile(folder + "/" + board.name + ".bin", own + "/design.bin"))
    return std::move(error);
  if (Error error =
          writeBytes(own + "/board.pcf",
                     constraintsText(board, Router{"nextpnr-ice40", {}, {}})))
    return std::move(error);
  Confinement wanted;
  wanted.writable = {own};
  auto confinement = package.confinement(std::move(wanted));
  if (!confinement)
    return confinement.takeError();
  auto run = [&](const std::string &program,
                 const std::vector<std::string> &words, StringRef log) {
    return runTool(program, words, own, (own + "/" + log).str(),
                   /*showErrors=*/false, Addresses::Random, *confinement);
  };
  if (Error error =
          run(*unpack, {"design.bin", "unpacked.txt"}, "iceunpack.log"))
    return std::move(error);
  if (Error error = run(
          *icebox, {"-s", "-n", kBoardTop, "-p", "board.pcf", "unpacked.txt"},
          "icebox.v"))
    return std::move(error);
  Expected<std::string> text = readFileBelow(own, "icebox.v");
  if (!text)
    return text.takeError();
  if (Error error = splitPorts(*text))
    return std::move(error);
  return kPrologue + *text;
}

/// Refuses a file of an earlier run that is not as that run has left it, unless
/// the package is trusted.
Error checkKept(const Package &package, const json::Object &summary,
                const std::string &folder, const std::string &name) {
  if (package.isTrusted())
    return Error::success();
  Expected<FileChecksum> now = checksumOf(folder, name);
  if (!now)
    return now.takeError();
  const json::Array *files = summary.getArray("files");
  for (const json::Value &value : files ? *files : json::Array())
    if (const json::Object *file = value.getAsObject();
        file && file->getString("path") == StringRef(name) &&
        file->getInteger("bytes") == int64_t(now->bytes) &&
        file->getString("checksum") == StringRef(now->hash))
      return Error::success();
  return createStringError("'%s/%s' is not what 'rhizome synth --tool nextpnr' "
                           "has left there; run it again, or, if you trust the "
                           "package, say --trust",
                           folder.c_str(), name.c_str());
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
  json::Object summary;
  if (sys::fs::exists(package.results("nextpnr.json"))) {
    Expected<std::string> text = package.readResult("nextpnr.json");
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
    // A name, and not a file of the package's sender.
    if (!name.empty() && !isPlainName(name))
      return createStringError("'%s': 'board' is '%s', which is no name",
                               package.results("nextpnr.json").c_str(),
                               printable(name).c_str());
    if (level == BoardLevel::Bitstream && used &&
        (used->get("ICESTORM_DSP") || used->get("ICESTORM_SPRAM")))
      return createStringError("the IceStorm tools cannot decode the DSP "
                               "blocks of this bitstream; --level netlist "
                               "simulates what entered the router");
    if (object)
      summary = *object;
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
  if (Error error = package.makeResults("nextpnr"))
    return std::move(error);
  auto write = [&](const char *file, const std::string &text) -> Error {
    sources.files.push_back(folder + "/" + file);
    return writeAtomically(sources.files.back(), text);
  };
  if (level == BoardLevel::Rtl) {
    Expected<std::vector<std::string>> rtl = rtlFiles(package, node);
    if (!rtl)
      return rtl.takeError();
    sources.files = std::move(*rtl);
    if (Error error = write("rhz_board.sv", boardText(node, *board)))
      return std::move(error);
  } else {
    Expected<std::string> cells = cellModels();
    if (!cells)
      return cells.takeError();
    Expected<std::string> text = std::string();
    const bool isNetlist = level == BoardLevel::Netlist;
    if (isNetlist) {
      if (Error error = checkKept(package, summary, folder, "netlist.v"))
        return std::move(error);
      text = readFileBelow(folder, "netlist.v");
    } else {
      const std::string bitstream = board->name + ".bin";
      if (!sys::fs::exists(folder + "/" + bitstream))
        return createStringError("there is no bitstream '%s/%s'; the design "
                                 "missed its clock",
                                 folder.c_str(), bitstream.c_str());
      if (Error error = checkKept(package, summary, folder, bitstream))
        return std::move(error);
      text = decode(package, folder, *board);
    }
    if (!text)
      return text.takeError();
    const char *name = isNetlist ? "netlist.v" : "bitstream.v";
    if (Error error =
            package.checkSource(std::string("results/nextpnr/") + name, *text))
      return std::move(error);
    if (Error error = isNetlist ? write("netlist_sim.v", kPrologue + *text)
                                : write("bitstream.v", *text))
      return std::move(error);
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
