// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of unit kinds (generated from rtl/units), look-ups in it, and the
// checks of an instance.
#include "rhizome/Unit/Unit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <array>

namespace rhizome::unit {
namespace {
int64_t ceilDiv(int64_t a, int64_t b) { return b == 0 ? 0 : (a + b - 1) / b; }
int64_t clog2(int64_t n) {
  int64_t bits = 0;
  while (bits < 62 && (int64_t(1) << bits) < n)
    ++bits;
  return bits;
}
/// Bits of an address of `n` places; a single place has one that is not used.
int64_t addressBits(int64_t n) { return n > 1 ? clog2(n) : 1; }

#include "rhizome/Unit/Units.cpp.inc"

struct Registry {
  std::vector<const Kind *> kinds;
  llvm::StringMap<const Kind *> byName;

  Registry() {
    for (const Kind &kind : kKinds)
      insert(kind);
  }
  void insert(const Kind &kind) {
    assert(kind.parameters.size() <= 64 && "Values has 64 flags");
    bool isNew = byName.insert({kind.name, &kind}).second;
    assert(isNew && "names of unit kinds are unique");
    (void)isNew;
    kinds.push_back(&kind);
  }
};

Registry &registry() {
  static Registry registry;
  return registry;
}
} // namespace

llvm::ArrayRef<Signal> signalsOf(Protocol protocol, bool isInput) {
  static constexpr Signal kStreamIn[] = {
      {"_valid_i", true, 1}, {"_data_i", true, 0}, {"_ready_o", false, 1}};
  static constexpr Signal kStreamOut[] = {
      {"_ready_i", true, 1}, {"_valid_o", false, 1}, {"_data_o", false, 0}};
  static constexpr Signal kAxisIn[] = {{"_tdata", true, 0},
                                       {"_tvalid", true, 1},
                                       {"_tlast", true, 1},
                                       {"_tready", false, 1}};
  static constexpr Signal kAxisOut[] = {{"_tready", true, 1},
                                        {"_tdata", false, 0},
                                        {"_tvalid", false, 1},
                                        {"_tlast", false, 1}};
  static constexpr Signal kStatus[] = {{"", false, 0}};
  static constexpr Signal kLoadIn[] = {{"_valid_i", true, 1},
                                       {"_data_i", true, 0},
                                       {"_valid_o", false, 1},
                                       {"_data_o", false, 0},
                                       {"ed_o", false, 1}};
  static constexpr Signal kLoadOut[] = {{"_valid_o", false, 1},
                                        {"_data_o", false, 0}};
  static constexpr Signal kAxi4Read[] = {
      {"_arready", true, 1},  {"_rvalid", true, 1},
      {"_rdata", true, 0},    {"_rlast", true, 1},
      {"_arvalid", false, 1}, {"_araddr", false, kAddressBits},
      {"_arlen", false, 8},   {"_rready", false, 1}};
  // In each direction, those of Axi4Read first.
  static constexpr Signal kAxi4[] = {{"_arready", true, 1},
                                     {"_rvalid", true, 1},
                                     {"_rdata", true, 0},
                                     {"_rlast", true, 1},
                                     {"_awready", true, 1},
                                     {"_wready", true, 1},
                                     {"_bvalid", true, 1},
                                     {"_arvalid", false, 1},
                                     {"_araddr", false, kAddressBits},
                                     {"_arlen", false, 8},
                                     {"_rready", false, 1},
                                     {"_awvalid", false, 1},
                                     {"_awaddr", false, kAddressBits},
                                     {"_awlen", false, 8},
                                     {"_wvalid", false, 1},
                                     {"_wdata", false, 0},
                                     {"_wlast", false, 1},
                                     {"_bready", false, 1}};
  switch (protocol) {
  case Protocol::Stream:
    return isInput ? llvm::ArrayRef(kStreamIn) : llvm::ArrayRef(kStreamOut);
  case Protocol::Axis:
    return isInput ? llvm::ArrayRef(kAxisIn) : llvm::ArrayRef(kAxisOut);
  case Protocol::Status:
    return kStatus;
  case Protocol::Axi4Read:
    return kAxi4Read;
  case Protocol::Axi4:
    return kAxi4;
  case Protocol::Load:
    return isInput ? llvm::ArrayRef(kLoadIn) : llvm::ArrayRef(kLoadOut);
  }
  llvm_unreachable("all protocols are covered");
}

std::optional<unsigned> Kind::indexOf(llvm::StringRef parameter) const {
  // Called very often, mostly with the same few literals: where each was found
  // the last time is tried first.
  static thread_local std::array<uint8_t, 1024> hints;
  auto is = [&](size_t i) {
    const llvm::StringLiteral &name = parameters[i].name;
    return name.size() == parameter.size() &&
           (name.data() == parameter.data() || name == parameter);
  };
  auto mixed = reinterpret_cast<uintptr_t>(parameter.data()) ^
               reinterpret_cast<uintptr_t>(this) / sizeof(Kind);
  uint8_t &hint = hints[mixed % hints.size()];
  if (hint < parameters.size() && is(hint))
    return hint;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (is(i))
      return hint = uint8_t(i);
  return std::nullopt;
}

std::string memoryPortName(llvm::StringRef memory, int64_t bank) {
  return ("m_axi_" + memory + "_" + llvm::Twine(bank)).str();
}

llvm::SmallVector<const Port *, 2> Kind::memoryPorts() const {
  llvm::SmallVector<const Port *, 2> found;
  for (const Port &port : ports)
    if (port.isMemory())
      found.push_back(&port);
  return found;
}

const Port *Kind::loadedPort() const {
  const Port *found =
      llvm::find_if(ports, [](const Port &port) { return port.isLoaded(); });
  return found == ports.end() ? nullptr : found;
}

const Kind *find(llvm::StringRef name) {
  return registry().byName.lookup(name);
}

std::vector<const Kind *> all() { return registry().kinds; }

void add(const Kind &kind) { registry().insert(kind); }

void remove(const Kind &kind) {
  registry().byName.erase(kind.name);
  llvm::erase(registry().kinds, &kind);
}

llvm::ArrayRef<SourceFile> sourcesOf(llvm::StringRef module) {
  for (const Module &known : kModules)
    if (module == known.name)
      return known.sources;
  return {};
}

int64_t Values::get(llvm::StringRef name) const {
  auto at = kind->indexOf(name);
  assert(at && "the kind has no such parameter");
  assert((given >> *at & 1 || kind->parameters[*at].preset) &&
         "the parameter was not given");
  return values[*at];
}

void Values::set(llvm::StringRef name, int64_t value) {
  auto at = kind->indexOf(name);
  assert(at && "the kind has no such parameter");
  values[*at] = value;
  given |= uint64_t(1) << *at;
}

llvm::SmallVector<std::pair<llvm::StringRef, int64_t>, 24> Values::all() const {
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>, 24> all;
  for (size_t i = 0; i < values.size(); ++i)
    if (given >> i & 1)
      all.push_back({kind->parameters[i].name, values[i]});
  return all;
}

llvm::SmallVector<const Rom *, 2> Instance::roms() const {
  llvm::SmallVector<const Rom *, 2> roms;
  for (const Rom &rom : ofKind->roms)
    if (rom.exists(params.data()))
      roms.push_back(&rom);
  return roms;
}

constexpr size_t kDigits = 4; // of a number in a text of rows

static llvm::StringRef rowsIn(const Instance &instance) {
  for (const auto &[name, text] : instance.files)
    if (name == instance.kind().rows)
      return text;
  return "";
}

std::vector<llvm::SmallVector<int64_t, 3>> Instance::rows() const {
  std::vector<llvm::SmallVector<int64_t, 3>> rows;
  for (llvm::StringRef text = rowsIn(*this); !text.empty();) {
    llvm::SmallVector<int64_t, 3> &row = rows.emplace_back();
    for (size_t c = 0; c < ofKind->columns.size(); ++c) {
      uint64_t value = 0;
      (void)text.take_front(kDigits).getAsInteger(16, value);
      row.push_back(int64_t(value));
      text = text.drop_front(std::min(kDigits, text.size()));
    }
  }
  return rows;
}

void Instance::setRows(llvm::ArrayRef<llvm::SmallVector<int64_t, 3>> rows) {
  std::string text;
  for (const auto &row : rows)
    for (int64_t value : row)
      text += llvm::utohexstr(uint64_t(value), /*LowerCase=*/true, kDigits);
  files.push_back({ofKind->rows, text});
}

llvm::SmallVector<int64_t, 24> Instance::valuesOf(const Port &port,
                                                  int64_t stream) const {
  const int64_t *first = params.data();
  llvm::SmallVector<int64_t, 24> values(first,
                                        first + ofKind->parameters.size());
  if (port.count(first) > 1)
    if (auto own = rows(); size_t(stream) < own.size())
      for (auto [at, value] : llvm::zip_equal(ofKind->columns, own[stream]))
        values[at] = value;
  return values;
}

/// The text of rows: one for each parallel stream, of numbers within bounds.
static std::optional<std::string> checkRows(const Instance &instance) {
  const Kind &kind = instance.kind();
  llvm::StringRef text = rowsIn(instance);
  if (text.empty())
    return std::nullopt;
  const int64_t *values = instance.params.data();
  size_t streams = 0;
  for (const Port &port : kind.ports)
    streams = std::max(streams, size_t(port.count(values)));
  if (text.size() != streams * kind.columns.size() * kDigits ||
      !llvm::all_of(text, [](char c) { return llvm::isHexDigit(c); }))
    return (llvm::Twine("'") + kind.rows + "' has not " +
            llvm::Twine(kind.columns.size() * kDigits) +
            " hexadecimal digits for each of " + llvm::Twine(streams) +
            " streams")
        .str();
  for (const auto &row : instance.rows())
    for (auto [at, value] : llvm::zip_equal(kind.columns, row))
      if (value < kind.parameters[at].least || value > values[at])
        return (llvm::Twine("'") + kind.rows + "' has " + llvm::Twine(value) +
                " for '" + kind.parameters[at].name + "', not from " +
                llvm::Twine(kind.parameters[at].least) + " to " +
                llvm::Twine(values[at]))
            .str();
  return std::nullopt;
}

std::optional<std::string> check(const Instance &instance) {
  const Kind &kind = instance.kind();
  const Values &values = instance.params;
  for (auto [i, parameter] : llvm::enumerate(kind.parameters)) {
    int64_t value = values.values[i];
    if (!(values.given >> i & 1)) {
      if (parameter.preset)
        continue;
      return (llvm::Twine("parameter '") + parameter.name + "' (" +
              parameter.text + ") is missing")
          .str();
    }
    if (value < parameter.least || value > parameter.most)
      return (llvm::Twine("parameter '") + parameter.name + "' (" +
              parameter.text + ") is " + llvm::Twine(value) + ", not from " +
              llvm::Twine(parameter.least) + " to " +
              llvm::Twine(parameter.most))
          .str();
  }
  for (const Constraint &constraint : kind.constraints)
    if (!constraint.holds(values.data()))
      return (llvm::Twine("its parameters contradict each other: ") +
              constraint.text)
          .str();
  return checkRows(instance);
}
} // namespace rhizome::unit
