// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decoding of ONNX tensors. Sizes are checked before anything is allocated, so
// that a file cannot make us allocate more than it contains.
#include "Constant.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace rhizome;
using namespace rhizome::importer;
using llvm::ArrayRef;
using llvm::formatv;
using llvm::StringRef;
using onnx::TensorProto;

std::optional<int64_t> importer::elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0)
      return std::nullopt;
  if (llvm::is_contained(shape, 0))
    return 0;
  for (int64_t size : shape) {
    if (size > kMaxElements / count)
      return std::nullopt;
    count *= size;
  }
  return count;
}

std::string importer::describe(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::optional<Shape> importer::broadcast(ArrayRef<int64_t> a,
                                         ArrayRef<int64_t> b) {
  size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    out[i] = x == 1 ? y : x;
  }
  return out;
}

bool HostTensor::isRealType(int type) {
  return type == TensorProto::FLOAT || type == TensorProto::DOUBLE ||
         type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16;
}

std::string importer::typeName(int type) {
  // Types added after libonnx 1.12 have no name there.
  static const char *const later[] = {
      "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",
      "int4",         "float4e2m1",     "float8e8m0", "uint2",          "int2"};
  if (type >= 17 && type < 17 + 10)
    return later[type - 17];
  if (TensorProto::DataType_IsValid(type))
    return StringRef(TensorProto::DataType_Name(TensorProto::DataType(type)))
        .lower();
  return formatv("type {0}", type);
}

/// Bits of one element in raw data; 0 for unsupported types.
static int64_t elementBits(int type) {
  switch (type) {
  case kUint4:
  case kInt4:
    return 4;
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
    return 8;
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 16;
  case TensorProto::INT32:
  case TensorProto::UINT32:
  case TensorProto::FLOAT:
    return 32;
  case TensorProto::INT64:
  case TensorProto::UINT64:
  case TensorProto::DOUBLE:
    return 64;
  default:
    return 0;
  }
}

/// Bytes of `count` elements in raw data: there are two 4-bit integers per
/// byte.
static int64_t storedBytes(int type, int64_t count) {
  return (count * elementBits(type) + 7) / 8;
}

/// Number of elements in the typed field of `t`.
static int64_t typedSize(const TensorProto &t) {
  switch (t.data_type()) {
  case TensorProto::FLOAT:
    return t.float_data_size();
  case TensorProto::DOUBLE:
    return t.double_data_size();
  case TensorProto::INT64:
    return t.int64_data_size();
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return t.uint64_data_size();
  default:
    return t.int32_data_size();
  }
}

std::string importer::checkTensor(const TensorProto &t) {
  Shape shape(t.dims().begin(), t.dims().end());
  std::optional<int64_t> count = elementCount(shape);
  if (!count)
    return formatv("its shape {0} is not valid: sizes must not be negative and "
                   "the number of elements at most 2^31",
                   describe(shape));
  int64_t bytes = storedBytes(t.data_type(), *count);
  if (elementBits(t.data_type()) == 0 ||
      t.data_location() == TensorProto::EXTERNAL)
    return ""; // judged when it is used
  if (t.has_raw_data()) {
    if (int64_t(t.raw_data().size()) != bytes)
      return formatv("it holds {0} bytes, its shape {1} of {2} needs {3}",
                     t.raw_data().size(), describe(shape),
                     typeName(t.data_type()), bytes);
    return "";
  }
  int64_t values = elementBits(t.data_type()) == 4 ? bytes : *count;
  if (typedSize(t) != values)
    return formatv("it holds {0} values, its shape {1} needs {2}", typedSize(t),
                   describe(shape), values);
  return "";
}

static double fromHalf(uint16_t bits, int type) {
  const llvm::fltSemantics &semantics = type == TensorProto::BFLOAT16
                                            ? llvm::APFloat::BFloat()
                                            : llvm::APFloat::IEEEhalf();
  llvm::APFloat value(semantics, llvm::APInt(16, bits));
  bool lost;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
  return value.convertToDouble();
}

template <typename T> static T load(const char *bytes, size_t index) {
  return llvm::support::endian::read<T, llvm::endianness::little>(
      bytes + index * sizeof(T));
}

