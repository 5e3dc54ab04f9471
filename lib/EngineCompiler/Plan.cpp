// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places by lifetimes, and the instructions of layers one after the other.
#include "Plan.h"
#include "Hoist.h"
#include "Interleave.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

/// Tensors and segments begin where bursts do, the program and what is working
/// space where pages do.
static constexpr int64_t kAlign = kBurst, kPageBytes = 4096;
/// Most rows and columns of a tile.
static constexpr int64_t kMostPixels = 1023;
/// Sizes of tiles that are compared.
static constexpr size_t kSizes = 6;

/// Lets an instruction find what it uses in memory 0 so many words later.
static void moveInMemory(Instruction &instruction, int64_t words) {
  const InstructionInfo &info = infoOf(instruction.opcode);
  std::optional<size_t> port, address;
  for (auto [i, field] : enumerate(info.fields)) {
    if (StringRef(field.name) == "port")
      port = i;
    if (StringRef(field.name) == "address")
      address = i;
  }
  if (port && address && instruction.values[*port] == 0)
    instruction.values[*address] += words;
}

Plan::Plan(const Network &network, const Image &image,
           const std::vector<bool> &isPacked, const Core &core,
           const CompileOptions &options)
    : network(network), image(image), isPacked(isPacked), core(core),
      options(options), spans(network.tensors.size(), {~size_t(0), 0}),
      views(network.tensors.size()), surface{network, image, core, {}, 0, 0, 0},
      scratch(core.words) {
  for (size_t i = 0; i < network.tensors.size(); ++i)
    views[size_t(network.rootOf(int(i)))].push_back(i);
  for (auto [i, layer] : enumerate(network.layers)) {
    auto use = [&](int number) {
      if (number < 0)
        return;
      Span &span = spans[size_t(network.rootOf(number))];
      span.first = std::min(span.first, i);
      span.last = std::max(span.last, i);
    };
    use(layer.input);
    use(layer.other);
    use(layer.output);
    for (const Layer::Batch &batch : layer.batches) {
      use(batch.input);
      use(batch.weights);
    }
  }
}

bool Plan::isBetweenLayers(size_t i) const {
  const ByteTensor &t = tensor(i);
  return t.view.of < 0 && t.producer >= 0 && !t.isOutput &&
         spans[i].first <= spans[i].last;
}

int64_t Plan::wordsOf(const ByteTensor &t) const {
  return int64_t(divideCeil(t.channels, core.in));
}

int64_t Plan::rowWords(size_t i) const {
  const ByteTensor &t = tensor(i);
  return isPacked[i] ? int64_t(divideCeil(t.width * t.channels, core.in))
                     : t.width * wordsOf(t);
}

std::vector<size_t> Plan::candidates() const {
  std::vector<size_t> made;
  for (size_t i = 0; i < network.tensors.size(); ++i)
    if (isBetweenLayers(i) && spans[i].first < spans[i].last && borderOf(i) &&
        insideWords(i) < core.words)
      made.push_back(i);
  stable_sort(made, [&](size_t a, size_t b) {
    return spans[a].first < spans[b].first;
  });
  return made;
}

