// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each library cell takes: pipeline latencies and cyclo-static phases, as
// docs/rationale/stream-cells.md states them. Parameters that begin with a
// small letter (`frameBeats`: beats of the output a frame) close the period;
// they are not passed to the hardware.
#include "rhizome/Generator/Gearbox.h"
#include <algorithm>
#include <numeric>

namespace rhizome::gen {
namespace {
int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t clog2(int64_t n) {
  int64_t bits = 0;
  while ((int64_t(1) << bits) < n)
    ++bits;
  return bits;
}

/// Push to visible in the output buffer.
int64_t bufferLatency(const Actor &actor) {
  return actor.get("Depth") > 64 ? 2 : 1;
}

/// Beats of `lanes` tokens that a row of `row` tokens makes, consuming or
/// producing.
std::vector<Phase> rowPhases(int64_t row, int64_t lanes, bool accept) {
  std::vector<Phase> phases;
  auto add = [&](int64_t repeat, int64_t tokens) {
    Phase phase;
    phase.repeat = repeat;
    phase.need[0] = phase.consume[0] = accept ? 1 : tokens;
    phase.produce = accept ? tokens : 1;
    if (repeat > 0 && tokens > 0)
      phases.push_back(phase);
  };
  add(row / lanes, lanes);
  add(1, row % lanes);
  return phases;
}

/// A store between an accepting and an emitting process, whose tokens are of
/// `bits` bits.
void addGearbox(const Actor &a, Network &network, int64_t bits, int64_t frame,
                int64_t lanesIn, int64_t rowIn, int64_t lanesOut,
                int64_t rowOut, const std::vector<int> &inputs,
                const std::vector<int> &outputs) {
  Gearbox gearbox = Gearbox::of(a);
  int store = network.addChannel(a.name + ".store",
                                 gearbox.store * gearbox.unitBits / bits,
                                 1 + gearbox.in.stage);
  network.processes.push_back({a.name + ".accept",
                               rowPhases(rowIn, lanesIn, true),
                               frame / rowIn,
                               inputs,
                               {store}});
  network.processes.push_back({a.name + ".emit",
                               rowPhases(rowOut, lanesOut, false),
                               frame / rowOut,
                               {store},
                               outputs});
}

void addWindow(const Actor &a, Network &network, const std::vector<int> &inputs,
               const std::vector<int> &outputs) {
  int64_t height = a.get("Height"), width = a.get("Width");
  int64_t q = a.get("PixelsIn"), p = a.get("PixelsOut");
  int64_t words = ceilDiv(a.get("Channels"), a.get("Lanes"));
  int64_t rowBeats = q > 1 ? ceilDiv(width, q) : width * words;
  int store = network.addChannel(a.name + ".rows", a.get("Rows") * rowBeats, 1);
  Phase write;
  write.repeat = height * rowBeats;
  write.need[0] = write.consume[0] = 1;
  write.produce = 1;
  network.processes.push_back({a.name + ".write", {write}, 1, inputs, {store}});

  int64_t beats = a.get("Repeat") * words;
  if (!a.get("KernelParallel"))
    beats *= a.get("KernelH") * a.get("KernelW");
  Process read{a.name + ".read", {}, 1, {store}, outputs};
  int64_t released = 0, outHeight = a.get("OutHeight");
  for (int64_t oy = 0; oy < outHeight; ++oy) {
    int64_t lastRow =
        std::clamp<int64_t>(oy * a.get("StrideH") - a.get("PadTop") +
                                (a.get("KernelH") - 1) * a.get("DilationH"),
                            0, height - 1);
    int64_t keep =
        oy + 1 == outHeight
            ? height
            : std::clamp<int64_t>((oy + 1) * a.get("StrideH") - a.get("PadTop"),
                                  released, height);
    for (int64_t ox = 0; ox < a.get("OutWidth"); ox += p) {
      int64_t lastColumn = std::clamp<int64_t>(
          (ox + p - 1) * a.get("StrideW") - a.get("PadLeft") +
              (a.get("KernelW") - 1) * a.get("DilationW"),
          0, width - 1);
      Phase first, rest;
      first.need[0] = (lastRow - released) * rowBeats +
                      (q > 1 ? lastColumn / q + 1 : (lastColumn + 1) * words);
      first.produce = rest.produce = 1;
      rest.repeat = beats - 1;
      bool endOfRow = ox + p >= a.get("OutWidth");
      if (beats > 1)
        read.phases.push_back(first);
      if (endOfRow) {
        Phase last = beats > 1 ? rest : first;
        last.repeat = 1;
        last.consume[0] = (keep - released) * rowBeats;
        if (--rest.repeat > 0)
          read.phases.push_back(rest);
        read.phases.push_back(last);
      } else {
        read.phases.push_back(beats > 1 ? rest : first);
      }
    }
    released = keep;
  }
  network.processes.push_back(std::move(read));
}
} // namespace

int64_t multiplierStages(const Actor &a) {
  auto isDeep = [&](const char *style, int64_t x, int64_t w) {
    return a.get(style) == 0 && std::min(x, w) > 4;
  };
  bool deep = false;
  if (a.cell == "requant") {
    int64_t x = a.get("InWidth") + !a.get("InSigned"), split = a.get("Split");
    deep = (a.get("Slice") > 0 && a.get("MulWidth") > 0) ||
           isDeep("Style", x, a.get("MulWidth") - split) ||
           (split > 0 && isDeep("SplitStyle", x, split + 1));
  } else if (productsOf(a) > 0) {
    deep =
        isDeep("Style", a.get("XWidth") + !a.get("XSigned"), a.get("WWidth"));
  }
  return deep ? 2 : 1;
}

int64_t latencyOf(const Actor &a) {
  int64_t v = bufferLatency(a);
  const std::string &cell = a.cell;
  if (cell == "window")
    return (a.get("KernelParallel") ? 5 : 4) + v;
  if (cell == "matvec") {
    if (a.get("Style") != 2)
      return 5 + multiplierStages(a) + clog2(a.get("Simd")) + v;
    int64_t packed = a.get("XSigned") ? 7 : 4;
    int64_t cascades = ceilDiv(a.get("Simd"), packed);
    int64_t length = ceilDiv(a.get("Simd"), cascades);
    return 8 + length + clog2(cascades) + v;
  }
  if (cell == "lane_reduce")
    return 6 + multiplierStages(a) + clog2(a.get("Taps")) + v;
  if (cell == "requant")
    return 6 + multiplierStages(a) + (a.get("Split") > 0 ? 1 : 0) + v;
  if (cell == "threshold")
    return (a.get("Count") <= 3 ? 4 : 2 + 2 * clog2(a.get("Count") + 1)) + v;
  if (cell == "table" || cell == "scaled_add" || cell == "product")
    return 4 + v;
  if (cell == "reorder")
    return 3 + v;
  if (cell == "circuit")
    return a.get("stages") + v;
  if (cell == "gearbox" || cell == "axis_in" || cell == "axis_out")
    return 1 + Gearbox::of(a).out.stage + v;
  return 1 + v; // concat, select, fork, fifo
}

int64_t fullRateDepth(const Actor &actor) { return latencyOf(actor) + 1; }

void addProcesses(const Actor &a, Network &network,
                  const std::vector<int> &inputs,
                  const std::vector<int> &outputs) {
  const std::string &cell = a.cell;
  if (cell == "window")
    return addWindow(a, network, inputs, outputs);
  if (cell == "gearbox")
    return addGearbox(a, network, a.get("Elem"), a.get("frameElements"),
                      a.get("LanesIn"), a.get("RowIn"), a.get("LanesOut"),
                      a.get("RowOut"), inputs, outputs);
  if (cell == "axis_in" || cell == "axis_out") {
    // In bits, so that elements may straddle border beats.
    int64_t elem = a.get("Elem"), frame = a.get("FrameElements") * elem;
    int64_t lanes = a.get("Lanes") * elem, row = a.get("Row") * elem;
    int64_t border = a.get("DataWidth");
    if (cell == "axis_in")
      return addGearbox(a, network, 1, frame, border, frame, lanes, row, inputs,
                        outputs);
    int out =
        network.addChannel(a.name + ".axis", a.get("Depth"), latencyOf(a));
    addGearbox(a, network, 1, frame, lanes, row, border, frame, inputs, {out});
    Phase take;
    take.repeat = ceilDiv(frame, border);
    take.need[0] = take.consume[0] = 1;
    network.processes.push_back({a.name + ".sink", {take}, 1, {out}, {}});
    return;
  }
  if (cell == "reorder") {
    int64_t n = a.get("Elements"), m = a.get("OutElements");
    int64_t blocks = a.get("frameBeats") / m;
    int store = network.addChannel(a.name + ".pages", 2 * n, 1);
    Phase write;
    write.repeat = n;
    write.need[0] = write.consume[0] = write.produce = 1;
    network.processes.push_back(
        {a.name + ".write", {write}, blocks, inputs, {store}});
    // A page is free only as a whole: its last read frees all of it.
    Process read{a.name + ".read", {}, blocks, {store}, outputs};
    Phase first, middle, last;
    first.need[0] = n;
    first.produce = middle.produce = last.produce = 1;
    middle.repeat = m - 2;
    (m == 1 ? first : last).consume[0] = n;
    read.phases = {first};
    if (m > 2)
      read.phases.push_back(middle);
    if (m > 1)
      read.phases.push_back(last);
    network.processes.push_back(std::move(read));
    return;
  }

  Process process{a.name, {}, 1, inputs, outputs};
  Phase one;
  one.need[0] = one.consume[0] = one.produce = 1;
  if (cell == "matvec" || cell == "lane_reduce") {
    Phase collect = one;
    collect.produce = 0;
    collect.repeat = a.get("Folds") - 1;
    if (collect.repeat > 0)
      process.phases.push_back(collect);
    process.phases.push_back(one);
    process.periods = a.get("frameBeats");
  } else if (cell == "select") {
    // Dropped, kept, dropped between, …
    int64_t inner = a.get("Inner"), stride = a.get("Stride"),
            count = a.get("Count");
    auto add = [&](int64_t groups, bool keep) {
      Phase phase = one;
      phase.repeat = groups * inner;
      phase.produce = keep;
      if (groups > 0)
        process.phases.push_back(phase);
    };
    add(a.get("Start"), false);
    if (stride == 1) {
      add(count, true);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        add(1, true);
        if (i + 1 < count)
          add(stride - 1, false);
      }
    }
    add(a.get("Period") - a.get("Start") - (count - 1) * stride - 1, false);
    process.periods = a.get("frameBeats") / (count * inner);
  } else if (cell == "concat") {
    Phase first = one, second;
    first.repeat = a.get("BlockA");
    second.repeat = a.get("BlockB");
    second.need[1] = second.consume[1] = second.produce = 1;
    process.phases = {first, second};
    process.periods = a.get("frameBeats") / (first.repeat + second.repeat);
  } else {
    one.repeat = a.get("frameBeats");
    if (cell == "scaled_add" || cell == "product")
      one.need[1] = one.consume[1] = 1;
    process.phases = {one};
  }
  network.processes.push_back(std::move(process));
}

int64_t serviceCycles(const Actor &actor) {
  bool joins = actor.cell == "scaled_add" || actor.cell == "product" ||
               actor.cell == "concat";
  Network network;
  std::vector<int> inputs, outputs;
  if (actor.cell != "axis_in")
    for (int i = 0; i < (joins ? 2 : 1); ++i)
      inputs.push_back(network.addChannel("", 0, 1));
  if (actor.cell != "axis_out")
    outputs.push_back(network.addChannel("", 0, 1));
  addProcesses(actor, network, inputs, outputs);
  int64_t most = 0;
  for (const Process &process : network.processes) {
    int64_t firings = 0;
    for (const Phase &phase : process.phases)
      firings += phase.repeat;
    most = std::max(most, firings * process.periods);
  }
  return most;
}
} // namespace rhizome::gen
