// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over tiles, blocks of output channels and steps, written out.
#include "Emit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

namespace {
/// Most repetitions of an inner loop, of constants' words, of pools' tiles.
constexpr int64_t kMostColumns = 1023, kMostChannels = 511, kMostBlocks = 4095;

/// Pixels in the scratchpad: the first one's first word, and steps.
struct View {
  int64_t first, row, column;
};

class Emitter {
public:
  Emitter(const Surface &surface, size_t number, const Tiling &tiling,
          const Buffers &buffers)
      : surface(surface), core(surface.core),
        layer(surface.network.layers[number]),
        image(surface.image.layers[number]), w(layer.window), tiling(tiling),
        buffers(buffers), number(int64_t(number)),
        inHome(surface.homes[size_t(layer.input)]),
        outHome(surface.homes[size_t(layer.output)]),
        inWords(wordsOf(layer.input)), outWords(wordsOf(layer.output)),
        isFlatSum(sumsFlat(layer, image, outWords, core)) {}

  /// A 1 × 1 window of a large stride needs only some pixels of a memory.
  bool loadsSome() const {
    return !inHome.isInside && !inHome.isPacked && w.kernelH == 1 &&
           w.kernelW == 1 && !layer.hasPads();
  }
  int64_t strideH() const { return loadsSome() ? 1 : w.strideH; }
  int64_t strideW() const { return loadsSome() ? 1 : w.strideW; }
  int64_t rowsIn(int64_t rows) const {
    return (rows - 1) * strideH() + w.spanH();
  }
  int64_t columnsIn(int64_t columns) const {
    return (columns - 1) * strideW() + w.spanW();
  }

  BufferWords words() const {
    BufferWords made;
    const int64_t pixels = tiling.rows * tiling.columns;
    made.constants = constantWords();
    if (inHome.isPacked)
      made.input = rowsIn(tiling.rows) * tiling.columns * image.packWords;
    else if (!inHome.isInside)
      made.input = rowsIn(tiling.rows) * columnsIn(tiling.columns) * inPitch();
    if (layer.other >= 0 && !surface.homes[size_t(layer.other)].isInside)
      made.other = pixels * outWords;
    made.temporary = pixels * (isFlatSum ? outWords : 1);
    if (!outHome.isInside)
      made.output = pixels * std::min(storedWords(), outWords);
    if (layer.isProduct())
      if (const Layer::Batch &batch = layer.batches.front();
          !surface.homes[size_t(batch.weights)].isInside)
        made.weights = weightWords(tensorOf(batch.weights), layer.isTurned,
                                   wordsOf(batch.weights), core);
    return made;
  }

  Pieces emit() {
    begin();
    emitAll();
    erase_if(pieces,
             [](const Piece &piece) { return piece.instructions.empty(); });
    for (size_t i = 0; i < pieces.size(); ++i)
      pieces[i].nextBank = i + 1 < pieces.size() ? pieces[i + 1].bank : bank;
    return std::move(pieces);
  }

private:
  void begin() { pieces.push_back({size_t(number), bank, 0, {}}); }

  void emitAll() {
    loadConstants();
    const int root = surface.network.rootOf(layer.output);
    if (const Home &home = surface.homes[size_t(root)];
        home.isInside && home.filler == number)
      fillBorder(home, tensorOf(root));
    int64_t copy = 0;
    if (!layer.isProduct())
      return tiles(copy);
    int64_t weightsCopy = 0;
    for (const Layer::Batch &batch : layer.batches) {
      inHome = surface.homes[size_t(batch.input)];
      outHome = surface.homes[size_t(batch.output)];
      begin();
      loadWeights(batch.weights,
                  buffers.weights + weightsCopy * words().weights);
      weightsCopy = (weightsCopy + 1) % tiling.copies;
      tiles(copy);
    }
  }

  void tiles(int64_t &copy) {
    for (y = 0; y < w.outHeight; y += tiling.rows)
      for (x = 0; x < w.outWidth; x += tiling.columns) {
        rows = std::min(tiling.rows, w.outHeight - y);
        columns = std::min(tiling.columns, w.outWidth - x);
        begin();
        tile(copy);
        copy = (copy + 1) % tiling.copies;
      }
  }

