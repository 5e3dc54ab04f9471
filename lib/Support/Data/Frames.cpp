// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames for a model's input: how arrays and images are cut into the input's
// shape and converted to its numbers. Images are resized
// and cropped as ImageSteps says, otherwise not at all.
#include "Bytes.h"
#include "rhizome/Support/ClassFolders.h"
#include "rhizome/Support/ImageSteps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>

using namespace rhizome;
using namespace rhizome::data;

static std::string toString(llvm::ArrayRef<int64_t> shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    out += (i ? "," : "") + std::to_string(shape[i]);
  return out + "]";
}

static int64_t product(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

static std::vector<int64_t> squeezed(llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> out;
  for (int64_t size : shape)
    if (size != 1)
      out.push_back(size);
  return out;
}

/// The number of frames of shape `frame` in data of shape `shape`; 0 if the
/// shapes don't match. Axes of size 1 don't count; a flat side matches any
/// shape with as many elements.
static size_t framesIn(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> frame) {
  auto same = [&](llvm::ArrayRef<int64_t> part) {
    auto a = squeezed(part), b = squeezed(frame);
    return a == b ||
           ((a.size() <= 1 || b.size() <= 1) && product(a) == product(b));
  };
  if (shape.size() >= frame.size() && shape.size() > 1 &&
      same(shape.drop_front()))
    return shape.front();
  if (same(shape))
    return 1;
  return !shape.empty() && same(shape.drop_front()) ? shape.front() : 0;
}

llvm::Expected<Normalize> Normalize::parse(llvm::StringRef text,
                                           llvm::StringRef option) {
  Normalize out;
  out.option = option.str();
  if (text.empty())
    return out;
  if (text == "0..1") {
    out.kind = Kind::Unit;
    return out;
  }
  if (text == "0..255") {
    out.kind = Kind::Raw;
    return out;
  }
  auto fail = [&](const llvm::Twine &reason) -> llvm::Error {
    return Input{option.str(), ""}.fail(
        reason, "give 0..1, 0..255, MEAN,STD or, per channel, "
                "MEAN1,MEAN2,…,STD1,STD2,…");
  };
  std::vector<float> values;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    double v;
    if (part.trim().getAsDouble(v) || !std::isfinite(v))
      return fail("'" + part + "' is not a number");
    values.push_back(float(v));
  }
  if (values.size() % 2)
    return fail(llvm::Twine(values.size()) +
                " numbers are not as many means as deviations");
  size_t half = values.size() / 2;
  out.kind = Kind::MeanStd;
  out.mean.assign(values.begin(), values.begin() + half);
  out.std.assign(values.begin() + half, values.end());
  for (float s : out.std)
    if (!(s > 0))
      return fail("the deviation " + std::to_string(s) + " is not positive");
  return out;
}

/// The channel of element i of an input of `shape`, given how many there are:
/// the axis of that size, the second one (NCHW) before the last (NHWC).
static llvm::Expected<std::vector<size_t>>
channelsOf(const Input &input, llvm::ArrayRef<int64_t> shape,
           const Normalize &normalize) {
  size_t count = std::max<size_t>(1, normalize.mean.size());
  std::vector<size_t> out(product(shape), 0);
  if (count == 1)
    return out;
  size_t axis =
      shape.size() > 1 && shape[1] == int64_t(count) ? 1 : shape.size() - 1;
  if (shape.empty() || shape[axis] != int64_t(count))
    return input.fail(normalize.option + " has " + llvm::Twine(count) +
                          " channels, the input " + toString(shape) +
                          " does not",
                      "give one mean and deviation, or one per channel");
  int64_t inner = product(shape.drop_front(axis + 1));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = i / inner % count;
  return out;
}

/// Reals of a file as the integers that they equal.
static llvm::Error toIntegers(const Input &input, llvm::StringRef name,
                              llvm::ArrayRef<double> doubles, Tensor &values) {
  for (size_t i = 0; i < values.floats.size(); ++i) {
    double v = doubles.empty() ? double(values.floats[i]) : doubles[i];
    if (v != std::floor(v) || !(std::fabs(v) < 0x1p63))
      return input.fail("it holds " + std::to_string(v) + ", but the input '" +
                            name + "' takes integers",
                        "give whole numbers of at most 64 bits");
    values.ints.push_back(int64_t(v));
  }
  values.isFloat = false;
  values.floats.clear();
  return llvm::Error::success();
}

