// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of `flow` that describe a plan; see Plan.td.
#pragma once

#include "rhizome/Dialect/Flow/Flow.h"

#include "rhizome/Dialect/Flow/PlanEnums.h.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Flow/PlanOps.h.inc"
