// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Puts a program together: where tensors are, how layers are cut and where
// their buffers lie, then instructions, their order and tokens.
#include "rhizome/EngineCompiler/Compile.h"
#include "Emit.h"
#include "Hoist.h"
#include "Rooms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

namespace {
/// Tensors and segments begin where bursts do.
constexpr int64_t kAlign = 16;
/// Borders that `load` makes.
constexpr int64_t kMostBorder = 15;

class Compiler {
public:
  Compiler(const Network &network, const Core &core,
           const CompileOptions &options)
      : network(network), core(core), options(options), isPacked(packed()),
        image(imageOf(network, isPacked, core)),
        surface{network, image, core, {}, 0, 0, 0},
        isInside(network.tensors.size(), false) {}

  std::optional<CompiledNetwork> run(std::vector<EngineRefusal> &refusals) {
    auto best = attempt(&refusals);
    if (!best || !options.keepsInside)
      return best;
    for (size_t tensor : candidates()) {
      isInside[tensor] = true;
      auto other = attempt(nullptr);
      if (other && other->predicted.cycles <= best->predicted.cycles)
        best = std::move(other);
      else
        isInside[tensor] = false;
    }
    return best;
  }

private:
  const ByteTensor &tensor(size_t i) const { return network.tensors[i]; }
  int64_t wordsOf(const ByteTensor &t) const {
    return int64_t(divideCeil(t.channels, core.in));
  }
  bool isUsed(const ByteTensor &t) const {
    return !t.readers.empty() || t.isOutput;
  }

  /// Inputs whose readers all take them by `pack`.
  std::vector<bool> packed() const {
    std::vector<bool> made(network.tensors.size(), false);
    for (int input : network.inputs) {
      const ByteTensor &t = tensor(size_t(input));
      made[size_t(input)] =
          !t.isOutput && !t.readers.empty() &&
          all_of(t.readers, [&](int layer) {
            return network.layers[size_t(layer)].other != input &&
                   canPack(network.layers[size_t(layer)], core);
          });
    }
    return made;
  }

  /// Tensors that may be kept in the scratchpad, those first that are made
  /// first.
  std::vector<size_t> candidates() const {
    std::vector<size_t> made;
    for (auto [i, t] : enumerate(network.tensors))
      if (t.producer >= 0 && !t.isOutput && !t.readers.empty() &&
          t.height * t.width * wordsOf(t) < core.words && borderOf(i))
        made.push_back(i);
    return made;
  }

  /// The border that all readers of a tensor need, nothing if they need
  /// different values in it.
  std::optional<Home> borderOf(size_t number) const {
    Home home;
    bool isFirst = true;
    for (int reader : tensor(number).readers) {
      const Layer &layer = network.layers[size_t(reader)];
      if (layer.input != int(number) || !layer.hasPads())
        continue;
      if (!isFirst && home.padByte != layer.padByte)
        return std::nullopt;
      isFirst = false;
      home.padByte = layer.padByte;
      const osa::Window &w = layer.window;
      home.top = std::max(home.top, w.padTop);
      home.left = std::max(home.left, w.padLeft);
      home.bottom = std::max(home.bottom, w.padBottom);
      home.right = std::max(home.right, w.padRight);
    }
    return home;
  }

  int64_t lastReader(const ByteTensor &t) const {
    return t.readers.empty() ? t.producer : t.readers.back();
  }

  //===------------------------------------------------------------------===//
  // Homes
  //===------------------------------------------------------------------===//

  /// Homes in the scratchpad, the largest first; false if they do not fit.
  bool placeInside(Rooms &scratch) {
    std::vector<size_t> order;
    for (size_t i = 0; i < network.tensors.size(); ++i)
      if (isInside[i])
        order.push_back(i);
    auto sizeOf = [&](size_t i) {
      const ByteTensor &t = tensor(i);
      const Home border = *borderOf(i);
      return (t.height + border.top + border.bottom) *
             (t.width + border.left + border.right) * wordsOf(t);
    };
    stable_sort(order,
                [&](size_t a, size_t b) { return sizeOf(a) > sizeOf(b); });
    for (size_t i : order) {
      const ByteTensor &t = tensor(i);
      auto place = scratch.take(sizeOf(i), t.producer, lastReader(t));
      if (!place)
        return false;
      Home home = *borderOf(i);
      home.isInside = true;
      home.rowStep = (t.width + home.left + home.right) * wordsOf(t);
      home.first = *place + home.top * home.rowStep + home.left * wordsOf(t);
      surface.homes[i] = home;
    }
    return true;
  }

