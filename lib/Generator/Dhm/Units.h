// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inside the `dhm` generator: its two families, and cached circuits, so
// that building does not repeat the search of an offer.
#pragma once

#include "AdderGraph.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/Dhm/Dhm.h"
#include "rhizome/Units/Circuit.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace rhizome::gen::dhm {
using Upstream = llvm::ArrayRef<std::optional<BeatFormat>>;

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// conv2d, dense: a window if the kernel is larger than a pixel, and a
/// circuit. Returns the reason why not, or nothing.
std::optional<std::string> linearCoverage(mlir::Operation *op);
std::vector<Offer> linearOffers(mlir::Operation *op,
                                const DeviceContext &device);
void buildLinear(mlir::Operation *op, Offer &offer);

/// requantize, threshold, table: a circuit for whole pixels.
std::optional<std::string> elementwiseCoverage(mlir::Operation *op);
std::vector<Offer> elementwiseOffers(mlir::Operation *op, Upstream upstream,
                                     const DeviceContext &device);
/// Makes the circuit on which they are based.
void prepareElementwise(mlir::Operation *op, const DeviceContext &device);
void buildElementwise(mlir::Operation *op, Offer &offer);

/// A circuit and its resources for one pace of logic between registers.
struct Kept {
  std::shared_ptr<const Circuit> circuit;
  Actor described;
};
/// The circuit with that key (everything that it depends on), made if
/// necessary.
Kept kept(std::vector<int64_t> key, const cost::LogicPace &pace,
          llvm::function_ref<Circuit()> make);

/// An actor of kind `circuit` for `copies` of one in parallel.
Actor circuitActor(const Kept &one, int64_t copies, int64_t frameBeats);
} // namespace rhizome::gen::dhm