  const ByteTensor &tensorOf(int tensor) const {
    return surface.network.tensors[size_t(tensor)];
  }
  int64_t wordsOf(int tensor) const {
    return int64_t(divideCeil(tensorOf(tensor).channels, core.in));
  }
  /// Words of the scratchpad from pixel to pixel of a loaded tile.
  int64_t inPitch() const {
    return layer.kind == Layer::Matrix ? pixelPitch(inWords, strideW(), core)
                                       : inWords;
  }
  /// Words of a pixel that are stored at a time.
  int64_t storedWords() const {
    return isFlatSum ? outWords : tiling.blocks * core.out / core.in;
  }
  template <typename T> void add(const T &fields) {
    pieces.back().instructions.emplace_back(fields);
  }

  int64_t constantWords() const {
    const bool hasSums =
        layer.kind == Layer::Dot || tiling.isShared || tiling.lanes > 0;
    return hasSums ? image.constantWords : image.stepWords;
  }

  void loadConstants() {
    const int64_t words = constantWords();
    for (int64_t from = 0; from < words; from += kMostChannels) {
      isa::Load load;
      load.port = surface.weightsPort;
      load.address = surface.constants + image.constants + from;
      load.place = buffers.constants + from;
      load.channels = std::min(kMostChannels, words - from);
      add(load);
    }
  }

  /// Words from `first` on, `count` in a row, `times` rows: the greatest and
  /// least of bounds that are equal.
  void fill(const Home &home, int64_t first, int64_t count, int64_t times,
            int64_t step) {
    for (int64_t from = 0; from < count; from += kMostColumns)
      for (int64_t row = 0; row < times; row += kMostColumns) {
        isa::Vector vector;
        vector.operation = isa::Vector::Maximum;
        vector.a = buffers.constants;
        vector.place = first + row * step + from;
        vector.rows = std::min(kMostColumns, times - row);
        vector.columns = std::min(kMostColumns, count - from);
        vector.place_row = times > 1 ? step : 0;
        vector.place_column = 1;
        vector.low = vector.high = home.padByte;
        add(vector);
      }
  }

  /// The right border of a row and the left one of the next are neighbors.
  void fillBorder(const Home &h, const ByteTensor &t) {
    const int64_t left = h.left * h.columnStep, right = h.right * h.columnStep;
    const int64_t inner = t.width * h.columnStep;
    fill(h, h.first - left - h.top * h.rowStep, h.top * h.rowStep + left, 1, 0);
    fill(h, h.first + inner, left + right, t.height - 1, h.rowStep);
    fill(h, h.first + (t.height - 1) * h.rowStep + inner,
         right + h.bottom * h.rowStep, 1, 0);
  }

  void tile(int64_t copy) {
    const BufferWords size = words();
    input = inputView(buffers.input + copy * size.input);
    if (layer.other >= 0)
      other = otherView(buffers.other + copy * size.other);
    outBuffer = buffers.output + copy * size.output;
    if (layer.kind == Layer::Matrix)
      return matrixTile();
    if (isFlatSum || canFlatten()) {
      beginWords(0);
      if (isFlatSum)
        dot(0);
      isFlat = true;
      steps(0, 0);
      isFlat = false;
      return endWords(outWords);
    }
    for (int64_t word = 0; word < outWords; ++word) {
      begin();
      beginWords(word);
      if (layer.kind == Layer::Dot)
        dot(word);
      else if (layer.kind == Layer::Maximum)
        maximum(word);
      steps(word, 0);
      endWords(word + 1);
    }
  }

  /// Whether the steps do the same with all words, which lie next to each
  /// other.
  bool canFlatten() const {
    auto isDense = [&](const View &view) { return view.column == outWords; };
    return layer.kind == Layer::Map && columns * outWords <= kMostColumns &&
           all_of(image.steps,
                  [](auto &places) { return places.size() == 1; }) &&
           isDense(input) && (layer.other < 0 || isDense(other)) &&
           (outHome.isInside ? outHome.columnStep == outWords
                             : storedWords() >= outWords) &&
           layer.temporaries == 0;
  }

