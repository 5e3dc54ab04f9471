// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs of runs of operations, each compiled once.
#pragma once

#include "rhizome/EngineCompiler/Compile.h"
#include "rhizome/Generator/Region.h"
#include <memory>

namespace rhizome::gen {
/// The program of a region with one input and one output, between streams, for
/// a core whose memory answers so; null if there is none.
std::shared_ptr<const engine::CompiledNetwork>
engineProgram(const Region &region, const engine::Core &core,
              const engine::MemoryTiming &memory);

/// The core of a unit, as its program names it.
engine::Core coreOf(const unit::Instance &unit);

/// Runs of these operations, a network's in its order, that are as long as they
/// can be: one tensor enters a run and one leaves it, and nothing in it is
/// refused. What is refused is the same for every core.
std::vector<Region> engineRuns(llvm::ArrayRef<mlir::Operation *> ops,
                               const engine::Core &any);

/// Those of a network's operations that are in no run, and why.
std::vector<std::pair<mlir::Operation *, std::string>>
engineRefusals(llvm::ArrayRef<mlir::Operation *> ops, const engine::Core &any);
} // namespace rhizome::gen
