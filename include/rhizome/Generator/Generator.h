// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of an Operation Set Generator: which operations it covers, what
// it could build for one and at what cost, and how it builds what it offered.
// Declared below all generators; a new generator is one folder that implements
// it and one line in lib/Generator/Registry.cpp, or one call of addGenerator().
#pragma once

#include "mlir/IR/Operation.h"
#include "rhizome/Cost/MemoryImages.h"
#include "rhizome/Generator/Actor.h"
#include "rhizome/Generator/OptionKey.h"
#include <memory>
#include <optional>

namespace rhizome::gen {
/// What a generator may know of the device it builds for.
struct DeviceContext {
  CostContext cost;
  Budget budget;
  double clockMhz = 100;
  bool hasDsp = true;
  /// Bits of the largest weight and activation of which one DSP computes two
  /// products, 0 if it does not.
  int64_t pairBits = 0;
};

/// One way to build one operation: a chain of actors, the formats that its
/// inputs must have and that its output has.
struct Option {
  std::string generator;
  /// Which option it is: no two that are offered for an operation have the
  /// same. It begins with the generator's name.
  OptionKey key;
  /// For people, e.g. "PE 4 × SIMD 9, in DSPs".
  std::string summary;
  std::vector<Format> inputs;
  Format output;
  /// The chain. The first actor takes the operation's inputs; every other one
  /// the previous actor's output (and the next input, if it has two ports).
  std::vector<Actor> actors;
  std::vector<Format> formats; ///< of each actor's output
  int64_t intervalCycles = 0;  ///< cycles a frame, by itself
  Resources resources;
};

/// What is const may be called by several threads at once, also for one
/// operation.
class Generator {
public:
  virtual ~Generator() = default;
  virtual llvm::StringRef name() const = 0;
  /// Null if the operation can be built, else the reason why not.
  virtual std::optional<std::string> coverage(mlir::Operation *op) const = 0;
  /// What could be built. `upstream` holds formats in which the inputs may
  /// come; options that take one as it is save a converter.
  virtual std::vector<Option>
  options(mlir::Operation *op, llvm::ArrayRef<std::optional<Format>> upstream,
          const DeviceContext &device) const = 0;
  /// Fills in the memory images of an option's actors, which have names by
  /// now, and enters the files in the actors; gives circuits their gates.
  virtual void build(mlir::Operation *op, Option &option,
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

/// Closes an option whose actors have their parameters: places of read-only
/// memories, depths of the output buffers for a firing in every cycle, and the
/// resources, which are the sum over the actors.
void finishOption(Option &option, const DeviceContext &device);

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
