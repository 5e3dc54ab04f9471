// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as a problem of numbers: stages are its operations, choices what
// generators offer for them, glue what stands between.
#pragma once

#include "rhizome/Explore/Explore.h"
#include "rhizome/Explore/Problem.h"
#include "rhizome/Generator/Link.h"
#include <deque>

namespace rhizome::explore {
/// The value whose elements these are: reshapes move nothing in a stream.
mlir::Value rootOf(mlir::Value v);
/// Does hardware compute it?
bool isHardware(mlir::Operation &op);

/// What hardware computes of a network, in its order.
std::vector<mlir::Operation *> hardwareOf(mlir::func::FuncOp network);

/// What generators offer, kept by operation and device: the same operations
/// stand in many variants of a network.
class OptionCache {
public:
  using Upstream = std::vector<std::optional<gen::Format>>;
  using Key = std::vector<const void *>;
  /// Every generator's options, which stay where they are.
  const std::vector<gen::Option> &of(mlir::Operation *op,
                                     const Upstream &upstream,
                                     const gen::DeviceContext &device);
  /// What one of these takes; `make` tells when it is asked for first.
  Cost costOf(const gen::Option &option, llvm::function_ref<Cost()> make) {
    auto [it, isNew] = costs.try_emplace(&option);
    if (isNew)
      it->second = make();
    return it->second;
  }
  /// Which of one generator's options are worth keeping.
  using Choose =
      llvm::function_ref<std::vector<int>(const std::vector<gen::Option> &)>;
  /// Asks generators about operations that are not known yet, with nothing from
  /// upstream, on all threads.
  void prepare(llvm::ArrayRef<mlir::Operation *> ops,
               const gen::DeviceContext &device, Choose choose);

private:
  struct Entry {
    Upstream upstream;
    std::vector<gen::Option> options;
  };
  /// By what an operation is: name, attributes, types and constants, all of
  /// which the context holds once.
  std::map<Key, std::vector<Entry>> known;
  llvm::DenseMap<const gen::Option *, Cost> costs;
};

/// Options of every operation on every kind of device, and the problem they
/// pose. Holds what the problem's Glue needs; network and cache must outlive
/// it.
class Menu final : public Glue {
public:
  /// `order` holds the network's hardware operations, operands first.
  Menu(mlir::func::FuncOp network, std::vector<mlir::Operation *> order,
       const Cluster &cluster, const Steering &steering, OptionCache &cache);

  const Problem &problem() const { return posed; }
  /// The option behind a choice.
  const gen::Option &option(int kind, int stage, int choice) const {
    return *options[kind][stage][choice];
  }
  mlir::Operation *operation(int stage) const { return order[stage]; }
  const OperationId &id(int stage) const { return ids[stage]; }
  mlir::Value value(int tensor) const { return values[tensor]; }
  /// Pins that nothing met.
  const Refusals &refused() const { return unmet; }

  Cost convert(int kind, int tensor, int from, int to) override;
  Cost fork(int kind, int tensor, int format, int readers) override;
  Cost border(int kind, int64_t streamBits, int tensor, int format,
              bool enters) override;
  Cost endpoint(const Place &place, const Ends &ends) override;

private:
  std::vector<mlir::Operation *> order;
  std::vector<OperationId> ids; ///< of these
  const Cluster &cluster;
  std::vector<const gen::DeviceContext *> devices; ///< by kind
  /// By kind and stage; the cache's or of `pinned`.
  std::vector<std::vector<std::vector<const gen::Option *>>> options;
  std::deque<std::vector<gen::Option>> pinned;
  /// By kind and stage, where a pin is met by none: all that was offered, the
  /// cache's.
  std::vector<std::vector<std::vector<const gen::Option *>>> unmatched;
  std::vector<mlir::Value> values; ///< by tensor
  std::vector<gen::Format> formats;
  llvm::DenseMap<uint64_t, Cost> known; ///< costs of glue
  Problem posed;
  Refusals unmet;

  bool pins(const Steering::Pin &pin, int stage) const;
  const Steering::Pin *pinOf(const Steering &steering, int stage) const;
  void checkPins(const Steering &steering);
  int numberOf(const gen::Format &format);
  template <typename Make>
  Cost kept(int what, int kind, int64_t first, int64_t second, Make make);
  void addTensors(mlir::func::FuncOp network);
  void addPlaces();
  void addChoices(const Steering &steering, OptionCache &cache);
  Cost costOf(int kind, const gen::Actor &actor) const;
};
} // namespace rhizome::explore
