// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel on its way through the phases.
#pragma once

#include "Compilation.h"

namespace rhizome::pipeline {
class KernelCompilation : public Compilation {
public:
  KernelCompilation(CompileRequest request, mlir::ModuleOp module);
  Status begin() override { return hardware.begin(); }
  std::string target() const override { return request.output; }
  CompileResult take() override;
  llvm::Expected<llvm::json::Object> analysis() override;

protected:
  Status perform(Phase phase) override;

private:
  kernelcommands::HardwareCompilation hardware;
};
} // namespace rhizome::pipeline
