// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a network's layers need in memory, in the order in which the core takes
// it: blocks of weights for the array, constants and weights of the lanes.
#pragma once

#include "Layers.h"

namespace rhizome::engine {
/// Where what a layer needs lies, in words from its segment's first.
struct LayerImage {
  /// The weights of OUT output channels: blocks by kernel row, kernel column
  /// and word of the input, of which only `words` from `firstWord` on count.
  struct Columns {
    int64_t address, blocks, firstWord, words;
    int64_t rest = 0; ///< the address of those that only add to the sums
  };
  std::vector<Columns> columns;
  /// Blocks of these, and the words that they are multiplied by.
  int64_t restBlocks = 0, restWords = 0;
  bool four = false;     ///< weights of four bits
  int64_t packWords = 0; ///< a column's with `pack`, 0 without

  /// Constants of the steps come first, then weights of the lanes.
  int64_t constants = 0, stepWords = 0, constantWords = 0;
  /// Of each step and word of the output, its constants among them; one for
  /// all words if they do not differ.
  std::vector<std::vector<int64_t>> steps;
  int64_t dotWeights = -1; ///< of the lanes, the first one among them
  bool isUniform = false;  ///< they are all the same
  /// Of products of two tensors: blocks and words of one value each.
  std::vector<int64_t> weightAdds, inputAdds;
};

struct Image {
  std::vector<int8_t> weights, constants; ///< whole words
  std::vector<LayerImage> layers;
};

/// Whether each channel has its own sums and weights.
bool isDepthwise(const Layer &layer);

/// Whether the layer can take its input by `pack`, a row's bytes following
/// each other.
bool canPack(const Layer &layer, const Core &core);

/// The images of all layers. `isPacked` says which tensors lie packed.
Image imageOf(const Network &network, const std::vector<bool> &isPacked,
              const Core &core);
} // namespace rhizome::engine
