// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The search: how layers are cut and which tensors stay in the scratchpad, by
// the predicted cycles of the programs that they give.
#include "rhizome/EngineCompiler/Compile.h"
#include "Alike.h"
#include "Plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

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
/// Layers that may be joined; of their cycles what array and lanes must stand
/// for it to be tried, and what it has to save.
constexpr size_t kMostJoined = 8;
constexpr double kLeastHope = 0.03, kLeastGain = 0.002;
/// Of tiles that are smaller so that joined layers fit, the first that are
/// tried.
constexpr int64_t kMostRows = 8;
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
    plan.place(isInside, tilings);
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
    if (options.joins)
      joinAll();
    return made();
  }

private:
  /// How long a part takes; without what is known of its instructions alone.
  const Prediction &predicted(size_t first, size_t last) {
    Part part = plan.unfinished(first, last, tilings);
    auto [known, isNew] =
        predictions.try_emplace(likenessOf(part.program.instructions, core));
    if (isNew) {
      plan.finish(part);
      known->second = predict(part.program, core, options.memory);
      known->second.spans.clear();
    }
    return known->second;
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
    bool isBetter = plan.place(isInside, tilings);
    // Other tensors may have moved.
    for (size_t i = 0; isBetter && i < tilings.size(); ++i)
      isBetter =
          plan.fits(i, tilings) || (i >= first && i <= last && chooseAlone(i));
    if (isBetter && predicted(first, last).cycles <= before)
      return;
    isInside[tensor] = false;
    tilings = old;
    plan.place(isInside, tilings);
  }

  /// Joins neighbors from first to last, if the whole is faster then.
  void joinAll() {
    const std::vector<Tiling> before = tilings;
    const std::vector<bool> insideBefore = isInside;
    const int64_t cycles = predicted(0, tilings.size() - 1).cycles;
    for (size_t i = 1; i < tilings.size(); ++i)
      tryJoined(i);
    if (predicted(0, tilings.size() - 1).cycles <= cycles)
      return;
    tilings = before;
    isInside = insideBefore;
    plan.place(isInside, tilings);
  }

  /// Joins a layer with the one before, if both are faster then. Tiles may have
  /// to be smaller, and what lies between the two may have to leave the
  /// scratchpad.
  void tryJoined(size_t layer) {
    const size_t group = plan.groupOf(layer - 1).first;
    size_t first = group, last = std::min(layer + 1, tilings.size() - 1);
    if (layer - group >= kMostJoined)
      return;
    // All that may change with what leaves the scratchpad.
    std::vector<size_t> tensors;
    for (int i : {network.layers[layer].input, network.layers[layer].output}) {
      tensors.push_back(size_t(network.rootOf(i)));
      first = std::min(first, plan.spanOf(tensors.back()).first);
      last = std::max(last, plan.spanOf(tensors.back()).last);
    }
    const Prediction now = predicted(first, last);
    const int64_t least =
        std::max(now.arrayCycles, now.runs[unsigned(Unit::Vector)]);
    if (double(now.cycles - least) < kLeastHope * double(now.cycles))
      return;
    const std::vector<Tiling> before = tilings;
    const std::vector<bool> insideBefore = isInside;
    std::vector<Tiling> best = tilings;
    std::vector<bool> bestInside = isInside;
    auto wanted = int64_t((1 - kLeastGain) * double(now.cycles));
    auto tryThis = [&] {
      tilings[layer].isJoined = true;
      isInside = insideBefore;
      bool hasPlace = placeAll();
      for (size_t tensor : tensors)
        if (!hasPlace && isInside[tensor]) {
          isInside[tensor] = false;
          hasPlace = placeAll();
        }
      if (!hasPlace)
        return false;
      const int64_t cycles = predicted(first, last).cycles;
      if (cycles < wanted) {
        wanted = cycles;
        best = tilings;
        bestInside = isInside;
      }
      return true;
    };
    const std::vector<Tiling> own = plan.tilings(layer);
    const bool fits = tryThis();
    // Those of the lanes at every size, and what the array shares with them
    // also as theirs alone.
    const bool isMatrix = network.layers[layer].kind == Layer::Matrix;
    for (const Tiling &tiling : own)
      if (!isMatrix || tiling.lanes == kLaneParts) {
        tilings[layer] = tiling;
        tryThis();
      }
    std::vector<std::vector<Tiling>> choices;
    if (!fits) {
      tilings = before;
      isInside = insideBefore;
      plan.place(isInside, tilings);
      for (size_t i = group; i <= layer; ++i)
        choices.push_back(plan.tilings(i));
    }
    for (int64_t rows = fits ? 0 : kMostRows; rows > 0; rows /= 2) {
      tilings = before;
      for (size_t i = group; i <= layer; ++i)
        if (tilings[i].rows > rows)
          for (Tiling tiling : choices[i - group])
            if (tiling.rows <= rows) {
              tiling.isJoined = tilings[i].isJoined;
              tilings[i] = tiling;
              break;
            }
      tryThis();
    }
    tilings = best;
    isInside = bestInside;
    plan.place(isInside, tilings);
  }

  /// Whether all has a place.
  bool placeAll() {
    if (!plan.place(isInside, tilings))
      return false;
    for (size_t i = 0; i < tilings.size(); ++i)
      if (!plan.fits(i, tilings))
        return false;
    return true;
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
  std::map<Likeness, Prediction> predictions;
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
