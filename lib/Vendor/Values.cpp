// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values for the templates of flows: a node's files, its borders, its clock
// and its device, as JSON. Numbers are strings, because Mustache would print
// them as floating point. docs/howto/add-a-vendor-flow.md lists the names.
#include "rhizome/Support/Names.h"
#include "rhizome/Support/Version.h"
#include "rhizome/Vendor/Vendor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <set>

using namespace llvm;
using namespace rhizome;

/// Nanoseconds with at most three decimals. Never more than the
/// exact period, so that a constraint is never looser than the plan.
static std::string nanoseconds(double ns) {
  auto picoseconds = int64_t(std::floor(ns * 1000 + 1e-6));
  std::string text = std::to_string(picoseconds / 1000);
  std::string rest = std::to_string(1000 + picoseconds % 1000).substr(1);
  while (!rest.empty() && rest.back() == '0')
    rest.pop_back();
  return rest.empty() ? text : text + "." + rest;
}

/// A bank of one of the device's memories, as a platform names it; none if
/// there is no platform.
static std::string bankOf(const Device &device, int64_t bank) {
  if (!device.memory || device.platform.empty())
    return "";
  return StringRef(device.memory->kind).upper() + "[" +
         std::to_string(bank % device.memory->banks) + "]";
}

/// Border `index` of `count` of its direction, `id` of all `total`; a kernel's
/// `pointers` come before its streams.
static json::Object borderOf(const BorderPort &port, size_t index, size_t count,
                             size_t id, size_t total, size_t pointers,
                             const Device &device) {
  return json::Object{
      {"port", port.port},
      {"index", std::to_string(index)},
      {"tensor", legalName(port.name)},
      {"data_width", std::to_string(port.dataWidth)},
      {"data_msb", std::to_string(port.dataWidth - 1)},
      {"data_bytes", std::to_string(port.dataWidth / 8)},
      // Of a DMA engine, whose port is no narrower than its stream.
      {"dma_memory_bits", std::to_string(std::max(port.dataWidth, 64u))},
      {"keep_msb", std::to_string(port.dataWidth / 8 - 1)},
      {"elements", std::to_string(port.elements())},
      {"element_bits", std::to_string(port.element.width())},
      {"beats", std::to_string(port.beats())},
      {"is_last", index + 1 == count},
      {"id", std::to_string(pointers + id)},
      {"is_first_of_all", id == 0},
      {"is_last_of_all", id + 1 == total},
      // Banks are used in turn, inputs first.
      {"memory_bank", bankOf(device, int64_t(id))},
  };
}

/// High-performance ports of the processors on a chip to their memory.
constexpr int64_t kProcessorPorts = 4;

/// Port `index` to a memory outside the chip. The kernel's register at `offset`
/// holds the address of its bank's contents.
static json::Object memoryPortOf(const PlannedNode &node,
                                 const MemoryPort &port, size_t index,
                                 const Device &device) {
  int64_t bytes = 0;
  json::Array segments;
  for (const PlannedSegment &segment : node.segments)
    if (segment.memory == port.memory && segment.bank == port.bank) {
      bytes = std::max(bytes, segment.address + segment.bytes);
      segments.push_back(json::Object{
          {"file", segment.file},
          {"address", std::to_string(segment.address)},
          {"segment_bytes", std::to_string(segment.bytes)},
      });
    }
  bytes = std::max(bytes, port.spaceAddress + port.spaceBytes);
  return json::Object{
      {"port", port.port},
      {"index", std::to_string(index)},
      {"memory", port.memory},
      {"bank", std::to_string(port.bank)},
      {"memory_bank", bankOf(device, port.bank)},
      {"processor_port", std::to_string(port.bank % kProcessorPorts)},
      {"data_width", std::to_string(port.dataWidth)},
      {"data_msb", std::to_string(port.dataWidth - 1)},
      {"strobe_msb", std::to_string(port.dataWidth / 8 - 1)},
      {"data_bytes", std::to_string(port.dataWidth / 8)},
      {"size_log2", std::to_string(Log2_64(port.dataWidth / 8))},
      {"bytes", std::to_string(bytes)},
      {"offset", "0x" + utohexstr(0x10 + 12 * index, /*LowerCase=*/true, 3)},
      {"is_last", index + 1 == node.memoryPorts.size()},
      {"burst", "256"},
      {"reads", true},
      {"writes", port.writes()},
      {"segments", std::move(segments)},
  };
}

