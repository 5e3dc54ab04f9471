// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as layers of the engine: which operations are carried out together,
// on which bytes and with which constants, and what is refused. How a layer
// becomes instructions is for others.
#pragma once

#include "Requantizer.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/EngineCompiler/Compile.h"

namespace rhizome::engine {
/// Which pixels of another tensor a tensor is; it has no words of its own then.
/// Steps from row to row and from pixel to pixel are so many of the other's
/// rows and columns. Its pixels may count as one row, of pixels or of words.
struct View {
  int of = -1; ///< tensor, -1 if this one has its own words
  enum Unit : uint8_t { Pixels, FlatPixels, FlatWords } unit = Pixels;
  int64_t row = 0, column = 0, word = 0; ///< the first pixel's first word
  int64_t rowRows = 1, rowColumns = 0;
  int64_t columnRows = 0, columnColumns = 1;
};

/// A tensor of bytes, each the value less `bias`.
struct ByteTensor {
  std::string name;
  int64_t height = 1, width = 1, channels = 1;
  int64_t low = 0, high = 0; ///< values
  int64_t bias = 0;
  int producer = -1;        ///< layer, -1 for an input
  std::vector<int> readers; ///< layers
  bool isOutput = false;
  View view;
  bool isViewed = false; ///< others are views of it
  bool isRow = false;    ///< to some of these its pixels are one row
  /// Layers use such ones, of pixels or of words: so nothing may lie between
  /// rows, or between pixels.
  bool isFlat = false, isDense = false;

  int64_t least() const { return low - bias; }
  int64_t most() const { return high - bias; }
};

/// One instruction of the vector unit for each word of a tile's pixels.
struct Step {
  enum Kind : uint8_t { Requantize, Add, Table } kind;
  enum Source : uint8_t { Sums, Temporary, Input, Other };
  Source a = Sums, b = Sums;
  int aTemporary = 0, bTemporary = 0;
  int to = -1; ///< a temporary, or the output
  int64_t shift = 0;
  int64_t low = -128, high = 127;
  std::vector<Lane> lanes = {};   ///< one a channel, or one for all
  std::vector<int8_t> table = {}; ///< 256 bytes
};

struct Layer {
  enum Kind : uint8_t {
    Matrix,  ///< sums of products with weights, by the array
    Dot,     ///< the same channel by channel, by the lanes
    Maximum, ///< the greatest of a window
    Map      ///< steps only
  } kind;
  std::string name; ///< of its nodes
  mlir::Operation *op;
  int input, other = -1, output = -1; ///< tensors
  osa::Window window;
  int64_t padByte = 0; ///< outside of the input
  int64_t groups = 1;
  /// Of Matrix [output channel, kernel row, kernel column, input channel of the
  /// group], of Dot [channel, kernel row, kernel column].
  std::vector<int8_t> weights;
  /// What the array is to add to the sums of each channel, if anything.
  std::vector<int64_t> rest;
  std::vector<Step> steps;
  int temporaries = 0;
  int64_t products = 0;

  /// Of products of two tensors, matrix by matrix: pixels by what serves as
  /// weights, and where the result goes. `input` is that of the first one. The
  /// pixels of `weights` are columns of the matrix, or rows if it `isTurned`.
  struct Batch {
    int input, weights, output = -1; ///< tensors
  };
  std::vector<Batch> batches;
  bool isTurned = false;
  bool isInTurn = false; ///< the first rows of all matrices come first
  /// What is added to all values of one side, in parts that are bytes.
  std::vector<int8_t> inputAdds, weightAdds;
  bool isProduct() const { return !batches.empty(); }

  bool hasPads() const {
    return window.padTop || window.padLeft || window.padBottom ||
           window.padRight;
  }
};

struct Network {
  std::vector<ByteTensor> tensors;
  std::vector<Layer> layers;        ///< in an order that may be carried out
  std::vector<int> inputs, outputs; ///< tensors

  /// The tensor that has a tensor's words.
  int rootOf(int tensor) const {
    while (tensors[size_t(tensor)].view.of >= 0)
      tensor = tensors[size_t(tensor)].view.of;
    return tensor;
  }
};

/// The layers of a function; `refusals` gets what the core can't do.
Network layersOf(mlir::func::FuncOp network, const Core &core,
                 std::vector<EngineRefusal> &refusals);
} // namespace rhizome::engine
