// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What only moves elements. Where whole words move in even steps, the result is
// a view of what is there already, or its parts are made where they belong;
// otherwise layers copy it part by part, and what would move bytes within words
// is refused.
#include "Lowering.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace rhizome;
using namespace rhizome::engine;

/// Copies that an operation may take.
static constexpr size_t kMostCopies = 64;

int Lowering::addView(View view, int64_t height, int64_t width,
                      int64_t channels) {
  ByteTensor &of = tensor(view.of);
  of.isViewed = true;
  // A part of each pixel is one whatever lies between pixels.
  const int64_t each = wordsOf(of.channels);
  if (view.unit == View::FlatWords && view.columnColumns % each == 0 &&
      (height == 1 || view.rowColumns % each == 0) &&
      view.column % each + wordsOf(channels) <= each) {
    view.unit = of.height == 1 ? View::Pixels : View::FlatPixels;
    view.word = view.column % each;
    view.column /= each;
    view.columnColumns /= each;
    view.rowColumns /= each;
    view.row = view.rowRows = view.columnRows = 0;
  }
  of.isRow |= view.unit != View::Pixels;
  ByteTensor made;
  made.name = of.name;
  made.height = height;
  made.width = width;
  made.channels = channels;
  made.low = of.low;
  made.high = of.high;
  made.bias = of.bias;
  made.producer = of.producer;
  made.view = view;
  net.tensors.push_back(std::move(made));
  return int(net.tensors.size()) - 1;
}

std::optional<View> Lowering::line(int number) {
  const ByteTensor &t = tensor(number);
  if (t.view.of >= 0) {
    View made = t.view;
    if (t.height > 1 && (made.rowRows != t.width * made.columnRows ||
                         made.rowColumns != t.width * made.columnColumns))
      return std::nullopt;
    return made;
  }
  View made;
  made.of = number;
  made.unit = t.height == 1 ? View::Pixels : View::FlatPixels;
  return made;
}

std::optional<View> Lowering::words(int number) {
  const ByteTensor &t = tensor(number);
  View made;
  made.of = number;
  made.unit = View::FlatWords;
  if (t.view.of < 0)
    return made;
  auto row = line(number);
  if (!row || row->word != 0)
    return std::nullopt;
  made.of = row->of;
  made.column = row->column;
  if (row->unit != View::FlatWords) {
    // All of some pixels that follow each other.
    const ByteTensor &of = tensor(row->of);
    if (row->row != 0 || row->columnRows != 0 || row->columnColumns != 1 ||
        wordsOf(of.channels) != wordsOf(t.channels) ||
        (row->unit == View::Pixels && of.height > 1))
      return std::nullopt;
    made.column *= wordsOf(of.channels);
  } else if (row->columnColumns != wordsOf(t.channels)) {
    return std::nullopt;
  }
  return made;
}

View Lowering::lineOrCopy(Operation *op, int number) {
  auto made = line(number);
  return made ? *made : *line(copied(op, number));
}

View Lowering::part(View line, int64_t first, int64_t step) const {
  line.row += first * line.columnRows;
  line.column += first * line.columnColumns;
  line.columnRows *= step;
  line.columnColumns *= step;
  line.rowRows = line.rowColumns = 0;
  return line;
}

int Lowering::addLike(int number) {
  ByteTensor made = tensor(number);
  made.view = {};
  made.isViewed = made.isRow = made.isOutput = false;
  made.producer = -1;
  made.readers.clear();
  net.tensors.push_back(std::move(made));
  return int(net.tensors.size()) - 1;
}

int Lowering::copied(Operation *op, int number, int64_t channels) {
  const int made = addLike(number);
  copy(op, number, made, channels);
  return made;
}

void Lowering::copy(Operation *op, int from, int to, int64_t channels) {
  Layer &layer = addLayer(Layer::Map, op, from);
  const ByteTensor &source = tensor(from);
  Step step{Step::Add};
  step.a = step.b = Step::Input;
  auto lanes = additionOf(Sum{1, 0, source.bias - tensor(to).bias, 0});
  step.shift = lanes->shift;
  if (channels % core.in != 0) {
    step.lanes.assign(size_t(wordsOf(channels) * core.in), Lane{});
    std::fill_n(step.lanes.begin(), channels, lanes->lanes.front());
  } else {
    step.lanes = std::move(lanes->lanes);
  }
  layer.steps.push_back(std::move(step));
  layer.output = to;
  const int number = int(net.layers.size()) - 1;
  for (int one = to; one >= 0; one = tensor(one).view.of)
    tensor(one).producer = number;
}

