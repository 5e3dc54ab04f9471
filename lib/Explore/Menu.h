// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as a problem of numbers: stages are its operations, choices are
// generators' offers for them, glue is what is between.
#pragma once

#include "rhizome/Cost/Link.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Explore/Solver/Problem.h"
#include "rhizome/Generator/OfferCache.h"
#include <deque>

namespace rhizome::explore {
using gen::rootOf;
/// Whether hardware computes it.
bool isHardware(mlir::Operation &op);

using gen::OfferCache;

/// Offers for every region on every kind of device, and the resulting
/// problem. Contains the data for the problem's Glue; network and cache must
/// outlive it.
class Menu final : public Glue {
public:
  /// `order` contains the network's hardware operations, operands first.
  Menu(mlir::func::FuncOp network, std::vector<mlir::Operation *> order,
       const Cluster &cluster, const Steering &steering, OfferCache &cache);

  const Problem &problem() const { return posed; }
  /// The offer of a choice, which may be a sketch.
  const gen::Offer &sketch(int kind, int stage, int choice) const {
    return *offers[kind][stage][choice];
  }
  /// The offer of a choice, complete.
  const gen::Offer &offer(int kind, int stage, int choice) const;
  /// The stages that a choice covers, of which this is the first.
  int partsOf(int kind, int stage, int choice) const {
    return posed.kinds[kind].choices[stage][choice].parts;
  }
  const gen::DeviceContext &device(int kind) const { return *devices[kind]; }
  mlir::Operation *operation(int stage) const { return order[stage]; }
  const OperationId &id(int stage) const { return ids[stage]; }
  mlir::Value value(int tensor) const { return values[tensor]; }
  /// Pins that matched nothing.
  const Refusals &refused() const { return unmet; }

  Cost convert(int kind, int tensor, int from, int to) override;
  Cost fork(int kind, int tensor, int format, int readers) override;
  Cost border(int kind, int64_t streamBits, int tensor, int format,
              bool enters) override;
  Cost endpoint(const Place &place, const Ends &ends) override;
  Cost crossing(int kind, int tensor, int format) override;
  int64_t wires(int tensor, int format) override;

private:
  std::vector<gen::Offer> &
  tripsOffers(int kind, int stage, std::vector<gen::Offer> &all, bool byFormat);
  std::vector<mlir::Operation *> order;
  std::vector<OperationId> ids; ///< of these
  const Cluster &cluster;
  std::vector<const gen::DeviceContext *> devices; ///< by kind
  /// Offers for operations of bodies.
  std::deque<std::vector<gen::Offer>> onTrips;
  /// By kind and stage; the cache's or of `pinned`.
  std::vector<std::vector<std::vector<gen::Offer *>>> offers;
  std::deque<std::vector<gen::Offer>> pinned;
  /// By kind and stage, if no offer matches a pin: all offers, in the
  /// cache.
  std::vector<std::vector<std::vector<gen::Offer *>>> unmatched;
  /// By kind and stage: whether a pin there is matched by a region of several
  /// stages.
  std::vector<std::vector<bool>> regionMeets;
  /// By kind and stage: the formats in which a result may arrive, pinned or
  /// not.
  std::vector<std::vector<std::vector<gen::BeatFormat>>> free;
  std::map<std::pair<int, std::string>, int> sharedUnits; ///< by kind and key
  std::vector<int> crossingRegisters;                     ///< by kind
  int regionCount = 0;
  std::vector<mlir::Value> values; ///< by tensor
  std::vector<gen::BeatFormat> formats;
  std::map<std::array<int64_t, 5>, int> formatNumbers;
  llvm::DenseMap<uint64_t, Cost> known; ///< costs of glue
  Problem posed;
  Refusals unmet;

  bool lacksMemory(const Steering::Pin &pin, llvm::ArrayRef<int> stages) const;
  /// Completes an offer for a stage if it is a sketch.
  void complete(gen::Offer &offer, int kind, int stage) const;
  void checkPins(const Steering &steering);
  /// Why a stage has no weights in this home, and what would work.
  static std::string whyNot(gen::WeightHome home);
  std::string remedyFor(gen::WeightHome home) const;
  int numberOf(const gen::BeatFormat &format);
  template <typename Make>
  Cost kept(int what, int kind, int64_t first, int64_t second, Make make);
  void addTensors(mlir::func::FuncOp network);
  void addPlaces();
  void addChoices(const Steering &steering, OfferCache &cache);
  void addRegions(int kind, const Steering &steering, OfferCache &cache);
  void addStage(int kind, int stage, const Steering &steering,
                OfferCache &cache);
  void addLoops(mlir::func::FuncOp network);
  void addLoop(int kind, int from, int to, llvm::StringRef state);
  Choice choiceOf(int kind, const gen::Offer &offer, Cost cost);
  Cost costOf(int kind, const gen::Actor &actor) const;
  /// The cost of an offer's units and traffic.
  Cost costOf(int kind, const gen::Offer &offer) const;
  int unitOf(int kind, const gen::Offer &offer);
  gen::Resources withTraffic(int kind, const gen::Offer &offer) const;
  std::vector<int> frontOf(int kind, const std::vector<gen::Offer> &all,
                           bool byFormat) const;
};
} // namespace rhizome::explore
