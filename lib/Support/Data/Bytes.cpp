// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors, gzip and the decoding of elements of every kind to int64 or float32.
#include "Bytes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include <zlib.h>

using namespace rhizome;
using namespace rhizome::data;

char DataError::ID = 0;

void DataError::log(llvm::raw_ostream &os) const {
  if (!file.empty())
    os << file << ": ";
  os << reason;
  if (!remedy.empty())
    os << "; " << remedy;
}

std::error_code DataError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

llvm::Error Input::fail(const llvm::Twine &reason,
                        const llvm::Twine &remedy) const {
  return llvm::make_error<DataError>(file.str(), reason.str(), remedy.str());
}

unsigned data::elementBytes(Element element) {
  switch (element) {
  case Element::Bool:
  case Element::I8:
  case Element::U8:
    return 1;
  case Element::I16:
  case Element::U16:
  case Element::F16:
  case Element::BF16:
    return 2;
  case Element::I32:
  case Element::U32:
  case Element::F32:
    return 4;
  case Element::I64:
  case Element::U64:
  case Element::F64:
    return 8;
  }
  return 8;
}

llvm::Expected<int64_t> data::checkedCount(const Input &input,
                                           llvm::ArrayRef<int64_t> shape,
                                           uint64_t bytes,
                                           unsigned elementSize) {
  uint64_t room = bytes / elementSize, count = 1;
  for (int64_t size : shape) {
    if (size < 0)
      return input.fail("an axis has the negative size " + llvm::Twine(size));
    if (size == 0)
      return input.fail("an axis has size 0", "give at least one element");
  }
  for (int64_t size : shape)
    count = uint64_t(size) > room / count ? room + 1 : count * uint64_t(size);
  if (count > room)
    return input.fail("the file ends before the elements that its header "
                      "promises (it holds " +
                      llvm::Twine(room) + ")");
  return int64_t(count);
}

template <typename T> static T load(const char *at, bool bigEndian) {
  return llvm::support::endian::read<T>(
      at, bigEndian ? llvm::endianness::big : llvm::endianness::little);
}

static float toFloat(const llvm::fltSemantics &semantics, uint16_t bits) {
  llvm::APFloat value(semantics, llvm::APInt(16, bits));
  bool loses;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                &loses);
  return value.convertToFloat();
}

uint64_t data::memoryOf(const NamedTensor &tensor) {
  return tensor.tensor.ints.size() * sizeof(int64_t) +
         tensor.tensor.floats.size() * sizeof(float) +
         tensor.doubles.size() * sizeof(double);
}

llvm::Error data::tooLarge(const Input &input) {
  return input.fail("it would take more than " +
                        llvm::Twine(kMostDataBytes >> 30) + " GiB of memory",
                    "split it");
}

/// Of an element in memory.
static unsigned heldBytes(Element element) {
  return element < Element::F16    ? sizeof(int64_t)
         : element == Element::F64 ? sizeof(float) + sizeof(double)
                                   : sizeof(float);
}

llvm::Expected<NamedTensor>
data::decode(const Input &input, llvm::StringRef payload, Element element,
             std::vector<int64_t> shape, bool bigEndian, unsigned copies) {
  unsigned size = elementBytes(element);
  auto count = checkedCount(input, shape, payload.size(), size);
  if (!count)
    return count.takeError();
  if (uint64_t(*count) * heldBytes(element) * copies + input.owned >
      uint64_t(kMostDataBytes))
    return tooLarge(input);
  NamedTensor out;
  Tensor &tensor = out.tensor;
  tensor.shape = std::move(shape);
  out.isPixels = element == Element::U8;
  tensor.isFloat = element >= Element::F16;
  (tensor.isFloat ? tensor.floats.reserve(*count)
                  : tensor.ints.reserve(*count));
  if (element == Element::F64)
    out.doubles.reserve(*count);
  for (int64_t i = 0; i < *count; ++i) {
    const char *at = payload.data() + i * size;
    switch (element) {
    case Element::Bool:
      tensor.ints.push_back(*at != 0);
      break;
    case Element::I8:
      tensor.ints.push_back(int8_t(*at));
      break;
    case Element::U8:
      tensor.ints.push_back(uint8_t(*at));
      break;
    case Element::I16:
      tensor.ints.push_back(load<int16_t>(at, bigEndian));
      break;
    case Element::U16:
      tensor.ints.push_back(load<uint16_t>(at, bigEndian));
      break;
    case Element::I32:
      tensor.ints.push_back(load<int32_t>(at, bigEndian));
      break;
    case Element::U32:
      tensor.ints.push_back(load<uint32_t>(at, bigEndian));
      break;
    case Element::I64:
      tensor.ints.push_back(load<int64_t>(at, bigEndian));
      break;
    case Element::U64: {
      uint64_t v = load<uint64_t>(at, bigEndian);
      if (v > uint64_t(INT64_MAX))
        return input.fail("element " + llvm::Twine(i) + " is " +
                              llvm::Twine(v) + ", above 2^63 - 1",
                          "store it as a smaller type");
      tensor.ints.push_back(int64_t(v));
      break;
    }
    case Element::F16:
      tensor.floats.push_back(
          toFloat(llvm::APFloat::IEEEhalf(), load<uint16_t>(at, bigEndian)));
      break;
    case Element::BF16:
      tensor.floats.push_back(
          toFloat(llvm::APFloat::BFloat(), load<uint16_t>(at, bigEndian)));
      break;
    case Element::F32:
      tensor.floats.push_back(
          llvm::bit_cast<float>(load<uint32_t>(at, bigEndian)));
      break;
    case Element::F64:
      out.doubles.push_back(
          llvm::bit_cast<double>(load<uint64_t>(at, bigEndian)));
      tensor.floats.push_back(float(out.doubles.back()));
      break;
    }
  }
  return out;
}

llvm::Expected<std::string> data::gunzip(const Input &input) {
  z_stream stream = {};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
    return input.fail("zlib cannot start");
  stream.next_in =
      reinterpret_cast<Bytef *>(const_cast<char *>(input.bytes.data()));
  stream.avail_in = uInt(std::min<size_t>(input.bytes.size(), UINT_MAX));
  std::string out;
  std::vector<char> chunk(1 << 16);
  int status = Z_OK;
  // Half of the memory: a tensor is made of it.
  constexpr uint64_t kMost = kMostDataBytes / 2;
  bool fits = true;
  while (status == Z_OK && fits) {
    stream.next_out = reinterpret_cast<Bytef *>(chunk.data());
    stream.avail_out = chunk.size();
    status = inflate(&stream, Z_NO_FLUSH);
    const size_t count = chunk.size() - stream.avail_out;
    fits = out.size() + count <= kMost;
    if (fits) // growing doubles the room
      out.append(chunk.data(), count);
  }
  inflateEnd(&stream);
  if (!fits)
    return tooLarge(input);
  if (status != Z_STREAM_END)
    return input.fail("its gzip stream is damaged or ends too early");
  return out;
}
