// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Units/System.h"
#include "rhizome/Dialect/Rtl/Wiring.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace rhizome::gen {
namespace {
constexpr int64_t kPageBytes = 4096, kAddress = 64, kItems = 32;
/// Bytes of a burst: as long as memories need to give their rate.
constexpr int64_t kBurstBytes = 1024;
/// Bursts that are written and have no answer.
constexpr int64_t kInFlight = 16;

struct Signal {
  const char *name;
  bool isInput;
  int64_t bits; ///< 0: those of the data, -1: one for each byte
};
constexpr Signal kReads[] = {
    {"arvalid", false, 1}, {"arready", true, 1}, {"araddr", false, 64},
    {"arlen", false, 8},   {"rvalid", true, 1},  {"rready", false, 1},
    {"rdata", true, 0},    {"rresp", true, 2},   {"rlast", true, 1}};
constexpr Signal kWrites[] = {
    {"awvalid", false, 1}, {"awready", true, 1}, {"awaddr", false, 64},
    {"awlen", false, 8},   {"wvalid", false, 1}, {"wready", true, 1},
    {"wdata", false, 0},   {"wstrb", false, -1}, {"wlast", false, 1},
    {"bresp", true, 2},    {"bvalid", true, 1},  {"bready", false, 1}};
constexpr Signal kRegisters[] = {
    {"awaddr", true, 12},  {"awvalid", true, 1}, {"awready", false, 1},
    {"wdata", true, 32},   {"wstrb", true, 4},   {"wvalid", true, 1},
    {"wready", false, 1},  {"bresp", false, 2},  {"bvalid", false, 1},
    {"bready", true, 1},   {"araddr", true, 12}, {"arvalid", true, 1},
    {"arready", false, 1}, {"rdata", false, 32}, {"rresp", false, 2},
    {"rvalid", false, 1},  {"rready", true, 1}};

ArrayRef<Signal> signalsOf(const Mover &mover) {
  return mover.isWrite ? ArrayRef(kWrites) : ArrayRef(kReads);
}

int64_t bitsOf(const Signal &signal, const Mover &mover) {
  return signal.bits > 0   ? signal.bits
         : signal.bits < 0 ? mover.dataWidth / 8
                           : mover.dataWidth;
}

class System : rtl::Wiring {
public:
  System(rtl::ModuleOp unit, ArrayRef<Mover> movers, OpBuilder &b)
      : Wiring(b, unit.getLoc()), unit(unit), movers(movers) {}
  rtl::ModuleOp build(StringRef name);

private:
  rtl::ModuleOp unit;
  ArrayRef<Mover> movers;

