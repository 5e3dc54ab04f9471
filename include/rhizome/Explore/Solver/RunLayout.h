// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages of a run on the dies of a place.
#pragma once

#include "rhizome/Explore/Solver/Layout.h"
#include "rhizome/Explore/Solver/Runs.h"
#include "llvm/ADT/ArrayRef.h"

namespace rhizome::explore {
/// A stage of a run: its choice, what it adds to the run, and which of equal
/// shared units it takes.
struct Placed {
  const Choice *choice;
  Cost cost;
  int instance = 0;
};

/// Takes off a part of a cost.
void subtract(Cost &from, const Cost &cost);

/// The die of each stage of a run on a place with several, with this at the
/// border besides what the stages have there. The search begins with `first`,
/// the dies of stages, unless it is empty. Without dies if there is no layout
/// whatever the dies hold.
LaidOut layOutRun(const RunGlue &glue, llvm::ArrayRef<Placed> stages,
                  const Limits &limits, const Place &place, const Ends &ends,
                  const Cost &atBorder, llvm::ArrayRef<int> first = {});

/// What built plans took beyond a stage's choice and glue, in runs that begin
/// there.
gen::Resources beyondAt(const Kind &kind, int begin, int stage);

/// The same for a run whose choices are known.
LaidOut layOutRun(const Problem &problem, const Run &run, const Limits &limits,
                  const Place &place, const Ends &ends,
                  llvm::ArrayRef<int> first = {});
} // namespace rhizome::explore