  void matrixTile() {
    const int64_t groups = core.out / core.in;
    auto wordsFrom = [&](size_t block) { return int64_t(block) * groups; };
    auto finish = [&](size_t block, int64_t ofBank) {
      bank = ofBank;
      blockSteps(wordsFrom(block), std::min(wordsFrom(block + 1), outWords));
      endWords(std::min(wordsFrom(block + 1), outWords));
    };
    for (size_t block = 0; block < image.columns.size(); ++block) {
      begin();
      beginWords(wordsFrom(block));
      if (tiling.lanes > 0) {
        splitBlock(block, wordsFrom(block),
                   std::min(wordsFrom(block + 1), outWords));
        continue;
      }
      products(block);
      const int64_t first = bank;
      // The lanes make the sums of the next block meanwhile.
      const bool isShared = tiling.isShared && block + 1 < image.columns.size();
      if (isShared) {
        bank ^= 1;
        for (int64_t group = 0; group < groups; ++group)
          if (const int64_t word = wordsFrom(block + 1) + group;
              word < outWords)
            dot(word, group);
      }
      finish(block, first);
      if (isShared) {
        beginWords(wordsFrom(++block));
        finish(block, first ^ 1);
      }
      bank = isShared ? first : first ^ 1;
    }
  }

  /// The array makes the first rows and the lanes the last ones, each in a
  /// bank.
  void splitBlock(size_t block, int64_t word, int64_t end) {
    const int64_t lanes = (rows * tiling.lanes + kLaneParts / 2) / kLaneParts;
    const int64_t first = bank;
    auto ofRows = [&](int64_t from, int64_t count, int64_t ofBank, auto use) {
      if (count == 0)
        return;
      const View in = input, out = output, added = other;
      const int64_t all = std::exchange(rows, count);
      input.first += from * strideH() * input.row;
      output.first += from * output.row;
      other.first += from * other.row;
      bank = ofBank;
      use();
      std::tie(input, output, other, rows) = std::tie(in, out, added, all);
    };
    auto finish = [&] { blockSteps(word, end); };
    ofRows(0, rows - lanes, first, [&] { products(block); });
    const int64_t second = lanes == rows ? first : first ^ 1;
    ofRows(rows - lanes, lanes, second, [&] {
      for (int64_t group = 0; word + group < end; ++group)
        dot(word + group, group);
    });
    ofRows(0, rows - lanes, first, finish);
    ofRows(rows - lanes, lanes, second, finish);
    bank = first;
    endWords(end);
  }

  void products(size_t number) {
    const LayerImage::Columns &block = image.columns[number];
    if (layer.isProduct())
      queueTensor(number);
    else
      queue(block.address, block.blocks, image.four);
    isa::Matrix matrix;
    matrix.place = input.first + block.firstWord;
    matrix.taps2 = w.kernelH;
    matrix.taps1 = inHome.isPacked ? 1 : w.kernelW;
    matrix.taps0 = block.words;
    matrix.step2 = matrix.taps2 > 1 ? input.row * w.dilationH : 0;
    matrix.step1 = matrix.taps1 > 1 ? input.column * w.dilationW : 0;
    matrix.step0 = 1;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.row_step = rows > 1 ? input.row * strideH() : 0;
    matrix.column_step =
        columns > 1 ? input.column * (inHome.isPacked ? 1 : strideW()) : 0;
    matrix.bank = bank;
    add(matrix);
    matrix.more = 1;
    for (int64_t address : image.weightAdds) {
      queue(address, block.words);
      add(matrix);
    }
    // The same words for all pixels.
    matrix.row_step = matrix.column_step = 0;
    for (int64_t word : image.inputAdds) {
      queueTensor(number);
      matrix.place = buffers.constants + word;
      add(matrix);
    }
    if (image.restBlocks > 0) {
      queue(block.rest, image.restBlocks);
      matrix.place = buffers.constants + image.restWords;
      matrix.taps2 = matrix.taps1 = 1;
      matrix.taps0 = image.restBlocks;
      matrix.step2 = matrix.step1 = 0;
      add(matrix);
    }
  }

  /// Blocks of weights from a memory.
  void queue(int64_t address, int64_t blocks, bool four = false) {
    const int64_t perBlock = four ? core.out / 2 : core.out;
    for (int64_t from = 0; from < blocks; from += kMostBlocks) {
      isa::Weights weights;
      weights.port = surface.weightsPort;
      weights.address = surface.weights + address + from * perBlock;
      weights.blocks = std::min(kMostBlocks, blocks - from);
      weights.four = four;
      add(weights);
    }
  }

