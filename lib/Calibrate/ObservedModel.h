// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A float network as rows: which tensors are rounded, their behavior on the
// frames, and the result at given widths.
#pragma once

#include "Ranges.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/Interp/Interpreter.h"

namespace rhizome::calibrate {
/// A layer, with the point that it ends in if it is rounded; or another point.
struct Row {
  std::string name, op;
  mlir::Value value;                ///< what is compared
  std::optional<size_t> point = {}; ///< in Placement::activations
  /// In Placement::constants; none of a layer whose weights the file rounds.
  std::optional<size_t> weights = {};
  bool isInput = false;
  int64_t macs = 0;                 ///< of a frame
  std::vector<size_t> readers = {}; ///< layers that read it directly
  std::optional<size_t> layer = {}; ///< among those of `@main`
  /// The elements that a constant mask takes out of a softmax, which say
  /// nothing of a range; empty if there are none.
  std::vector<char> hidden = {};
  bool hides(size_t i) const { return !hidden.empty() && hidden[i]; }
};

/// Widths of each row; 0 keeps the reals.
using Config = std::vector<Bits>;

/// Quantized against float, over the frames.
struct Quality {
  std::vector<double> snr;       ///< by row; empty unless asked for
  std::vector<double> saturated; ///< share of values, by row; as `snr`
  double noise = 0;     ///< power at the worst output, relative to signal
  double outputSnr = 0; ///< the same in dB
  double agreement = 1;
};

class ObservedModel {
public:
  /// Takes a folded module with `@main`; keeps a copy.
  ObservedModel(mlir::ModuleOp module, const Frames &frames,
                const Options &options);

  mlir::func::FuncOp main() const;
  const std::vector<Row> &rows() const { return list; }
  const Placement &placement() const { return places; }

  /// Runs the frames; must be called before the following.
  llvm::Error observe();
  const Observed &observed(size_t row) const { return seen[row]; }

  AffineFormat activation(size_t row, unsigned bits);
  AffineFormat weights(size_t row, unsigned bits);

  /// Quantizes `@main` of a module like the network's own. Returns the value
  /// of each row.
  std::vector<mlir::Value> apply(mlir::ModuleOp copy, const Config &config);
  /// Runs the first `count` frames (0: all), including the rows' own quality if
  /// `layers`.
  llvm::Expected<Quality> measure(const Config &config, bool layers = false,
                                  size_t count = 0);

private:
  void makeRows();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  const Frames &frames;
  const Options &options;
  Placement places;
  std::vector<Row> list;
  std::vector<Observed> seen;
  std::vector<std::vector<Tensor>> outputs; ///< of the float network, by frame
  std::map<std::pair<size_t, unsigned>, AffineFormat> chosen, chosenWeights;
};

/// One width of one row, one bit less, and the noise that this adds at the
/// worst output, relative to the signal.
struct RowNarrowing {
  size_t row;
  bool weights; ///< or activations
  unsigned to;
  double noise;
};

/// Every width of every row of which the options leave it open, bit by bit from
/// `config`, each alone.
llvm::Expected<std::vector<RowNarrowing>>
measureNarrowings(ObservedModel &network, const Config &config,
                  const Options &options, const Progress &progress);

/// Lowers widths from `config` as far as the bounds of `options` allow.
llvm::Expected<Config> searchWidths(ObservedModel &network, Config config,
                                    const Options &options,
                                    const Progress &progress);
/// Why a quality violates the bounds; "" if it does not.
std::string missedBound(const Quality &quality, const Options &options);
} // namespace rhizome::calibrate