  /// Homes in memory. Inputs and outputs come first, then segments, then what
  /// is needed for a time.
  void placeOutside(CompiledNetwork &made) {
    std::array<int64_t, 4> ends = {};
    auto append = [&](int64_t port, int64_t words) {
      int64_t &end = ends[size_t(port)];
      return std::exchange(end, int64_t(alignTo(end + words, kAlign)));
    };
    auto placed = [&](size_t i, int64_t address) {
      const ByteTensor &t = tensor(i);
      Home home;
      home.isPacked = isPacked[i];
      home.address = address;
      home.rowWords = rowWords(i);
      surface.homes[i] = home;
      return TensorPlace{t.name, t.height, t.width,       t.channels,   t.bias,
                         0,      address,  home.rowWords, home.isPacked};
    };
    auto sizeOf = [&](size_t i) { return tensor(i).height * rowWords(i); };
    made.inputs.clear();
    made.outputs.clear();
    for (int i : network.inputs)
      made.inputs.push_back(placed(size_t(i), append(0, sizeOf(size_t(i)))));
    for (int i : network.outputs)
      made.outputs.push_back(placed(size_t(i), append(0, sizeOf(size_t(i)))));
    // Weights have a port of their own if there are several.
    surface.weightsPort = core.ports > 1 ? 1 : 0;
    auto segment = [&](const char *name, const std::vector<int8_t> &bytes) {
      const int64_t address =
          append(surface.weightsPort, int64_t(bytes.size()) / core.in);
      made.segments.push_back({name, surface.weightsPort, address, bytes});
      return address;
    };
    made.segments.clear();
    surface.weights = segment("weights", image.weights);
    surface.constants = segment("constants", image.constants);
    Rooms memory(int64_t(1) << 28);
    for (auto [i, t] : enumerate(network.tensors))
      if (t.producer >= 0 && isUsed(t) && !t.isOutput && !isInside[i])
        placed(i, ends[0] + *memory.take(sizeOf(i), t.producer, lastReader(t),
                                         false, kAlign));
    ends[0] += memory.used();
    made.memoryWords = ends;
  }

  int64_t rowWords(size_t i) const {
    const ByteTensor &t = tensor(i);
    return isPacked[i] ? int64_t(divideCeil(t.width * t.channels, core.in))
                       : t.width * wordsOf(t);
  }

  //===------------------------------------------------------------------===//
  // Tiles
  //===------------------------------------------------------------------===//

  /// Ways to cut a layer, those with the fewest tiles first.
  std::vector<Tiling> tilings(size_t number) const {
    const Layer &layer = network.layers[number];
    const osa::Window &w = layer.window;
    const bool hasSums =
        layer.kind == Layer::Matrix || layer.kind == Layer::Dot;
    const int64_t pixels = hasSums ? core.entries : core.words;
    const int64_t most = std::min<int64_t>(pixels, 1023);
    const int64_t parts = int64_t(divideCeil(w.outWidth, most));
    const int64_t columns = int64_t(divideCeil(w.outWidth, parts));
    const int64_t words = wordsOf(tensor(size_t(layer.output)));
    const int64_t blocks = int64_t(divideCeil(words * core.in, core.out));
    std::vector<Tiling> made;
    const int64_t rowsAtMost = std::min<int64_t>(
        {w.outHeight, std::max<int64_t>(1, pixels / columns), 1023});
    int64_t last = 0;
    for (int64_t n = int64_t(divideCeil(w.outHeight, rowsAtMost));
         n <= w.outHeight; ++n) {
      const int64_t rows = int64_t(divideCeil(w.outHeight, n));
      if (rows == last)
        continue;
      last = rows;
      for (int64_t b = blocks; b >= 1;
           b = b == 1 ? 0 : int64_t(divideCeil(b, 2)))
        for (int64_t copies : {2, 1})
          made.push_back({rows, columns, copies, b});
    }
    return made;
  }