/// A unit of a kernel's system in vendors' tools.
static std::string unitName(size_t unit) {
  return "rhz_kernel_" + std::to_string(unit);
}

/// Port `index` of a kernel's system.
static json::Object masterOf(const PlannedNode &node, const PlannedMover &port,
                             size_t index) {
  std::string tensor = port.stream;
  for (const BorderPort &border :
       concat<const BorderPort>(node.inputs, node.outputs))
    if (border.port == port.stream)
      tensor = legalName(border.name);
  return json::Object{
      {"port", port.port},
      {"index", std::to_string(index)},
      {"tensor", tensor},
      {"reads", !port.isWrite},
      {"writes", port.isWrite},
      {"data_width", std::to_string(port.dataWidth)},
      {"data_msb", std::to_string(port.dataWidth - 1)},
      {"strobe_msb", std::to_string(port.dataWidth / 8 - 1)},
      {"size_log2", std::to_string(Log2_64(port.dataWidth / 8))},
      {"burst", std::to_string(std::max<int64_t>(2, port.burst))},
      {"bytes", std::to_string(port.groupBytes)},
      {"offset", "0x" + utohexstr(port.offset, /*LowerCase=*/true, 3)},
  };
}

/// The masters of a design, which a kernel's system has or a network with
/// weights outside the chip, and units side by side.
static void addSystem(json::Object &values, const PlannedNode &node,
                      const PlannedSystem *system, const Device &device) {
  json::Array masters, units, ports;
  if (!system)
    masters = *values.getArray("memory_ports");
  for (int64_t u = 0; system && u < system->units; ++u) {
    const std::string name = unitName(size_t(u));
    units.push_back(json::Object{
        {"unit", name},
        {"die", system->dies.empty() ? "" : system->dies[size_t(u)]},
        {"is_last", u + 1 == system->units}});
    for (const PlannedMover &port : system->ports)
      ports.push_back(
          json::Object{{"unit", name},
                       {"port", port.port},
                       {"memory_bank", bankOf(device, port.banks[size_t(u)])}});
  }
  if (system)
    for (auto [k, port] : enumerate(system->ports))
      masters.push_back(masterOf(node, port, k));
  const bool hasRegisters = !masters.empty();
  values["has_system"] = system != nullptr;
  values["has_registers"] = hasRegisters;
  values["is_free"] = !hasRegisters;
  values["master_count"] = std::to_string(masters.size());
  values["masters"] = std::move(masters);
  values["unit_count"] = std::to_string(units.size());
  values["units"] = std::move(units);
  values["unit_ports"] = std::move(ports);
  values["elements_offset"] =
      "0x" + utohexstr(system ? uint64_t(system->elements) : 0,
                       /*LowerCase=*/true, 3);
  // Names of what there may be none of.
  values["any_master"] = masterOf(node, PlannedMover(), 0);
  values["any_unit"] = json::Object{{"unit", ""}, {"die", ""}};
}

/// The parts as one constant, the first in the low bits.
static std::string constantOf(const std::vector<uint16_t> &parts) {
  std::string digits;
  for (uint16_t part : reverse(parts))
    digits += utohexstr(part, /*LowerCase=*/true, 4);
  return std::to_string(16 * parts.size()) + "'h" + digits;
}

/// A board's own values.
static void addBoard(json::Object &values, const vendor::BoardProject &project,
                     double clockMhz) {
  const Board &board = project.board;
  json::Array rtl, pins;
  for (const auto &[name, text] : project.rtl)
    rtl.push_back(name);
  for (const auto &[port, pin] : board.pins())
    pins.push_back(json::Object{
        {"port", port}, {"pin", pin}, {"io_standard", board.ioStandard}});
  std::string mhz;
  raw_string_ostream(mhz) << format("%.6g", clockMhz);
  values["board"] = board.name;
  values["board_part"] = board.boardPart;
  values["board_rtl"] = std::move(rtl);
  values["board_pins"] = std::move(pins);
  values["is_zynq7"] = board.processor == "zynq7";
  values["clock_mhz"] = mhz;
}