/// What stays where it is: other sizes of the same pixels, an image that
/// becomes a row for dense layers, or words that count as others of their
/// pixels.
void Lowering::visit(osa::ReshapeOp op) {
  int input = bytesOf(*op, op.getInput());
  if (input < 0)
    return;
  auto made = tensorOf(op.getOutput(), osa::nodeName(op));
  if (!made || made->bias != tensor(input).bias)
    return refuse(op, "its bytes would not be those of its input");
  const ByteTensor in = tensor(input);
  const bool isFlat = made->height * made->width == 1;
  auto only = [&](auto isThis) { return all_of(op->getUsers(), isThis); };
  const bool onlyDense = only([](Operation *user) {
    return llvm::isa<osa::DenseOp, func::ReturnOp>(user);
  });
  const bool onlyOutput =
      only([](Operation *user) { return llvm::isa<func::ReturnOp>(user); });
  if ((made->channels == in.channels && made->height == in.height) ||
      (isFlat && onlyDense) || onlyOutput) {
    Meaning same = meanings[op.getInput()];
    meanings[op.getOutput()] = std::move(same);
    return;
  }
  View view;
  if (made->channels == in.channels) {
    view = lineOrCopy(op, input);
    view.rowRows = made->width * view.columnRows;
    view.rowColumns = made->width * view.columnColumns;
  } else if (in.channels % core.in == 0 && made->channels % core.in == 0) {
    auto row = words(input);
    view = row ? *row : *words(copied(op, input));
    view.columnColumns = wordsOf(made->channels);
    view.rowColumns = made->width * view.columnColumns;
    view.rowRows = 0;
  } else {
    return refuse(op, "its elements would move to other words");
  }
  Meaning &meaning = meanings[op.getOutput()];
  meaning.kind = Meaning::Bytes;
  meaning.index = addView(view, made->height, made->width, made->channels);
}

namespace {
/// An axis of a tensor for the engine: pixels have one or two, and steps along
/// the others are `inner` pixels.
struct Axis {
  enum Kind : uint8_t { Channels, Rows, Columns, Outer, None } kind;
  int64_t inner = 1;
};
} // namespace

static Axis axisOf(ArrayRef<int64_t> shape, int64_t axis) {
  const int64_t last = int64_t(shape.size()) - 1;
  if (axis == last)
    return {Axis::Channels};
  const auto inner = shape.slice(size_t(axis + 1), size_t(last - axis - 1));
  Axis made = {Axis::Outer, product_of(inner)};
  if (shape.size() == 4 && shape[0] == 1 && axis > 0)
    made.kind = axis == 1 ? Axis::Rows : Axis::Columns;
  else if (product_of(shape.take_front(size_t(axis))) != 1)
    made.kind = Axis::None;
  else if (made.inner == 1)
    made.kind = Axis::Columns;
  return made;
}

