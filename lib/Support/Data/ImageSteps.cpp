// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resampling as Pillow 12 does it: a filter that widens with the scale, weights in
// fixed point with 22 bits, rows and then columns, each rounded to 8 bits.
#include "rhizome/Support/ImageSteps.h"
#include "Bytes.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cmath>

using namespace rhizome;
using namespace rhizome::data;
using llvm::StringRef;

namespace {
constexpr int kBits = 22; ///< fraction bits of the weights
constexpr int64_t kMostSide = 16384;

struct Filter {
  double support;
  double (*at)(double x);
};

double bilinear(double x) {
  x = std::fabs(x);
  return x < 1 ? 1 - x : 0;
}

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::fabs(x);
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// The pixels of a line that one pixel of the result is made of.
struct Weights {
  int64_t first;
  std::vector<int32_t> values;
};

std::vector<Weights> weightsOf(int64_t from, int64_t to, const Filter &filter) {
  const double scale = double(from) / double(to);
  const double widened = std::max(scale, 1.0);
  const double support = filter.support * widened;
  std::vector<Weights> all;
  for (int64_t i = 0; i < to; ++i) {
    const double center = (double(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(0, int64_t(center - support + 0.5));
    const auto end = std::min(from, int64_t(center + support + 0.5));
    std::vector<double> exact;
    double sum = 0;
    for (int64_t x = 0; x < end - first; ++x) {
      exact.push_back(
          filter.at((double(x + first) - center + 0.5) * (1.0 / widened)));
      sum += exact.back();
    }
    Weights weights{first, {}};
    for (double w : exact) {
      if (sum != 0)
        w /= sum;
      weights.values.push_back(
          int32_t((w < 0 ? -0.5 : 0.5) + w * (1 << kBits)));
    }
    all.push_back(std::move(weights));
  }
  return all;
}

/// One axis of `image`, whose elements are `stride` apart.
struct Axis {
  int64_t size, stride;
};

int64_t weighed(const std::vector<int64_t> &pixels, int64_t at, int64_t stride,
                const Weights &weights) {
  int64_t sum = int64_t(1) << (kBits - 1);
  for (size_t k = 0; k < weights.values.size(); ++k)
    sum +=
        pixels[at + (weights.first + int64_t(k)) * stride] * weights.values[k];
  return std::clamp<int64_t>(sum >> kBits, 0, 255);
}

void resize(Tensor &image, int64_t height, int64_t width,
            const Filter &filter) {
  const int64_t channels = image.shape[2];
  if (const int64_t from = image.shape[1]; from != width) {
    const std::vector<Weights> weights = weightsOf(from, width, filter);
    std::vector<int64_t> out;
    out.reserve(size_t(image.shape[0] * width * channels));
    for (int64_t y = 0; y < image.shape[0]; ++y)
      for (const Weights &w : weights)
        for (int64_t c = 0; c < channels; ++c)
          out.push_back(
              weighed(image.ints, y * from * channels + c, channels, w));
    image.ints = std::move(out);
    image.shape[1] = width;
  }
  if (const int64_t from = image.shape[0]; from != height) {
    const int64_t row = width * channels;
    std::vector<int64_t> out;
    out.reserve(size_t(height * row));
    for (const Weights &w : weightsOf(from, height, filter))
      for (int64_t i = 0; i < row; ++i)
        out.push_back(weighed(image.ints, i, row, w));
    image.ints = std::move(out);
    image.shape[0] = height;
  }
}

void crop(Tensor &image, int64_t height, int64_t width) {
  const int64_t channels = image.shape[2], row = image.shape[1] * channels;
  // Half to even, as Python rounds.
  const auto top = int64_t(std::nearbyint(double(image.shape[0] - height) / 2));
  const auto left = int64_t(std::nearbyint(double(image.shape[1] - width) / 2));
  std::vector<int64_t> out;
  out.reserve(size_t(height * width * channels));
  for (int64_t y = 0; y < height; ++y) {
    const auto from = image.ints.begin() + (top + y) * row + left * channels;
    out.insert(out.end(), from, from + width * channels);
  }
  image.ints = std::move(out);
  image.shape = {height, width, channels};
}

void toGray(Tensor &image) {
  if (image.shape[2] == 1)
    return;
  std::vector<int64_t> out;
  for (size_t i = 0; i < image.ints.size(); i += 3)
    out.push_back((image.ints[i] * 19595 + image.ints[i + 1] * 38470 +
                   image.ints[i + 2] * 7471 + 0x8000) >>
                  16);
  image.ints = std::move(out);
  image.shape[2] = 1;
}

void toRgb(Tensor &image) {
  if (image.shape[2] == 3)
    return;
  std::vector<int64_t> out;
  for (int64_t v : image.ints)
    out.insert(out.end(), 3, v);
  image.ints = std::move(out);
  image.shape[2] = 3;
}

bool parseSide(StringRef text, int64_t &side) {
  return !text.getAsInteger(10, side) && side > 0 && side <= kMostSide;
}

/// The sides of a resize to N, as torchvision computes them.
std::pair<int64_t, int64_t> shorterSide(const Tensor &image, int64_t n) {
  const int64_t height = image.shape[0], width = image.shape[1];
  if (height < width)
    return {n, int64_t(double(n * width) / double(height))};
  return {int64_t(double(n * height) / double(width)), n};
}
} // namespace

llvm::Expected<ImageSteps> ImageSteps::parse(StringRef text, StringRef option) {
  ImageSteps out;
  out.theOption = option.str();
  if (text.empty())
    return out;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    auto [name, value] = part.split('=');
    Step step{Kind::Gray};
    bool good = true;
    if (name == "resize" || name == "crop") {
      step.kind = name == "crop" ? Kind::Crop : Kind::Resize;
      auto [size, filter] = value.split(':');
      auto [height, width] = size.split('x');
      good =
          parseSide(height, step.height) &&
          (!size.contains('x') || parseSide(width, step.width)) &&
          (filter.empty() || (step.kind == Kind::Resize &&
                              (filter == "bilinear" || filter == "bicubic")));
      step.isBicubic = filter == "bicubic";
    } else {
      good = value.empty() && (name == "gray" || name == "rgb");
      step.kind = name == "rgb" ? Kind::Rgb : Kind::Gray;
    }
    if (!good)
      return Input{option, ""}.fail(
          "'" + part + "' is no step",
          "steps are resize=N, resize=HxW, either with :bicubic, crop=N, "
          "crop=HxW, gray and rgb, with commas between");
    out.steps.push_back(step);
  }
  return out;
}

llvm::Expected<NamedTensor> ImageSteps::apply(NamedTensor image,
                                              StringRef file) const {
  Tensor &tensor = image.tensor;
  for (const Step &step : steps) {
    switch (step.kind) {
    case Kind::Resize: {
      std::pair<int64_t, int64_t> size(step.height, step.width);
      if (step.width == 0)
        size = shorterSide(tensor, step.height);
      if (size.first < 1 || size.second < 1 || size.first > kMostSide ||
          size.second > kMostSide)
        return Input{file, ""}.fail(
            "resized it would have " + llvm::Twine(size.first) + " x " +
                llvm::Twine(size.second) + " pixels",
            "give both sides, as " + theOption + " resize=HxW");
      resize(tensor, size.first, size.second,
             step.isBicubic ? Filter{2, bicubic} : Filter{1, bilinear});
      break;
    }
    case Kind::Crop: {
      const int64_t width = step.width ? step.width : step.height;
      if (step.height > tensor.shape[0] || width > tensor.shape[1])
        return Input{file, ""}.fail(
            "the image has " + llvm::Twine(tensor.shape[0]) + " x " +
                llvm::Twine(tensor.shape[1]) +
                " pixels, too few for a crop "
                "of " +
                llvm::Twine(step.height) + " x " + llvm::Twine(width),
            "resize it before");
      crop(tensor, step.height, width);
      break;
    }
    case Kind::Gray:
      toGray(tensor);
      break;
    case Kind::Rgb:
      toRgb(tensor);
      break;
    }
  }
  return image;
}
