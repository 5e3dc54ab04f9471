// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The precompiled header of the layers above the dialects: that of Support, and
// the dialects, whose classes take longer to parse than most files. It decides
// nothing; every file still includes what it uses.
#pragma once

#include "rhizome/Support/Pch.h"

#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
