// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a network or a kernel needs and what a device can provide: work and
// traffic of every operation, both operational intensities, and the roofs over
// them in iterations per second, for weights that stay on chip and for weights
// in DRAM. These are bounds; the explorer predicts actual rates.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/Generator.h"
#include "rhizome/Target/Cluster.h"
#include "llvm/Support/JSON.h"

namespace rhizome::analysis {
/// Bits that cross a node's border for one frame.
struct Traffic {
  int64_t in = 0, out = 0;
};

/// What an edge of the network carries.
struct Carried {
  std::vector<int64_t> shape; ///< channels last
  unsigned bits = 0;          ///< of an element
  bool isSigned = false;      ///< integers only
};

/// A tensor of integers, of reals or of a number format.
Carried carriedBy(mlir::Type type);
int64_t bitsOf(const Carried &carried);

/// One operation of a network.
struct Operation {
  std::string node, op; ///< the model's node; "conv2d", "requantize", …
  osa::Work work;
  /// Where its inputs come from: indices of operations, or -1 - i for the
  /// network's i-th input. Reshapes are skipped.
  std::vector<int64_t> from;
  Carried result; ///< of its first one
};

struct Needs {
  std::vector<Carried> inputs;
  std::vector<Operation> operations;
  Traffic border; ///< the network's inputs and outputs
  osa::Work total;
  /// Operations whose values are the network's outputs.
  std::vector<int64_t> outputs;
};

/// Computes the needs of every operation. `network` may be at the integer or
/// real level.
Needs analyze(mlir::func::FuncOp network);

/// What a device can transfer and hold, and how fast.
struct Capacity {
  double networkBitsPerS = 0; ///< each way
  double dramBytesPerS = 0;   ///< 0 without DRAM
  double onChipBytesPerS = 0; ///< every memory read at its widest port
  double onChipBytes = 0;     ///< that memories hold
};
/// `link` may be null: then the width of the device's streams is the limit.
Capacity capacityOf(const Device &device, const Link *link);

/// Upper bounds in iterations per second; infinity if unlimited.
struct Roofs {
  double network = 0, onChip = 0, dram = 0;
  /// By generator: the device filled with fractions of that generator's best
  /// options. Generators that cannot build it are omitted.
  std::map<std::string, double> compute;
};

/// The lowest of the roofs, for one place of the weights.
struct Attainable {
  std::string weights;   ///< "on_chip", "dram"
  std::string generator; ///< whose compute roof it is
  bool possible = false; ///< the weights fit there
  double perS = 0;
  std::string bound; ///< "compute", "network", "on_chip", "dram"
};

struct OperationRoofs {
  Roofs roofs;
  std::vector<Attainable> attainable;
  /// By generator, the fastest option that fits the device alone.
  std::map<std::string, double> fastest;
};

struct DeviceAnalysis {
  std::string device, link;
  double clockMhz = 0;
  Capacity capacity;
  std::vector<OperationRoofs> operations; ///< as in Needs
  OperationRoofs whole;                   ///< the network on one device
};

/// Offers for each operation, by generator.
using Offers = std::map<std::string, std::vector<std::vector<gen::Offer>>>;

/// Of offers for one operation those that determine its roofs.
void takeFigures(std::vector<gen::Offer> &offers, const gen::Budget &budget);

/// Roofs of every operation and of all together. `offers` is null for a CPU.
DeviceAnalysis roofsOf(const Needs &needs, const Device &device,
                       const gen::DeviceContext *context, const Link *link,
                       const Offers *offers);
/// The same, of a network with the offers of all generators. `context` is the
/// device as generators see it, null for a CPU.
DeviceAnalysis roofsOf(mlir::func::FuncOp network, const Needs &needs,
                       const Device &device, const gen::DeviceContext *context,
                       const Link *link);

/// An upper bound on iterations per second of all operations together, by the
/// dual of a linear program: at any resource prices at which the whole device
/// costs 1, an iteration costs at least the sum of each operation's
/// cheapest option. `options[i]` are those of one operation.
double computeRoof(const std::vector<std::vector<gen::Offer>> &options,
                   const gen::Budget &budget, double clockHz);

/// The form of model/analysis.json and of --json.
llvm::json::Object toJson(const Needs &network);
llvm::json::Object toJson(const DeviceAnalysis &device);
} // namespace rhizome::analysis
