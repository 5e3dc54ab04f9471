// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hardware units as data: the descriptions from rtl/units/*.td
// (parameters, ports, memories, sources), found by name, and an instance of a
// kind with values for its parameters. Generators define the timing and area
// for these values (rhizome/Generator/UnitModel.h).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rhizome::unit {
/// An expression over the values of a kind's parameters, in their order.
using Expression = int64_t (*)(const int64_t *values);

/// An integer parameter.
struct Parameter {
  llvm::StringLiteral name;
  int64_t least, most;           ///< bounds of its value
  std::optional<int64_t> preset; ///< its value if an actor omits it
  /// Whether the module takes it; others are for the compiler only.
  bool inHardware;
  const char *text; ///< for people
};

/// A string parameter: the name of a file of a memory's contents, or the text
/// that Kind::rows names.
struct File {
  const char *name, *text;
};

/// The protocols of ports.
enum class Protocol : uint8_t {
  Stream, ///< valid, ready, data: between actors
  Axis,   ///< AXI4-Stream with TLAST: a port of the design
  Status, ///< a value that is read for diagnosis only
  /// The channels AR and R of AXI4: from a unit to an off-chip memory.
  Axi4Read,
  /// These and AW, W and B: from a unit to one where it has space for itself.
  Axi4,
  /// A place in the chain that fills on-chip memories when a design starts.
  Load,
};

/// Bits of an address in a bank of an off-chip memory.
constexpr int64_t kAddressBits = 64;
/// Bytes to which segments are aligned, and which no burst crosses.
constexpr int64_t kPageBytes = 4096;

/// One signal of a port: `width` 0 means the port's data width.
struct Signal {
  const char *suffix; ///< "_valid_i", behind the port's name
  bool isInput;       ///< of the module
  int64_t width;
};
/// The signals of a port, inputs first in the order in which they are bound.
llvm::ArrayRef<Signal> signalsOf(Protocol protocol, bool isInput);
/// The port of a design at a bank of a memory: "m_axi_ddr4_0".
std::string memoryPortName(llvm::StringRef memory, int64_t bank);

/// The requests of a memory port.
struct Traffic {
  Expression bytes = nullptr;    ///< per frame, in both directions
  Expression burst = nullptr;    ///< beats of the longest burst
  Expression inFlight = nullptr; ///< maximum number of bursts in flight
  /// The parameter with the page of 4 KiB on which the unit's segment begins.
  const char *page = "";
  /// The one with the bursts that an arbiter may grant it in a row; "": one.
  const char *turn = "";
  /// Bytes of the memory that the unit has for itself, and of the segment that
  /// lies right before them, 0 if there is none.
  Expression space = nullptr, held = nullptr;
};

struct Port {
  const char *name;
  Protocol protocol;
  bool isInput;
  Expression width; ///< bits of its data
  /// Per frame, for a stream; for the load chain, the words that stay.
  Expression beats;
  Expression count; ///< number of parallel streams
  const char *widthText, *beatsText;
  Traffic traffic = {}; ///< of a memory port

  bool isMemory() const { return protocol == Protocol::Axi4Read || writes(); }
  bool writes() const { return protocol == Protocol::Axi4; }
  /// Whether the load chain passes here, after its head.
  bool isLoaded() const { return protocol == Protocol::Load && isInput; }
};

/// A read-only memory whose contents a generator writes.
struct Rom {
  const char *file;     ///< the file parameter
  const char *placedBy; ///< the parameter that puts it into block RAM
  Expression words, width, copies, exists;
};

/// A constraint between parameters.
struct Constraint {
  Expression holds;
  const char *text;
};

/// A parameter of the module around a generated datapath.
struct Binding {
  const char *name;
  Expression value;
};

/// A file of a module: callees precede callers.
struct SourceFile {
  const char *name;     ///< "rhz_counter.sv"
  bool isModel = false; ///< of a vendor's primitive, for simulators only
  /// Its folder; "" is the compiler's own library.
  const char *folder = "";
};

/// A unit kind.
struct Kind {
  const char *name;    ///< what flow.actor names: "window"
  const char *summary; ///< a description for people
  /// The module that an actor instantiates, "" if the generator makes the
  /// datapath; that is a module of the actor's own, to which `shell` adds
  /// the handshakes.
  const char *module, *shell;
  llvm::ArrayRef<Binding> shellParameters;
  llvm::ArrayRef<Parameter> parameters; ///< at most 64
  llvm::ArrayRef<File> files;
  llvm::ArrayRef<Port> ports;
  llvm::ArrayRef<Rom> roms;
  llvm::ArrayRef<Constraint> constraints;
  llvm::ArrayRef<SourceFile> sources;
  /// The names under which actors of the kind are characterized.
  llvm::ArrayRef<const char *> characterized;
  /// The string parameter with own values of some parameters (`columns`) for
  /// each of several parallel streams; "" if the kind has none.
  const char *rows = "";
  llvm::ArrayRef<unsigned> columns = {};