/// The border that all readers of a tensor need, nothing if they need different
/// values in it or it has no place for one.
std::optional<Home> Plan::borderOf(size_t number) const {
  Home home;
  bool isFirst = true;
  for (size_t view : views[number])
    for (int reader : tensor(view).readers) {
      const Layer &layer = network.layers[size_t(reader)];
      if (layer.input != int(view) || !layer.hasPads())
        continue;
      if (view != number || tensor(number).isFlat ||
          (!isFirst && home.padByte != layer.padByte))
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

/// Where the tensor's own words begin does not count.
static Home viewOf(const View &view, Home home) {
  const bool isFlat = view.unit != View::Pixels;
  const int64_t row = isFlat ? 0 : home.rowStep,
                column = view.unit == View::FlatWords ? 1 : home.columnStep;
  home.first += view.row * row + view.column * column + view.word;
  home.rowStep = view.rowRows * row + view.rowColumns * column;
  home.columnStep = view.columnRows * row + view.columnColumns * column;
  home.top = home.left = home.bottom = home.right = 0;
  home.isPacked = false;
  return home;
}

const Home &Plan::homeOf(size_t i) {
  const View &view = tensor(i).view;
  if (view.of >= 0)
    surface.homes[i] = viewOf(view, homeOf(size_t(view.of)));
  return surface.homes[i];
}

/// With what is read after the last pixel as blocks of weights.
int64_t Plan::insideWords(size_t number) const {
  const ByteTensor &t = tensor(number);
  Home home = *borderOf(number);
  home.columnStep = insidePitch(number);
  home.rowStep = (t.width + home.left + home.right) * home.columnStep;
  const int64_t before = home.top * home.rowStep + home.left * home.columnStep;
  int64_t words = (t.height + home.top + home.bottom) * home.rowStep;
  for (size_t i : views[number])
    for (int reader : tensor(i).readers) {
      const Layer &layer = network.layers[size_t(reader)];
      if (none_of(layer.batches, [&](const Layer::Batch &batch) {
            return batch.weights == int(i);
          }))
        continue;
      std::vector<const View *> path;
      for (int at = int(i); tensor(size_t(at)).view.of >= 0;
           at = tensor(size_t(at)).view.of)
        path.push_back(&tensor(size_t(at)).view);
      Home own = home;
      for (const View *view : reverse(path))
        own = viewOf(*view, own);
      words = std::max(words, before + own.first +
                                  weightWords(tensor(i), layer.isTurned,
                                              own.columnStep, core));
    }
  return words;
}

int64_t Plan::insidePitch(size_t number) const {
  const ByteTensor &t = tensor(number);
  if (t.isDense)
    return wordsOf(t);
  std::vector<int64_t> strides;
  for (size_t i : views[number])
    for (int reader : tensor(i).readers)
      if (const Layer &layer = network.layers[size_t(reader)];
          layer.kind == Layer::Matrix && layer.input == int(i))
        strides.push_back(layer.window.strideW *
                          std::max<int64_t>(1, tensor(i).view.columnColumns));
  return pixelPitch(wordsOf(t), strides, core);
}

/// The largest tensors first.
bool Plan::placeInside(const std::vector<bool> &inside) {
  std::vector<size_t> order;
  for (size_t i = 0; i < inside.size(); ++i)
    if (inside[i])
      order.push_back(i);
  stable_sort(order, [&](size_t a, size_t b) {
    return insideWords(a) > insideWords(b);
  });
  for (size_t i : order) {
    const ByteTensor &t = tensor(i);
    const Span life = lifeOf(i);
    auto place =
        scratch.take(insideWords(i), int64_t(life.first), int64_t(life.last));
    if (!place)
      return false;
    Home home = *borderOf(i);
    home.isInside = true;
    home.filler = int64_t(spans[i].first);
    home.columnStep = insidePitch(i);
    home.rowStep = (t.width + home.left + home.right) * home.columnStep;
    home.first = *place + home.top * home.rowStep + home.left * home.columnStep;
    surface.homes[i] = home;
  }
  return true;
}

/// Segments come first, then inputs and outputs, then what is needed for a
/// time.
void Plan::placeOutside(const std::vector<bool> &inside) {
  memoryWords = {};
  auto append = [&](int64_t port, int64_t words) {
    int64_t &end = memoryWords[size_t(port)];
    return std::exchange(end, int64_t(alignTo(end + words, kAlign)));
  };
  auto setHome = [&](size_t i, int64_t address) {
    Home home;
    home.isPacked = isPacked[i];
    home.first = address;
    home.rowStep = rowWords(i);
    home.columnStep = wordsOf(tensor(i));
    surface.homes[i] = home;
  };
  auto sizeOf = [&](size_t i) { return tensor(i).height * rowWords(i); };
  // Weights have a port of their own if there are several.
  surface.weightsPort = core.ports > 1 ? 1 : 0;
  auto segment = [&](const std::vector<int8_t> &bytes) {
    return append(surface.weightsPort, int64_t(bytes.size()) / core.in);
  };
  surface.weights = segment(image.weights);
  surface.constants = segment(image.constants);
  memoryWords[0] =
      int64_t(alignTo(memoryWords[0], divideCeil(kPageBytes, core.in)));
  for (const std::vector<int> *tensors : {&network.inputs, &network.outputs})
    for (int i : *tensors)
      setHome(size_t(i), append(0, sizeOf(size_t(i))));
  Rooms memory(int64_t(1) << 28);
  for (size_t i = 0; i < network.tensors.size(); ++i)
    if (isBetweenLayers(i) && !inside[i]) {
      const Span life = lifeOf(i);
      setHome(i,
              memoryWords[0] + *memory.take(sizeOf(i), int64_t(life.first),
                                            int64_t(life.last), false, kAlign));
    }
  memoryWords[0] += memory.used();
}

bool Plan::place(const std::vector<bool> &inside, ArrayRef<Tiling> tilings) {
  groups.clear();
  for (size_t i = 0; i < tilings.size(); ++i)
    groups.push_back(
        {i > 0 && tilings[i].isJoined ? groups.back().first : i, i});
  for (size_t i = groups.size(); i-- > 1;)
    if (groups[i].first < i)
      groups[i - 1].last = groups[i].last;
  surface.homes.assign(network.tensors.size(), {});
  scratch = Rooms(core.words);
  if (!placeInside(inside))
    return false;
  placeOutside(inside);
  for (size_t i = 0; i < network.tensors.size(); ++i)
    homeOf(i);
  return true;
}

std::vector<Tiling> Plan::tilings(size_t number) const {
  const Layer &layer = network.layers[number];
  const osa::Window &w = layer.window;
  const bool hasSums = layer.kind == Layer::Matrix || layer.kind == Layer::Dot;
  const int64_t words = wordsOf(tensor(size_t(layer.output)));
  const bool isFlat = sumsFlat(layer, image.layers[number], words, core);
  const bool canShare = layer.kind == Layer::Matrix && isDepthwise(layer) &&
                        layer.rest.empty() && !isPacked[size_t(layer.input)];
  // Array and lanes fill a bank each.
  int64_t pixels = !hasSums   ? core.words
                   : canShare ? 2 * core.entries
                              : core.entries;
  if (isFlat)
    pixels = std::max<int64_t>(1, pixels / words);
  const int64_t blocks = int64_t(divideCeil(words * core.in, core.out));
  std::vector<Tiling> made;
  // Of a size the first way that fits, with two copies if there is room.
  auto add = [&](Tiling tiling) {
    for (tiling.copies = 2; tiling.copies > 0; --tiling.copies)
      for (tiling.blocks = blocks; tiling.blocks > 0; tiling.blocks /= 2) {
        Rooms rooms = scratch;
        auto found = take(rooms, number, tiling);
        if (!found)
          continue;
        if (!all_of(emitLayer(surface, number, tiling, *found),
                    [&](const Piece &piece) {
                      return fieldsHold(piece.instructions, core);
                    }))
          continue;
        made.push_back(tiling);
        return true;
      }
    return false;
  };
  // Whole rows, or parts of them if no row fits.
  const bool isWhole = isPacked[size_t(layer.input)];
  for (int64_t parts = int64_t(
           divideCeil(w.outWidth, std::min<int64_t>(pixels, kMostPixels)));
       parts <= w.outWidth && made.empty(); parts *= 2) {
    const int64_t columns = int64_t(divideCeil(w.outWidth, parts));
    const int64_t most =
        isFlat ? 1
               : std::min<int64_t>({w.outHeight,
                                    std::max<int64_t>(1, pixels / columns),
                                    kMostPixels});
    // Rows that divide the height into as equal parts as may be.
    std::vector<int64_t> sizes;
    for (int64_t n = int64_t(divideCeil(w.outHeight, most)); n <= w.outHeight;
         ++n)
      if (const int64_t rows = int64_t(divideCeil(w.outHeight, n));
          sizes.empty() || rows != sizes.back())
        sizes.push_back(rows);
    size_t found = 0;
    for (int64_t rows : sizes) {
      bool fitsAny = add({rows, columns});
      if (canShare && blocks > 1)
        fitsAny |= add({rows, columns, 2, 1, /*isShared=*/true});
      for (int64_t lanes : {kLaneParts, int64_t(6), int64_t(5), int64_t(4)})
        if (canShare)
          fitsAny |= add({rows, columns, 2, 1, false, false, lanes});
      found += fitsAny;
      if (found == kSizes)
        break;
    }
    if (isWhole)
      break;
  }
  return made;
}

std::optional<Buffers> Plan::take(Rooms &rooms, size_t number,
                                  const Tiling &tiling) const {
  const Layer &layer = network.layers[number];
  const BufferWords words = bufferWords(surface, number, tiling);
  const Span group = groups[number];
  Buffers made;
  // Neighboring layers begin at different ends.
  auto take = [&](int64_t size, int64_t &place) {
    auto found = rooms.take(size, int64_t(group.first), int64_t(group.last),
                            number % 2 == 1);
    place = found.value_or(0);
    return size == 0 || found.has_value();
  };
  if (take(words.input * tiling.copies, made.input) &&
      take(words.constants, made.constants) &&
      take(words.temporary * layer.temporaries, made.temporary) &&
      take(words.other * tiling.copies, made.other) &&
      take(words.weights * tiling.copies, made.weights) &&
      take(words.output * tiling.copies, made.output))
    return made;
  return std::nullopt;
}

std::optional<Buffers> Plan::buffers(size_t number,
                                     ArrayRef<Tiling> tilings) const {
  Rooms rooms = scratch;
  std::optional<Buffers> made;
  for (size_t i = groups[number].first; i <= number; ++i)
    if (made = take(rooms, i, tilings[i]); !made)
      return std::nullopt;
  return made;
}

Part Plan::unfinished(size_t first, size_t last,
                      ArrayRef<Tiling> tilings) const {
  Part made;
  std::vector<Instruction> &all = made.program.instructions;
  int64_t bank = 0;
  for (size_t i = first; i <= last;) {
    std::vector<Pieces> joined;
    for (const size_t end = std::min(groups[i].last, last); i <= end; ++i)
      joined.push_back(emitLayer(surface, i, tilings[i], *buffers(i, tilings)));
    Pieces order = joined.size() == 1
                       ? std::move(joined.front())
                       : interleaved(std::move(joined), core, options.memory);
    alternateBanks(order, bank);
    for (const Piece &piece : order) {
      append_range(all, piece.instructions);
      made.layers.resize(all.size(), piece.layer);
    }
  }
  return made;
}

void Plan::finish(Part &part) const {
  std::vector<Instruction> &all = part.program.instructions;
  if (options.movesLoads)
    moveLoadsUp(all, part.layers, core, size_t(3 * core.depth));
  all.emplace_back(isa::End{});
  addTokens(part.program, core);
  seal(part.program, core);
}

/// Words of a program with its head.
static int64_t programWords(size_t instructions, const Core &core) {
  return int64_t(alignTo((instructions + 1) * kInstructionBytes, kPageBytes) /
                 uint64_t(core.in));
}

Part Plan::whole(ArrayRef<Tiling> tilings) const {
  Part made = unfinished(0, tilings.size() - 1, tilings);
  if (options.streams) {
    std::vector<Instruction> &all = made.program.instructions;
    const std::vector<Instruction> before = streamed(network.inputs, true),
                                   after = streamed(network.outputs, false);
    all.insert(all.begin(), before.begin(), before.end());
    for (size_t &layer : made.layers)
      ++layer;
    made.layers.insert(made.layers.begin(), before.size(), 0);
    append_range(all, after);
    made.layers.resize(all.size(), tilings.size() + 1);
    // The program itself lies before all else.
    const int64_t moved = programWords(all.size() + 1, core);
    for (Instruction &instruction : all)
      moveInMemory(instruction, moved);
  }
  finish(made);
  return made;
}

/// Takes tensors from the stream to their places in memory, or from there to
/// the stream, by pieces of the scratchpad that layers use before and after.
std::vector<Instruction> Plan::streamed(ArrayRef<int> tensors,
                                        bool enters) const {
  constexpr int64_t kPieces = 4, kMostWords = 511;
  const int64_t room = core.words / (2 * kPieces);
  std::vector<Instruction> made;
  int64_t piece = 0;
  for (int i : tensors) {
    const Home &home = surface.homes[size_t(i)];
    const int64_t all = tensor(size_t(i)).height * home.rowStep;
    for (int64_t word = 0; word < all;) {
      const int64_t left = std::min(room, all - word),
                    rows = std::max<int64_t>(1, left / kMostWords),
                    words = std::min(left, kMostWords);
      auto box = [&]<typename Box>(Box made, bool isStream) {
        made.port = isStream ? int64_t(Box::Stream) : home.port;
        made.address = isStream ? 0 : home.first + word;
        made.row_step = isStream || rows == 1 ? 0 : words;
        made.place = piece * room;
        made.place_row = rows == 1 ? 0 : words;
        made.rows = rows;
        made.channels = words;
        return made;
      };
      made.emplace_back(box(isa::Load(), enters));
      made.emplace_back(box(isa::Store(), !enters));
      word += rows * words;
      piece = (piece + 1) % kPieces;
    }
  }
  return made;
}

int64_t Plan::streamWords(ArrayRef<int> tensors) const {
  int64_t words = 0;
  for (int i : tensors)
    words += tensor(size_t(i)).height * surface.homes[size_t(i)].rowStep;
  return words;
}

void Plan::describe(CompiledNetwork &made) const {
  made.memoryWords = memoryWords;
  int64_t moved = 0;
  if (options.streams) {
    const std::vector<uint8_t> bytes = toBytes(made.program);
    moved = programWords(made.program.instructions.size(), core);
    made.memoryWords[0] += moved;
    Segment program{"program", 0, 0, {}};
    program.bytes.assign(bytes.begin(), bytes.end());
    program.bytes.resize(size_t(moved * core.in));
    made.received = streamWords(network.inputs);
    made.sent = streamWords(network.outputs);
    made.segments.push_back(std::move(program));
  }
  made.segments.push_back(
      {"weights", surface.weightsPort, surface.weights + moved, image.weights});
  made.segments.push_back({"constants", surface.weightsPort,
                           surface.constants + moved, image.constants});
  auto add = [&](int i, std::vector<TensorPlace> &places) {
    const ByteTensor &t = tensor(size_t(i));
    const Home &home = surface.homes[size_t(i)];
    places.push_back({t.name, t.height, t.width, t.channels, t.bias, home.port,
                      home.first + moved, home.rowStep, home.isPacked});
  };
  for (int i : network.inputs)
    add(i, made.inputs);
  for (int i : network.outputs)
    add(i, made.outputs);
}
