// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects of plan.json that C++ has in another form, and what the generated
// readers and writers call.
#pragma once

#include "rhizome/Package/Plan.h"
#include "llvm/ADT/ArrayRef.h"

namespace rhizome {
#include "rhizome/Package/PlanParts.h.inc"

/// Reads an element; refuses widths outside 1..64.
bool fromJSON(const llvm::json::Value &in, StreamElement &value,
              llvm::json::Path path);

/// A node's ports by kind, and back.
NodePorts portsOf(const PlannedNode &node);
void setPorts(PlannedNode &node, NodePorts ports);
/// The offsets of a system's registers, and back.
SystemRegisters registersOf(const PlannedSystem &system);
void setRegisters(PlannedSystem &system, const SystemRegisters &registers);

/// Positive sizes, of at most 2^40 elements.
bool isShape(llvm::ArrayRef<int64_t> sizes);
bool areFiniteAndNotZero(llvm::ArrayRef<float> values);
/// Every state names an input of its own and an output like it.
bool checkStates(const HostSection &host, llvm::json::Path path);
/// Every border names one of the tensors and stays within it.
bool checkBordersTo(const HostSection &host, llvm::json::Path path);
bool checkBordersFrom(const HostSection &host, llvm::json::Path path);
} // namespace rhizome
