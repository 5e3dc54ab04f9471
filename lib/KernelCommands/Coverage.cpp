// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which hardware could be made from a kernel: every generator is asked about
// every operation, as for a network.
#include "KernelFile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Generator/Generator.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Support/Failures.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::model;

/// The operations that compute; for a loop nest, the nest.
static bool computes(Operation &op) {
  return !op.hasTrait<OpTrait::IsTerminator>() &&
         !isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp>(op);
}

/// The variable that an operation computes, or its location in the file.
static std::string nameOf(Operation &op) {
  if (auto name = op.getAttrOfType<StringAttr>(kernel::kNameAttr))
    return name.str();
  if (auto at = dyn_cast<FileLineColLoc>(op.getLoc()))
    return "line " + std::to_string(at.getLine());
  return "";
}

static CoverageRow rowOf(Operation &op) {
  CoverageRow row;
  row.node = nameOf(op);
  row.op = op.getName().getStringRef().str();
  if (op.getNumResults())
    llvm::raw_string_ostream(row.type) << op.getResult(0).getType();
  row.onHost = true;
  for (const auto &generator : gen::allGenerators()) {
    std::string reason = generator->coverage(&op).value_or("");
    row.onHost &= !reason.empty();
    row.generators.emplace_back(generator->name().str(), reason);
  }
  if (!row.onHost)
    return row;
  for (const auto &[name, reason] : row.generators)
    row.reason += (row.reason.empty() ? "" : "; ") + name + " " + reason;
  row.remedy = "the CPU computes it: leave the device out";
  return row;
}

rhizome::Result<CoverageResult>
kernelcommands::coverKernel(const std::string &path,
                            const KernelOptions &options) {
  CoverageResult result;
  auto kernel = readKernel(path, options);
  if (!kernel)
    return failureOf(kernel.takeError(), Failure::Kind::Input);
  for (Operation &op : kernel->func.getBody().front()) {
    if (!computes(op))
      continue;
    result.rows.push_back(rowOf(op));
    ++(result.rows.back().onHost ? result.host : result.fpga);
  }
  return result;
}

Refusals kernelcommands::whyNoHardware(const std::string &path,
                                       const CoverageResult &coverage) {
  Refusals refusals;
  for (const CoverageRow &row : coverage.rows)
    if (row.onHost)
      refusals.push_back({row.node, row.op, row.reason, row.remedy});
  // Operations that can be built individually do not form a design yet.
  if (refusals.empty())
    refusals.push_back({path, "",
                        "generators can build its operations one by one, but "
                        "none joins those of a kernel",
                        "the CPU computes it: leave the device out"});
  return refusals;
}
