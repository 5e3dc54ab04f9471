// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels in hardware on the command line: compile and explore with a device,
// and simulate of their packages.
#include "Kernel.h"
#include "Output.h"
#include "TargetOptions.h"
#include "rhizome/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::kernelcommands;

/// The cycles of an element, part by part.
static void printParts(const PlannedKernel &kernel) {
  Table table({"part", "iterations", "every", "depth", "cycles"});
  table.add({"read", "", "", "", grouped(kernel.readCycles)});
  for (const PlannedNest &nest : kernel.nests)
    table.add({nest.name, grouped(nest.iterations), grouped(nest.interval),
               grouped(nest.depth), grouped(nest.cycles)});
  table.add({"write", "", "", "", grouped(kernel.writeCycles)});
  table.print();
  if (kernel.isDataflow) {
    Table stages({"stage", "cycles"});
    for (const PlannedStage &stage : kernel.stages) {
      std::string parts;
      for (const std::string &part : stage.parts)
        parts += (parts.empty() ? "" : ", ") + part;
      stages.add(
          {parts + (stage.isOnce ? " once" : ""), grouped(stage.cycles)});
    }
    llvm::outs() << "\n";
    stages.print();
  }
  Table memories(
      {"memory", "kind", "banks", "words", "bits", "slots", "tensors"});
  for (const PlannedStore &store : kernel.memories) {
    std::string tensors;
    for (const PlannedShare &share : store.tensors)
      tensors += (tensors.empty() ? "" : ", ") + share.tensor;
    memories.add({store.name, store.kind, grouped(store.banks),
                  grouped(store.words), grouped(store.width),
                  grouped(store.slots), tensors});
  }
  llvm::outs() << "\n";
  memories.print();
}

/// The units and lanes of each die, and what it is full of.
static void printUnits(const PlannedKernel &kernel, const PlannedNode &node) {
  for (const PlannedDie &die : node.dies) {
    const int64_t units = llvm::count(kernel.system->dies, die.name);
    double most = 0;
    std::string of;
    for (auto &[name, used] : die.resources)
      if (auto all = die.budget.find(name);
          all != die.budget.end() && used > most * double(all->second)) {
        most = used / double(all->second);
        of = name;
      }
    llvm::outs() << "  die " << die.name << "   "
                 << counted(units * kernel.lanes, "lane") << " in "
                 << counted(units, "unit");
    if (units)
      llvm::outs() << ", " << percent(most) << " of the " << of
                   << " that routes";
    if (die.wires)
      llvm::outs() << ", " << grouped(die.wires) << " of "
                   << grouped(die.wiresAvailable) << " wires to the next";
    llvm::outs() << "\n";
  }
}

bool cli::isPlaced(const Failure &failure) {
  return failure.causes.size() == 1 && failure.causes[0].node.empty() &&
         failure.causes[0].remedy.empty() &&
         llvm::StringRef(failure.reason()).contains('\n');
}

int cli::showKernel(const pipeline::CompileResult &result, bool json) {
  const Plan &plan = result.plan;
  if (json) {
    llvm::json::Object utilization;
    for (auto &[name, share] : plan.utilization)
      utilization[name] = share;
    llvm::json::Object object{{"ok", true},
                              {"package", llvm::json::fixUTF8(result.package)},
                              {"seconds", result.seconds},
                              {"predicted", toJSON(plan.predicted)},
                              {"utilization", std::move(utilization)},
                              {"goal", plan.goal},
                              {"bound", plan.boundPerS},
                              {"bottleneck", plan.bottleneck},
                              {"nodes", nodesJson(plan)},
                              {"kernel", toJSON(*plan.kernel)}};
    if (!result.notes.empty())
      object["notes"] = llvm::json::Array(result.notes);
    printJson(std::move(object));
    return 0;
  }
  printNotes(result.notes);
  if (!result.package.empty())
    llvm::outs() << result.package << "  (" << decimal(result.seconds, 2)
                 << " s)\n";
  printPrediction(plan.predicted);
  if (!plan.cluster.empty())
    llvm::outs() << "  nodes      " << plan.nodes.size() << " of "
                 << plan.cluster << ", each " << plan.device << "\n";
  llvm::outs() << "  used       ";
  const char *separator = "";
  for (auto &[name, share] : plan.utilization) {
    llvm::outs() << separator << name << " " << percent(share);
    separator = ", ";
  }
  llvm::outs() << "\n";
  printUnits(*plan.kernel, plan.nodes[0]);
  llvm::outs() << "\n";
  printParts(*plan.kernel);
  return 0;
}