llvm::Expected<Tensor>
FrameSource::finish(Tensor values, bool isPixels, const std::string &file,
                    llvm::ArrayRef<double> doubles) const {
  Input input{file, ""};
  values.shape = spec.shape;
  auto checkRange = [&](auto v) -> llvm::Error {
    if (v >= spec.lo && v <= spec.hi)
      return llvm::Error::success();
    std::string text = llvm::formatv("{0}", v);
    return input.fail("it holds " + text + ", outside the range " +
                          llvm::Twine(spec.lo) + ".." + llvm::Twine(spec.hi) +
                          " of the input '" + spec.name + "'",
                      "give values in that range");
  };
  if (!spec.isFloat) {
    if (normalize.kind == Normalize::Kind::Unit ||
        normalize.kind == Normalize::Kind::MeanStd)
      return input.fail(normalize.option + " makes reals, but the input '" +
                            spec.name + "' takes integers",
                        "leave " + normalize.option + " out");
    if (values.isFloat)
      if (llvm::Error error = toIntegers(input, spec.name, doubles, values))
        return error;
    for (int64_t v : values.ints)
      if (llvm::Error error = checkRange(v))
        return error;
    return values;
  }
  if (normalize.kind != Normalize::Kind::None && !isPixels)
    return input.fail(normalize.option +
                          " is for 8-bit pixels, but the file holds other "
                          "numbers",
                      "leave " + normalize.option + " out");
  if (spec.isWhole) { // integers, which the model represents as reals
    for (float v : values.floats)
      if (v != std::floor(v))
        return input.fail("it holds " + std::to_string(v) +
                              ", but the input '" + spec.name +
                              "' takes integers",
                          "give whole numbers");
      else if (llvm::Error error = checkRange(v))
        return error;
    for (int64_t v : values.ints)
      if (llvm::Error error = checkRange(v))
        return error;
  }
  if (values.isFloat)
    return values;
  if (normalize.kind == Normalize::Kind::None && isPixels && !spec.isWhole &&
      !spec.isPlain)
    return input.fail(
        "it holds pixels 0..255 and the input '" + spec.name + "' takes reals",
        "say how with " + normalize.option + " 0..1, 0..255 or MEAN,STD");
  values.floats.resize(values.ints.size());
  values.isFloat = true;
  auto channels = channelsOf(input, spec.shape, normalize);
  if (!channels)
    return channels.takeError();
  for (size_t i = 0; i < values.ints.size(); ++i) {
    float x = float(values.ints[i]);
    if (!(std::fabs(x) < 0x1p63f) || int64_t(x) != values.ints[i])
      return input.fail("it holds " + llvm::Twine(values.ints[i]) +
                            ", which float32 does not, and the input '" +
                            spec.name + "' takes reals",
                        "store reals, rounded as the model is to see them");
    if (normalize.kind == Normalize::Kind::Unit)
      x = x / 255.0f;
    else if (normalize.kind == Normalize::Kind::MeanStd)
      x = (x / 255.0f - normalize.mean[(*channels)[i]]) /
          normalize.std[(*channels)[i]];
    values.floats[i] = x;
  }
  values.ints.clear();
  return values;
}

llvm::Expected<Tensor> FrameSource::fromImage(const NamedTensor &stored,
                                              const std::string &file) const {
  NamedTensor image = stored;
  if (steps) {
    llvm::Expected<NamedTensor> made = steps->apply(std::move(image), file);
    if (!made)
      return made.takeError();
    image = std::move(*made);
  }
  const auto &hwc = image.tensor.shape;
  int64_t height = hwc[0], width = hwc[1], channels = hwc[2];
  llvm::ArrayRef<int64_t> want = spec.shape;
  while (want.size() > 3 && want.front() == 1)
    want = want.drop_front();
  bool channelsLast = want == llvm::ArrayRef<int64_t>(hwc);
  bool channelsFirst =
      want == llvm::ArrayRef<int64_t>({channels, height, width});
  bool gray = channels == 1 &&
              (squeezed(want) == squeezed(hwc) ||
               (squeezed(want).size() == 1 && product(want) == height * width));
  if (!channelsLast && !channelsFirst && !gray)
    return Input{file, ""}.fail("the image is " + toString(hwc) +
                                    " (rows, columns, channels), the "
                                    "input '" +
                                    spec.name + "' takes " +
                                    toString(spec.shape),
                                "name what the training did with its images, "
                                "e.g. " +
                                    (steps ? steps->option() : "--images") +
                                    " resize=256,crop=224 or gray");
  if (channelsLast || gray)
    return finish(image.tensor, true, file);
  Tensor planes = image.tensor;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < height * width; ++i)
      planes.ints[c * height * width + i] = image.tensor.ints[i * channels + c];
  return finish(std::move(planes), true, file);
}

static llvm::Expected<std::vector<std::string>>
imagesIn(llvm::StringRef folder) {
  auto folders = classFolders(folder);
  if (!folders)
    return folders.takeError();
  std::vector<std::string> out;
  for (const ClassFolder &each : *folders)
    out.insert(out.end(), each.images.begin(), each.images.end());
  return out;
}

