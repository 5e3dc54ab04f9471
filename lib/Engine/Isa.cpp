// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables that are generated from the description of the instruction set.
#include "rhizome/Engine/Isa.h"

using namespace rhizome;
using namespace rhizome::engine;

namespace {
#include "rhizome/Engine/Isa.cpp.inc"
} // namespace

llvm::ArrayRef<InstructionInfo> engine::instructions() { return kInstructions; }

llvm::ArrayRef<ParameterInfo> engine::parameters() { return kParameters; }

const char *engine::nameOf(Unit unit) { return kUnitNames[unsigned(unit)]; }
