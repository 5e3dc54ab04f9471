// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations in a body that each frame passes several times, every time with
// other constants: their offers and their memories follow from those for one
// trip. Only here is known what a trip changes.
#pragma once

#include "rhizome/Generator/Generator.h"

namespace rhizome::gen {
/// Makes an operation one of a body; what it computes in each trip are the
/// operations of that function from `first` on, `stride` apart.
void setTrips(mlir::Operation *op, int64_t trips, llvm::StringRef function,
              int64_t first, int64_t stride);
/// The trips of a frame through an operation: one outside of bodies.
int64_t tripsOf(mlir::Operation *op);
/// The operations that it stands for, trip by trip.
llvm::SmallVector<mlir::Operation *> eachTrip(mlir::Operation *op);
/// Whether these have equal constants and attributes.
bool areAlike(llvm::ArrayRef<mlir::Operation *> ops);

/// The border of a body: its entry (flow.enter) or its end (flow.leave).
bool isBodyBorder(mlir::Operation *op);
bool isBodyEntry(mlir::Operation *op);
/// The trips through the body with this border.
int64_t tripsWithin(mlir::Operation *border);

/// A format of `trips` frames as one, and back.
BeatFormat timesTrips(BeatFormat format, int64_t trips);
BeatFormat overTrips(BeatFormat format, int64_t trips);

/// What an offer for one frame becomes in a body, whose trips may be `alike`;
/// none if they are not and one of its units cannot have other constants in
/// each of them. Its figures are to be found anew (finishOffer).
std::optional<Offer> onTrips(Offer offer, int64_t trips, bool alike);
/// What units of the same kind for each of the trips of such an offer take.
Resources apartOf(const Offer &offer, int64_t trips,
                  const DeviceContext &device);
/// As Generator::build, for such an offer: memories hold the words of each
/// trip, one after another.
void buildTrips(const Generator &generator, const Region &region, Offer &offer,
                MemoryImages &images);
} // namespace rhizome::gen