json::Object vendor::valuesOf(const PlannedNode &node, const Device &device,
                              double clockMhz,
                              const std::vector<uint16_t> &configuration,
                              const BoardProject *board,
                              const PlannedSystem *system) {
  json::Array inputs, outputs;
  size_t total = node.inputs.size() + node.outputs.size();
  size_t pointers = node.memoryPorts.size();
  for (auto [i, port] : enumerate(node.inputs)) {
    json::Object input =
        borderOf(port, i, node.inputs.size(), i, total, pointers, device);
    input["counts_errors"] = node.countsErrors();
    inputs.push_back(std::move(input));
  }
  for (auto [i, port] : enumerate(node.outputs))
    outputs.push_back(borderOf(port, i, node.outputs.size(),
                               node.inputs.size() + i, total, pointers,
                               device));
  json::Array borders = inputs;
  for (const json::Value &output : outputs)
    borders.push_back(output);

  json::Array memoryPorts;
  for (size_t i = 0; i < pointers; ++i)
    memoryPorts.push_back(memoryPortOf(node, node.memoryPorts[i], i, device));
  json::Array dies;
  for (const PlannedDie &die : node.dies) {
    json::Array cells;
    for (const PlannedActor &actor : node.actors) {
      const std::string cell = "u_" + actor.name;
      if (actor.fromDie.empty()) {
        if (actor.die == die.name)
          cells.push_back(cell);
        continue;
      }
      if (actor.fromDie == die.name)
        cells.push_back(cell + "/u_from");
      if (actor.die == die.name)
        cells.push_back(cell + "/u_to");
    }
    for (size_t u = 0; system && u < system->dies.size(); ++u)
      if (system->dies[u] == die.name)
        cells.push_back(unitName(u));
    if (!cells.empty())
      dies.push_back(
          json::Object{{"die", die.name}, {"cells", std::move(cells)}});
  }
  const bool hasDies = !dies.empty();

  // An actor's string parameters are names of files; images are those in hex.
  std::set<std::string> images;
  for (const PlannedActor &actor : node.actors)
    for (const auto &[key, value] : actor.config)
      if (std::optional<StringRef> text = value.getAsString();
          text && text->ends_with(".hex"))
        images.insert(text->str());

  double periodNs = 1000 / clockMhz;
  json::Object values{
      {"version", version()},
      {"node", node.name},
      {"device", device.name},
      {"part", device.part},
      {"platform", device.platform},
      {"has_memory", device.memory && !device.platform.empty()},
      {"is_7series", device.family == "7series"},
      {"has_dies", hasDies},
      {"dies", std::move(dies)},
      {"top", node.top},
      {"node_top", node.nodeTop},
      {"has_link", !node.nodeTop.empty()},
      {"has_no_link", node.nodeTop.empty()},
      {"channel_constants", constantOf(configuration)},
      {"clock_port", "clk_i"},
      {"reset_port", "rst_ni"},
      {"period_ns", nanoseconds(periodNs)},
      {"quarter_period_ns", nanoseconds(periodNs / 4)},
      {"shell_period_ns", nanoseconds(1000 / device.clockMhz)},
      {"clock_hz", std::to_string(std::llround(clockMhz * 1e6))},
      {"rtl", json::Array(node.rtl)},
      {"rtl_folder", node.rtlOf.empty() ? "rtl" : "../" + node.rtlOf + "/rtl"},
      {"images", json::Array(images)},
      {"input_count", std::to_string(node.inputs.size())},
      {"output_count", std::to_string(node.outputs.size())},
      {"inputs", std::move(inputs)},
      {"outputs", std::move(outputs)},
      {"borders", std::move(borders)},
      {"memory_ports", std::move(memoryPorts)},
      // Templates may name what a port has even where there is none.
      {"any_memory_port", memoryPortOf(node, MemoryPort(), 0, device)},
      {"memory_port_count", std::to_string(pointers)},
      {"has_memory_ports", pointers > 0},
      {"has_no_memory_ports", pointers == 0},
      {"has_memory_writes",
       llvm::any_of(node.memoryPorts,
                    [](const MemoryPort &p) { return p.writes(); })},
      {"stream_bits", std::to_string(node.outputs.front().dataWidth)},
      {"family_name", ""},
  };
  addSystem(values, node, system, device);
  if (board)
    addBoard(values, *board, clockMhz);
  return values;
}
