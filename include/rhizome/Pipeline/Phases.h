// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases from a network or a kernel to a package: their names and order, a
// sentence for each, and the constraints on the IR at the end of each.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace rhizome::pipeline {
enum class Phase {
  Import,
  Normalize,
  Quantize,
  Integerize,
  Explore,
  Build,
  Lower,
  Emit,
  Package
};

struct PhaseInfo {
  Phase phase;
  const char *name;     ///< "import"
  const char *sentence; ///< for people, e.g. in help
};

/// All phases in order.
llvm::ArrayRef<PhaseInfo> phases();
const PhaseInfo &infoOf(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);
/// The next phase; none after the last.
std::optional<Phase> next(Phase phase);
/// The names in order, separated by ", ".
std::string phaseNames();

/// Checks that `module` is a result of `phase`, or reports the violated
/// constraint by its number:
///
///  - (C1) a module before `explore` contains only functions.
///  - (C2) after `import` there is @main, on real numbers, or @network; in a
///    kernel's module, at all times, one kernel.
///  - (C3) after `quantize` no number format or calibration is pending.
///  - (C4) after `integerize` a network's module has @network, and no @main.
///  - (C5) the tensors of @network contain integers.
///  - (C6) after `explore` there is one flow.plan; the designs are not there
///    yet.
///  - (C7) after `build` every flow.node of a network names a function and a
///    design of the module.
///  - (C8) after `lower` every flow.node names the module of its RTL, that of a
///    kernel is @node0_rtl; it names its top module.
///  - (C9) after `emit` every module of RTL has its file.
mlir::LogicalResult verifyAfter(Phase phase, mlir::ModuleOp module);

/// Registers --rhizome-import … --rhizome-package with MLIR.
void registerPhasePasses();
} // namespace rhizome::pipeline
