// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// explore --systems: a device full of a kernel's lanes.
#include "Kernel.h"
#include "Output.h"
#include "rhizome/KernelCommands/Systems.h"
#include "rhizome/Support/Units.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::kernelcommands;

static llvm::json::Value pointJson(const SystemPoint &p) {
  llvm::json::Object lane;
  for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
    lane[gen::kResourceNames[k]] = std::ceil(2 * p.lane.amount[k]) / 2;
  return llvm::json::Object{{"stages", p.stages},
                            {"products", p.products},
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
                            {"pareto", p.isPareto},
                            {"bound", p.bound}};
}

static std::string stagesOf(const SystemPoint &p) {
  if (p.stages > 0)
    return std::to_string(p.stages);
  return p.isShared ? "serial" : "serial, apart";
}

int cli::runKernelSystems(const HardwareRequest &request, bool json) {
  ProgressLine line(!json);
  line.show("building lanes …");
  rhizome::Result<SystemResult> done = exploreSystems(request);
  line.show("");
  if (!done)
    return failWith(done.failure(), json);
  const SystemResult &result = *done;
  const SystemPoint &best = result.points.back();
  if (json) {
    llvm::json::Array points;
    for (const SystemPoint &p : result.points)
      points.push_back(pointJson(p));
    printJson(llvm::json::Object{{"device", result.device},
                                 {"clock_mhz", result.clockMhz},
                                 {"operations", result.operations},
                                 {"points", std::move(points)},
                                 {"best", pointJson(best)}});
    return 0;
  }
  // The front, and each kind of lane as often as it fits.
  Table table({"stages", "products", "cycles", "lanes", "units", "channels",
               "per second", "GOPS", "used", ""});
  auto isSameLane = [](const SystemPoint &a, const SystemPoint &b) {
    return a.stages == b.stages && a.products == b.products &&
           a.isShared == b.isShared;
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
    table.add({stagesOf(p), grouped(p.products), grouped(p.interval),
               grouped(p.lanes), grouped(p.units), grouped(p.channels),
               rateText(p.elementsPerS), decimal(p.operationsPerS / 1e9, 1),
               percent(p.share), p.isPareto ? "front" : ""});
  }
  table.print();
  llvm::outs() << "\nbest on " << result.device << " at "
               << decimal(result.clockMhz, 3) << " MHz: " << grouped(best.lanes)
               << " lanes in " << grouped(best.units) << " units, "
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
               << "\n  bound     " << best.bound << "\n  built by  rhizome "
               << "compile … --stages " << best.stages;
  for (const std::string &name : request.unit.residents)
    llvm::outs() << " --resident " << name;
  for (const std::string &copies : best.copies)
    llvm::outs() << " --copies '" << copies << "'";
  llvm::outs() << "\n";
  return 0;
}
