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
  Ultra, ///< UltraRAM, for weights that would need block RAM as ROMs
  All,   ///< also block RAM
};

/// Which layers may read their weights from an off-chip memory for every frame.
enum class Streaming : uint8_t {
  None,
  Once, ///< those that use each weight once per frame
  All,  ///< also those that read them anew for every pixel
};

/// Where window rows and reorder pages are stored when UltraRAM could hold
/// them.
enum class UltraRows : uint8_t {
  None,    ///< in block RAM
  Instead, ///< in UltraRAM
  Also,    ///< in either, each an offer of its own
};

/// The properties of the device that a generator may use.
struct DeviceContext {
  CostContext cost;
  Budget budget;
  double clockMhz = 100;
  bool hasDsp = true;
  /// Bits of the largest weight and activation for which one DSP computes two
  /// products, 0 if it does not.
  int64_t pairBits = 0;
  std::vector<Memory> memories; ///< off-chip, at most kMemories
  Residents residents = Residents::None;
  Streaming streaming = Streaming::None;
  /// The most frames that may share weights from a memory while these are
  /// read once.
  int64_t batch = 1;
  UltraRows ultraRows = UltraRows::None;
  /// Those that may offer, by name; empty: all of them.
  std::vector<std::string> generators;

  bool mayLoad() const { return !memories.empty(); }
  bool hasUltra() const {
    auto ultras = budget.find("uram");
    return ultras != budget.end() && ultras->second > 0;
  }
};

/// Const member functions may be called by several threads at once.
class Generator {
public:
  virtual ~Generator() = default;
  virtual llvm::StringRef name() const = 0;
  /// Whether it builds anything on such a device.
  virtual bool offersOn(const DeviceContext &) const { return true; }
  /// Whether it builds something on every device, then all that it covers.
  bool offersAnywhere() const { return offersOn(DeviceContext()); }
  /// Regions of several of these operations, a network's hardware operations in
  /// its order, that it would build as one. Single operations are always
  /// asked about and need not be listed.
  virtual std::vector<Region> regions(llvm::ArrayRef<mlir::Operation *>) const {
    return {};
  }
  /// Null if the region can be built, otherwise the reason why not.
  virtual std::optional<std::string> coverage(const Region &region) const = 0;
  /// Those of a network's hardware operations, given in its order, that are in
  /// none of its regions, each with the reason.
  virtual std::vector<std::pair<mlir::Operation *, std::string>>
  refusals(llvm::ArrayRef<mlir::Operation *> ops) const;
  /// What could be built. `upstream` lists formats in which the inputs may
  /// arrive; offers that accept one unchanged save a converter.
  virtual std::vector<Offer>
  offers(const Region &region,
         llvm::ArrayRef<std::optional<BeatFormat>> upstream,
         const DeviceContext &device) const = 0;
  /// Why there are none, to follow its name: "needs …".
  virtual std::string whyNone(const Region &, const DeviceContext &) const {
    return "offers nothing for it";
  }
  /// Cycles that a unit for regions takes for a frame at least, of which these
  /// operations are part. Nothing if it builds one of them nowhere, or single
  /// operations too: then offers tell.
  virtual std::optional<double> leastCycles(llvm::ArrayRef<mlir::Operation *>,
                                            const DeviceContext &) const {
    return std::nullopt;
  }
  /// The same offers with their figures, and not yet with what complete() adds:
  /// formats, units, keys and summaries. For generators with so many offers
  /// that most are never looked at again.
  virtual std::vector<Offer>
  sketches(const Region &region,
           llvm::ArrayRef<std::optional<BeatFormat>> upstream,
           const DeviceContext &device) const {
    return offers(region, upstream, device);
  }
  /// Finds what all offers for a region have in common, whatever the upstream
  /// formats: asking for them is quick then. For generators for which that
  /// takes long.
  virtual void prepare(const Region &, const DeviceContext &) const {}
  /// Completes those of the offers that are sketches.
  virtual void complete(const Region &, llvm::MutableArrayRef<Offer>,
                        const DeviceContext &) const {}
  /// What the offers for a region depend on besides the device and the upstream
  /// formats: equal strings mean equal offers. Empty: they depend
  /// on everything, including each constant.
  virtual std::string dependence(const Region &) const { return ""; }
  /// For offers whose shared units have one key: the offer for all of these
  /// regions together, with the one unit in it. Its streams are theirs, those
  /// of the first region first; the unit may finish one region's frame before
  /// it begins the next one's, if its output buffers hold the results.
  virtual Offer join(llvm::ArrayRef<Region> regions,
                     llvm::ArrayRef<const Offer *> offers,
                     const DeviceContext &device) const;
  /// Fills in the memory images of an offer's units, which have names by now,
  /// and enters the files in the units; fills in the gates of circuits. The
  /// region is that of the offer; for one made by join(), all of them.
  virtual void build(const Region &region, Offer &offer,
                     MemoryImages &images) const = 0;
};

/// Every generator, in the order in which ties are broken.
llvm::ArrayRef<std::unique_ptr<Generator>> allGenerators();
/// Whether it builds anything on such a device, and may.
bool mayOffer(const Generator &generator, const DeviceContext &device);
/// The generator of that name, null if there is none.
const Generator *findGenerator(llvm::StringRef name);
/// Adds a generator after all others, under an unused name: this is how a
/// program that links the compiler adds its own. Not while another thread
/// compiles.
void addGenerator(std::unique_ptr<Generator> generator);
/// Removes a generator.
std::unique_ptr<Generator> removeGenerator(llvm::StringRef name);

/// Completes an offer whose units have their parameters: places of read-only
/// memories, depths of the output buffers for a firing in every cycle, and the
/// resources, which are the sum over the body's units.
void finishOffer(Offer &offer, const DeviceContext &device);

/// For people: "1 lane", "4 lanes".
std::string counted(int64_t number, llvm::StringRef noun);

/// The element format of a tensor of `!num.int`, in beats of `lanes`.
BeatFormat formatOf(mlir::Type tensor, int64_t lanes, int64_t row);

/// Channels of an operation's first result: its last size, 1 for a scalar.
int64_t channelsOf(mlir::Operation *op);

/// Parts of n into which a folding can cut it: every value ceil(n / k) once,
/// ascending.
std::vector<int64_t> foldings(int64_t n);
} // namespace rhizome::gen