/// Each operand is made where it belongs, or is copied there.
void Lowering::visit(osa::ConcatOp op) {
  std::vector<int> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(bytesOf(*op, input));
  if (is_contained(inputs, -1))
    return;
  auto made = tensorOf(op.getOutput(), osa::nodeName(op));
  if (!made)
    return refuse(op, "its result needs more than 8 bits");
  auto shape = cast<RankedTensorType>(op.getOutput().getType()).getShape();
  const Axis axis = axisOf(shape, int64_t(op.getAxis()));
  if (axis.kind == Axis::None)
    return refuse(op, "its parts would alternate in memory");
  if (axis.kind == Axis::Channels)
    for (int input : ArrayRef(inputs).drop_back())
      if (tensor(input).channels % core.in != 0)
        return refuse(op, "a part of " + Twine(tensor(input).channels) +
                              " channels is no whole number of words of " +
                              Twine(core.in));
  const int result = addTensor(op.getOutput(), *made);
  std::optional<View> row;
  if (axis.kind == Axis::Outer)
    row = line(result);
  int64_t at = 0;
  for (int input : inputs) {
    ByteTensor &in = tensor(input);
    View view;
    if (row)
      view = part(*row, at, 1);
    else if (axis.kind == Axis::Channels)
      view.word = at / core.in;
    else
      (axis.kind == Axis::Rows ? view.row : view.column) = at;
    at += axis.kind == Axis::Channels  ? in.channels
          : axis.kind == Axis::Rows    ? in.height
          : axis.kind == Axis::Columns ? in.width
                                       : in.height * in.width;
    view.of = result;
    const bool isLine = axis.kind == Axis::Outer;
    if (in.view.of < 0 && in.producer >= 0 && !in.isRow &&
        in.bias == tensor(result).bias && (!isLine || in.height == 1)) {
      in.view = view;
      tensor(result).isViewed = true;
      tensor(result).isRow |= view.unit != View::Pixels;
      tensor(result).producer = std::max(tensor(result).producer, in.producer);
      continue;
    }
    if (isLine) {
      view.rowRows = in.width * view.columnRows;
      view.rowColumns = in.width * view.columnColumns;
    }
    const int64_t height = in.height, width = in.width, channels = in.channels;
    copy(op, input, addView(view, height, width, channels));
  }
}

/// Indices in even steps, from the first one on; nothing if there are others.
static std::optional<int64_t> stepOf(ArrayRef<int64_t> indices) {
  if (indices.size() == 1)
    return 1;
  const int64_t step = indices[1] - indices[0];
  for (size_t i = 1; i < indices.size(); ++i)
    if (indices[i] - indices[i - 1] != step)
      return std::nullopt;
  if (step < 0)
    return std::nullopt;
  return step;
}

namespace {
/// Results first, first + step, … are those of even steps.
struct Run {
  int64_t first, step, count;
  int64_t from, fromStep;
};
} // namespace

/// Indices as few runs of even steps: in turn, as where each is repeated, or
/// one after the other.
static std::vector<Run> runsOf(ArrayRef<int64_t> indices) {
  const int64_t size = int64_t(indices.size());
  for (int64_t turns = 1; turns <= std::min<int64_t>(8, size); ++turns) {
    std::vector<Run> runs;
    for (int64_t t = 0; t < turns; ++t) {
      std::vector<int64_t> own;
      for (int64_t i = t; i < size; i += turns)
        own.push_back(indices[size_t(i)]);
      if (auto step = stepOf(own))
        runs.push_back({t, turns, int64_t(own.size()), own.front(), *step});
    }
    if (int64_t(runs.size()) == turns)
      return runs;
  }
  std::vector<Run> runs;
  for (int64_t i = 0; i < size;) {
    int64_t count = 1;
    while (i + count < size &&
           stepOf(indices.slice(size_t(i), size_t(count + 1))))
      ++count;
    runs.push_back(
        {i, 1, count, indices[size_t(i)],
         count > 1 ? indices[size_t(i + 1)] - indices[size_t(i)] : 1});
    i += count;
  }
  return runs;
}

