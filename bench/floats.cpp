// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome-bench-floats FOLDER DEVICE MHZ FORMAT…: writes the modules of the
// floating-point operators of each format for a device and a clock, and prints
// one line for each: the module's name, its latency, the logic before its first
// and after its last register, in 32nds of a level, and the LUTs, FFs and DSPs
// that are predicted. bench/floats.py gives the modules to Yosys.
#include "rhizome/Generator/Loops/KernelUnit.h"
#include "rhizome/PlanBuild/Targets.h"
#include "rhizome/Rtl/Emit.h"
#include "rhizome/Units/Circuit.h"
#include "rhizome/Units/Floats/Operators.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::gen;

int main(int argc, char **argv) {
  if (argc < 5) {
    llvm::errs() << "usage: rhizome-bench-floats FOLDER DEVICE MHZ FORMAT…\n";
    return 2;
  }
  planbuild::TargetChoice request;
  request.device = argv[2];
  request.clockMhz = std::atof(argv[3]);
  auto targets = planbuild::targetsOf(request);
  if (!targets) {
    llvm::errs() << llvm::toString(targets.takeError()) << "\n";
    return 1;
  }
  const gen::DeviceContext &device = targets->places.places[0].context;
  MLIRContext context;
  context.loadDialect<rtl::RtlDialect>();
  floats::Operators operators(&context, paceFor(device), device.cost);
  OpBuilder b(&context);
  OwningOpRef<ModuleOp> holder = ModuleOp::create(b.getUnknownLoc());
  for (int i = 4; i < argc; ++i) {
    std::string error;
    auto format = numeric::Format::parse(argv[i], error);
    if (!format) {
      llvm::errs() << error << "\n";
      return 1;
    }
    numeric::Arithmetic n(*format, numeric::Rounding::NearestEven,
                          numeric::defaultOverflow(*format));
    for (floats::Function function : floats::kFunctions) {
      floats::Operator op(function, n);
      const floats::Pipeline &made = operators.of(op);
      b.setInsertionPointToEnd(holder->getBody());
      b.clone(*rtl::ModuleOp(made.module).getOperation());
      Resources cost = costOf(
          loops::structureOfOperator(made.module, device.cost), device.cost);
      llvm::outs() << op.name() << " " << made.latency << " "
                   << made.delay.before << " " << made.delay.after << " "
                   << int64_t(cost.lut() + 0.5) << " "
                   << int64_t(cost.ff() + 0.5) << " "
                   << int64_t(cost.dsp() + 0.5) << "\n";
    }
  }
  return failed(emitDesign(*holder, argv[1]));
}
