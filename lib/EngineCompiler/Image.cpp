// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights as blocks of the array, constants as words of the lanes.
#include "Image.h"
#include "rhizome/Engine/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

bool engine::canPack(const Layer &layer, const Core &core) {
  const osa::Window &w = layer.window;
  return layer.kind == Layer::Matrix && layer.groups == 1 &&
         !layer.isProduct() && w.channels < core.in && w.dilationW == 1 &&
         w.kernelW * w.channels <= 2 * core.in &&
         w.strideW * w.channels <= core.in &&
         w.padLeft * w.channels <= core.in && w.width * w.channels < 16384 &&
         w.outWidth <= core.entries;
}

bool engine::isDepthwise(const Layer &layer) {
  return layer.kind == Layer::Dot ||
         (layer.kind == Layer::Matrix &&
          layer.groups == layer.window.channels &&
          layer.weights.size() == size_t(layer.groups * layer.window.kernelH *
                                         layer.window.kernelW));
}

namespace {
class Builder {
public:
  Builder(const Core &core) : in(core.in), out(core.out) {}

  LayerImage layer(const Layer &layer, const ByteTensor &output,
                   bool isPacked) {
    LayerImage made;
    if (layer.isProduct())
      product(layer, output, made);
    else if (layer.kind == Layer::Matrix)
      matrix(layer, output, isPacked, made);
    if (!layer.rest.empty())
      rest(layer, made);
    lanes(layer, output, made);
    return made;
  }
  Image image;

private:
  int8_t *append(std::vector<int8_t> &bytes, int64_t words) {
    bytes.resize(bytes.size() + size_t(words * in));
    return bytes.data() + bytes.size() - words * in;
  }

  /// A sum is 127 times weights of all rows but the last, and once the last
  /// one's of the first block.
  void rest(const Layer &layer, LayerImage &made) {
    constexpr int64_t kFactor = 127;
    int64_t most = 0;
    for (int64_t value : layer.rest)
      most = std::max(most, std::abs(value) / kFactor + 1);
    made.restBlocks = int64_t(divideCeil(most, (in - 1) * kFactor));
    for (auto [number, columns] : enumerate(made.columns)) {
      columns.rest = int64_t(image.weights.size()) / in;
      int8_t *to = append(image.weights, made.restBlocks * out);
      for (int64_t n = 0; n < out; ++n) {
        const size_t channel = number * size_t(out) + size_t(n);
        if (channel >= layer.rest.size())
          break;
        const int64_t value = layer.rest[channel];
        int64_t left = value / kFactor;
        to[n * in + in - 1] = int8_t(value % kFactor);
        for (int64_t b = 0; b < made.restBlocks; ++b)
          for (int64_t r = 0; r < in - 1; ++r) {
            const int64_t part = std::clamp(left, -kFactor, kFactor);
            to[(b * out + n) * in + r] = int8_t(part);
            left -= part;
          }
      }
    }
  }

  /// The weights are a tensor's, but for what is added to them.
  void product(const Layer &layer, const ByteTensor &output, LayerImage &made) {
    const int64_t inner = layer.window.channels,
                  words = int64_t(divideCeil(inner, in));
    for (int64_t first = 0; first < output.channels; first += out)
      made.columns.push_back({0, words, 0, words});
    for (int8_t value : layer.weightAdds) {
      made.weightAdds.push_back(int64_t(image.weights.size()) / in);
      int8_t *to = append(image.weights, words * out);
      for (int64_t i = 0; i < words * out * in; ++i)
        to[i] = i / (out * in) * in + i % in < inner ? value : 0;
    }
  }

  void matrix(const Layer &layer, const ByteTensor &output, bool isPacked,
              LayerImage &made) {
    const osa::Window &w = layer.window;
    const int64_t each = w.channels / layer.groups,
                  eachOut = output.channels / layer.groups;
    made.packWords = isPacked ? divideCeil(w.kernelW * w.channels, in) : 0;
    made.four = out % 2 == 0 && all_of(layer.weights, [](int8_t weight) {
                  return weight >= -8 && weight < 8;
                });
    for (int64_t first = 0; first < output.channels; first += out) {
      const int64_t end = std::min(first + out, output.channels);
      // Channels of the input that these depend on.
      const int64_t from = first / eachOut * each,
                    to = ((end - 1) / eachOut + 1) * each;
      LayerImage::Columns columns;
      columns.address = int64_t(image.weights.size()) / in;
      columns.firstWord = isPacked ? 0 : from / in;
      columns.words =
          isPacked ? made.packWords : (to - 1) / in + 1 - columns.firstWord;
      const int64_t taps = isPacked ? 1 : w.kernelW;
      columns.blocks = w.kernelH * taps * columns.words;
      std::vector<int8_t> block(size_t(columns.blocks * out * in));
      for (int64_t o = first; o < end; ++o)
        for (int64_t ky = 0; ky < w.kernelH; ++ky)
          for (int64_t kx = 0; kx < w.kernelW; ++kx)
            for (int64_t c = 0; c < each; ++c) {
              const int8_t weight = layer.weights[size_t(
                  ((o * w.kernelH + ky) * w.kernelW + kx) * each + c)];
              const int64_t channel = o / eachOut * each + c;
              const int64_t at = isPacked ? kx * w.channels + channel
                                          : channel - columns.firstWord * in;
              const int64_t number =
                  (ky * taps + (isPacked ? 0 : kx)) * columns.words + at / in;
              block[size_t((number * out + o - first) * in + at % in)] = weight;
            }
      if (!made.four) {
        std::copy(block.begin(), block.end(),
                  append(image.weights, columns.blocks * out));
      } else {
        // A word holds two columns.
        int8_t *to = append(image.weights, columns.blocks * out / 2);
        for (int64_t word = 0; word < columns.blocks * out; ++word)
          for (int64_t r = 0; r < in; ++r)
            to[word / 2 * in + r] |=
                int8_t((block[size_t(word * in + r)] & 15) << (word % 2 * 4));
      }
      made.columns.push_back(columns);
    }
  }