  /// The blocks that a tensor is for OUT columns of the result.
  void queueTensor(size_t number) {
    isa::Weights weights;
    weights.port = isa::Weights::Scratch;
    weights.blocks = image.columns[number].words;
    weights.turned = layer.isTurned;
    weights.column_step = tensorWeights.column;
    weights.place =
        tensorWeights.first +
        int64_t(number) * (layer.isTurned ? core.out / core.in
                                          : core.out * tensorWeights.column);
    if (weights.blocks > 1)
      weights.block_step = layer.isTurned ? core.in * tensorWeights.column : 1;
    add(weights);
  }

  /// A tensor's pixels, if they are not in the scratchpad.
  void loadWeights(int number, int64_t buffer) {
    const Home &home = surface.homes[size_t(number)];
    tensorWeights = {home.first, 0, home.columnStep};
    if (home.isInside)
      return;
    const int64_t words = wordsOf(number), width = tensorOf(number).width;
    tensorWeights = {buffer, 0, words};
    for (int64_t from = 0; from < width; from += kMostColumns) {
      isa::Load load;
      load.port = home.port;
      load.address = home.first + from * home.columnStep;
      load.column_step = home.columnStep;
      load.place = buffer + from * words;
      load.place_column = words;
      load.columns = std::min(kMostColumns, width - from);
      load.channels = words;
      addBox(load);
    }
  }

  void windowOf(isa::Vector &vector, int64_t word) const {
    vector.a = input.first + word;
    vector.taps1 = w.kernelH;
    vector.taps0 = w.kernelW;
    vector.rows = rows;
    vector.columns = columns;
    vector.a_row = rows > 1 ? input.row * strideH() : 0;
    vector.a_column = columns > 1 ? input.column * strideW() : 0;
    vector.b_row = w.kernelH > 1 ? input.row * w.dilationH : 0;
    vector.b_column = w.kernelW > 1 ? input.column * w.dilationW : 0;
  }

  void dot(int64_t word, int64_t group = 0) {
    isa::Vector vector;
    vector.operation = isa::Vector::Dot;
    windowOf(vector, word);
    vector.b =
        buffers.constants + image.dotWeights + word * w.kernelH * w.kernelW;
    vector.bank = bank;
    vector.group = group;
    if (isFlatSum) {
      vector.rows = columns;
      vector.columns = outWords;
      vector.a_row = columns > 1 ? input.column * strideW() : 0;
      vector.a_column = outWords > 1 ? 1 : 0;
    }
    add(vector);
  }

  void maximum(int64_t word) {
    const ByteTensor &tensor = surface.network.tensors[size_t(layer.output)];
    isa::Vector vector;
    vector.operation = isa::Vector::Maximum;
    windowOf(vector, word);
    vector.low = std::max<int64_t>(tensor.least(), -128);
    vector.high = std::min<int64_t>(tensor.most(), 127);
    vector.place = output.first + word;
    vector.place_row = rows > 1 ? output.row : 0;
    vector.place_column = columns > 1 ? output.column : 0;
    add(vector);
  }

  /// The steps for words of a block, and for one word.
  void blockSteps(int64_t word, int64_t end) {
    for (int64_t group = 0; word + group < end; ++group)
      steps(word + group, group);
  }
  void steps(int64_t word, int64_t group) {
    for (size_t number = 0; number < layer.steps.size(); ++number)
      step(number, word, group);
  }

