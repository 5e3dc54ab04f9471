// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions of a layer, tile by tile, for homes of its tensors, a size
// of tiles and places of its buffers that others choose.
#pragma once

#include "Image.h"

namespace rhizome::engine {
/// Where a tensor is from the layer that makes it to the last that reads it.
struct Home {
  bool isInside = false; ///< whole in the scratchpad, with a border
  int64_t port = 0;      ///< outside
  bool isPacked = false;
  /// The word of pixel (0, 0), and steps to the next row and pixel.
  int64_t first = 0, rowStep = 0, columnStep = 0;
  // Inside: what lies around the pixels, and which layer writes that.
  int64_t top = 0, left = 0, bottom = 0, right = 0, padByte = 0;
  int64_t filler = -1;
};

/// Words from pixel to pixel of a tensor in the scratchpad that the array walks
/// through in steps of `strides` pixels, all that its readers have. It goes
/// first, and would keep others from a bank for long if it always met the same
/// one: at least four banks take turns, if there are as many.
int64_t pixelPitch(int64_t words, llvm::ArrayRef<int64_t> strides,
                   const Core &core);

/// Words from the first one of a tensor that serves as weights to the last one
/// that the array may be given, with whole blocks and these steps from pixel to
/// pixel.
int64_t weightWords(const ByteTensor &tensor, bool isTurned, int64_t step,
                    const Core &core);

/// A tile's rows are the lanes' in parts of so many.
constexpr int64_t kLaneParts = 8;

/// How a layer is cut. Tiles of `rows` × `columns` pixels of the output;
/// `copies` buffers of what is loaded or stored tile by tile, so that units
/// need not wait; `blocks` blocks of output channels are stored at a time. Of a
/// depthwise layer that is `shared`, the lanes do every second block; otherwise
/// they make `lanes` of kLaneParts of a tile's rows, while the array makes the
/// others. What a layer that is `isJoined` does stands between what the layer
/// before does.
struct Tiling {
  int64_t rows = 1, columns = 1, copies = 2, blocks = 1;
  bool isShared = false, isJoined = false;
  int64_t lanes = 0;
  bool operator==(const Tiling &) const = default;
};

/// Words of each buffer that a layer needs in the scratchpad.
struct BufferWords {
  int64_t constants = 0, input = 0, other = 0, temporary = 0, output = 0;
  int64_t weights = 0; ///< those that are a tensor
};

/// Their first words; `copies` of input, other, output and weights follow each
/// other, as do the temporaries.
struct Buffers {
  int64_t constants = 0, input = 0, other = 0, temporary = 0, output = 0;
  int64_t weights = 0;
};

/// What instructions of all layers are made from.
struct Surface {
  const Network &network;
  const Image &image;
  const Core &core;
  std::vector<Home> homes;                             ///< of tensors
  int64_t weightsPort = 0, weights = 0, constants = 0; ///< segments
};

/// Of one copy each, and of all.
BufferWords bufferWords(const Surface &surface, size_t layer,
                        const Tiling &tiling);
/// Instructions that stay together: of a layer's constants and its output's
/// border, what a tile loads, or a block of output channels or a word of one.
struct Piece {
  size_t layer = 0;
  /// The bank of accumulators with which it begins, and that of the next one.
  int64_t bank = 0, nextBank = 0;
  std::vector<Instruction> instructions;
};
using Pieces = std::vector<Piece>;

/// What a layer does, without tokens.
Pieces emitLayer(const Surface &surface, size_t layer, const Tiling &tiling,
                 const Buffers &buffers);

/// Whether pixels are summed up with all channels at once: each word of a pixel
/// is a pixel to the lanes. `rows` of the tile is 1 then.
bool sumsFlat(const Layer &layer, const LayerImage &image, int64_t outputWords,
              const Core &core);

/// Whether fields are in their bounds and rules hold.
bool fieldsHold(llvm::ArrayRef<Instruction> instructions, const Core &core);
} // namespace rhizome::engine