void Lowering::visit(osa::GatherOp op) {
  auto bytes = bytesThrough(op, op.getInput(), op.getOutput());
  if (!bytes)
    return;
  auto &[input, made] = *bytes;
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  Axis axis = axisOf(shape, int64_t(op.getAxis()));
  std::vector<int64_t> indices(op.getIndices().begin(), op.getIndices().end());
  if (axis.kind == Axis::None)
    return refuse(op, "its parts alternate in memory");
  int64_t size = made.channels;
  if (axis.kind == Axis::Channels) {
    // The words that these channels are.
    std::vector<int64_t> words;
    for (int64_t i = 0; i < size; ++i) {
      if (indices[size_t(i)] % core.in != i % core.in ||
          (i % core.in != 0 &&
           indices[size_t(i)] != indices[size_t(i - 1)] + 1))
        return refuse(op, "its channels would move within words of " +
                              Twine(core.in));
      if (i % core.in == 0)
        words.push_back(indices[size_t(i)] / core.in);
    }
    indices = std::move(words);
  }
  // Along an axis of which each step is a row of pixels.
  const bool isOuter = axis.kind == Axis::Outer;
  auto viewOf = [&](View view, int64_t first, int64_t step) {
    if (isOuter) {
      view = part(view, first * axis.inner, 1);
      view.rowRows = step * axis.inner * view.columnRows;
      view.rowColumns = step * axis.inner * view.columnColumns;
      return view;
    }
    if (axis.kind == Axis::Channels) {
      view.word = first;
    } else if (axis.kind == Axis::Rows) {
      view.row = first;
      view.rowRows = step;
    } else {
      view.column = first;
      view.columnColumns = step;
    }
    return view;
  };
  auto add = [&](const View &view, int64_t count) {
    const ByteTensor &t = tensor(input);
    if (isOuter)
      return addView(view, count, axis.inner, t.channels);
    if (axis.kind == Axis::Channels)
      return addView(view, t.height, t.width,
                     std::min(count * core.in, made.channels));
    return axis.kind == Axis::Rows ? addView(view, count, t.width, t.channels)
                                   : addView(view, t.height, count, t.channels);
  };
  View from;
  from.of = input;
  if (isOuter)
    from = lineOrCopy(op, input);
  std::vector<Run> runs = runsOf(indices);
  const bool isSame = made.bias == tensor(input).bias;
  if (runs.size() == 1 && isSame) {
    const Run &run = runs.front();
    const bool isEven = axis.kind == Axis::Channels ? run.fromStep == 1
                        : isOuter                   ? run.fromStep == 1
                                                    : true;
    if (isEven) {
      int view = isOuter
                     ? addView(part(from, run.from * axis.inner, 1), 1,
                               run.count * axis.inner, tensor(input).channels)
                     : add(viewOf(from, run.from, run.fromStep), run.count);
      Meaning &meaning = meanings[op.getOutput()];
      meaning.kind = Meaning::Bytes;
      meaning.index = view;
      tensor(view).channels = made.channels;
      return;
    }
  }
  if (axis.kind == Axis::Channels) {
    // Words that follow each other.
    runs.clear();
    for (size_t i = 0; i < indices.size(); ++i)
      if (i > 0 && indices[i] == indices[i - 1] + 1)
        ++runs.back().count;
      else
        runs.push_back({int64_t(i), 1, 1, indices[i], 1});
  }
  if (runs.size() > kMostCopies)
    return refuse(op, "it takes " + Twine(runs.size()) + " copies, more than " +
                          Twine(kMostCopies));
  const int result = addTensor(op.getOutput(), made);
  View to;
  to.of = result;
  if (isOuter)
    to = *line(result);
  for (const Run &run : runs) {
    const int source = add(viewOf(from, run.from, run.fromStep), run.count),
              target = add(viewOf(to, run.first, run.step), run.count);
    for (int one : {source, target})
      if (axis.kind == Axis::Channels)
        tensor(one).channels =
            std::min(run.count * core.in, made.channels - run.first * core.in);
    tensor(target).bias = made.bias;
    tensor(target).low = made.low;
    tensor(target).high = made.high;
    copy(op, source, target);
  }
}