  /// A step for word `word` of the output's pixels.
  void step(size_t number, int64_t word, int64_t group) {
    const Step &step = layer.steps[number];
    const auto &places = image.steps[number];
    // The loops of instructions, and their strides for pixels of a view.
    const int64_t outer = isFlatSum ? columns : rows;
    const int64_t inner = isFlatSum ? outWords
                          : isFlat  ? columns * outWords
                                    : columns;
    auto rowOf = [&](const View &view) {
      return outer == 1 ? 0 : isFlatSum ? view.column : view.row;
    };
    auto columnOf = [&](const View &view) {
      return inner == 1 ? 0 : isFlat ? 1 : view.column;
    };
    auto temporary = [&](int which) {
      const int64_t words = isFlatSum ? outWords : 1;
      return View{buffers.temporary +
                      which * tiling.rows * tiling.columns * words,
                  columns, words};
    };
    auto viewOf = [&](Step::Source source, int number) {
      if (source == Step::Temporary)
        return temporary(number);
      View view = source == Step::Other ? other : input;
      view.first += word;
      return view;
    };
    isa::Vector vector;
    vector.operation = step.kind == Step::Requantize ? isa::Vector::Requantize
                       : step.kind == Step::Add      ? isa::Vector::Add
                                                     : isa::Vector::Table;
    vector.constants =
        buffers.constants + places[places.size() == 1 ? 0 : size_t(word)];
    vector.rows = outer;
    vector.columns = inner;
    vector.shift = step.shift;
    vector.low = step.low;
    vector.high = step.high;
    if (step.kind == Step::Requantize) {
      vector.bank = bank;
      vector.group = group;
    } else {
      const View a = viewOf(step.a, step.aTemporary);
      vector.a = a.first;
      vector.a_row = rowOf(a);
      vector.a_column = columnOf(a);
    }
    if (step.kind == Step::Add) {
      const View b = viewOf(step.b, step.bTemporary);
      vector.b = b.first;
      vector.b_row = rowOf(b);
      vector.b_column = columnOf(b);
    }
    const View to = step.to >= 0
                        ? temporary(step.to)
                        : View{output.first + word, output.row, output.column};
    vector.place = to.first;
    vector.place_row = rowOf(to);
    vector.place_column = columnOf(to);
    add(vector);
  }

  /// Where the tile's windows begin, and what has to be loaded for that.
  View inputView(int64_t buffer) {
    const int64_t top = y * w.strideH - w.padTop,
                  left = x * w.strideW - w.padLeft;
    if (inHome.isInside)
      return {inHome.first + top * inHome.rowStep + left * inHome.columnStep,
              inHome.rowStep, inHome.columnStep};
    const int64_t height = rowsIn(rows), width = columnsIn(columns);
    if (inHome.isPacked) {
      isa::Pack pack;
      pack.port = inHome.port;
      pack.top = std::max<int64_t>(0, -top);
      pack.bottom = std::max<int64_t>(0, top + height - w.height);
      pack.address = inHome.first + (top + pack.top) * inHome.rowStep;
      pack.row_step = inHome.rowStep;
      pack.place = buffer;
      pack.place_row = columns * image.packWords;
      pack.rows = height;
      pack.columns = columns;
      pack.channels = image.packWords;
      pack.bytes = w.width * w.channels;
      pack.step = w.strideW * w.channels;
      pack.left = w.padLeft * w.channels;
      pack.pad = layer.padByte;
      add(pack);
      return {buffer, pack.place_row, image.packWords};
    }
    isa::Load load;
    load.port = inHome.port;
    load.top = std::max<int64_t>(0, -top);
    load.left = std::max<int64_t>(0, -left);
    load.bottom = std::max<int64_t>(0, top + height - w.height);
    load.right = std::max<int64_t>(0, left + width - w.width);
    if (loadsSome())
      load.bottom = load.right = 0;
    load.address = inHome.first + (top + load.top) * inHome.rowStep +
                   (left + load.left) * inHome.columnStep;
    load.row_step = inHome.rowStep * (loadsSome() ? w.strideH : 1);
    load.column_step = inHome.columnStep * (loadsSome() ? w.strideW : 1);
    load.place = buffer;
    load.place_row = width * inPitch();
    load.place_column = inPitch();
    load.rows = height;
    load.columns = width;
    load.channels = inWords;
    load.pad = layer.hasPads() ? layer.padByte : 0;
    addBox(load);
    return {buffer, width * inPitch(), inPitch()};
  }

  View otherView(int64_t buffer) {
    const Home &home = surface.homes[size_t(layer.other)];
    if (home.isInside)
      return {home.first + y * home.rowStep + x * home.columnStep, home.rowStep,
              home.columnStep};
    addTile<isa::Load>(home, 0, outWords, buffer);
    return {buffer, columns * outWords, outWords};
  }

  /// Strides of loops that turn once do not count.
  template <typename T> void addBox(T box) {
    if (box.rows == 1)
      box.row_step = box.place_row = 0;
    if (box.columns == 1)
      box.column_step = box.place_column = 0;
    add(box);
  }

