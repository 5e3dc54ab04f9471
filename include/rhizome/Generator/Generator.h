// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of an Operation Set Generator: which regions it covers, what it
// could build for one and at what cost, and how it builds what it offered.
// Declared below all generators; a new generator is one folder that implements
// it and one line in lib/Generator/Registry.cpp, or one call of addGenerator().
#pragma once

#include "mlir/IR/Operation.h"
#include "rhizome/Cost/MemoryImages.h"
#include "rhizome/Generator/Offer.h"
#include "rhizome/Generator/Region.h"
#include <memory>

namespace rhizome::gen {
/// Which memories that are filled when the design starts may hold weights.
enum class Residents : uint8_t {
  None,
  Ultra, ///< UltraRAM, next to what ROMs would take blocks for
  All,   ///< block RAM as well
};

/// What a generator may know of the device it builds for.
struct DeviceContext {
  CostContext cost;
  Budget budget;
  double clockMhz = 100;
  bool hasDsp = true;
  /// Bits of the largest weight and activation of which one DSP computes two
  /// products, 0 if it does not.
  int64_t pairBits = 0;
  std::vector<Memory> memories; ///< outside the chip, kMemories at most
  Residents residents = Residents::None;
  /// Does it stand alone, with a memory from which it can be loaded?
  bool isAlone = true;

  bool mayLoad() const { return isAlone && !memories.empty(); }
  bool hasUltra() const {
    auto ultras = budget.find("uram");
    return ultras != budget.end() && ultras->second > 0;
  }
};

/// What is const may be called by several threads at once.
class Generator {
public:
  virtual ~Generator() = default;
  virtual llvm::StringRef name() const = 0;
  /// Regions of several of these operations, a network's hardware operations in
  /// its order, that it would build as one. It is asked about every single
  /// operation without that.
  virtual std::vector<Region> regions(llvm::ArrayRef<mlir::Operation *>) const {
    return {};
  }
  /// Null if the region can be built, else the reason why not.
  virtual std::optional<std::string> coverage(const Region &region) const = 0;
  /// What could be built. `upstream` holds formats in which the inputs may
  /// come; offers that take one as it is save a converter.
  virtual std::vector<Offer>
  offers(const Region &region, llvm::ArrayRef<std::optional<Format>> upstream,
         const DeviceContext &device) const = 0;
  /// What the offers for a region depend on beside the device and what comes
  /// from upstream: where these texts are equal, so are the offers. Empty: on
  /// everything, down to each constant.
  virtual std::string dependence(const Region &) const { return ""; }
  /// Of offers whose shared units have one key: what is built for all of these
  /// regions together, with the one unit in it. Its streams are theirs, those
  /// of the first region first; the unit may finish one region's frame before
  /// it begins the next one's, if what it puts out meanwhile has room.
  virtual Offer join(llvm::ArrayRef<Region> regions,
                     llvm::ArrayRef<const Offer *> offers,
                     const DeviceContext &device) const;
  /// Fills in the memory images of an offer's units, which have names by now,
  /// and enters the files in the units; gives circuits their gates. The region
  /// is that of the offer; of what join() made, all of them.
  virtual void build(const Region &region, Offer &offer,
                     MemoryImages &images) const = 0;
};

/// Every generator, in the order in which ties are broken.
llvm::ArrayRef<std::unique_ptr<Generator>> allGenerators();
/// The generator of that name, null if there is none.
const Generator *findGenerator(llvm::StringRef name);
/// Adds a generator behind all others, under a name that no other has: how a
/// program that links the compiler brings its own. Not while another thread
/// compiles.
void addGenerator(std::unique_ptr<Generator> generator);
/// Takes a generator out again.
std::unique_ptr<Generator> removeGenerator(llvm::StringRef name);

/// Closes an offer whose units have their parameters: places of read-only
/// memories, depths of the output buffers for a firing in every cycle, and the
/// resources, which are the sum over the body's units.
void finishOffer(Offer &offer, const DeviceContext &device);

/// For people: "1 lane", "4 lanes".
std::string counted(int64_t number, llvm::StringRef noun);

/// The element format of a tensor of `!num.int`, in beats of `lanes`.
Format formatOf(mlir::Type tensor, int64_t lanes, int64_t row);

/// Channels of an operation's first result: its last size, 1 of a scalar.
int64_t channelsOf(mlir::Operation *op);

/// Parts of n into which a folding can cut it: every value ceil(n / k) once,
/// ascending.
std::vector<int64_t> foldings(int64_t n);
} // namespace rhizome::gen
