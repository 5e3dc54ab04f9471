// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome-opt: every dialect and pass, for development.
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Import/Mlir/Passes.h"
#include "rhizome/Pipeline/Phases.h"
#include "rhizome/Support/Program.h"
#include "rhizome/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllPasses();
  rhizome::registerTransformsPasses();
  rhizome::registerConversionPasses();
  rhizome::registerImportMlirPasses();
  rhizome::pipeline::registerPhasePasses();
  registry.insert<rhizome::num::NumDialect, rhizome::osa::OsaDialect,
                  rhizome::flow::FlowDialect, rhizome::rtl::RtlDialect,
                  rhizome::marks::MarksDialect>();
  return rhizome::runProgram([&] {
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, "Rhizome optimizer driver\n", registry));
  });
}
