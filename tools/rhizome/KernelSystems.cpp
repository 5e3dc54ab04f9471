// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// explore --systems: a device full of a kernel's lanes.
#include "Kernel.h"
#include "Output.h"
#include "rhizome/KernelCommands/Systems.h"
#include "rhizome/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <map>
#include <tuple>

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::kernelcommands;

static std::string scientific(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", value);
  return text;
}

static llvm::json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return scientific(value); // JSON has no infinity
}

static llvm::json::Value pointJson(const SystemResult &result,
                                   const SystemPoint &p) {
  llvm::json::Object lane;
  for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
    lane[gen::kResourceNames[k]] = std::ceil(2 * p.lane.amount[k]) / 2;
  llvm::json::Array dies;
  for (const SystemPoint::Die &die : p.dies)
    dies.push_back(llvm::json::Object{{"name", die.name},
                                      {"units", die.units},
                                      {"share", die.share},
                                      {"resource", die.resource}});
  llvm::json::Object object{{"stages", p.stages},
                            {"products", p.products},
                            {"side_by_side", p.sideBySide},
                            {"words", p.words},
                            {"shared", p.isShared},
                            {"copies", llvm::json::Array(p.copies)},
                            {"interval_cycles", p.interval},
                            {"slowest", p.slowest},
                            {"lane", std::move(lane)},
                            {"lanes", p.lanes},
                            {"units", p.units},
                            {"channels", p.channels},
                            {"throughput_per_s", p.elementsPerS},
                            {"operations_per_s", p.operationsPerS},
                            {"bytes_per_s", p.bytesPerS},
                            {"channel_load", p.channelLoad},
                            {"share", p.share},
                            {"dies", std::move(dies)},
                            {"pareto", p.isPareto},
                            {"bound", p.bound}};
  if (!result.formats.empty())
    object["format"] = result.formats[p.format].format.str();
  return object;
}

static llvm::json::Value formatsJson(const SystemResult &result) {
  llvm::json::Array formats;
  for (const SystemFormat &format : result.formats)
    formats.push_back(
        llvm::json::Object{{"format", format.format.str()},
                           {"snr_db", number(format.snrDb)},
                           {"max_error", number(format.maximum)},
                           {"relative_error", number(format.relative)},
                           {"overflows", int64_t(format.overflows)},
                           {"obstacle", format.obstacle}});
  return formats;
}

static std::string stagesOf(const SystemPoint &p) {
  if (p.stages > 0)
    return std::to_string(p.stages);
  return p.isShared ? "serial" : "serial, apart";
}

/// The front, and each kind of lane as often as it fits.
static void printLanes(const SystemResult &result) {
  Table table({"stages", "products", "words", "cycles", "lanes", "units",
               "channels", "per second", "GOPS", "used", ""});
  auto isSameLane = [](const SystemPoint &a, const SystemPoint &b) {
    return a.stages == b.stages && a.products == b.products &&
           a.words == b.words && a.isShared == b.isShared;
  };
  const SystemPoint *before = nullptr;
  for (const SystemPoint &p : result.points) {
    // Of a lane that is on the front many times: the first and the most.
    const bool isFull = !p.bound.empty();
    const bool isFirst = !before || !isSameLane(*before, p);
    if (p.isPareto)
      before = &p;
    if (!isFull && (!p.isPareto || !isFirst))
      continue;
    table.add({stagesOf(p), grouped(p.products), grouped(p.words),
               grouped(p.interval), grouped(p.lanes), grouped(p.units),
               grouped(p.channels), rateText(p.elementsPerS),
               decimal(p.operationsPerS / 1e9, 1), percent(p.share),
               p.isPareto ? "front" : ""});
  }
  table.print();
}

/// The error of a format's results, as a reader compares it.
static std::string errorOf(const SystemFormat &format) {
  return format.overflows ? "overflows" : scientific(format.relative);
}

