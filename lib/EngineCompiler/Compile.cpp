// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The search: how layers are cut and which tensors stay in the scratchpad, by
// the predicted cycles of the programs that they give.
#include "rhizome/EngineCompiler/Compile.h"
#include "Plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

namespace {
/// Borders that `load` makes.
constexpr int64_t kMostBorder = 15;
/// Layers whose array hardly ever stands still need no better tiles: besides so
/// much of their cycles it does so when they begin and end.
constexpr double kGoodEnough = 0.005;
constexpr int64_t kBeginAndEnd = 400;
bool isGoodEnough(const Prediction &predicted) {
  return double(predicted.cycles - predicted.arrayCycles) <
         kGoodEnough * double(predicted.arrayCycles) + kBeginAndEnd;
}

class Search {
public:
  Search(const Network &network, const Core &core,
         const std::vector<bool> &isPacked, const CompileOptions &options)
      : network(network), core(core), options(options),
        image(imageOf(network, isPacked, core)),
        plan(network, image, isPacked, core, options),
        isInside(network.tensors.size(), false),
        tilings(network.layers.size()) {}

  std::optional<CompiledNetwork> run(std::vector<EngineRefusal> &refusals) {
    plan.place(isInside);
    for (size_t i = 0; i < tilings.size(); ++i)
      if (!chooseAlone(i))
        refusals.push_back({network.layers[i].op,
                            "no tile of it fits the core's scratchpad of " +
                                std::to_string(core.words) + " words"});
    if (!refusals.empty())
      return std::nullopt;
    if (options.keepsInside)
      for (size_t tensor : plan.candidates())
        tryInside(tensor);
    for (size_t i = 0; i < tilings.size(); ++i)
      refine(i);
    for (size_t i = 1; i < tilings.size(); ++i)
      if (network.layers[i].kind != Layer::Matrix)
        tryEarly(i);
    return made();
  }

private:
  Prediction predicted(size_t first, size_t last) const {
    return predict(plan.part(first, last, tilings).program, core,
                   options.memory);
  }

  /// The tiles with which a layer alone is fastest; false if none fit.
  bool chooseAlone(size_t layer) {
    std::optional<Tiling> best;
    int64_t least = 0;
    for (const Tiling &tiling : plan.tilings(layer)) {
      tilings[layer] = tiling;
      const Prediction now = predicted(layer, layer);
      if (!best || now.cycles < least) {
        best = tiling;
        least = now.cycles;
      }
      if (isGoodEnough(now))
        break;
    }
    if (best)
      tilings[layer] = *best;
    return best.has_value();
  }

  /// Keeps a tensor in the scratchpad if the layers from the one that makes it
  /// to the last that reads it are not slower then.
  void tryInside(size_t tensor) {
    const auto [first, last] = plan.spanOf(tensor);
    const int64_t before = predicted(first, last).cycles;
    const std::vector<Tiling> old = tilings;
    isInside[tensor] = true;
    bool isBetter = plan.place(isInside);
    // Other tensors may have moved.
    for (size_t i = 0; isBetter && i < tilings.size(); ++i)
      isBetter = plan.fits(i, tilings[i]) ||
                 (i >= first && i <= last && chooseAlone(i));
    if (isBetter && predicted(first, last).cycles <= before)
      return;
    isInside[tensor] = false;
    tilings = old;
    plan.place(isInside);
  }

  /// Carries out a layer of the lanes tile by tile between those of the layer
  /// before, which may be the array's, if that is faster.
  void tryEarly(size_t layer) {
    const size_t last = std::min(layer + 1, tilings.size() - 1);
    std::vector<Tiling> best = tilings;
    int64_t least = predicted(layer - 1, last).cycles;
    for (const Tiling &tiling : plan.tilings(layer, /*smallest=*/true)) {
      tilings[layer] = tiling;
      tilings[layer].isEarly = true;
      const int64_t cycles = predicted(layer - 1, last).cycles;
      if (cycles < least) {
        least = cycles;
        best = tilings;
      }
    }
    tilings = best;
  }

  /// Tiles of the next sizes, or shared differently, seen with the layer's
  /// neighbors.
  void refine(size_t layer) {
    const size_t first = layer == 0 ? 0 : layer - 1,
                 last = std::min(layer + 1, tilings.size() - 1);
    const Prediction now = predicted(first, last);
    if (isGoodEnough(now))
      return;
    const Tiling begin = tilings[layer];
    Tiling best = begin;
    int64_t least = now.cycles;
    auto tryThis = [&](const Tiling &tiling) {
      tilings[layer] = tiling;
      const int64_t cycles = predicted(first, last).cycles;
      if (cycles < least) {
        least = cycles;
        best = tiling;
        return true;
      }
      return false;
    };
    auto isAlike = [&](const Tiling &tiling) {
      return tiling.isShared == begin.isShared && tiling.lanes == begin.lanes;
    };
    // Smaller and smaller, then larger and larger, as long as that helps.
    const std::vector<Tiling> all = plan.tilings(layer);
    for (const Tiling &tiling : all)
      if (tiling.rows < begin.rows && isAlike(tiling) && !tryThis(tiling))
        break;
    for (const Tiling &tiling : reverse(all))
      if (tiling.rows > begin.rows && isAlike(tiling) && !tryThis(tiling))
        break;
    const int64_t rows = best.rows;
    for (const Tiling &tiling : all)
      if (tiling.rows == rows && !isAlike(tiling))
        tryThis(tiling);
    tilings[layer] = best;
  }

