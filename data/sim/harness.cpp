// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Drives a Verilated design through its AXI4-Stream border: reads frames as raw
// beats, offers and takes them with or without random stalls, checks the
// protocol, measures interval and latency, writes the answers as raw beats.
// Ports whose file is "-" stay silent: those of regions that do not run.
// Memories outside the chip answer as rhz_bench.h says. The generated
// rhz_ports.h names the ports; everything else is an argument.
#include "rhz_ports.h"
#include "verilated.h"

#include "rhz_bench.h"
#ifdef RHZ_ENGINES
#include "rhz_units.h"
#endif
#if VM_TRACE_FST
#include "verilated_fst_c.h"
using Trace = VerilatedFstC;
#elif VM_TRACE
#include "verilated_vcd_c.h"
using Trace = VerilatedVcdC;
#endif
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {
using rhz::get;
using rhz::put;
using rhz::readAll;
using rhz::Stalls;

constexpr int kResetCycles = 8;
constexpr int kIdleCycles = 256; // between the frames and the latency run

FILE *report;
bool failed;

void fail(const std::string &text) {
  std::fprintf(report, "error %s\n", text.c_str());
  failed = true;
}

struct Source {
  std::vector<uint8_t> bytes;     // of the frames that the file holds
  int64_t beats, beatBytes, held; // none held: it stays silent
  Stalls stalls;
  int64_t total = 0;    // beats to send in this run
  int64_t sent = 0;     // beats accepted in this run
  int64_t started = -1; // the cycle that accepted the run's first beat
  bool offering = false;

  const uint8_t *current() const {
    return bytes.data() + (sent % (held * beats)) * beatBytes;
  }
  template <typename T> void drive(CData &valid, T &data, CData &last) {
    if (!offering)
      offering = sent < total && !stalls.now();
    valid = offering;
    if (offering) {
      put(data, current(), beatBytes);
      last = sent % beats == beats - 1;
    }
  }
  void sample(CData ready, int64_t now) {
    if (!offering || !ready)
      return;
    if (sent == 0)
      started = now;
    ++sent;
    offering = false;
  }
};

struct Sink {
  std::string name;
  int64_t beats, beatBytes, kept; // `kept` frames are stored; 0: none comes
  Stalls stalls;
  int64_t total = 0;
  int64_t taken = 0;
  bool ready = false, waiting = false, waitingLast = false;
  std::vector<uint8_t> bytes, scratch, waitingData;
  std::vector<int64_t> firstBeats; // cycle of each frame's first beat
  int64_t finished = -1;           // cycle of the run's last beat

  std::string place() const {
    return name + " at beat " + std::to_string(taken % beats) + " of frame " +
           std::to_string(taken / beats);
  }
  void drive(CData &port) { port = ready = !stalls.now(); }
  template <typename T>
  void sample(CData valid, const T &data, CData last, int64_t now) {
    if (waiting && !valid) {
      fail(place() + ": a beat is withdrawn before it is taken");
      waiting = false;
      return;
    }
    if (!valid)
      return;
    if (taken >= total) {
      fail(name + ": an output beat after the last frame");
      return;
    }
    get(data, scratch.data(), beatBytes);
    if (waiting && (scratch != waitingData || bool(last) != waitingLast))
      fail(place() + ": a waiting beat changes");
    waiting = !ready;
    if (waiting) {
      waitingData = scratch;
      waitingLast = last;
      return;
    }
    if (bool(last) != (taken % beats == beats - 1))
      fail(place() + ": TLAST is " + std::to_string(int(last)));
    if (taken % beats == 0)
      firstBeats.push_back(now);
    if (taken < kept * beats)
      bytes.insert(bytes.end(), scratch.begin(), scratch.end());
    if (++taken == total)
      finished = now;
  }
};

struct Bench {
  VerilatedContext context;
  Top *top = nullptr;
  std::vector<Source> sources;
  std::vector<Sink> sinks;
  std::vector<rhz::BankFigures> figures = {RHZ_BANKS};
  std::vector<rhz::ReadPort> banks;
  std::vector<rhz::WritePort> writers;
  int64_t now = 0, hang = 100000;
  bool progress = false;
#ifdef RHZ_ENGINES
  rhz::UnitWatch units;
#endif
#if VM_TRACE
  Trace trace;
  uint64_t halfPs = 1, timePs = 0;
#endif

  void clock(bool level) {
    top->clk_i = level;
    top->eval();
#if VM_TRACE
    trace.dump(timePs);
    timePs += halfPs;
#endif
  }

  void cycle() {
#define DRIVE_IN(k, p, w)                                                      \
  sources[k].drive(top->p##_tvalid, top->p##_tdata, top->p##_tlast);
    RHZ_INPUTS(DRIVE_IN)
#define DRIVE_OUT(k, p, w) sinks[k].drive(top->p##_tready);
    RHZ_OUTPUTS(DRIVE_OUT)
#define DRIVE_BANK(k, p)                                                       \
  banks[k].drive(top->p##_arready, top->p##_rvalid, top->p##_rdata,            \
                 top->p##_rlast, now);
    RHZ_MEMORIES(DRIVE_BANK)
#define DRIVE_WRITER(j, k, p)                                                  \
  writers[j].drive(top->p##_awready, top->p##_wready, top->p##_bvalid, now);
    RHZ_WRITERS(DRIVE_WRITER)
    clock(false);
#define SAMPLE_IN(k, p, w) sources[k].sample(top->p##_tready, now);
    RHZ_INPUTS(SAMPLE_IN)
#define SAMPLE_OUT(k, p, w)                                                    \
  sinks[k].sample(top->p##_tvalid, top->p##_tdata, top->p##_tlast, now);
    RHZ_OUTPUTS(SAMPLE_OUT)
#define SAMPLE_BANK(k, p)                                                      \
  banks[k].sample(top->p##_arvalid, top->p##_araddr, top->p##_arlen,           \
                  top->p##_rready, now);
    RHZ_MEMORIES(SAMPLE_BANK)
#define SAMPLE_WRITER(j, k, p)                                                 \
  writers[j].sample(top->p##_awvalid, top->p##_awaddr, top->p##_awlen,         \
                    top->p##_wvalid, top->p##_wdata,                           \
                    rhz::WritePort::allBytes(figures[k]), top->p##_wlast,      \
                    top->p##_bready, now);
    RHZ_WRITERS(SAMPLE_WRITER)
#ifdef RHZ_ENGINES
    units.sample(now);
    if (const std::string mistake = units.mistake();
        !mistake.empty() && !failed) {
      std::fprintf(report, "mistake %s\n", mistake.c_str());
      failed = true;
    }
#endif
    clock(true);
    ++now;
  }

  void reset() {
    top->rst_ni = 0;
    for (int i = 0; i < kResetCycles; ++i) {
#define QUIET_IN(k, p, w) top->p##_tvalid = 0;
      RHZ_INPUTS(QUIET_IN)
#define QUIET_OUT(k, p, w) top->p##_tready = 0;
      RHZ_OUTPUTS(QUIET_OUT)
#define QUIET_BANK(k, p) top->p##_arready = top->p##_rvalid = 0;
      RHZ_MEMORIES(QUIET_BANK)
#define QUIET_WRITER(j, k, p)                                                  \
  top->p##_awready = top->p##_wready = top->p##_bvalid = 0;
      RHZ_WRITERS(QUIET_WRITER)
      clock(false);
      clock(true);
    }
    top->rst_ni = 1;
  }

  /// Sends `frames` and waits for all answers. False on a hang or an error.
  bool run(int64_t frames) {
    for (Source &s : sources) {
      s.total = s.held ? frames * s.beats : 0;
      s.sent = 0;
      s.started = -1;
    }
    for (Sink &s : sinks) {
      s.total = s.kept ? frames * s.beats : 0;
      s.taken = 0;
      s.firstBeats.clear();
    }
    int64_t lastTaken = -1, lastProgress = now, lastFrame = -1;
    while (!failed) {
      bool done = true;
      int64_t taken = 0;
      for (const Sink &s : sinks) {
        done &= s.taken == s.total;
        taken += s.taken;
      }
      if (done)
        return true;
      if (taken != lastTaken) {
        lastTaken = taken;
        lastProgress = now;
      }
      if (progress && sinks[0].taken / sinks[0].beats != lastFrame) {
        lastFrame = sinks[0].taken / sinks[0].beats;
        std::fprintf(stderr, "\rsimulating frame %lld of %lld, cycle %lld ",
                     (long long)lastFrame, (long long)frames, (long long)now);
      }
      if (now - lastProgress > hang) {
        std::string text = "it hangs: no output for " + std::to_string(hang) +
                           " cycles; waiting for";
        for (const Sink &s : sinks)
          if (s.taken < s.total)
            text += " " + s.place();
        text += "; beats accepted:";
        for (const Source &s : sources)
          text +=
              " " + std::to_string(s.sent) + " of " + std::to_string(s.total);
        fail(text);
        return false;
      }
      cycle();
    }
    return false;
  }
};

/// What a port of the design says, where the design has that port: a board and
/// a netlist have none.
template <typename Of>
auto said(Of of, Top *top, int) -> decltype(int64_t(of(top))) {
  return of(top);
}
template <typename Of> int64_t said(Of, Top *, long) { return 0; }

bool writeAll(const std::string &path, const std::vector<uint8_t> &bytes) {
  FILE *f = std::fopen(path.c_str(), "wb");
  if (!f)
    return false;
  bool good = std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  return std::fclose(f) == 0 && good;
}

/// The mean of the last half of the distances between first beats, at least
/// `least` of them; the first frames fill the pipeline.
/// Those before the `last` ones are counted: when nothing comes after a frame,
/// it no longer shares memories with others. Frames that come out in batches
/// are counted in whole ones.
double meanInterval(const std::vector<int64_t> &first, int64_t last,
                    int64_t least, int64_t batch) {
  int64_t distances = int64_t(first.size()) - last - 1;
  int64_t used = std::max(least, distances / 2);
  used = (used + batch - 1) / batch * batch;
  if (distances < used)
    return 0;
  return double(first[distances] - first[distances - used]) / double(used);
}
} // namespace

int main(int argc, char **argv) {
  Bench bench;
  int64_t frames = 1, total = 1, last = 0, distances = 8, batch = 1;
  unsigned stallsIn = 0, stallsOut = 0;
  uint64_t seed = 1;
  bool latency = false, keeps = false;
  // For so long actors may go on with rows that no output needs.
  int64_t busy = 0;
  std::vector<std::string> outFiles;
  std::string reportPath = "report.txt", tracePath, unitsPath;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    auto number = [&] { return std::strtoll(argv[++i], nullptr, 10); };
    if (arg == "--frames")
      frames = number();
    else if (arg == "--total")
      total = number();
    else if (arg == "--last")
      last = number();
    else if (arg == "--distances")
      distances = number();
    else if (arg == "--batch")
      batch = number();
    else if (arg == "--stalls-in")
      stallsIn = number();
    else if (arg == "--stalls-out")
      stallsOut = number();
    else if (arg == "--seed")
      seed = number();
    else if (arg == "--hang")
      bench.hang = number();
    else if (arg == "--latency")
      latency = number();
    else if (arg == "--keeps") // something from frame to frame
      keeps = number();
    else if (arg == "--busy")
      busy = number();
    else if (arg == "--progress")
      bench.progress = number();
    else if (arg == "--trace")
      tracePath = argv[++i];
#if VM_TRACE
    else if (arg == "--half-ps")
      bench.halfPs = uint64_t(number());
#endif
    else if (arg == "--units") // of engines, if there are any
      unitsPath = argv[++i];
    else if (arg == "--report")
      reportPath = argv[++i];
    else if (arg == "--in") {
      const char *file = argv[++i];
      int64_t beats = number(), beatBytes = number();
      const bool isSilent = !std::strcmp(file, "-");
      bench.sources.push_back(
          {isSilent ? std::vector<uint8_t>() : readAll(file), beats, beatBytes,
           isSilent ? 0 : frames,
           Stalls(seed * 1000 + bench.sources.size(), stallsIn)});
    } else if (arg == "--out") {
      outFiles.push_back(argv[++i]);
      int64_t beats = number(), beatBytes = number();
      size_t k = bench.sinks.size();
      bench.sinks.push_back({"output " + std::to_string(k), beats, beatBytes,
                             outFiles.back() == "-" ? 0 : frames,
                             Stalls(seed * 1000 + 500 + k, stallsOut)});
      bench.sinks.back().scratch.resize(beatBytes);
    }
  }
  report = std::fopen(reportPath.c_str(), "w");
  if (!report)
    return 2;
  for (const Source &s : bench.sources)
    if (int64_t(s.bytes.size()) != s.held * s.beats * s.beatBytes) {
      std::fprintf(stderr, "an input file has the wrong size\n");
      return 2;
    }
  const auto banks = rhz::banksOf(bench.figures, {RHZ_SEGMENTS}, {RHZ_SPACES});
  for (const rhz::BankFigures &bank : bench.figures)
    bench.banks.emplace_back(bank, seed * 1000 + 900 + bench.banks.size(),
                             stallsIn, fail, banks[bench.banks.size()]);
#define ADD_WRITER(j, k, p)                                                    \
  bench.writers.emplace_back(bench.figures[k], seed * 1000 + 950 + j,          \
                             stallsIn, fail, banks[k]);
  RHZ_WRITERS(ADD_WRITER)
  bench.context.commandArgs(argc, argv);
#if VM_TRACE
  bench.context.traceEverOn(true);
#endif
  bench.top = new Top(&bench.context);
#if VM_TRACE
  bench.top->trace(&bench.trace, 99);
  bench.trace.set_time_unit("1ps");
  bench.trace.set_time_resolution("1ps");
  bench.trace.open(tracePath.c_str());
  if (!bench.trace.isOpen())
    fail("cannot write '" + tracePath + "'");
#endif
#ifdef RHZ_ENGINES
  // A frame in the middle, as those that the interval is measured with.
  bench.top->eval();
  bench.units.find(bench.context, total / 2);
#endif
  auto start = std::chrono::steady_clock::now();
  bench.reset();
  bool good = bench.run(total);
  // The inputs stay shut while memories are loaded.
  int64_t opened = bench.now;
  for (const Source &s : bench.sources)
    if (s.started >= 0)
      opened = std::min(opened, s.started);
  for (size_t k = 0; good && k < outFiles.size(); ++k)
    good = !bench.sinks[k].kept || writeAll(outFiles[k], bench.sinks[k].bytes);
  double interval = 0;
  for (const Sink &s : bench.sinks)
    interval =
        std::max(interval, meanInterval(s.firstBeats, last, distances, batch));
  // What still moves afterwards is an error: no sink expects a beat.
  for (int64_t i = 0; good && !failed && i < kIdleCycles + busy; ++i)
    bench.cycle();
  if (good && !failed && latency) {
    // It begins as before, and has filled what it keeps when the frame comes.
    if (keeps)
      bench.reset();
    for (int64_t i = 0; keeps && i < kIdleCycles + busy; ++i)
      bench.cycle();
    std::vector<std::vector<uint8_t>> before;
    for (Sink &s : bench.sinks) {
      before.emplace_back(s.bytes.begin(),
                          s.bytes.begin() + s.beats * s.beatBytes);
      s.bytes.clear();
    }
    if (bench.run(1)) {
      int64_t first = bench.now, last = 0;
      for (const Source &s : bench.sources)
        if (s.started >= 0) // What stays is not read again.
          first = std::min(first, s.started);
      for (size_t k = 0; k < bench.sinks.size(); ++k) {
        last = std::max(last, bench.sinks[k].finished);
        if (bench.sinks[k].bytes != before[k])
          fail("the first frame gives another result when it is sent again");
      }
      std::fprintf(report, "latency %lld\n", (long long)(last - first));
    }
  }
  int64_t wrongFrames = 0;
#define ADD_ERRORS(k, p, w)                                                    \
  wrongFrames +=                                                               \
      said([](auto *t) -> decltype(t->p##_err_o) { return t->p##_err_o; },     \
           bench.top, 0);
  RHZ_INPUTS(ADD_ERRORS)
  std::fprintf(report, "frame_errors %lld\n", (long long)wrongFrames);
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::fprintf(
      report, "interval %.6f\nload %lld\ncycles %lld\ncycles_per_s %.1f\n",
      interval, (long long)opened, (long long)bench.now, bench.now / seconds);
#ifdef RHZ_ENGINES
  if (!unitsPath.empty()) {
    if (FILE *units = std::fopen(unitsPath.c_str(), "w")) {
      bench.units.write(units);
      std::fclose(units);
    } else {
      fail("cannot write '" + unitsPath + "'");
    }
  }
#endif
  std::fclose(report);
  if (bench.progress)
    std::fprintf(stderr, "\r%60s\r", "");
  bench.top->final();
#if VM_TRACE
  bench.trace.close();
#endif
  delete bench.top;
  return 0;
}