llvm::Expected<FrameSource>
FrameSource::open(llvm::StringRef path, InputSpec spec,
                  const Normalize &normalize,
                  std::shared_ptr<const ImageSteps> steps) {
  FrameSource source;
  source.steps = std::move(steps);
  source.spec = std::move(spec);
  source.normalize = normalize;
  source.path = path.str();
  Input input{path, ""};
  if (llvm::sys::fs::is_directory(path)) {
    auto images = imagesIn(path);
    if (!images)
      return images.takeError();
    source.images = std::move(*images);
    source.count = source.images.size();
    if (source.images.empty())
      return input.fail("neither the folder nor a folder in it holds a PNG or "
                        "JPEG image");
    return source;
  }
  auto npy = NpyFile::open(path);
  if (!npy)
    return npy.takeError();
  source.file = std::move(*npy);
  if (!source.file) {
    auto arrays = readArrays(path);
    if (!arrays)
      return arrays.takeError();
    auto index = selectArray(input, *arrays, source.spec.name);
    if (!index)
      return index.takeError();
    source.data = std::move((*arrays)[*index]);
  }
  if (source.steps && !source.steps->empty() && !source.data.isImage)
    return input.fail(source.steps->option() +
                          " is for PNG and JPEG images, but it holds an array",
                      "leave " + source.steps->option() + " out");
  if (llvm::Error error = source.countFrames())
    return std::move(error);
  return source;
}

llvm::Expected<FrameSource> FrameSource::of(NamedTensor array, std::string name,
                                            InputSpec spec) {
  FrameSource source;
  source.spec = std::move(spec);
  source.path = std::move(name);
  source.data = std::move(array);
  if (llvm::Error error = source.countFrames())
    return std::move(error);
  return source;
}

llvm::Error FrameSource::countFrames() {
  const std::vector<int64_t> &shape =
      file ? file->header().shape : data.tensor.shape;
  count = data.isImage ? 1 : framesIn(shape, spec.shape);
  if (count == 0)
    return Input{path, ""}.fail(
        "it holds " + toString(shape) + ", '" + spec.name + "' takes " +
            toString(spec.shape),
        "give frames of that shape, stacked along a first axis");
  return llvm::Error::success();
}

llvm::Expected<Tensor> FrameSource::frame(size_t i) const {
  assert(i < count && "a frame that does not exist");
  if (isRandom)
    return randomFrame(i);
  if (!images.empty()) {
    auto arrays = readArrays(images[i]);
    if (!arrays)
      return arrays.takeError();
    if (!arrays->front().isImage)
      return Input{images[i], ""}.fail("it is not a PNG or JPEG image");
    return fromImage(arrays->front(), images[i]);
  }
  if (data.isImage)
    return fromImage(data, path);
  size_t n = product(spec.shape);
  if (file) {
    auto read = file->read(i * n, n);
    if (!read)
      return read.takeError();
    return finish(std::move(read->tensor), read->isPixels, path, read->doubles);
  }
  Tensor part;
  part.isFloat = data.tensor.isFloat;
  auto cut = [&](const auto &from, auto &to) {
    to.assign(from.begin() + i * n, from.begin() + (i + 1) * n);
  };
  std::vector<double> doubles;
  if (!data.doubles.empty())
    cut(data.doubles, doubles);
  if (part.isFloat)
    cut(data.tensor.floats, part.floats);
  else
    cut(data.tensor.ints, part.ints);
  return finish(std::move(part), data.isPixels, path, doubles);
}

FrameSource FrameSource::random(InputSpec spec, uint64_t seed, size_t count,
                                float realLo, float realHi) {
  FrameSource source;
  source.spec = std::move(spec);
  source.isRandom = true;
  source.seed = seed;
  source.count = count;
  source.realLo = realLo;
  source.realHi = realHi;
  return source;
}

Tensor FrameSource::randomFrame(size_t i) const {
  // The standard defines the engine, but not the distributions: the
  // same seed must give the same frames everywhere.
  std::seed_seq words{uint32_t(seed), uint32_t(seed >> 32), uint32_t(i),
                      uint32_t(uint64_t(i) >> 32)};
  std::mt19937_64 engine(words);
  Tensor out;
  out.shape = spec.shape;
  out.isFloat = spec.isFloat;
  for (int64_t k = 0, n = product(spec.shape); k < n; ++k) {
    if (spec.isFloat) {
      double unit = double(engine() >> 11) / double(uint64_t(1) << 53);
      out.floats.push_back(float(realLo + (double(realHi) - realLo) * unit));
      continue;
    }
    uint64_t span = uint64_t(spec.hi) - uint64_t(spec.lo) + 1;
    uint64_t draw = engine();
    out.ints.push_back(
        int64_t(uint64_t(spec.lo) + (span ? draw % span : draw)));
  }
  return out;
}