/// Element `i` of packed 4-bit integers, the low half of a byte first.
static int64_t nibble(int type, uint8_t byte, size_t i) {
  int64_t v = i % 2 ? byte >> 4 : byte & 15;
  return type == kInt4 && v > 7 ? v - 16 : v;
}

static void decodeRaw(HostTensor &out, const char *raw, size_t n) {
  auto ints = [&](auto zero) {
    for (size_t i = 0; i < n; ++i)
      out.ints[i] = int64_t(load<decltype(zero)>(raw, i));
  };
  switch (out.type) {
  case TensorProto::FLOAT:
    for (size_t i = 0; i < n; ++i)
      out.reals[i] = load<float>(raw, i);
    return;
  case TensorProto::DOUBLE:
    for (size_t i = 0; i < n; ++i)
      out.reals[i] = load<double>(raw, i);
    return;
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    for (size_t i = 0; i < n; ++i)
      out.reals[i] = fromHalf(load<uint16_t>(raw, i), out.type);
    return;
  case TensorProto::BOOL:
    for (size_t i = 0; i < n; ++i)
      out.ints[i] = raw[i] != 0;
    return;
  case kUint4:
  case kInt4:
    for (size_t i = 0; i < n; ++i)
      out.ints[i] = nibble(out.type, uint8_t(raw[i / 2]), i);
    return;
  case TensorProto::UINT8:
    return ints(uint8_t());
  case TensorProto::INT8:
    return ints(int8_t());
  case TensorProto::UINT16:
    return ints(uint16_t());
  case TensorProto::INT16:
    return ints(int16_t());
  case TensorProto::UINT32:
    return ints(uint32_t());
  case TensorProto::INT32:
    return ints(int32_t());
  case TensorProto::UINT64:
    return ints(uint64_t());
  default:
    return ints(int64_t());
  }
}

static void decodeTyped(HostTensor &out, const TensorProto &t) {
  switch (out.type) {
  case TensorProto::FLOAT:
    out.reals.assign(t.float_data().begin(), t.float_data().end());
    return;
  case TensorProto::DOUBLE:
    out.reals.assign(t.double_data().begin(), t.double_data().end());
    return;
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    for (auto [i, bits] : llvm::enumerate(t.int32_data()))
      out.reals[i] = fromHalf(uint16_t(bits), out.type);
    return;
  case kUint4:
  case kInt4:
    for (size_t i = 0; i < out.ints.size(); ++i)
      out.ints[i] = nibble(out.type, uint8_t(t.int32_data(int(i / 2))), i);
    return;
  case TensorProto::INT64:
    out.ints.assign(t.int64_data().begin(), t.int64_data().end());
    return;
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    out.ints.assign(t.uint64_data().begin(), t.uint64_data().end());
    return;
  // A file may store values outside the type; they wrap like raw data.
  case TensorProto::UINT8:
    for (auto [i, v] : llvm::enumerate(t.int32_data()))
      out.ints[i] = uint8_t(v);
    return;
  case TensorProto::INT8:
    for (auto [i, v] : llvm::enumerate(t.int32_data()))
      out.ints[i] = int8_t(v);
    return;
  case TensorProto::UINT16:
    for (auto [i, v] : llvm::enumerate(t.int32_data()))
      out.ints[i] = uint16_t(v);
    return;
  case TensorProto::INT16:
    for (auto [i, v] : llvm::enumerate(t.int32_data()))
      out.ints[i] = int16_t(v);
    return;
  case TensorProto::BOOL:
    for (auto [i, v] : llvm::enumerate(t.int32_data()))
      out.ints[i] = v != 0;
    return;
  default:
    out.ints.assign(t.int32_data().begin(), t.int32_data().end());
  }
}