  bool isGenerated() const { return !*module; }
  /// The ports to off-chip memories, in their order.
  llvm::SmallVector<const Port *, 2> memoryPorts() const;
  /// Where the load chain fills its memories, null if it has none.
  const Port *loadedPort() const;
  /// The index of a parameter, none if the kind has no such parameter.
  std::optional<unsigned> indexOf(llvm::StringRef parameter) const;
};

/// The kind with this name, null if there is none.
const Kind *find(llvm::StringRef name);
/// All kinds: the compiler's own in the order of rtl/units/Units.td, then those
/// that a program has added.
std::vector<const Kind *> all();
/// Adds a kind, which must outlive all its instances, under an unused
/// name. Not while another thread compiles.
void add(const Kind &kind);
/// Removes it.
void remove(const Kind &kind);

/// The files of a module of the compiler's library (a unit's, or one
/// around units), callees first. Empty for an unknown module.
llvm::ArrayRef<SourceFile> sourcesOf(llvm::StringRef module);

/// The parameters of an instance, as defined by its kind.
class Values {
public:
  Values() = default;
  Values(const Values &) = default;
  // A vector of units moves them only if this throws nothing.
  Values(Values &&) noexcept = default;
  Values &operator=(const Values &) = default;
  Values &operator=(Values &&) noexcept = default;
  explicit Values(const Kind &kind)
      : kind(&kind), values(kind.parameters.size()) {
    for (auto [value, parameter] : llvm::zip_equal(values, kind.parameters))
      value = parameter.preset.value_or(0);
  }

  /// Whether an actor gives the parameter a value.
  bool has(llvm::StringRef name) const {
    auto at = kind->indexOf(name);
    return at && (given >> *at & 1);
  }
  /// The value of a parameter that was given or has a preset.
  int64_t get(llvm::StringRef name) const;
  void set(llvm::StringRef name, int64_t value);
  /// Sets all of these, and keeps the other values.
  void
  operator=(std::initializer_list<std::pair<llvm::StringRef, int64_t>> all) {
    for (auto [name, value] : all)
      set(name, value);
  }
  /// Name and value of all given parameters.
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>, 24> all() const;

  /// In the order of the kind's parameters, including presets.
  const int64_t *data() const { return values.data(); }

  /// As the struct that is generated for the kind (rhizome/Unit/Units.h).
  template <class Params> Params as() const {
    static_assert(std::is_trivially_copyable_v<Params>);
    assert(llvm::StringRef(Params::kKind) == kind->name && "of another kind");
    Params params;
    std::memcpy(static_cast<void *>(&params), values.data(), sizeof(Params));
    return params;
  }

private:
  friend std::optional<std::string> check(const class Instance &);
  const Kind *kind = nullptr;
  llvm::SmallVector<int64_t, 24> values;
  uint64_t given = 0;
};

/// A unit with its parameters. `files` are memory images by file parameter.
class Instance {
public:
  Instance() = default;
  explicit Instance(const Kind &kind) : params(kind), ofKind(&kind) {}

  Values params;
  std::vector<std::pair<std::string, std::string>> files;

  const Kind &kind() const { return *ofKind; }
  template <class Params> bool is() const {
    return llvm::StringRef(Params::kKind) == ofKind->name;
  }
  template <class Params> Params as() const { return params.as<Params>(); }
  int64_t get(llvm::StringRef name) const { return params.get(name); }
  void set(llvm::StringRef name, int64_t value) { params.set(name, value); }

  /// The memories that exist with these parameters.
  llvm::SmallVector<const Rom *, 2> roms() const;
  /// The values of Kind::columns for each parallel stream, if an actor gives
  /// them; nothing if all have those of the parameters.
  std::vector<llvm::SmallVector<int64_t, 3>> rows() const;
  void setRows(llvm::ArrayRef<llvm::SmallVector<int64_t, 3>> rows);
  /// The parameters for a stream of a port.
  llvm::SmallVector<int64_t, 24> valuesOf(const Port &port,
                                          int64_t stream) const;
  /// A port's data width, for all its streams together.
  int64_t bitsOf(const Port &port) const {
    return port.width(params.data()) * port.count(params.data());
  }
  /// The bursts that a memory port may be granted in a row.
  int64_t turnOf(const Port &port) const {
    return *port.traffic.turn ? get(port.traffic.turn) : 1;
  }

private:
  const Kind *ofKind = nullptr;
};

/// The errors in an instance's parameters: one that is missing or out of
/// its bounds, or a violated constraint. Nothing if it is valid.
std::optional<std::string> check(const Instance &instance);
} // namespace rhizome::unit
