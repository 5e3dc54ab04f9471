// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the system of a kernel as a host would: buffers are in the banks of a
// memory, arguments and the start are written to registers by AXI4-Lite, done
// is polled or an interrupt, and results are read from the memory. Several
// units share the banks. The generated rhz_ports.h names the ports (RHZ_READS,
// RHZ_WRITES, each with its place in RHZ_BANKS); everything else is an
// argument.
#include "rhz_ports.h"
#include "verilated.h"

#include "rhz_bench.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
using Trace = VerilatedFstC;
#elif VM_TRACE
#include "verilated_vcd_c.h"
using Trace = VerilatedVcdC;
#endif
#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace {
constexpr int kResetCycles = 8;
constexpr int64_t kDistances = 8;
// Registers and bits of ap_ctrl_hs.
constexpr uint32_t kControl = 0x00, kGlobal = 0x04, kEnable = 0x08,
                   kStatus = 0x0c, kStart = 1, kDone = 2, kIdle = 4, kReady = 8;

FILE *report;
bool failed;

void fail(const std::string &text) {
  if (!failed)
    std::fprintf(report, "error %s\n", text.c_str());
  failed = true;
}

/// The host's side of AXI4-Lite: one transfer at a time.
class Registers {
public:
  Registers(uint64_t seed, unsigned percent)
      : asks(seed, percent), takes(seed + 3, percent) {}

  void write(uint32_t place, uint32_t value) { begin(true, place, value); }
  void read(uint32_t place) { begin(false, place, 0); }
  bool isBusy() const { return state != State::Idle; }
  uint32_t value = 0; ///< of the last read

  void drive(Top &top) {
    if (state == State::Waits && !asks.now())
      state = isWrite ? State::Writes : State::Reads;
    const bool writes = state == State::Writes;
    top.s_axi_control_awvalid = writes && !sentAddress;
    top.s_axi_control_wvalid = writes && !sentData;
    top.s_axi_control_awaddr = place;
    top.s_axi_control_wdata = data;
    top.s_axi_control_wstrb = 15;
    top.s_axi_control_arvalid = state == State::Reads && !sentAddress;
    top.s_axi_control_araddr = place;
    top.s_axi_control_bready = top.s_axi_control_rready = ready = !takes.now();
  }
  void sample(const Top &top) {
    if (state != State::Writes && state != State::Reads)
      return;
    if (isWrite) {
      sentAddress |= top.s_axi_control_awvalid && top.s_axi_control_awready;
      sentData |= top.s_axi_control_wvalid && top.s_axi_control_wready;
      if (top.s_axi_control_bvalid && ready)
        state = State::Idle;
    } else {
      sentAddress |= top.s_axi_control_arvalid && top.s_axi_control_arready;
      if (top.s_axi_control_rvalid && ready) {
        value = top.s_axi_control_rdata;
        state = State::Idle;
      }
    }
  }

private:
  enum class State { Idle, Waits, Writes, Reads };
  State state = State::Idle;
  rhz::Stalls asks, takes;
  bool isWrite = false, sentAddress = false, sentData = false, ready = false;
  uint32_t place = 0, data = 0;

  void begin(bool writes, uint32_t at, uint32_t what) {
    state = State::Waits;
    isWrite = writes;
    place = at;
    data = what;
    sentAddress = sentData = false;
  }
};

/// A buffer at a port of a unit, and its files; "-": none.
struct Buffer {
  int64_t bank = 0;
  uint64_t base = 0;
  int64_t bytes = 0, group = 0; ///< of all, and beats of a group
  std::string in = "-", out = "-";
  std::string name; ///< of what it holds
};

struct Unit {
  VerilatedContext context;
  Top *top = nullptr;
  Registers registers;
  std::vector<Buffer> buffers; ///< by port
  std::vector<rhz::ReadPort> reads;
  std::vector<rhz::WritePort> writes;
  int64_t elements = 0;
  bool sawInterrupt = false;
  int64_t started = -1, finished = -1; ///< cycles

  Unit(uint64_t seed, unsigned percent) : registers(seed, percent) {}
};

struct Bench {
  std::vector<std::unique_ptr<Unit>> units;
  std::map<int64_t, std::shared_ptr<rhz::Bank>> banks;
  int64_t now = 0, hang = 100000;
  rhz::MemoryTiming timing; ///< of the first port
#if VM_TRACE
  Trace trace; ///< of the first unit
  uint64_t halfPs = 1, timePs = 0;
#endif

