// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations of a kernel become hardware: those without an obstacle to
// its unit. A kernel is built whole, so no other generator is asked.
#include "HardwareParts.h"
#include "rhizome/Support/Failures.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::model;

rhizome::Result<CoverageResult>
kernelcommands::coverKernel(const std::string &path,
                            const KernelOptions &options) {
  CoverageResult result;
  auto kernel = readNumbered(path, options);
  if (!kernel)
    return failureOf(kernel.takeError(), Failure::Kind::Input);
  gen::loops::KernelParts parts = gen::loops::partsOf(kernel->integers);
  llvm::DenseMap<Operation *, std::vector<const gen::loops::Obstacle *>> ofOp;
  for (const gen::loops::Obstacle &obstacle : parts.obstacles)
    ofOp[obstacle.op].push_back(&obstacle);
  for (Operation &op : kernel->integers.getBody().front()) {
    if (op.hasTrait<OpTrait::IsTerminator>() || gen::loops::isOutside(op))
      continue;
    CoverageRow row;
    row.node = nameOf(op);
    row.op = op.getName().getStringRef().str();
    if (op.getNumResults())
      llvm::raw_string_ostream(row.type) << op.getResult(0).getType();
    for (const gen::loops::Obstacle *obstacle : ofOp.lookup(&op)) {
      row.reason += (row.reason.empty() ? "" : "; ") + obstacle->reason;
      row.remedy = obstacle->remedy;
    }
    row.onHost = !row.reason.empty();
    row.generators.emplace_back("loops", row.reason);
    ++(row.onHost ? result.host : result.fpga);
    result.rows.push_back(std::move(row));
  }
  result.isBuildable = whyNoHardware(*kernel).empty();
  return result;
}