  std::optional<Buffers> placeBuffers(Rooms &scratch, size_t number,
                                      const Tiling &tiling) const {
    const Layer &layer = network.layers[number];
    const BufferWords words = bufferWords(surface, number, tiling);
    Buffers made;
    auto take = [&](int64_t size, int64_t &place) {
      auto found =
          scratch.take(size, int64_t(number), int64_t(number), number % 2 == 1);
      place = found.value_or(0);
      return size == 0 || found.has_value();
    };
    if (take(words.input * tiling.copies, made.input) &&
        take(words.output * tiling.copies, made.output) &&
        take(words.other * tiling.copies, made.other) &&
        take(words.temporary * layer.temporaries, made.temporary) &&
        take(words.constants, made.constants))
      return made;
    return std::nullopt;
  }

  //===------------------------------------------------------------------===//
  // The whole
  //===------------------------------------------------------------------===//

  std::optional<CompiledNetwork> attempt(std::vector<EngineRefusal> *refusals) {
    CompiledNetwork made;
    surface.homes.assign(network.tensors.size(), {});
    Rooms scratch(core.words);
    if (!placeInside(scratch))
      return std::nullopt;
    placeOutside(made);
    std::vector<Instruction> &all = made.program.instructions;
    int64_t bank = 0;
    bool isWhole = true;
    for (auto [i, layer] : enumerate(network.layers)) {
      LayerReport report;
      report.name = layer.name;
      static constexpr const char *kKinds[] = {"matrix", "dot", "maximum",
                                               "map"};
      report.kind = kKinds[layer.kind];
      report.products = layer.products;
      report.isInputInside = surface.homes[size_t(layer.input)].isInside;
      report.isOutputInside = surface.homes[size_t(layer.output)].isInside;
      report.firstInstruction = all.size();
      bool isPlaced = false;
      for (const Tiling &tiling : tilings(i)) {
        Rooms free = scratch;
        auto buffers = placeBuffers(free, i, tiling);
        if (!buffers)
          continue;
        std::vector<Instruction> own;
        int64_t next = bank;
        emitLayer(surface, i, tiling, *buffers, next, own);
        if (!fieldsHold(own, core))
          continue;
        isPlaced = true;
        bank = next;
        report.rows = tiling.rows;
        report.columns = tiling.columns;
        append_range(all, own);
        break;
      }
      if (!isPlaced) {
        if (refusals)
          refusals->push_back(
              {layer.op, "no tile of it fits the core's scratchpad of " +
                             std::to_string(core.words) + " words"});
        isWhole = false;
      }
      made.products += layer.products;
      made.layers.push_back(std::move(report));
    }
    if (!isWhole)
      return std::nullopt;
    if (options.movesLoads)
      moveLoadsUp(all, core, size_t(3 * core.depth));
    all.emplace_back(isa::End{});
    addTokens(made.program, core);
    seal(made.program, core);
    made.predicted = predict(made.program, core);
    return made;
  }

  const Network &network;
  const Core &core;
  const CompileOptions &options;
  const std::vector<bool> isPacked;
  const Image image;
  Surface surface;
  std::vector<bool> isInside;
};
} // namespace

std::optional<CompiledNetwork>
engine::compileForCore(mlir::func::FuncOp function, const Core &core,
                       std::vector<EngineRefusal> &refusals,
                       const CompileOptions &options) {
  const Network network = layersOf(function, core, refusals);
  for (const Layer &layer : network.layers) {
    const osa::Window &w = layer.window;
    for (int64_t pad : {w.padTop, w.padLeft, w.padBottom, w.padRight})
      if (pad > kMostBorder) {
        refusals.push_back({layer.op, "its border of " + std::to_string(pad) +
                                          " is wider than 15"});
        break;
      }
    if (std::max(w.padTop, w.padBottom) >= w.spanH() ||
        std::max(w.padLeft, w.padRight) >= w.spanW())
      if (layer.hasPads())
        refusals.push_back({layer.op, "a window lies wholly in its border"});
  }
  if (!refusals.empty())
    return std::nullopt;
  return Compiler(network, core, options).run(refusals);
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
