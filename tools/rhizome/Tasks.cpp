// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tasks.h"
#include "Output.h"
#include "rhizome/Support/Units.h"

using namespace rhizome;
using namespace rhizome::cli;

/// The model's states, and the rate that they allow.
static void printStates(const PlannedTasks &planned, double latencyUs) {
  if (planned.states.empty())
    return;
  llvm::outs() << "\nkept from frame to frame\n";
  Table table({"state", "next", "bytes", "where", "why"});
  for (const PlannedState &state : planned.states)
    table.add({state.name, state.next, grouped(state.bytes),
               state.onFpga ? "fpga" : "host", state.why});
  table.print();
  if (!planned.keptByHost())
    return;
  const double us = latencyUs + planned.outsideUs();
  llvm::outs() << "  a frame begins when the one before has ended";
  if (latencyUs > 0)
    llvm::outs() << ": the device, the host and copies take " << decimal(us, 1)
                 << " us, at most " << rateText(1e6 / us)
                 << " frames per second";
  llvm::outs() << "\n";
}

void cli::printTasks(const PlannedTasks &planned, double latencyUs) {
  Table table({"task", "place", "operations", "tensors", "bytes", "us"});
  for (const PlannedTask &task : planned.tasks) {
    auto addCopy = [&](bool toFpga) {
      for (const PlannedCopy &copy : planned.copies)
        if (copy.task == task.name && copy.toFpga == toFpga)
          table.add({"", toFpga ? "host to fpga" : "fpga to host", "",
                     grouped(int64_t(copy.tensors.size())), grouped(copy.bytes),
                     decimal(copy.us, 2)});
    };
    addCopy(true);
    table.add({task.name, task.onFpga ? "fpga" : "host",
               grouped(task.operations), "", "",
               task.onFpga ? "" : decimal(task.hostUs, 2)});
    addCopy(false);
  }
  llvm::outs() << "\ntasks in order, with one core of " << planned.host
               << " and copies over " << planned.link << "\n";
  table.print();
  printStates(planned, latencyUs);
}
