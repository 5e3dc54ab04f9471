// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit that is chosen for a kernel, and how a module holds the choice.
#pragma once

#include "HardwareParts.h"
#include "rhizome/Generator/OptionKey.h"

namespace rhizome::kernelcommands {
/// A unit, if there are no refusals.
struct ChosenUnit {
  HardwareRequest request; ///< with what was chosen
  NumberedKernel kernel;
  mlir::OwningOpRef<mlir::ModuleOp> holder; ///< of its RTL
  Plan plan;                                ///< without the names of files
  Refusals refusals;
  bool isTooSlow = false; ///< that is why
};

/// The top module of a unit.
inline constexpr const char *kUnit = "rhz_top";

/// The unit that serves a request best, of a module as `integerize` leaves it.
Result<std::unique_ptr<ChosenUnit>>
chooseUnit(const HardwareRequest &request, mlir::ModuleOp module,
           const NumberedKernel &kernel, const planbuild::Targets &targets,
           const explore::Goal *goal);
/// The unit of a request's choice, within what the goal allows of the device;
/// how fast it is follows from the choice, which may be edited.
Result<std::unique_ptr<ChosenUnit>>
buildChosen(const HardwareRequest &request, mlir::ModuleOp module,
            const planbuild::Targets &targets,
            std::optional<explore::Goal> goal);

/// The key of a choice; residents by their numbers among the inputs.
gen::OptionKey keyOfUnit(const UnitChoice &choice,
                         llvm::ArrayRef<int64_t> residents);
/// Enters what a key states, without residents. False if it is no such key.
bool readUnitKey(const gen::OptionKey &key, UnitChoice &choice);

/// Lists of a key; as they are if it does not state them. False if they are
/// none.
bool readResidents(const gen::OptionKey &key, std::vector<int64_t> &numbers);
bool readCopies(const gen::OptionKey &key, std::vector<int64_t> &copies);

/// Enters in a request what its steering file asks of the kernel.
Status steer(HardwareRequest &request, const NumberedKernel &kernel);

/// Enters the choice in a module: `flow.plan` with an offer of `loops` for the
/// unit and one for each nest.
void recordUnit(const ChosenUnit &unit, mlir::ModuleOp module);
/// The choice that a module holds for a kernel with these inputs and so many
/// nests, if its keys are such offers.
Result<UnitChoice> unitIn(mlir::ModuleOp module,
                          llvm::ArrayRef<PlannedTensor> inputs, size_t nests);
} // namespace rhizome::kernelcommands
