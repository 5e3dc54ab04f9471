// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every phase as a pass of rhizome-opt, with the module's recorded settings.
#include "Compilation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Model/Input.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;

namespace {
class PhasePass : public PassWrapper<PhasePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PhasePass)
  PhasePass(Phase phase) : phase(phase) {}
  PhasePass(const PhasePass &other) : PassWrapper(other), phase(other.phase) {}

  StringRef getArgument() const override { return argument; }
  StringRef getDescription() const override { return infoOf(phase).sentence; }
  StringRef getName() const override { return argument; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<func::FuncDialect, num::NumDialect, osa::OsaDialect,
                    flow::FlowDialect, rtl::RtlDialect, arith::ArithDialect,
                    linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
  }

  void runOnOperation() override {
    CompileRequest request;
    request.device = kDefaultDevice;
    request.model.path = model;
    request.output = output;
    request.isKernel =
        phase == Phase::Import &&
        rhizome::model::isKernel(rhizome::model::inputKind(request.model.path));
    if (phase != Phase::Import) {
      request.from = Phase(int(phase) - 1);
      if (mlir::failed(verifyAfter(*request.from, getOperation())))
        return signalPassFailure();
    }
    std::optional<Failure> problem;
    {
      auto compilation = Compilation::of(request, getOperation());
      Status status = compilation->begin();
      if (status)
        status = compilation->run(phase);
      compilation->complete();
      if (!status)
        problem = status.failure();
    }
    if (!problem)
      return;
    for (const Refusal &cause : problem->causes)
      getOperation().emitError()
          << (cause.node.empty() ? "" : "'" + cause.node + "': ")
          << cause.reason;
    signalPassFailure();
  }

private:
  Phase phase;
  std::string argument = std::string("rhizome-") + infoOf(phase).name;
  Option<std::string> model{
      *this, "model", llvm::cl::desc("of import: the file that it reads")};
  Option<std::string> output{
      *this, "output", llvm::cl::desc("of package: the folder that it writes")};
};
} // namespace

void pipeline::registerPhasePasses() {
  for (const PhaseInfo &info : phases())
    registerPass([phase = info.phase]() -> std::unique_ptr<Pass> {
      return std::make_unique<PhasePass>(phase);
    });
}