  void addRegisters();
  void addMover(size_t k);
  void addUnit();
};

std::string masterOf(size_t k) { return "m_axi_" + std::to_string(k); }

void System::addRegisters() {
  const auto count = int64_t(movers.size());
  std::vector<std::string> writing, errors;
  for (auto [k, m] : llvm::enumerate(movers)) {
    if (m.isWrite)
      writing.push_back("busy" + std::to_string(k));
    errors.push_back("error" + std::to_string(k));
  }
  concat("busy", writing, int64_t(writing.size()));
  concat("errors", errors, count);
  Ports in = {{"clk_i", "clk_i"},
              {"rst_ni", "rst_ni"},
              {"busy_i", "busy"},
              {"errors_i", "errors"}};
  Outputs out = {{"interrupt_o", "interrupt_o", 1},
                 {"clear_no", "clear_n", 1},
                 {"start_o", "start", 1},
                 {"bases_o", "bases", kAddress * count},
                 {"items_o", "items", kItems}};
  for (const Signal &signal : kRegisters) {
    const std::string at = std::string("s_axi_control_") + signal.name;
    const std::string port = std::string("s_axi_") + signal.name;
    if (signal.isInput)
      in.emplace_back(port, at);
    else
      out.emplace_back(port, at, signal.bits);
  }
  instance("u_registers", "rhz_registers",
           {{"Ports", count}, {"Writers", int64_t(writing.size())}}, in, out);
}

void System::addMover(size_t k) {
  const Mover &m = movers[k];
  const std::string master = masterOf(k), base = "base" + std::to_string(k);
  slice(base, "bases", kAddress * int64_t(k), kAddress);
  Parameters parameters = {{"DataWidth", m.dataWidth}, {"Elem", m.wordBits},
                           {"Wide", m.wide},           {"Row", m.row},
                           {"Burst", m.burst},         {"Lanes", m.lanes},
                           {"Depth", m.depth}};
  if (m.isWrite)
    parameters.emplace_back("InFlight", m.inFlight);
  else if (m.isOnce)
    parameters.emplace_back("Once", 1);
  Ports in = {{"clk_i", "clk_i"},
              {"rst_ni", "clear_n"},
              {"start_i", "start"},
              {"base_i", base},
              {"items_i", "items"}};
  Outputs out = {{"error_o", "error" + std::to_string(k), 1}};
  for (const Signal &signal : signalsOf(m)) {
    const std::string at = master + "_" + signal.name;
    const std::string port = std::string("m_axi_") + signal.name;
    if (signal.isInput)
      in.emplace_back(port, at);
    else
      out.emplace_back(port, at, bitsOf(signal, m));
  }
  const std::string &s = m.stream;
  const int64_t bits = m.wide * m.wordBits;
  if (m.isWrite) {
    in.emplace_back("s_axis_tdata", s + "_tdata");
    in.emplace_back("s_axis_tvalid", s + "_tvalid");
    out.emplace_back("s_axis_tready", s + "_tready", 1);
    out.emplace_back("busy_o", "busy" + std::to_string(k), 1);
  } else {
    in.emplace_back("m_axis_tready", s + "_tready");
    out.emplace_back("m_axis_tdata", s + "_tdata", bits);
    out.emplace_back("m_axis_tvalid", s + "_tvalid", 1);
  }
  instance("u_move" + std::to_string(k),
           m.isWrite ? "rhz_move_out" : "rhz_move_in", parameters, in, out);
}

/// The unit's ports are signals of the same names; it does not read TLAST.
void System::addUnit() {
  Ports in;
  Outputs out;
  Block &body = unit.getBody().front();
  for (auto [name, v] :
       llvm::zip_equal(unit.getInputNames().getAsValueRange<StringAttr>(),
                       body.getArguments()))
    in.emplace_back(name.str(), name == "rst_ni"           ? "clear_n"
                                : name.ends_with("_tlast") ? "none"
                                                           : name.str());
  for (auto [name, v] :
       llvm::zip_equal(unit.getOutputNames().getAsValueRange<StringAttr>(),
                       body.getTerminator()->getOperands()))
    out.emplace_back(name.str(), name.ends_with("_tlast") ? "" : name.str(),
                     int64_t(v.getType().getIntOrFloatBitWidth()));
  instance("u_unit", unit.getSymName().str(), {}, in, out);
}

rtl::ModuleOp System::build(StringRef name) {
  addInput("clk_i", 1);
  addInput("rst_ni", 1);
  for (const Signal &signal : kRegisters) {
    const std::string at = std::string("s_axi_control_") + signal.name;
    if (signal.isInput)
      addInput(at, signal.bits);
    else
      addOutput(at);
  }
  addOutput("interrupt_o");
  for (auto [k, m] : llvm::enumerate(movers))
    for (const Signal &signal : signalsOf(m)) {
      const std::string at = masterOf(k) + "_" + signal.name;
      if (signal.isInput)
        addInput(at, bitsOf(signal, m));
      else
        addOutput(at);
    }
  rtl::ModuleOp module = begin(
      name, "A kernel's unit between buffers outside the chip and a host.");
  constant("none", 0, 1);
  addRegisters();
  for (size_t k = 0; k < movers.size(); ++k)
    addMover(k);
  addUnit();
  end();
  return module;
}
} // namespace

void sizeMover(Mover &mover, int64_t lateCycles, double beatsPerCycle) {
  const int64_t bytes = mover.dataWidth / 8;
  mover.burst = std::min(std::max<int64_t>(1, kBurstBytes / bytes),
                         int64_t(llvm::PowerOf2Ceil(uint64_t(mover.beats()))));
  const auto coming = int64_t(std::ceil(double(lateCycles) * beatsPerCycle));
  // Two bursts are whole when a third is asked for.
  mover.depth = int64_t(llvm::PowerOf2Ceil(
      uint64_t(std::max<int64_t>(4, coming + 2 * mover.burst))));
  // A deeper one takes as many blocks of memory.
  constexpr int64_t kFewWords = 64, kBlockWords = 512;
  if (mover.depth > kFewWords && mover.depth < kBlockWords)
    mover.depth = kBlockWords;
  mover.inFlight = kInFlight;
  static_assert(kPageBytes % kBurstBytes == 0);
}

int64_t wiresOf(const Mover &mover) {
  int64_t wires = 0;
  for (const Signal &signal : signalsOf(mover))
    wires += bitsOf(signal, mover);
  return wires;
}

int64_t wiresOfRegisters() {
  int64_t wires = 1;
  for (const Signal &signal : kRegisters)
    wires += signal.bits;
  return wires;
}

rtl::ModuleOp addSystem(rtl::ModuleOp unit, ArrayRef<Mover> movers,
                        StringRef name, OpBuilder &b) {
  OpBuilder::InsertionGuard guard(b);
  return System(unit, movers, b).build(name);
}
} // namespace rhizome::gen