int cli::runForeignHls(const ForeignHlsRequest &request, bool json) {
  rhizome::Result<ForeignHlsResult> written = writeForeignHls(request);
  if (!written)
    return isPlaced(written.failure()) ? failWithPlaces(written.failure(), json)
                                       : failWith(written.failure(), json);
  const ForeignHlsResult &result = *written;
  if (json) {
    llvm::json::Object object{{"ok", true},
                              {"package", llvm::json::fixUTF8(result.folder)},
                              {"seconds", result.seconds},
                              {"files", llvm::json::Array(result.files)}};
    if (!result.notes.empty())
      object["notes"] = llvm::json::Array(result.notes);
    printJson(std::move(object));
    return 0;
  }
  printNotes(result.notes);
  llvm::outs() << result.folder << "  (" << decimal(result.seconds, 2)
               << " s)\n";
  for (const std::string &file : result.files)
    llvm::outs() << "  " << file << "\n";
  return 0;
}

int cli::runKernelHardware(const HardwareRunRequest &asked, bool json) {
  HardwareRunRequest request = asked;
  // The simulator counts its frames on the same line.
  ProgressLine line(!json, /*ticks=*/false);
  request.showProgress = line.active();
  request.onWait = [&](const std::string &what) { line.announce(what); };
  rhizome::Result<HardwareRunResult> done = simulateHardware(request);
  line.show("");
  if (!done)
    return failWith(done.failure(), json);
  const HardwareRunResult &result = *done;
  const Prediction &predicted = result.plan.predicted;
  const bool good = result.mismatches == 0;
  if (json) {
    llvm::json::Value measured = nullptr;
    if (result.measured)
      measured = llvm::json::Object{{"interval_cycles", result.intervalCycles},
                                    {"latency_cycles", result.latencyCycles}};
    if (result.cluster)
      measured = measuredOf(*result.cluster);
    llvm::json::Object object{{"ok", true},
                              {"frames", result.frames},
                              {"mismatches", result.mismatches},
                              {"outputs", llvm::json::Array(result.outputs)},
                              {"single", result.isSingle},
                              {"predicted", toJSON(predicted)},
                              {"measured", std::move(measured)},
                              {"sim_cycles_per_s", result.simCyclesPerS}};
    if (!result.simulator.empty())
      object["simulator"] = llvm::json::fixUTF8(result.simulator);
    if (result.cluster)
      addCluster(*result.cluster, object);
    if (!result.firstMismatch.empty())
      object["first_mismatch"] = result.firstMismatch;
    if (!result.notes.empty())
      object["notes"] = llvm::json::Array(result.notes);
    printJson(std::move(object));
    return good ? 0 : 1;
  }
  printNotes(result.notes);
  llvm::outs() << counted(result.frames, "element") << ", "
               << verdict(result.mismatches,
                          grouped(result.mismatches) +
                              " mismatches with the evaluator's bits")
               << "\n";
  if (!result.firstMismatch.empty())
    llvm::outs() << "first: " << result.firstMismatch << "\n";
  if (result.measured) {
    Table table({"cycles", "predicted", "measured"});
    table.add({"an element", grouped(predicted.intervalCycles),
               grouped(std::llround(result.intervalCycles))});
    table.add({"latency", grouped(predicted.latencyCycles),
               grouped(result.latencyCycles)});
    table.print();
    llvm::outs() << rateText(double(result.plan.kernel->elementsAtOnce()) *
                             predicted.clockMhz * 1e6 / result.intervalCycles)
                 << " elements per second at " << decimal(predicted.clockMhz, 3)
                 << " MHz\n";
  }
  if (result.cluster)
    printCluster(*result.cluster, predicted);
  if (result.simCyclesPerS > 0)
    llvm::outs() << "simulator: " << grouped(int64_t(result.simCyclesPerS))
                 << " cycles per second, built in "
                 << decimal(result.buildSeconds, 1) << " s\n";
  return good ? 0 : 1;
}
