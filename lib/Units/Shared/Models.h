// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The models of the units used by several generators.
#pragma once

#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/UnitModel.h"

namespace rhizome::gen {
std::unique_ptr<UnitModel> makeWindowUnit();
std::unique_ptr<UnitModel> makeWindowTiledUnit();
std::unique_ptr<UnitModel> makeWindowBatchUnit();
std::unique_ptr<UnitModel> makeUnbatchUnit();
std::unique_ptr<UnitModel> makeGearboxUnit();
/// Of axis_in, or of axis_out.
std::unique_ptr<UnitModel> makeBorderUnit(bool enters);
/// Of wide_in, or of wide_out.
std::unique_ptr<UnitModel> makeWideBorderUnit(bool enters);
std::unique_ptr<UnitModel> makeForkUnit();
std::unique_ptr<UnitModel> makeFifoUnit();
std::unique_ptr<UnitModel> makeStateUnit();
std::unique_ptr<UnitModel> makeMemReaderUnit();
std::unique_ptr<UnitModel> makeLoadReaderUnit();
std::unique_ptr<UnitModel> makeMemFifoUnit();
/// A window with the parameters that all of its kinds have.
Actor windowOf(llvm::StringRef kind, const osa::Window &w, int64_t width,
               int64_t padValue, int64_t lanes, int64_t repeat);
} // namespace rhizome::gen
