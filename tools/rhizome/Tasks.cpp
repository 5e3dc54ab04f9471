// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tasks.h"
#include "Output.h"

using namespace rhizome;
using namespace rhizome::cli;

void cli::printTasks(const PlannedTasks &planned) {
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
}
