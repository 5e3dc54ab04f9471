// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inside the `stream` generator: the families of units, each with its
// offers and its memory images.
#pragma once

#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/PriceList.h"
#include "rhizome/Generator/Stream/Stream.h"

namespace rhizome::gen::stream {
using Upstream = llvm::ArrayRef<std::optional<BeatFormat>>;

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// conv2d, dense, max_pool, sum_pool: a window followed by a reduction.
/// First all with their figures only, then some with their units.
std::vector<Offer> computeSketches(mlir::Operation *op,
                                   const DeviceContext &device);
void completeCompute(mlir::Operation *op, llvm::MutableArrayRef<Offer> offers,
                     const DeviceContext &device);
/// What their offers depend on, as a string; empty: everything.
std::string computeDependence(mlir::Operation *op);
void buildCompute(mlir::Operation *op, Offer &offer, MemoryImages &images);

/// conv2d and dense layers of one shape that take turns on a shared unit:
/// offers where a network has several of them.
std::vector<Offer> turnsOffers(mlir::Operation *op,
                               const DeviceContext &device);
/// What follows for offers from the other layers of the network.
std::string turnsDependence(mlir::Operation *op);
Offer joinTurns(llvm::ArrayRef<Region> regions,
                llvm::ArrayRef<const Offer *> offers,
                const DeviceContext &device);
/// The unit on which layers take turns, null if the body has none.
Actor *sharedUnit(Body &body);
void buildTurns(const Region &region, Offer &offer, MemoryImages &images);

/// matmul: an operand in memory, the other one as a stream.
bool isMatmul(mlir::Operation *op);
std::optional<std::string> matmulCoverage(mlir::Operation *op);
std::vector<Offer> matmulOffers(mlir::Operation *op,
                                const DeviceContext &device);
std::string matmulDependence(mlir::Operation *op);

/// The unit of a body that computes: the last one, or the one before that
/// rearranges its results.
Actor &computing(Body &body);

/// requantize, threshold, table, scaled_add: one result per element.
std::vector<Offer> elementwiseOffers(mlir::Operation *op, Upstream upstream,
                                     const DeviceContext &device);
void buildElementwise(mlir::Operation *op, Offer &offer, MemoryImages &images);

/// row_softmax, row_norm: whole rows.
bool isRowwise(mlir::Operation *op);
std::vector<Offer> rowOffers(mlir::Operation *op, Upstream upstream,
                             const DeviceContext &device);
void buildRows(mlir::Operation *op, Offer &offer, MemoryImages &images);

/// concat, transpose, pad: elements in another order.
std::vector<Offer> movementOffers(mlir::Operation *op, Upstream upstream,
                                  const DeviceContext &device);
void buildMovement(mlir::Operation *op, Offer &offer, MemoryImages &images);

/// flow.enter and flow.leave: the borders of a body that frames pass several
/// times.
std::vector<Offer> borderOffers(mlir::Operation *op, Upstream upstream,
                                const DeviceContext &device);

/// Completes an offer: the last words of its key and its summary, depths of the
/// output buffers, resources.
void finish(Offer &offer, PriceList &prices);
void finish(Offer &offer, const DeviceContext &device);
} // namespace rhizome::gen::stream