/// The bytes of a tensor in another file; null with `error` set.
static std::unique_ptr<llvm::MemoryBuffer> readExternal(const TensorProto &t,
                                                        StringRef directory,
                                                        uint64_t bytes,
                                                        std::string &error) {
  std::string location;
  uint64_t offset = 0, length = bytes;
  for (const onnx::StringStringEntryProto &e : t.external_data()) {
    if (e.key() == "location")
      location = e.value();
    if ((e.key() == "offset" &&
         StringRef(e.value()).getAsInteger(10, offset)) ||
        (e.key() == "length" && StringRef(e.value()).getAsInteger(10, length)))
      error =
          formatv("its external data has the {0} '{1}'", e.key(), e.value());
  }
  // A model must not make us read outside its own folder.
  bool outside = location.empty() || llvm::sys::path::is_absolute(location) ||
                 llvm::any_of(llvm::make_range(llvm::sys::path::begin(location),
                                               llvm::sys::path::end(location)),
                              [](StringRef part) { return part == ".."; });
  if (outside)
    error =
        formatv("its external data lies at '{0}', which is not a file below "
                "the model's folder",
                location);
  else if (length != bytes)
    error = formatv("its external data has {0} bytes, its shape needs {1}",
                    length, bytes);
  if (!error.empty())
    return nullptr;
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, location);
  // A folder or device must not be opened as a file.
  llvm::sys::fs::file_status status;
  llvm::SmallString<256> real, folder;
  if (std::error_code why = llvm::sys::fs::status(path, status))
    error = formatv("its external data is missing: '{0}': {1}", path.str(),
                    why.message());
  else if (llvm::sys::fs::real_path(path, real) ||
           llvm::sys::fs::real_path(directory.empty() ? "." : directory,
                                    folder) ||
           !real.str().starts_with((folder + "/").str()))
    error = formatv("its external data '{0}' is a link that leads out of the "
                    "model's folder",
                    path.str());
  else if (status.type() != llvm::sys::fs::file_type::regular_file)
    error = formatv("its external data '{0}' is not a file", path.str());
  else if (offset > status.getSize() || status.getSize() - offset < bytes)
    error = formatv("its external data needs {0} bytes from {1} on of '{2}', "
                    "the file has {3}",
                    bytes, offset, path.str(), status.getSize());
  if (!error.empty())
    return nullptr;
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, bytes, offset);
  if (!buffer) {
    error = formatv("its external data '{0}' can't be read: {1}", path.str(),
                    buffer.getError().message());
    return nullptr;
  }
  return std::move(*buffer);
}

HostRef importer::decodeTensor(const TensorProto &t, StringRef directory,
                               std::string &error) {
  auto out = std::make_shared<HostTensor>();
  out->type = t.data_type();
  out->shape.assign(t.dims().begin(), t.dims().end());
  std::optional<int64_t> count = elementCount(out->shape);
  if (error = checkTensor(t); !error.empty())
    return nullptr;
  if (elementBits(out->type) == 0) {
    error =
        formatv("its element type {0} is not supported", typeName(out->type));
    return nullptr;
  }
  std::unique_ptr<llvm::MemoryBuffer> external;
  if (t.data_location() == TensorProto::EXTERNAL) {
    external = readExternal(t, directory,
                            uint64_t(storedBytes(out->type, *count)), error);
    if (!external)
      return nullptr;
  }
  (out->isReal() ? out->reals.resize(*count) : out->ints.resize(*count));
  if (external)
    decodeRaw(*out, external->getBufferStart(), *count);
  else if (t.has_raw_data())
    decodeRaw(*out, t.raw_data().data(), *count);
  else
    decodeTyped(*out, t);
  return out;
}

PermutedOrder::PermutedOrder(const Shape &from, ArrayRef<int64_t> permutation)
    : index(from.size()) {
  std::vector<int64_t> all(from.size(), 1);
  for (size_t i = from.size(); i-- > 1;)
    all[i - 1] = all[i] * from[i];
  for (int64_t axis : permutation) {
    sizes.push_back(from[axis]);
    strides.push_back(all[axis]);
  }
}

HostRef importer::permute(const HostTensor &in, ArrayRef<int64_t> permutation) {
  auto out = std::make_shared<HostTensor>();
  out->type = in.type;
  auto moved = [&](const auto &values) {
    PermutedOrder order(in.shape, permutation);
    std::remove_cvref_t<decltype(values)> result(values.size());
    for (auto &value : result)
      value = values[order.next()];
    out->shape = order.shape();
    return result;
  };
  out->reals = moved(in.reals);
  out->ints = moved(in.ints);
  return out;
}

HostRef importer::withShape(const HostTensor &in, Shape shape) {
  auto out = std::make_shared<HostTensor>(in);
  out->shape = std::move(shape);
  return out;
}