  /// Puts `count` bytes of a constant into a lane of as many words.
  void put(int8_t *words, int64_t lane, int64_t count, int64_t value) {
    for (int64_t i = 0; i < count; ++i)
      words[i * in + lane] = int8_t(uint64_t(value) >> (8 * i));
  }

  std::vector<int8_t> constantsOf(const Step &step, int64_t first) {
    if (step.kind == Step::Table)
      return step.table;
    const bool adds = step.kind == Step::Add;
    std::vector<int8_t> words(size_t((adds ? 12 : 11) * in));
    for (int64_t c = 0; c < in; ++c) {
      // Lanes that no channel has are as good as any.
      const size_t channel =
          step.lanes.size() == 1
              ? 0
              : std::min(size_t(first + c), step.lanes.size() - 1);
      const Lane &lane = step.lanes[channel];
      if (adds) {
        put(words.data(), c, 3, lane.m);
        put(words.data() + 3 * in, c, 3, lane.n);
        put(words.data() + 6 * in, c, 6, lane.o);
      } else {
        put(words.data(), c, 5, lane.m);
        put(words.data() + 5 * in, c, 6, lane.o);
      }
    }
    return words;
  }

  void lanes(const Layer &layer, const ByteTensor &output, LayerImage &made) {
    // Where a burst begins.
    image.constants.resize(alignTo(image.constants.size(), kBurst * in));
    made.constants = int64_t(image.constants.size()) / in;
    std::vector<int8_t> all;
    std::map<std::vector<int8_t>, int64_t> known;
    auto add = [&](std::vector<int8_t> words) {
      auto [it, isNew] = known.try_emplace(words, int64_t(all.size()) / in);
      if (isNew)
        append_range(all, words);
      return it->second;
    };
    for (const Step &step : layer.steps) {
      std::vector<int64_t> &places = made.steps.emplace_back();
      for (int64_t first = 0; first < output.channels; first += in) {
        places.push_back(add(constantsOf(step, first)));
        if (step.lanes.size() <= 1)
          break;
      }
      if (all_equal(places))
        places.resize(1);
    }
    for (int8_t value : layer.inputAdds) {
      const int64_t inner = layer.window.channels;
      std::vector<int8_t> words(size_t(alignTo(inner, in)), 0);
      std::fill_n(words.begin(), inner, value);
      made.inputAdds.push_back(add(words));
    }
    for (int64_t b = 0; b < made.restBlocks; ++b) {
      std::vector<int8_t> word(size_t(in), 127);
      word.back() = 1;
      if (b == 0)
        made.restWords = int64_t(all.size()) / in;
      append_range(all, word);
    }
    // Borders in the scratchpad are made from any word.
    if (all.empty())
      all.resize(size_t(in));
    made.stepWords = int64_t(all.size()) / in;
    if (isDepthwise(layer)) {
      made.isUniform = all_equal(layer.weights);
      made.dotWeights = int64_t(all.size()) / in;
      const int64_t taps = layer.window.kernelH * layer.window.kernelW;
      const int64_t words = divideCeil(layer.window.channels, in);
      std::vector<int8_t> weights(size_t(words * taps * in));
      for (int64_t c = 0; c < layer.window.channels; ++c)
        for (int64_t t = 0; t < taps; ++t)
          weights[size_t((c / in * taps + t) * in + c % in)] =
              layer.weights[size_t(c * taps + t)];
      append_range(all, weights);
    }
    made.constantWords = int64_t(all.size()) / in;
    std::copy(all.begin(), all.end(),
              append(image.constants, made.constantWords));
  }

  const int64_t in, out;
};
} // namespace

Image engine::imageOf(const Network &network, const std::vector<bool> &isPacked,
                      const Core &core) {
  Builder builder(core);
  for (const Layer &layer : network.layers)
    builder.image.layers.push_back(
        builder.layer(layer, network.tensors[size_t(layer.output)],
                      isPacked[size_t(layer.input)]));
  return std::move(builder.image);
}