  void clock(bool level) {
    for (auto &unit : units) {
      unit->top->clk_i = level;
      unit->top->eval();
    }
#if VM_TRACE
    trace.dump(timePs);
    timePs += halfPs;
#endif
  }

  void cycle() {
    for (auto &unit : units) {
      Top *top = unit->top;
      unit->registers.drive(*top);
#define DRIVE_READ(k, p)                                                       \
  unit->reads[k].drive(top->p##_arready, top->p##_rvalid, top->p##_rdata,      \
                       top->p##_rlast, now);                                   \
  top->p##_rresp = unit->reads[k].response();
      RHZ_READS(DRIVE_READ)
#define DRIVE_WRITE(k, p)                                                      \
  unit->writes[k].drive(top->p##_awready, top->p##_wready, top->p##_bvalid,    \
                        now);                                                  \
  top->p##_bresp = unit->writes[k].response();
      RHZ_WRITES(DRIVE_WRITE)
    }
    clock(false);
    for (auto &unit : units) {
      Top *top = unit->top;
      unit->registers.sample(*top);
#define SAMPLE_READ(k, p)                                                      \
  unit->reads[k].sample(top->p##_arvalid, top->p##_araddr, top->p##_arlen,     \
                        top->p##_rready, now);
      RHZ_READS(SAMPLE_READ)
#define SAMPLE_WRITE(k, p)                                                     \
  unit->writes[k].sample(top->p##_awvalid, top->p##_awaddr, top->p##_awlen,    \
                         top->p##_wvalid, top->p##_wdata, top->p##_wstrb,      \
                         top->p##_wlast, top->p##_bready, now);                \
  unit->writes[k].note(now);
      RHZ_WRITES(SAMPLE_WRITE)
      if (top->interrupt_o && !unit->sawInterrupt) {
        unit->sawInterrupt = true;
        unit->finished = now;
      }
    }
    clock(true);
    ++now;
  }

  void reset() {
    for (auto &unit : units)
      unit->top->rst_ni = 0;
    for (int i = 0; i < kResetCycles; ++i) {
      for (auto &unit : units) {
        Top *top = unit->top;
        top->s_axi_control_awvalid = top->s_axi_control_wvalid = 0;
        top->s_axi_control_arvalid = 0;
#define QUIET_READ(k, p) top->p##_arready = top->p##_rvalid = 0;
        RHZ_READS(QUIET_READ)
#define QUIET_WRITE(k, p)                                                      \
  top->p##_awready = top->p##_wready = top->p##_bvalid = 0;
        RHZ_WRITES(QUIET_WRITE)
      }
      clock(false);
      clock(true);
    }
    for (auto &unit : units)
      unit->top->rst_ni = 1;
  }

  /// Waits until every unit's host has what it asked for. False after an error.
  bool settle() {
    for (;;) {
      bool busy = false;
      for (auto &unit : units)
        busy |= unit->registers.isBusy();
      if (!busy || failed)
        return !failed;
      cycle();
    }
  }
  bool write(uint32_t place, const std::function<uint32_t(Unit &)> &value) {
    for (auto &unit : units)
      unit->registers.write(place, value(*unit));
    return settle();
  }
  bool read(uint32_t place, const std::function<bool(Unit &)> &check,
            const char *what) {
    for (auto &unit : units)
      unit->registers.read(place);
    if (!settle())
      return false;
    for (auto &unit : units)
      if (!check(*unit))
        fail(std::string(what) + ": the register " + std::to_string(place) +
             " holds " + std::to_string(unit->registers.value));
    return !failed;
  }

  /// Reads which ports the memory answered with an error.
  bool checkErrors() {
    const size_t ports = units[0]->buffers.size();
    for (size_t first = 0; first < ports; first += 32) {
      const auto at = uint32_t(0x14 + 12 * ports + first / 8);
      read(at, [](Unit &) { return true; }, "");
      std::vector<uint32_t> errors;
      for (auto &unit : units)
        errors.push_back(unit->registers.value);
      for (size_t u = 0; u < units.size(); ++u)
        for (size_t n = first; n < ports; ++n)
          if (errors[u] >> (n - first) & 1)
            fail("the memory answered with an error for '" +
                 units[u]->buffers[n].name + "' (m_axi_" + std::to_string(n) +
                 " of unit " + std::to_string(u) + ")");
      const bool hasFailed = failed;
      failed = false;
      read(
          at, [](Unit &unit) { return unit.registers.value == 0; },
          "after errors were read");
      failed |= hasFailed;
    }
    return !failed;
  }

  /// Starts all units with so many elements and waits until they are done.
  bool run(const std::function<int64_t(Unit &)> &elements) {
    for (size_t k = 0; k < units[0]->buffers.size(); ++k) {
      const auto at = uint32_t(0x10 + 12 * k);
      auto half = [k](Unit &unit, int shift) {
        return uint32_t(unit.buffers[k].base >> shift);
      };
      write(at, [&](Unit &unit) { return half(unit, 0); });
      write(at + 4, [&](Unit &unit) { return half(unit, 32); });
      read(
          at, [&](Unit &unit) { return unit.registers.value == half(unit, 0); },
          "an address is not kept");
    }
    const auto last = uint32_t(0x10 + 12 * units[0]->buffers.size());
    write(last, [&](Unit &unit) { return uint32_t(elements(unit)); });
    write(kGlobal, [](Unit &) { return 1; });
    write(kEnable, [](Unit &) { return 1; });
    if (!read(
            kControl, [](Unit &unit) { return unit.registers.value == kIdle; },
            "before a start"))
      return false;
    // Measured after a refresh, whenever that is.
    while (timing.refreshEvery > 0 &&
           (now < timing.refreshEvery ||
            now % timing.refreshEvery != timing.refresh))
      cycle();
    for (auto &unit : units) {
      unit->sawInterrupt = false;
      unit->started = now;
      for (rhz::WritePort &port : unit->writes)
        port.cycles.clear();
    }
    if (!write(kControl, [](Unit &) { return kStart; }))
      return false;
    size_t beats = 0;
    for (int64_t last = now;;) {
      size_t taken = 0;
      bool done = true;
      for (auto &unit : units) {
        done &= unit->sawInterrupt;
        for (const rhz::WritePort &port : unit->writes)
          taken += port.cycles.size();
      }
      if (done || failed)
        break;
      if (taken != beats) {
        beats = taken;
        last = now;
      }
      if (now - last > hang) {
        fail("it hangs: nothing is written for " + std::to_string(hang) +
             " cycles, after " + std::to_string(beats) + " beats");
        return false;
      }
      cycle();
    }
    read(
        kControl,
        [](Unit &unit) {
          return unit.registers.value == (kDone | kIdle | kReady);
        },
        "when it is done");
    read(
        kStatus, [](Unit &unit) { return unit.registers.value == 1; },
        "at an interrupt");
    write(kStatus, [](Unit &) { return 1; });
    if (!checkErrors())
      return false;
    for (auto &unit : units) {
      if (unit->top->interrupt_o)
        fail("an interrupt is not taken back");
      for (const rhz::WritePort &port : unit->writes)
        if (!port.isIdle())
          fail("it is done before all is written");
    }
    return !failed;
  }
};

/// As harness.cpp has it.
double meanInterval(const std::vector<int64_t> &first) {
  int64_t distances = int64_t(first.size()) - 1;
  int64_t used = std::max(kDistances, distances / 2);
  if (distances < used)
    return 0;
  return double(first[size_t(distances)] - first[size_t(distances - used)]) /
         double(used);
}

bool writeAll(const std::string &path, const uint8_t *bytes, size_t size) {
  FILE *f = std::fopen(path.c_str(), "wb");
  if (!f)
    return false;
  bool good = std::fwrite(bytes, 1, size, f) == size;
  return std::fclose(f) == 0 && good;
}
} // namespace

int main(int argc, char **argv) {
  Bench bench;
  unsigned stalls = 0;
  uint64_t seed = 1;
  int64_t single = 0;
  std::string reportPath = "report.txt", tracePath;
  const std::vector<rhz::BankFigures> figures = {RHZ_BANKS};
  unsigned fault = 0;
  std::pair<size_t, size_t> faulty;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    auto number = [&] { return std::strtoll(argv[++i], nullptr, 10); };
    if (arg == "--stalls")
      stalls = unsigned(number());
    else if (arg == "--seed")
      seed = uint64_t(number());
    else if (arg == "--hang")
      bench.hang = number();
    else if (arg == "--single") // elements of a second start; 0: none
      single = number();
    else if (arg == "--trace")
      tracePath = argv[++i];
#if VM_TRACE
    else if (arg == "--half-ps")
      bench.halfPs = uint64_t(number());
#endif
    else if (arg == "--report")
      reportPath = argv[++i];
    else if (arg == "--unit") { // its elements; its buffers follow
      bench.units.push_back(std::make_unique<Unit>(
          seed * 1000 + 31 * bench.units.size(), stalls));
      bench.units.back()->elements = number();
    } else if (arg == "--buffer") {
      Buffer buffer;
      buffer.bank = number();
      buffer.base = uint64_t(number());
      buffer.bytes = number();
      buffer.group = number();
      buffer.in = argv[++i];
      buffer.out = argv[++i];
      buffer.name = argv[++i];
      bench.units.back()->buffers.push_back(buffer);
    } else if (arg == "--fault") { // in the middle of the last buffer
      fault = unsigned(number());
      faulty = {bench.units.size() - 1, bench.units.back()->buffers.size() - 1};
    }
  }
  report = std::fopen(reportPath.c_str(), "w");
  if (!report)
    return 2;
  bench.timing = figures[0].timing;
  for (auto &unit : bench.units) {
    if (unit->buffers.size() != figures.size())
      return 2;
    for (size_t k = 0; k < figures.size(); ++k) {
      const Buffer &buffer = unit->buffers[k];
      auto &bank = bench.banks[buffer.bank];
      if (!bank)
        bank = std::make_shared<rhz::Bank>(figures[k].timing);
      std::vector<uint8_t> bytes = buffer.in == "-"
                                       ? std::vector<uint8_t>()
                                       : rhz::readAll(buffer.in.c_str());
      bytes.resize(size_t(buffer.bytes));
      bank->hold(buffer.base, std::move(bytes));
      const uint64_t own = seed * 1000 + 900 + 64 * unit->buffers[0].base + k;
      if (buffer.out == "-")
        unit->reads.emplace_back(figures[k], own, stalls, fail, bank);
      else
        unit->writes.emplace_back(figures[k], own, stalls, fail, bank);
    }
    unit->context.commandArgs(argc, argv);
#if VM_TRACE
    unit->context.traceEverOn(true);
#endif
    unit->top = new Top(&unit->context);
  }
#if VM_TRACE
  bench.units[0]->top->trace(&bench.trace, 99);
  bench.trace.set_time_unit("1ps");
  bench.trace.set_time_resolution("1ps");
  bench.trace.open(tracePath.c_str());
  if (!bench.trace.isOpen())
    fail("cannot write '" + tracePath + "'");
#endif
  if (fault) {
    const Buffer &buffer = bench.units[faulty.first]->buffers[faulty.second];
    bench.banks[buffer.bank]->failAt(buffer.base + uint64_t(buffer.bytes / 2),
                                     fault);
  }
  auto start = std::chrono::steady_clock::now();
  bench.reset();
  bool good = bench.run([](Unit &unit) { return unit.elements; });
  double interval = 0;
  for (auto &unit : bench.units) {
    size_t port = 0;
    for (const Buffer &buffer : unit->buffers) {
      if (buffer.out == "-")
        continue;
      const std::vector<int64_t> &cycles = unit->writes[port++].cycles;
      std::vector<int64_t> first;
      for (size_t at = 0; at < cycles.size(); at += size_t(buffer.group))
        first.push_back(cycles[at]);
      interval = std::max(interval, meanInterval(first));
      const uint8_t *bytes =
          bench.banks[buffer.bank]->at(buffer.base, uint64_t(buffer.bytes));
      good = good && writeAll(buffer.out, bytes, size_t(buffer.bytes));
    }
  }
  if (good && single) {
    // The same once more, of a single group, to the same buffers.
    if (bench.run([&](Unit &) { return single; })) {
      int64_t most = 0;
      for (auto &unit : bench.units)
        most = std::max(most, unit->finished - unit->started);
      std::fprintf(report, "latency %lld\n", (long long)most);
    }
    for (auto &unit : bench.units)
      for (const Buffer &buffer : unit->buffers)
        if (buffer.out != "-") {
          const uint8_t *bytes =
              bench.banks[buffer.bank]->at(buffer.base, uint64_t(buffer.bytes));
          if (rhz::readAll(buffer.out.c_str()) !=
              std::vector<uint8_t>(bytes, bytes + buffer.bytes))
            fail("a second start gives another result");
        }
  }
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::fprintf(report, "interval %.6f\ncycles %lld\ncycles_per_s %.1f\n",
               interval, (long long)bench.now, double(bench.now) / seconds);
  std::fclose(report);
  for (auto &unit : bench.units)
    unit->top->final();
#if VM_TRACE
  bench.trace.close();
#endif
  for (auto &unit : bench.units)
    delete unit->top;
  return 0;
}