/// The front over all formats: of a lane that is on it many times the first
/// and the most; and each format's fastest, with its bound.
static void printFormats(const SystemResult &result) {
  Table table({"format", "error", "stages", "copies", "words", "cycles",
               "lanes", "units", "per second", "used", "", "bound"});
  using Lane = std::tuple<size_t, int64_t, int64_t, int64_t, bool>;
  auto laneOf = [](const SystemPoint &p) {
    return Lane(p.format, p.stages, p.sideBySide, p.words, p.isShared);
  };
  std::map<Lane, std::pair<size_t, size_t>> ends;
  std::vector<size_t> best(result.formats.size());
  for (auto [n, p] : llvm::enumerate(result.points)) {
    best[p.format] = n;
    if (p.isPareto)
      ends.try_emplace(laneOf(p), n, n).first->second.second = n;
  }
  for (auto [n, p] : llvm::enumerate(result.points)) {
    auto end = ends.find(laneOf(p));
    const bool isEnd =
        p.isPareto && (end->second.first == n || end->second.second == n);
    if (!isEnd && best[p.format] != n)
      continue;
    const SystemFormat &format = result.formats[p.format];
    table.add({format.format.str(), errorOf(format), stagesOf(p),
               grouped(p.sideBySide), grouped(p.words), grouped(p.interval),
               grouped(p.lanes), grouped(p.units), rateText(p.elementsPerS),
               percent(p.share), p.isPareto ? "front" : "", p.bound});
  }
  table.print();
  for (const SystemFormat &format : result.formats)
    if (!format.obstacle.empty())
      llvm::outs() << format.format.str() << ": " << format.obstacle << "\n";
  llvm::outs() << "error: the largest over the largest result in double; "
                  "front: nothing is as exact, as fast and as small\n";
}

int cli::runKernelSystems(const SystemRequest &asked,
                          const std::string &picture, bool json) {
  ProgressLine line(!json);
  line.show("building lanes …");
  SystemRequest request = asked;
  request.progress = [&line](llvm::StringRef what) {
    line.show(what.str() + " …");
  };
  rhizome::Result<SystemResult> done = exploreSystems(request);
  line.show("");
  if (!done)
    return failWith(done.failure(), json);
  const SystemResult &result = *done;
  const SystemPoint &best = result.best();
  if (!picture.empty()) {
    std::error_code code;
    llvm::raw_fd_ostream os(picture, code);
    if (code)
      return failWith("cannot write '" + picture + "': " + code.message(),
                      json);
    os << drawSystems(result,
                      "Systems of " + request.path + " on " + result.device);
  }
  if (json) {
    llvm::json::Array points;
    for (const SystemPoint &p : result.points)
      points.push_back(pointJson(result, p));
    llvm::json::Object object{{"device", result.device},
                              {"clock_mhz", result.clockMhz},
                              {"operations", result.operations},
                              {"points", std::move(points)},
                              {"best", pointJson(result, best)}};
    if (!result.formats.empty())
      object["formats"] = formatsJson(result);
    printJson(std::move(object));
    return 0;
  }
  std::string numbers;
  if (result.formats.empty()) {
    printLanes(result);
  } else {
    printFormats(result);
    numbers = " in " + result.formats[best.format].format.str();
  }
  llvm::outs() << "\n"
               << (numbers.empty() ? "best" : "fastest") << numbers << " on "
               << result.device << " at " << decimal(result.clockMhz, 3)
               << " MHz: " << grouped(best.lanes) << " lanes in "
               << counted(best.units, "unit") << ", "
               << rateText(best.elementsPerS) << " elements per second, "
               << decimal(best.operationsPerS / 1e9, 1) << " GOPS ("
               << grouped(result.operations) << " operations each)\n"
               << "  a lane    an element every " << grouped(best.interval)
               << " cycles (" << best.slowest << "), "
               << grouped(int64_t(std::ceil(best.lane.lut()))) << " LUT, "
               << grouped(int64_t(std::ceil(best.lane.ff()))) << " FF, "
               << grouped(int64_t(std::ceil(best.lane.dsp()))) << " DSP, "
               << decimal(std::ceil(2 * best.lane.bram()) / 2, 1) << " BRAM, "
               << grouped(int64_t(std::ceil(best.lane.uram()))) << " URAM\n"
               << "  memory    " << decimal(best.bytesPerS / 1e9, 1)
               << " GB/s over " << grouped(best.channels)
               << " channels, the busiest at " << percent(best.channelLoad)
               << "\n";
  for (const SystemPoint::Die &die : best.dies)
    if (best.dies.size() > 1 && die.units > 0)
      llvm::outs() << "  die " << die.name << "  "
                   << counted(die.units * best.lanes / best.units, "lane")
                   << " in " << counted(die.units, "unit") << ", "
                   << percent(die.share) << " of the " << die.resource
                   << " that routes\n";
  llvm::outs() << "  bound     " << best.bound << "\n  built by  rhizome "
               << "compile … --system --units " << best.units << " --lanes "
               << best.lanes / best.units << " --stages " << best.stages;
  if (best.words > 1)
    llvm::outs() << " --words " << best.words;
  for (const std::string &name : request.unit.residents)
    llvm::outs() << " --resident " << name;
  for (const std::string &copies : best.copies)
    llvm::outs() << " --copies '" << copies << "'";
  llvm::outs() << "\n";
  return 0;
}
