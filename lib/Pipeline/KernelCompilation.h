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
  Status import() override { return hardware.import(); }
  Status normalize() override { return hardware.normalize(); }
  Status quantize() override { return hardware.quantize(); }
  Status integerize() override { return hardware.integerize(); }
  Status explore() override { return hardware.explore(); }
  Status build() override { return hardware.build(); }
  Status lower() override { return hardware.lower(); }
  Status emit() override { return hardware.emit(); }
  Status package() override { return hardware.package(); }
  void record(Phase done) override { hardware.record(done >= Phase::Explore); }

private:
  kernelcommands::HardwareCompilation hardware;
};
} // namespace rhizome::pipeline