  /// Words of the tile's pixels, between a memory and a buffer of as many.
  template <typename T>
  void addTile(const Home &home, int64_t first, int64_t count, int64_t buffer) {
    T box;
    box.port = home.port;
    box.address = home.first + y * home.rowStep + x * home.columnStep + first;
    box.row_step = home.rowStep;
    box.column_step = home.columnStep;
    box.place = buffer;
    box.place_row = columns * count;
    box.place_column = count;
    box.rows = rows;
    box.columns = columns;
    box.channels = count;
    addBox(box);
  }

  View outputView() const {
    if (outHome.isInside)
      return {outHome.first + y * outHome.rowStep + x * outHome.columnStep,
              outHome.rowStep, outHome.columnStep};
    return {outBuffer - firstWord, columns * wordCount, wordCount};
  }

  /// Where results from word `word` on go, if those before have been stored.
  void beginWords(int64_t word) {
    if (word % storedWords() != 0)
      return;
    firstWord = word;
    wordCount = std::min(storedWords(), outWords - word);
    output = outputView();
  }

  /// Words before `word` are there.
  void endWords(int64_t word) {
    if (word == firstWord + wordCount)
      store();
  }

  void store() {
    if (outHome.isInside)
      return;
    addTile<isa::Store>(outHome, firstWord, wordCount, outBuffer);
  }

  const Surface &surface;
  const Core &core;
  const Layer &layer;
  const LayerImage &image;
  const osa::Window &w;
  const Tiling &tiling;
  const Buffers &buffers;
  const int64_t number;
  Home inHome, outHome;
  const int64_t inWords, outWords;
  const bool isFlatSum;

  Pieces pieces;
  int64_t bank = 0;

  // The tile at hand.
  int64_t y = 0, x = 0, rows = 0, columns = 0;
  View input = {}, other = {}, output = {}, tensorWeights = {};
  int64_t outBuffer = 0, firstWord = 0, wordCount = 0;
  bool isFlat = false; ///< steps take all words of a row at once
};
} // namespace

int64_t engine::pixelPitch(int64_t words, ArrayRef<int64_t> strides,
                           const Core &core) {
  const int64_t most = std::max<int64_t>(1, core.banks / 4);
  while (any_of(strides, [&](int64_t stride) {
    return std::gcd(words * stride, core.banks) >
           std::max(most, std::gcd(stride, core.banks));
  }))
    ++words;
  return words;
}

int64_t engine::weightWords(const ByteTensor &tensor, bool isTurned,
                            int64_t step, const Core &core) {
  const int64_t pixels =
      int64_t(alignTo(tensor.width, isTurned ? core.in : core.out));
  const int64_t words =
      int64_t(alignTo(tensor.channels, isTurned ? core.out : core.in)) /
      core.in;
  return (pixels - 1) * step + words;
}

bool engine::sumsFlat(const Layer &layer, const LayerImage &image,
                      int64_t outputWords, const Core &core) {
  return layer.kind == Layer::Dot && image.isUniform &&
         outputWords <= std::min<int64_t>(core.entries, kMostColumns) &&
         all_of(image.steps, [](auto &places) { return places.size() == 1; });
}

BufferWords engine::bufferWords(const Surface &surface, size_t layer,
                                const Tiling &tiling) {
  return Emitter(surface, layer, tiling, Buffers()).words();
}

Pieces engine::emitLayer(const Surface &surface, size_t layer,
                         const Tiling &tiling, const Buffers &buffers) {
  return Emitter(surface, layer, tiling, buffers).emit();
}

bool engine::fieldsHold(ArrayRef<Instruction> instructions, const Core &core) {
  return all_of(instructions, [&](const Instruction &instruction) {
    const InstructionInfo &info = infoOf(instruction.opcode);
    const int64_t *values = instruction.values.data();
    for (auto [n, field] : enumerate(info.fields))
      if (values[n] < std::max(field.least(core), field.leastHeld()) ||
          values[n] > std::min(field.most(core), field.mostHeld()))
        return false;
    return all_of(info.rules, [&](const RuleInfo &rule) {
      return rule.holds(core, values);
    });
  });
}