  CompiledNetwork made() const {
    CompiledNetwork made;
    Part whole = plan.whole(tilings);
    made.program = std::move(whole.program);
    made.predicted = predict(made.program, core, options.memory);
    plan.describe(made);
    std::vector<LayerReport> layers;
    if (options.streams)
      layers.push_back({.name = "input", .kind = "input"});
    for (auto [i, layer] : enumerate(network.layers)) {
      static constexpr const char *kKinds[] = {"matrix", "dot", "maximum",
                                               "map"};
      layers.push_back(
          {.name = layer.name,
           .kind = kKinds[layer.kind],
           .products = layer.products,
           .rows = tilings[i].rows,
           .columns = tilings[i].columns,
           .isInputInside = plan.places().homes[size_t(layer.input)].isInside,
           .isOutputInside =
               plan.places().homes[size_t(layer.output)].isInside});
      made.products += layer.products;
    }
    if (options.streams)
      layers.push_back({.name = "output", .kind = "output"});
    made.listing = listingOf(made.program, core, whole.layers,
                             std::move(layers), made.predicted);
    return made;
  }

  const Network &network;
  const Core &core;
  const CompileOptions &options;
  const Image image;
  Plan plan;
  std::vector<bool> isInside;
  std::vector<Tiling> tilings;
};
} // namespace

/// Inputs whose readers all take them by `pack`.
static std::vector<bool> packedInputs(const Network &network,
                                      const Core &core) {
  std::vector<bool> made(network.tensors.size(), false);
  for (int input : network.inputs) {
    const ByteTensor &t = network.tensors[size_t(input)];
    made[size_t(input)] =
        !t.isOutput && !t.isViewed && !t.readers.empty() &&
        all_of(t.readers, [&](int layer) {
          return network.layers[size_t(layer)].other != input &&
                 canPack(network.layers[size_t(layer)], core);
        });
  }
  return made;
}

/// What the load unit can't do with a layer's border, or "".
static std::string badBorder(const Layer &layer) {
  const osa::Window &w = layer.window;
  const int64_t most = std::max({w.padTop, w.padLeft, w.padBottom, w.padRight});
  if (most > kMostBorder)
    return "its border of " + std::to_string(most) + " is wider than " +
           std::to_string(kMostBorder);
  if (std::max(w.padTop, w.padBottom) >= w.spanH() ||
      std::max(w.padLeft, w.padRight) >= w.spanW())
    return "a window lies wholly in its border";
  return "";
}

/// The layers, or what is refused.
static Network checkedLayers(mlir::func::FuncOp function, const Core &core,
                             std::vector<EngineRefusal> &refusals) {
  Network network = layersOf(function, core, refusals);
  for (const Layer &layer : network.layers)
    if (std::string why = badBorder(layer); !why.empty())
      refusals.push_back({layer.op, why});
  return network;
}

std::vector<EngineRefusal> engine::refusalsFor(mlir::func::FuncOp function,
                                               const Core &core) {
  std::vector<EngineRefusal> refusals;
  checkedLayers(function, core, refusals);
  return refusals;
}

std::optional<CompiledNetwork>
engine::compileForCore(mlir::func::FuncOp function, const Core &core,
                       std::vector<EngineRefusal> &refusals,
                       const CompileOptions &options) {
  const Network network = checkedLayers(function, core, refusals);
  if (refusals.empty() && network.layers.empty())
    refusals.push_back({function, "it has no layers"});
  if (!refusals.empty())
    return std::nullopt;
  return Search(network, core, packedInputs(network, core), options)
      .run(refusals);
}

State CompiledNetwork::state(const Core &core) const {
  State made(core);
  for (auto [memory, words] : zip(made.memories, memoryWords))
    memory.resize(size_t(words * core.in));
  for (const Segment &segment : segments)
    copy(segment.bytes, made.memories[size_t(segment.port)].begin() +
                            segment.address * core.in);
  return made;
}

/// Calls use(byte, index) for the bytes of a tensor in row-major order.
template <typename Bytes, typename Use>
static void forBytes(const TensorPlace &place, const Core &core, Bytes &memory,
                     Use use) {
  const int64_t pixel = place.isPacked
                            ? place.channels
                            : int64_t(alignTo(place.channels, core.in));
  size_t index = 0;
  for (int64_t y = 0; y < place.height; ++y)
    for (int64_t x = 0; x < place.width; ++x)
      for (int64_t c = 0; c < place.channels; ++c)
        use(memory[size_t((place.address + y * place.rowWords) * core.in +
                          x * pixel + c)],
            index++);
}

void engine::writeTensor(const TensorPlace &place, const Core &core,
                         ArrayRef<int64_t> values, State &state) {
  forBytes(place, core, state.memories[size_t(place.port)],
           [&](int8_t &byte, size_t index) {
             byte = int8_t(values[index] - place.bias);
           });
}

std::vector<int64_t> engine::readTensor(const TensorPlace &place,
                                        const Core &core, const State &state) {
  std::vector<int64_t> values;
  forBytes(place, core, state.memories[size_t(place.port)],
           [&](int8_t byte, size_t) { values.push_back(byte + place.bias); });
  return values;
}
