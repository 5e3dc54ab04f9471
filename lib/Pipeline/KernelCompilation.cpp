// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelCompilation.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;

static kernelcommands::HardwareRequest
hardwareOf(const CompileRequest &request) {
  kernelcommands::HardwareRequest out;
  out.path = request.model.path;
  out.options = request.kernel;
  out.target = request;
  out.output = request.output;
  out.unit = request.unit;
  out.goal = request.goal;
  out.copies = request.copies;
  out.plan = request.plan;
  out.steer = request.steer;
  out.given = request.given;
  return out;
}

KernelCompilation::KernelCompilation(CompileRequest request, ModuleOp module)
    : Compilation(std::move(request), module),
      hardware(hardwareOf(this->request), module) {}

CompileResult KernelCompilation::take() {
  kernelcommands::HardwareResult found = hardware.take();
  CompileResult result;
  result.package = std::move(found.package);
  result.plan = std::move(found.plan);
  result.notes = std::move(found.notes);
  result.hasGoal = !request.goal.empty();
  result.fits = result.meetsGoal = !result.plan.nodes.empty();
  return result;
}

llvm::Expected<llvm::json::Object> KernelCompilation::analysis() {
  return llvm::json::Object();
}
