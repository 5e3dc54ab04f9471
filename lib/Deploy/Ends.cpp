// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Ends.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::model;

Ends::Ends(const HostModel &model) {
  for (const HostModel::Task &task : model.tasks()) {
    if (!task.onFpga)
      continue;
    mlir::func::FuncOp function = task.function;
    Operation *end = function.getBody().front().getTerminator();
    for (size_t i = 0; i < task.outputPorts; ++i) {
      Operation *op = end->getOperand(unsigned(i)).getDefiningOp();
      while (isa_and_present<osa::ReshapeOp, osa::TransposeOp>(op))
        op = op->getOperand(0).getDefiningOp();
      auto cut = op ? op->getAttrOfType<DenseBoolArrayAttr>(marks::kSaturates)
                    : DenseBoolArrayAttr();
      if (!cut)
        continue;
      const num::IntType type = num::elementInt(op->getResult(0).getType());
      Output output;
      output.name = osa::nodeName(op);
      output.number = task.firstOutput + i;
      if (cut[0])
        output.low = type.getLo();
      if (cut[1])
        output.high = type.getHi();
      watched.push_back(std::move(output));
    }
  }
}

void Ends::count(llvm::ArrayRef<Tensor> outputs) {
  for (Output &output : watched) {
    const auto &values = outputs[output.number].ints;
    output.values += int64_t(values.size());
    for (int64_t value : values)
      output.atEnds += value == output.low || value == output.high;
  }
}

std::vector<std::string> Ends::notes() const {
  std::vector<std::string> notes;
  for (const Output &output : watched)
    if (output.values > 0 && output.atEnds * 100 >= output.values)
      notes.push_back(
          llvm::formatv("{0:f0} % of the values of '{1}' are the least or the "
                        "largest that its format holds: what lies beyond is "
                        "cut off ('rhizome trace' shows where that begins)",
                        100.0 * double(output.atEnds) / double(output.values),
                        output.name));
  return notes;
}
