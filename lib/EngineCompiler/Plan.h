// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where tensors and buffers lie for a choice of tensors that stay in the
// scratchpad, the ways to cut each layer, and programs of parts of a network.
// What is best is the search's (Compile.cpp).
#pragma once

#include "Emit.h"
#include "Rooms.h"

namespace rhizome::engine {
/// A part of a network as a program, and the layer of each instruction.
struct Part {
  Program program;
  std::vector<size_t> layers;
};

class Plan {
public:
  Plan(const Network &network, const Image &image,
       const std::vector<bool> &isPacked, const Core &core,
       const CompileOptions &options);

  /// The layers from the first that makes a part of a tensor's words to the
  /// last that uses one.
  struct Span {
    size_t first, last;
  };
  Span spanOf(size_t tensor) const { return spans[tensor]; }

  /// Tensors that may be kept in the scratchpad, in the order of their layers.
  std::vector<size_t> candidates() const;

  /// Finds homes; false if `inside` does not fit the scratchpad. What layers
  /// that are joined need is there for all the time that these take.
  bool place(const std::vector<bool> &inside, llvm::ArrayRef<Tiling> tilings);
  /// The layers that are joined with this one.
  Span groupOf(size_t layer) const { return groups[layer]; }
  const Surface &places() const { return surface; }

  /// Some ways to cut a layer that fit alone, those with the fewest tiles
  /// first.
  std::vector<Tiling> tilings(size_t layer) const;

  /// Whether a layer's buffers fit besides those of the layers before with
  /// which it is joined.
  bool fits(size_t layer, llvm::ArrayRef<Tiling> tilings) const {
    return buffers(layer, tilings).has_value();
  }

  /// Layers `first` … `last` as instructions without tokens, and with these as
  /// a program.
  Part unfinished(size_t first, size_t last,
                  llvm::ArrayRef<Tiling> tilings) const;
  void finish(Part &part) const;
  /// All of them; between streams, if those are asked for, with layers 0 and
  /// n + 1 for the instructions that take inputs and give outputs.
  Part whole(llvm::ArrayRef<Tiling> tilings) const;

  /// Fills in what the memories of the whole network hold; its program is
  /// there.
  void describe(CompiledNetwork &made) const;

private:
  const ByteTensor &tensor(size_t i) const { return network.tensors[i]; }
  int64_t wordsOf(const ByteTensor &t) const;
  int64_t rowWords(size_t tensor) const;
  /// Whether it has words of its own that layers make and use.
  bool isBetweenLayers(size_t tensor) const;
  std::optional<Home> borderOf(size_t tensor) const;
  int64_t insideWords(size_t tensor) const;
  int64_t insidePitch(size_t tensor) const;
  bool placeInside(const std::vector<bool> &inside);
  void placeOutside(const std::vector<bool> &inside);
  /// That of a tensor that is part of others, found by theirs.
  const Home &homeOf(size_t tensor);
  /// From when to when a tensor lies where it does.
  Span lifeOf(size_t tensor) const {
    return {groups[spans[tensor].first].first, groups[spans[tensor].last].last};
  }
  std::optional<Buffers> take(Rooms &rooms, size_t layer,
                              const Tiling &tiling) const;
  std::optional<Buffers> buffers(size_t layer,
                                 llvm::ArrayRef<Tiling> tilings) const;
  std::vector<Instruction> streamed(llvm::ArrayRef<int> tensors,
                                    bool enters) const;
  int64_t streamWords(llvm::ArrayRef<int> tensors) const;

  const Network &network;
  const Image &image;
  const std::vector<bool> isPacked;
  const Core &core;
  const CompileOptions &options;
  std::vector<Span> spans;                ///< of tensors with words
  std::vector<Span> groups;               ///< of layers
  std::vector<std::vector<size_t>> views; ///< of these, themselves included
  Surface surface;
  Rooms scratch;
  std::array<int64_t, 4> memoryWords = {};
};
} // namespace rhizome::engine
