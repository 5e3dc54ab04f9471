// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each number is rounded once, by the arithmetic that the compiler itself uses;
// common conversions take a shorter way to the same bits.
#include "kernel_words.h"
#include "rhizome/Numeric/Arithmetic.h"
#include <cmath>
#include <cstring>
#include <stdexcept>

using namespace rhizome::host;
using namespace rhizome::numeric;

static int64_t productOf(const std::vector<int64_t> &shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

int64_t Tensor::words() const { return productOf(shape); }
int64_t Argument::size() const { return productOf(shape); }

size_t Kernel::bytesOf(const Stream &stream, int64_t elements) const {
  const int64_t groups = stream.isOnce ? 1 : (elements + lanes - 1) / lanes;
  return size_t(groups * stream.groupBytes);
}

static Format formatOf(const std::string &text) {
  std::string error;
  auto format = Format::parse(text, error);
  if (!format)
    throw std::runtime_error(error);
  return *format;
}

static Arithmetic arithmeticOf(const Format &format, const Tensor &tensor) {
  auto rounding = parseRounding(tensor.rounding);
  auto overflow = parseOverflow(tensor.overflow);
  if (!rounding || !overflow)
    throw std::runtime_error("'" + tensor.name + "' is rounded as '" +
                             tensor.rounding + "' and '" + tensor.overflow +
                             "', which are not known");
  return Arithmetic(format, *rounding, *overflow);
}

namespace {
/// From numbers to words.
class Encoder {
public:
  explicit Encoder(const Tensor &tensor)
      : arithmetic(arithmeticOf(formatOf(tensor.format), tensor)),
        format(arithmetic.format()) {
    const bool isNearest = arithmetic.rounding() == Rounding::NearestEven;
    isDouble = format == Format::binary64();
    isSingle = format == Format::binary32() && isNearest &&
               arithmetic.overflow() == Overflow::Infinity;
    isShort = format.isFixed() && isNearest && format.width() <= 53;
    if (isShort) {
      scale = std::ldexp(1.0, format.fractionBits);
      low = std::ldexp(format.isSigned ? -1.0 : 0.0, format.width() - 1);
      high = std::ldexp(1.0, format.width() - (format.isSigned ? 1 : 0)) - 1;
    }
  }
  /// Sign-extended where the format has a sign and is fixed point.
  uint64_t operator()(double value) const {
    if (isDouble)
      return std::isnan(value) ? general(value) : bitsOf(value);
    if (isSingle)
      return std::isnan(value) ? general(value) : bitsOf(float(value));
    if (isShort) {
      const double rounded = std::nearbyint(value * scale);
      if (rounded >= low && rounded <= high)
        return uint64_t(int64_t(rounded));
    }
    return general(value);
  }

private:
  static uint64_t bitsOf(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  static uint64_t bitsOf(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  uint64_t general(double value) const {
    auto word = uint64_t(arithmetic.fromDouble(value));
    const int width = format.width();
    if (format.isFixed() && format.isSigned && width < 64 &&
        word >> (width - 1) & 1)
      word |= ~uint64_t(0) << width;
    return word;
  }
  Arithmetic arithmetic;
  Format format;
  bool isDouble, isSingle, isShort;
  double scale = 1, low = 0, high = 0;
};

/// From words to numbers, of `bits` bits.
class Decoder {
public:
  Decoder(const Tensor &tensor, int bits)
      : format(formatOf(tensor.format)),
        arithmetic(arithmeticOf(
            bits == 32 ? Format::binary32() : Format::binary64(), tensor)),
        isShort(format.isFixed() && format.width() <= (bits == 32 ? 24 : 53) &&
                std::abs(format.fractionBits) <= 100),
        scale(isShort ? std::ldexp(1.0, -format.fractionBits) : 1) {}

  double operator()(uint64_t word) const {
    const int width = format.width();
    if (isShort) {
      word <<= 64 - width;
      return scale * (format.isSigned ? double(int64_t(word) >> (64 - width))
                                      : double(word >> (64 - width)));
    }
    const Bits bits = arithmetic.convert(format, Bits(word) & format.mask());
    if (arithmetic.format().width() == 64) {
      const auto narrow = uint64_t(bits);
      double value;
      std::memcpy(&value, &narrow, sizeof value);
      return value;
    }
    const auto narrow = uint32_t(bits);
    float value;
    std::memcpy(&value, &narrow, sizeof value);
    return value;
  }

private:
  Format format;
  Arithmetic arithmetic;
  bool isShort; ///< each number is one of the argument's
  double scale;
};
} // namespace

/// Words are little-endian, as the machines are that have such devices.
static void putWord(uint8_t *to, int bytes, uint64_t word) {
  std::memcpy(to, &word, size_t(bytes));
}

static uint64_t wordAt(const uint8_t *from, int bytes) {
  uint64_t word = 0;
  std::memcpy(&word, from, size_t(bytes));
  return word;
}

/// Calls visit(element, k, byte) for each word of a tensor, whose words are
/// after `before` beats of a group.
template <typename Visit>
static void forEachWord(const Kernel &kernel, const Stream &stream,
                        const Tensor &tensor, int64_t before, int64_t elements,
                        Visit visit) {
  const int64_t lanes = stream.isOnce ? 1 : kernel.lanes;
  const int64_t size = tensor.words(), words = stream.words;
  const int64_t part = words * stream.wordBytes, beat = lanes * part;
  for (int64_t e = 0; e < (stream.isOnce ? 1 : elements); ++e) {
    int64_t at =
        e / lanes * stream.groupBytes + before * beat + e % lanes * part;
    for (int64_t k = 0; k < size; at += beat)
      for (int64_t w = 0; w < words && k < size; ++w, ++k)
        visit(e, k, at + w * stream.wordBytes);
  }
}

void rhizome::host::pack(const Kernel &kernel, const Stream &stream,
                         const void *const *arrays, int64_t first,
                         int64_t count, uint8_t *buffer) {
  const int bytes = stream.wordBytes;
  // Lanes without an element compute with zeros.
  if (!stream.isOnce && count % kernel.lanes != 0)
    std::memset(buffer, 0, kernel.bytesOf(stream, count));
  int64_t before = 0;
  for (const Tensor &tensor : stream.tensors) {
    const Argument &argument = kernel.arguments[tensor.argument];
    const Encoder encode(tensor);
    auto from = [&](const auto *data) {
      const int64_t size = argument.size();
      forEachWord(kernel, stream, tensor, before, count,
                  [&](int64_t e, int64_t k, int64_t at) {
                    putWord(buffer + at, bytes,
                            encode(double(data[(first + e) * size + k])));
                  });
    };
    if (argument.bits == 32)
      from(static_cast<const float *>(arrays[tensor.argument]));
    else
      from(static_cast<const double *>(arrays[tensor.argument]));
    before += stream.beatsOf(tensor);
  }
}

void rhizome::host::unpack(const Kernel &kernel, const Stream &stream,
                           const uint8_t *buffer, int64_t first, int64_t count,
                           void *const *arrays) {
  const int bytes = stream.wordBytes;
  int64_t before = 0;
  for (const Tensor &tensor : stream.tensors) {
    const Argument &argument = kernel.arguments[tensor.argument];
    const Decoder decode(tensor, argument.bits);
    auto to = [&](auto *data) {
      using Number = std::remove_pointer_t<decltype(data)>;
      const int64_t size = argument.size();
      forEachWord(kernel, stream, tensor, before, count,
                  [&](int64_t e, int64_t k, int64_t at) {
                    data[(first + e) * size + k] =
                        Number(decode(wordAt(buffer + at, bytes)));
                  });
    };
    if (argument.bits == 32)
      to(static_cast<float *>(arrays[tensor.argument]));
    else
      to(static_cast<double *>(arrays[tensor.argument]));
    before += stream.beatsOf(tensor);
  }
}

/// The bytes of an integer that holds a number of the format.
static int storageBytes(const Format &format) {
  int bytes = 1;
  while (8 * bytes < format.width())
    bytes *= 2;
  return bytes;
}

void rhizome::host::computeWords(const Kernel &kernel, int64_t elements,
                                 uint8_t *const *buffers) {
  std::vector<rhz_array> arrays;
  std::vector<std::vector<uint8_t>> dense;
  // Lanes take their words out of the beats, and put them in again.
  auto forAll = [&](bool isInput, auto visit) {
    for (size_t s = 0; s < kernel.streams.size(); ++s) {
      const Stream &stream = kernel.streams[s];
      int64_t before = 0;
      for (const Tensor &tensor : stream.tensors) {
        if (stream.isInput == isInput)
          visit(stream, tensor, before, buffers[s]);
        before += stream.beatsOf(tensor);
      }
    }
  };
  auto prepare = [&](const Stream &stream, const Tensor &tensor, int64_t,
                     uint8_t *) {
    if (dense.size() <= tensor.array) {
      dense.resize(tensor.array + 1);
      arrays.resize(tensor.array + 1);
    }
    const int bytes = storageBytes(formatOf(tensor.format));
    const int64_t size = tensor.words();
    dense[tensor.array].resize(
        size_t((stream.isOnce ? 1 : elements) * size * bytes));
    rhz_array &array = arrays[tensor.array];
    array = {};
    array.data = dense[tensor.array].data();
    array.element_stride = stream.isOnce ? 0 : size;
    int64_t stride = 1;
    for (size_t d = tensor.shape.size(); d-- > 0; stride *= tensor.shape[d])
      array.strides[d] = stride;
  };
  forAll(true, prepare);
  forAll(false, prepare);
  auto move = [&](const Stream &stream, const Tensor &tensor, int64_t before,
                  uint8_t *buffer) {
    const Format format = formatOf(tensor.format);
    const int wide = stream.wordBytes, narrow = storageBytes(format);
    uint8_t *data = dense[tensor.array].data();
    const int64_t size = tensor.words();
    const bool isExtended = format.isFixed() && format.isSigned;
    forEachWord(kernel, stream, tensor, before, elements,
                [&](int64_t e, int64_t k, int64_t at) {
                  uint8_t *own = data + (e * size + k) * narrow;
                  if (stream.isInput)
                    return putWord(own, narrow, wordAt(buffer + at, wide));
                  uint64_t word = wordAt(own, narrow);
                  if (isExtended && narrow < 8 && word >> (8 * narrow - 1) & 1)
                    word |= ~uint64_t(0) << (8 * narrow);
                  putWord(buffer + at, wide, word);
                });
  };
  forAll(true, move);
  kernel.compute(elements, 1, arrays.data());
  forAll(false, move);
}
