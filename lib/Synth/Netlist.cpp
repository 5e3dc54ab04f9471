// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads write_json's text and adds up the resources of the cells.
#include "rhizome/Synth/Netlist.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <set>

using namespace llvm;
using namespace rhizome::synth;

namespace {
/// The last location in `src` ("file:line.column-line.column|…") in one of our
/// sources, as "file:line": instances precede their contents, and
/// Yosys' technology files are those with a path.
std::string sourceOf(const json::Object &object) {
  const json::Object *attributes = object.getObject("attributes");
  std::optional<StringRef> src =
      attributes ? attributes->getString("src") : std::nullopt;
  if (!src)
    return "";
  SmallVector<StringRef> places;
  src->split(places, '|');
  for (StringRef place : llvm::reverse(places))
    if (!place.contains('/'))
      return place.rsplit(':').first.str() + ":" +
             place.rsplit(':').second.take_while(isDigit).str();
  return "";
}

/// Bits of a "bits" or connection array; "0", "1", "x" and "z" are -1.
bool readBits(const json::Value *value, std::vector<Bit> &bits, int &count) {
  const json::Array *array = value ? value->getAsArray() : nullptr;
  if (!array)
    return false;
  bits.reserve(array->size());
  for (const json::Value &bit : *array) {
    std::optional<int64_t> number = bit.getAsInteger();
    bits.push_back(number ? Bit(*number) : -1);
    count = std::max(count, bits.back() + 1);
  }
  return true;
}

Error malformed(const Twine &what) {
  return createStringError("Yosys' netlist is not as expected: %s",
                           what.str().c_str());
}
} // namespace

const std::vector<Bit> &Cell::bits(StringRef port) const {
  static const std::vector<Bit> none;
  for (const CellPort &p : ports)
    if (p.name == port)
      return p.bits;
  return none;
}

Expected<Netlist> Netlist::parse(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  const json::Object *root = value->getAsObject();
  const json::Object *modules = root ? root->getObject("modules") : nullptr;
  const json::Object *module = nullptr;
  if (!modules)
    return malformed("it has no modules");
  for (const auto &entry : *modules) {
    const json::Object *candidate = entry.second.getAsObject();
    const json::Object *attributes =
        candidate ? candidate->getObject("attributes") : nullptr;
    if (modules->size() == 1 || (attributes && attributes->get("top")))
      module = candidate;
  }
  const json::Object *cells = module ? module->getObject("cells") : nullptr;
  const json::Object *ports = module ? module->getObject("ports") : nullptr;
  const json::Object *nets = module ? module->getObject("netnames") : nullptr;
  if (!cells || !ports || !nets)
    return malformed("it has no top module with cells, ports and netnames");

  Netlist netlist;
  for (const auto &[name, entry] : *ports) {
    const json::Object *port = entry.getAsObject();
    CellPort p{name.str(), false, {}};
    if (!port || !readBits(port->get("bits"), p.bits, netlist.bitCount))
      return malformed("port '" + StringRef(name) + "'");
    p.isOutput = port->getString("direction") == StringRef("output");
    netlist.ports.push_back(std::move(p));
  }
  std::set<std::string> unknown;
  for (const auto &[name, entry] : *cells) {
    const json::Object *cell = entry.getAsObject();
    std::optional<StringRef> type =
        cell ? cell->getString("type") : std::nullopt;
    const json::Object *connections =
        cell ? cell->getObject("connections") : nullptr;
    const json::Object *directions =
        cell ? cell->getObject("port_directions") : nullptr;
    if (!type || !connections || !directions)
      return malformed("cell '" + StringRef(name) + "'");
    Cell c{findCellType(*type), name.str(), sourceOf(*cell), {}};
    if (!c.type) {
      unknown.insert(type->str());
      continue;
    }
    for (const auto &[portName, bits] : *connections) {
      CellPort p{portName.str(), false, {}};
      p.isOutput = directions->getString(portName) == StringRef("output");
      if (!readBits(&bits, p.bits, netlist.bitCount))
        return malformed("cell '" + StringRef(name) + "'");
      c.ports.push_back(std::move(p));
    }
    netlist.cells.push_back(std::move(c));
  }
  if (!unknown.empty())
    return createStringError("Yosys' netlist holds cells that rhizome does "
                             "not know: %s",
                             join(unknown, ", ").c_str());
  // JSON objects are unordered; the same netlist must give the same path.
  llvm::sort(netlist.cells,
             [](const Cell &a, const Cell &b) { return a.name < b.name; });
  llvm::sort(netlist.ports, [](const CellPort &a, const CellPort &b) {
    return a.name < b.name;
  });

  for (const auto &[name, entry] : *nets) {
    const json::Object *net = entry.getAsObject();
    std::vector<Bit> bits;
    if (!net || !readBits(net->get("bits"), bits, netlist.bitCount))
      return malformed("net '" + StringRef(name) + "'");
    if (net->getInteger("hide_name").value_or(1) != 0)
      continue;
    std::string src = sourceOf(*net);
    for (size_t i = 0; i < bits.size(); ++i) {
      if (bits[i] < 0)
        continue;
      std::string full = name.str();
      if (bits.size() > 1)
        full += "[" + std::to_string(i) + "]";
      // The shortest of several names is nearest to the module's top level.
      BitName &known = netlist.names[bits[i]];
      if (known.name.empty() || full.size() < known.name.size() ||
          (full.size() == known.name.size() && full < known.name))
        known = {full, src};
    }
  }
  return netlist;
}

Counts rhizome::synth::countCells(const Netlist &netlist) {
  Counts counts;
  for (const char *kind :
       {"lut", "ff", "dsp", "bram", "uram", "lutram", "carry", "mux", "shift"})
    counts[kind] = 0;
  for (const Cell &cell : netlist.cells) {
    const CellType &type = *cell.type;
    counts["lut"] += type.lut;
    switch (type.kind) {
    case CellKind::Ff:
      counts["ff"] += 1;
      break;
    case CellKind::Carry:
      counts["carry"] += 1;
      break;
    case CellKind::Mux:
      counts["mux"] += 1;
      break;
    case CellKind::Shift:
      counts["shift"] += 1;
      counts["lutram"] += 1;
      break;
    case CellKind::LutRam:
      counts["lutram"] += type.lut;
      break;
    case CellKind::Memory:
      counts[type.ultra ? "uram" : "bram"] += type.unit;
      break;
    case CellKind::Dsp:
      counts["dsp"] += type.unit;
      break;
    case CellKind::Lut:
    case CellKind::Inverter:
    case CellKind::Constant:
      break;
    }
  }
  return counts;
}
