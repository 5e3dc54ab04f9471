// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a network as its compiled program, and as the interpreter does.
#pragma once

#include "rhizome/EngineCompiler/Compile.h"
#include "rhizome/Interp/Interpreter.h"
#include <random>

namespace rhizome::engine::test {
/// A frame of random inputs of a function's types, with its extremes.
inline std::vector<Tensor> randomFrame(mlir::func::FuncOp network,
                                       std::mt19937_64 &random) {
  std::vector<Tensor> inputs;
  for (mlir::Type type : network.getArgumentTypes()) {
    auto shape = llvm::cast<mlir::RankedTensorType>(type).getShape();
    auto element = num::elementInt(type);
    std::vector<int64_t> values;
    for (int64_t i = 0; i < mlir::ShapedType::getNumElements(shape); ++i)
      values.push_back(
          random() % 16 == 0
              ? (random() & 1 ? element.getLo() : element.getHi())
              : element.getLo() +
                    int64_t(random() %
                            uint64_t(element.getHi() - element.getLo() + 1)));
    inputs.push_back(Tensor::ofInts(shape.vec(), std::move(values)));
  }
  return inputs;
}

/// The words of a stream that carries tensors, or the tensors that the words of
/// one are: as they lie in memory.
inline void stream(const CompiledNetwork &compiled, const Core &core,
                   State &state, std::vector<int8_t> &words, bool enters) {
  size_t at = 0;
  for (const TensorPlace &place : enters ? compiled.inputs : compiled.outputs) {
    auto memory =
        state.memories[size_t(place.port)].begin() + place.address * core.in;
    const auto count = size_t(place.words() * core.in);
    if (enters) {
      words.insert(words.end(), memory, memory + ptrdiff_t(count));
      std::fill_n(memory, count, int8_t(0x55));
    } else {
      std::copy_n(words.begin() + ptrdiff_t(at), count, memory);
    }
    at += count;
  }
}

/// Memories with a frame's inputs.
inline State stateOf(const CompiledNetwork &compiled, const Core &core,
                     llvm::ArrayRef<Tensor> inputs) {
  State state = compiled.state(core);
  for (auto [place, input] : llvm::zip_equal(compiled.inputs, inputs))
    writeTensor(place, core, input.ints, state);
  if (compiled.received > 0)
    stream(compiled, core, state, state.received, true);
  return state;
}

/// "" if the outputs are those of the interpreter.
inline std::string difference(const CompiledNetwork &compiled, const Core &core,
                              State state, llvm::ArrayRef<Tensor> expected) {
  if (state.sent.size() != size_t(compiled.sent * core.in))
    return "words of the stream are missing";
  if (compiled.sent > 0) {
    for (const TensorPlace &place : compiled.outputs) // only the stream counts
      std::fill_n(state.memories[size_t(place.port)].begin() +
                      place.address * core.in,
                  place.words() * core.in, int8_t(0x55));
    stream(compiled, core, state, state.sent, false);
  }
  for (auto [place, output] : llvm::zip_equal(compiled.outputs, expected)) {
    const std::vector<int64_t> values = readTensor(place, core, state);
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != output.ints[i])
        return place.name + "[" + std::to_string(i) + "] is " +
               std::to_string(values[i]) + " and not " +
               std::to_string(output.ints[i]);
  }
  return "";
}
} // namespace rhizome::engine::test