/// Pixels in another order, if that is rows for columns.
void Lowering::visit(osa::TransposeOp op) {
  const int input = bytesOf(*op, op.getInput());
  if (input < 0)
    return;
  auto made = tensorOf(op.getOutput(), osa::nodeName(op));
  if (!made || made->bias != tensor(input).bias)
    return refuse(op, "its bytes would not be those of its input");
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  // Axes of more than one element; those that stay together are one.
  SmallVector<int64_t> order;
  std::vector<std::pair<int64_t, int64_t>> groups; // last axis, size
  for (int64_t axis : op.getPermutation()) {
    if (shape[size_t(axis)] == 1)
      continue;
    const bool follows =
        !groups.empty() && groups.back().first < axis &&
        all_of(
            shape.slice(size_t(groups.back().first + 1),
                        size_t(axis - groups.back().first - 1)),
            [](int64_t size) { return size == 1; });
    if (follows)
      groups.back() = {axis, groups.back().second * shape[size_t(axis)]};
    else
      groups.push_back({axis, shape[size_t(axis)]});
  }
  auto outShape = cast<RankedTensorType>(op.getOutput().getType()).getShape();
  Meaning &meaning = meanings[op.getOutput()];
  if (groups.size() <= 1 && outShape.back() == shape.back() &&
      made->height == tensor(input).height) {
    meaning = Meaning(meanings[op.getInput()]);
    return;
  }
  // The pixels' axes without that of the channels.
  const int64_t lastAxis = int64_t(shape.size()) - 1;
  const bool keepsChannels = op.getPermutation().back() == lastAxis ||
                             (shape.back() == 1 && outShape.back() == 1);
  if (!keepsChannels)
    return refuse(op, "its channels would become pixels");
  if (shape.back() > 1) {
    // Together with the pixels' last axis, it is none of its own.
    if (groups.back().second != shape.back())
      groups.back().second /= shape.back();
    else
      groups.pop_back();
  }
  if (groups.size() > 2)
    return refuse(op, "its pixels would move in more than two directions");
  View view = lineOrCopy(op, input);
  const int64_t rows = groups.empty() ? 1 : groups.front().second,
                columns = groups.size() < 2 ? 1 : groups.back().second;
  if (groups.size() == 2) {
    view.rowRows = view.columnRows;
    view.rowColumns = view.columnColumns;
    view.columnRows *= rows;
    view.columnColumns *= rows;
  } else {
    view.rowRows = made->width * view.columnRows;
    view.rowColumns = made->width * view.columnColumns;
  }
  meaning.kind = Meaning::Bytes;
  if (groups.size() < 2 || (made->height == rows && made->width == columns)) {
    meaning.index = addView(view, made->height, made->width, made->channels);
    return;
  }
  const int source = addView(view, rows, columns, made->channels);
  const int result = addTensor(op.getOutput(), *made);
  View target = *line(result);
  target.rowRows = columns * target.columnRows;
  target.rowColumns = columns * target.columnColumns;
  copy(op, source, addView(target, rows, columns, made->channels));
}

/// A copy with bars of one value around it.
void Lowering::visit(osa::PadOp op) {
  auto bytes = bytesThrough(op, op.getInput(), op.getOutput());
  if (!bytes)
    return;
  auto &[input, made] = *bytes;
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  int64_t top = 0, left = 0;
  for (auto [axis, low, high] : enumerate(op.getLow(), op.getHigh())) {
    if (low == 0 && high == 0)
      continue;
    const Axis::Kind kind = axisOf(shape, int64_t(axis)).kind;
    if (kind != Axis::Rows && kind != Axis::Columns)
      return refuse(op, kind == Axis::Channels
                            ? "it adds channels"
                            : "it adds pixels along another axis than an "
                              "image's");
    (kind == Axis::Rows ? top : left) = low;
  }
  const ByteTensor in = tensor(input);
  const int64_t height = made.height, width = made.width;
  const int64_t value = int64_t(op.getValue().convertToDouble()) - made.bias;
  const int result = addTensor(op.getOutput(), made);
  auto box = [&](int64_t row, int64_t column, int64_t rows, int64_t columns) {
    View view;
    view.of = result;
    view.row = row;
    view.column = column;
    return addView(view, rows, columns, in.channels);
  };
  copy(op, input, box(top, left, in.height, in.width));
  auto bar = [&](int64_t row, int64_t column, int64_t rows, int64_t columns) {
    if (rows <= 0 || columns <= 0)
      return;
    View pixel;
    pixel.of = input;
    pixel.rowRows = pixel.columnColumns = 0;
    copy(op, addView(pixel, rows, columns, in.channels),
         box(row, column, rows, columns));
    Step &step = net.layers.back().steps.front();
    auto lanes = additionOf(Sum{0, 0, value, 0});
    step.lanes = std::move(lanes->lanes);
    step.shift = lanes->shift;
  };
  bar(0, 0, top, width);
  bar(top + in.height, 0, height - top - in.height, width);
  bar(top, 0, in.height, left);
  bar(top, left + in.width, in.height, width - left - in.width);
}
