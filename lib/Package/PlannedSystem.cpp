// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The system of plan.json's kernel, written and read.
#include "rhizome/Package/PlannedSystem.h"
#include "rhizome/Package/SystemRegisters.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace llvm;

namespace rhizome {
/// More than anything that is built.
constexpr int64_t kMostPorts = 64, kMostUnits = 1024, kMostBanks = 65535,
                  kMostBeats = 256, kMostBits = 1024, kMostDepth = 1 << 16,
                  kMostWords = int64_t(1) << 32;
constexpr int64_t kPage = 4096; ///< bytes, which no burst crosses
static const char *const kControl = "control", *const kInterrupts[] = {
                                                   "global_interrupt",
                                                   "interrupt_enable",
                                                   "interrupt_status"};

static json::Value toJSON(const PlannedMover &m) {
  return json::Object{{"port", m.port},
                      {"stream", m.stream},
                      {"direction", m.isWrite ? "write" : "read"},
                      {"once", m.isOnce},
                      {"data_width", int64_t(m.dataWidth)},
                      {"word_bits", int64_t(m.wordBits)},
                      {"lanes", m.lanes},
                      {"words", m.words},
                      {"group_bytes", m.groupBytes},
                      {"burst_beats", m.burst},
                      {"buffer_beats", m.depth},
                      {"offset", m.offset},
                      {"banks", json::Array(m.banks)}};
}

int64_t PlannedSystem::settledGroups() const {
  constexpr int64_t kAlone = 20, kShared = 120;
  std::set<int64_t> seen;
  for (const PlannedMover &port : ports)
    for (int64_t bank : port.banks)
      if (!port.isOnce && !seen.insert(bank).second)
        return kShared;
  return kAlone;
}

json::Value toJSON(const PlannedSystem &s) {
  json::Object registers{
      {"port", s.control}, {kControl, 0}, {"elements", s.elements}};
  registers["errors"] = errorsOffset(s);
  for (auto [k, name] : enumerate(kInterrupts))
    registers[name] = int64_t(4 * (k + 1));
  return json::Object{{"kernel", s.kernel},
                      {"memory", s.memory},
                      {"units", s.units},
                      {"dies", json::Array(s.dies)},
                      {"control", std::move(registers)},
                      {"ports", json::Array(s.ports)}};
}

/// Reports a number outside its bounds.
static bool within(int64_t value, int64_t least, int64_t most,
                   StringLiteral name, json::Path path) {
  if (value >= least && value <= most)
    return true;
  path.field(name).report("is larger or smaller than anything that is built");
  return false;
}

static bool fromJSON(const json::Value &value, PlannedMover &m,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  std::string direction;
  int64_t width = 0, word = 0;
  if (!map || !map.map("port", m.port) || !map.map("stream", m.stream) ||
      !map.map("direction", direction) || !map.map("once", m.isOnce) ||
      !map.map("data_width", width) || !map.map("word_bits", word) ||
      !map.map("lanes", m.lanes) || !map.map("words", m.words) ||
      !map.map("group_bytes", m.groupBytes) ||
      !map.map("burst_beats", m.burst) || !map.map("buffer_beats", m.depth) ||
      !map.map("offset", m.offset) || !map.map("banks", m.banks))
    return false;
  m.isWrite = direction == "write";
  m.dataWidth = unsigned(width);
  m.wordBits = unsigned(word);
  if (!within(width, 8, kMostBits, "data_width", path) ||
      !within(word, 8, 64, "word_bits", path) ||
      !within(m.lanes, 1, kMostBits, "lanes", path) ||
      !within(m.words, 1, kMostWords, "words", path) ||
      !within(m.burst, 1, kMostBeats, "burst_beats", path) ||
      !within(m.depth, m.burst, kMostDepth, "buffer_beats", path) ||
      !within(m.offset, 0, kPage - 8, "offset", path))
    return false;
  const int64_t bytes = m.burst * width / 8;
  if (!isIdentifier(m.port) || !isIdentifier(m.stream)) {
    path.field("port").report("expected an identifier of Verilog");
    return false;
  }
  if (!isPowerOf2_64(uint64_t(width)) || width % word || kPage % bytes ||
      m.groupBytes % bytes || m.groupBytes < m.beats() * width / 8 ||
      m.groupBytes > m.beats() * width / 8 + bytes) {
    path.field("group_bytes").report("expected the whole bursts of a group");
    return false;
  }
  for (int64_t bank : m.banks)
    if (!within(bank, 0, kMostBanks, "banks", path))
      return false;
  return true;
}

bool fromJSON(const json::Value &value, PlannedSystem &s, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("kernel", s.kernel) || !map.map("memory", s.memory) ||
      !map.map("units", s.units) || !map.map("dies", s.dies) ||
      !map.map("ports", s.ports))
    return false;
  if (const json::Object *object = value.getAsObject())
    if (const json::Object *control = object->getObject("control")) {
      s.control = control->getString("port").value_or("").str();
      s.elements = control->getInteger("elements").value_or(-1);
    }
  if (!isIdentifier(s.kernel) || !isIdentifier(s.control)) {
    path.field("control").report("expected an identifier of Verilog");
    return false;
  }
  if (!within(s.units, 1, kMostUnits, "units", path) ||
      !within(int64_t(s.ports.size()), 2, kMostPorts, "ports", path))
    return false;
  for (auto [k, port] : enumerate(s.ports))
    if (int64_t(port.banks.size()) != s.units ||
        port.offset != addressOffset(int64_t(k)) ||
        port.port != "m_axi_" + std::to_string(k)) {
      path.field("ports").report("expected a bank for each unit, and ports in "
                                 "the order of their registers");
      return false;
    }
  if (s.elements != addressOffset(int64_t(s.ports.size()))) {
    path.field("control").report("expected the elements' register after the "
                                 "addresses");
    return false;
  }
  return true;
}
} // namespace rhizome
