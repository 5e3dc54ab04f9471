// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which reader takes a file, and how arrays become a model's frames.
#include "Data.h"
#include "rhizome/Pipeline/Pipeline.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::pipeline;

static std::optional<std::pair<double, double>> meanAndDeviation(StringRef t) {
  auto [mean, deviation] = t.split(',');
  double m, s;
  if (mean.getAsDouble(m) || deviation.getAsDouble(s) || !(s > 0))
    return std::nullopt;
  return std::make_pair(m, s);
}

bool pipeline::isNormalisation(StringRef text) {
  return text.empty() || text == "0..1" || text == "0..255" ||
         meanAndDeviation(text).has_value();
}

void pipeline::normalise(Array &array, const std::string &how) {
  if (how.empty() || how == "0..255")
    return;
  double mean = 0, deviation = 1;
  if (how != "0..1")
    std::tie(mean, deviation) = *meanAndDeviation(how);
  for (double &v : array.values)
    v = (v / 255.0 - mean) / deviation;
}

static Expected<std::vector<Array>> parseAny(StringRef bytes) {
  auto one = [](Expected<Array> array) -> Expected<std::vector<Array>> {
    if (!array)
      return array.takeError();
    return std::vector<Array>{std::move(*array)};
  };
  if (bytes.starts_with("\x1f\x8b")) {
    Expected<std::string> plain = inflate(bytes, 31);
    if (!plain)
      return plain.takeError();
    if (StringRef(*plain).starts_with("\x1f\x8b"))
      return createStringError("it is compressed twice");
    return parseAny(*plain);
  }
  if (bytes.starts_with("\x93NUMPY"))
    return one(parseNpy(bytes));
  if (bytes.starts_with("PK"))
    return parseNpz(bytes);
  if (bytes.starts_with("\x89PNG"))
    return one(parsePng(bytes));
  if (bytes.starts_with("\xff\xd8"))
    return one(parseJpeg(bytes));
  if (bytes.starts_with(StringRef("\0\0", 2)))
    return one(parseIdx(bytes));
  return one(parseOnnxTensor(bytes));
}

static Expected<std::vector<Array>> readFolder(const std::string &path) {
  std::vector<std::string> files;
  std::error_code error;
  for (sys::fs::directory_iterator it(path, error), end; it != end && !error;
       it.increment(error))
    if (!sys::path::filename(it->path()).starts_with("."))
      files.push_back(it->path());
  llvm::sort(files);
  std::vector<Array> arrays;
  for (const std::string &file : files) {
    Expected<std::vector<Array>> more = readArrays(file);
    if (!more)
      return more.takeError();
    llvm::append_range(arrays, std::move(*more));
  }
  if (arrays.empty())
    return createStringError("the folder '%s' holds no data", path.c_str());
  return arrays;
}

Expected<std::vector<Array>> pipeline::readArrays(const std::string &path) {
  if (sys::fs::is_directory(path))
    return readFolder(path);
  Expected<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.takeError();
  Expected<std::vector<Array>> arrays = parseAny(*bytes);
  if (!arrays)
    return createStringError("cannot use '%s': %s", path.c_str(),
                             toString(arrays.takeError()).c_str());
  return arrays;
}

/// The integer that ends a line, nullopt if there is none.
static std::optional<int64_t> lastInteger(StringRef line) {
  line = line.rtrim(" \t\r,;\"");
  size_t begin = line.size();
  while (begin > 0 && (isDigit(line[begin - 1]) || line[begin - 1] == '-'))
    --begin;
  int64_t value;
  if (line.substr(begin).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

Expected<std::vector<int64_t>> pipeline::readLabels(const std::string &path) {
  std::vector<int64_t> labels;
  StringRef extension = sys::path::extension(path);
  if (extension == ".csv" || extension == ".txt" || extension == ".tsv") {
    Expected<std::string> text = readFile(path);
    if (!text)
      return text.takeError();
    SmallVector<StringRef> lines;
    StringRef(*text).split(lines, '\n', -1, false);
    for (auto [i, line] : llvm::enumerate(lines)) {
      if (line.trim().empty())
        continue;
      if (std::optional<int64_t> value = lastInteger(line))
        labels.push_back(*value);
      else if (i > 0) // the first line may be a heading
        return createStringError("%s:%zu: no integer at the line's end",
                                 path.c_str(), i + 1);
    }
    return labels;
  }
  Expected<std::vector<Array>> arrays = readArrays(path);
  if (!arrays)
    return arrays.takeError();
  for (const Array &array : *arrays)
    for (double v : array.values) {
      if (v != double(int64_t(v)))
        return createStringError("'%s' holds %g, which is no label",
                                 path.c_str(), v);
      labels.push_back(int64_t(v));
    }
  return labels;
}

/// A picture's values in the order of a model's input: channels first if that
/// is where the input has them.
static Array arranged(const Array &picture, const std::vector<int64_t> &shape) {
  int64_t h = picture.shape[0], w = picture.shape[1], c = picture.shape[2];
  bool first = shape.size() >= 3 && shape[shape.size() - 3] == c &&
               shape[shape.size() - 2] == h && shape.back() == w &&
               shape.back() != c;
  if (!first)
    return picture;
  Array result = picture;
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x)
      for (int64_t k = 0; k < c; ++k)
        result.values[(k * h + y) * w + x] =
            picture.values[(y * w + x) * c + k];
  return result;
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::vector<std::string> sizes;
  for (int64_t d : shape)
    sizes.push_back(std::to_string(d));
  return join(sizes, "x");
}

Expected<std::vector<Tensor>>
pipeline::cutFrames(const std::vector<Array> &arrays,
                    const std::vector<int64_t> &shape, int64_t limit,
                    const std::string &path) {
  int64_t elements = 1;
  for (int64_t d : shape)
    elements *= d;
  std::vector<Tensor> frames;
  for (const Array &given : arrays) {
    if (given.values.empty() || int64_t(given.values.size()) % elements)
      return createStringError(
          "'%s' holds an array of %s, which is not whole frames of %s",
          path.c_str(), shapeText(given.shape).c_str(),
          shapeText(shape).c_str());
    const Array &array =
        given.isImage && int64_t(given.values.size()) == elements
            ? arranged(given, shape)
            : given;
    for (size_t at = 0; at < array.values.size(); at += elements) {
      if (limit && int64_t(frames.size()) == limit)
        return frames;
      frames.push_back(Tensor::ofFloats(
          shape, std::vector<float>(array.values.begin() + at,
                                    array.values.begin() + at + elements)));
    }
  }
  return frames;
}
