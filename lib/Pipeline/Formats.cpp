// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data formats. Every size that a file claims is checked against the bytes
// that are there before anything is allocated.
#include "Data.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <jpeglib.h>
#include <onnx/onnx_pb.h>
#include <png.h>
#include <zlib.h>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::pipeline;

/// The number of elements, nullopt if it is negative or more than `most`.
static std::optional<int64_t> countOf(const std::vector<int64_t> &shape,
                                      uint64_t most) {
  uint64_t n = 1;
  for (int64_t d : shape) {
    if (d < 0 || (d > 0 && n > most / uint64_t(d)))
      return std::nullopt;
    n *= d;
  }
  return int64_t(n);
}

template <typename T>
static void convert(const char *bytes, std::vector<double> &values,
                    bool bigEndian) {
  for (size_t i = 0; i < values.size(); ++i) {
    char raw[sizeof(T)];
    std::memcpy(raw, bytes + i * sizeof(T), sizeof(T));
    if (bigEndian)
      std::reverse(raw, raw + sizeof(T));
    T value;
    std::memcpy(&value, raw, sizeof(T));
    values[i] = double(value);
  }
}

/// Converts elements of a NumPy type code ("f4", "u1", "b1" …).
static Error convertAs(StringRef type, StringRef bytes, bool bigEndian,
                       Array &array) {
  unsigned size = 0;
  if (type.size() != 2 || type.substr(1).getAsInteger(10, size))
    return createStringError("the element type '%s' is not supported",
                             type.str().c_str());
  std::optional<int64_t> n = countOf(array.shape, bytes.size() / size);
  if (!n)
    return createStringError("it is truncated: its shape needs more than the "
                             "%zu bytes that are there",
                             bytes.size());
  array.values.resize(*n);
  if (type == "f4")
    convert<float>(bytes.data(), array.values, bigEndian);
  else if (type == "f8")
    convert<double>(bytes.data(), array.values, bigEndian);
  else if (type == "u1" || type == "b1")
    convert<uint8_t>(bytes.data(), array.values, bigEndian);
  else if (type == "i1")
    convert<int8_t>(bytes.data(), array.values, bigEndian);
  else if (type == "u2")
    convert<uint16_t>(bytes.data(), array.values, bigEndian);
  else if (type == "i2")
    convert<int16_t>(bytes.data(), array.values, bigEndian);
  else if (type == "u4")
    convert<uint32_t>(bytes.data(), array.values, bigEndian);
  else if (type == "i4")
    convert<int32_t>(bytes.data(), array.values, bigEndian);
  else if (type == "u8")
    convert<uint64_t>(bytes.data(), array.values, bigEndian);
  else if (type == "i8")
    convert<int64_t>(bytes.data(), array.values, bigEndian);
  else
    return createStringError("the element type '%s' is not supported",
                             type.str().c_str());
  return Error::success();
}

/// Reverses the axes of a column-major array.
static void toRowMajor(Array &array) {
  std::vector<double> result(array.values.size());
  std::vector<int64_t> index(array.shape.size(), 0);
  for (double &value : result) {
    int64_t at = 0;
    for (size_t k = array.shape.size(); k-- > 0;)
      at = at * array.shape[k] + index[k];
    value = array.values[at];
    for (size_t k = array.shape.size(); k-- > 0;) {
      if (++index[k] < array.shape[k])
        break;
      index[k] = 0;
    }
  }
  array.values = std::move(result);
}

Expected<Array> pipeline::parseNpy(StringRef bytes) {
  auto bad = [](const char *what) {
    return createStringError("its NumPy header is damaged (%s)", what);
  };
  if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY"))
    return bad("beginning");
  bool wide = bytes[6] >= 2;
  size_t start = wide ? 12 : 10;
  size_t length = wide ? support::endian::read32le(bytes.data() + 8)
                       : support::endian::read16le(bytes.data() + 8);
  if (length > bytes.size() - start)
    return bad("length");
  StringRef header = bytes.substr(start, length);
  auto after = [&](StringRef key) {
    size_t at = header.find(key);
    return at == StringRef::npos ? StringRef()
                                 : header.substr(at + key.size()).ltrim(" :");
  };
  StringRef type = after("'descr'");
  if (!type.consume_front("'"))
    return createStringError("arrays of records are not supported");
  type = type.take_until([](char c) { return c == '\''; });
  bool bigEndian = type.starts_with(">");
  if (type.size() == 3)
    type = type.drop_front();
  StringRef dims = after("'shape'");
  if (!dims.consume_front("("))
    return bad("shape");
  Array array;
  SmallVector<StringRef> parts;
  dims.take_until([](char c) { return c == ')'; }).split(parts, ',');
  for (StringRef part : parts) {
    int64_t size;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, size))
      return bad("shape");
    array.shape.push_back(size);
  }
  if (Error error =
          convertAs(type, bytes.drop_front(start + length), bigEndian, array))
    return error;
  if (after("'fortran_order'").starts_with("True"))
    toRowMajor(array);
  return array;
}

Expected<std::string> pipeline::inflate(StringRef bytes, int windowBits) {
  z_stream stream = {};
  if (inflateInit2(&stream, windowBits) != Z_OK)
    return createStringError("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = bytes.size();
  std::string result;
  std::vector<char> chunk(1 << 16);
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef *>(chunk.data());
    stream.avail_out = chunk.size();
    status = ::inflate(&stream, Z_NO_FLUSH);
    result.append(chunk.data(), chunk.size() - stream.avail_out);
    if (status == Z_BUF_ERROR || result.size() > (size_t(1) << 32))
      break;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END)
    return createStringError("its compressed data is damaged or truncated");
  return result;
}

Expected<std::vector<Array>> pipeline::parseNpz(StringRef bytes) {
  auto u16 = [&](size_t at) {
    return support::endian::read16le(bytes.data() + at);
  };
  auto u32 = [&](size_t at) {
    return support::endian::read32le(bytes.data() + at);
  };
  auto bad = [] {
    return createStringError("its zip directory is damaged or truncated");
  };
  size_t end = bytes.rfind(StringRef("PK\5\6", 4));
  if (end == StringRef::npos || end + 22 > bytes.size())
    return bad();
  size_t count = u16(end + 10), at = u32(end + 16);
  std::vector<Array> arrays;
  for (size_t i = 0; i < count; ++i) {
    if (at + 46 > bytes.size() || u32(at) != 0x02014b50)
      return bad();
    unsigned method = u16(at + 10);
    size_t packed = u32(at + 20), nameLength = u16(at + 28);
    size_t local = u32(at + 42);
    if (at + 46 + nameLength > bytes.size() || local + 30 > bytes.size())
      return bad();
    StringRef name = bytes.substr(at + 46, nameLength);
    size_t data = local + 30 + u16(local + 26) + u16(local + 28);
    if (data > bytes.size() || packed > bytes.size() - data)
      return bad();
    at += 46 + nameLength + u16(at + 30) + u16(at + 32);
    StringRef content = bytes.substr(data, packed);
    std::string plain;
    if (method == 8) {
      Expected<std::string> inflated = pipeline::inflate(content, -15);
      if (!inflated)
        return inflated.takeError();
      plain = std::move(*inflated);
      content = plain;
    } else if (method != 0) {
      return createStringError("its member '%s' has compression %u",
                               name.str().c_str(), method);
    }
    Expected<Array> array = parseNpy(content);
    if (!array)
      return createStringError("member '%s': %s", name.str().c_str(),
                               toString(array.takeError()).c_str());
    name.consume_back(".npy");
    array->name = name.str();
    arrays.push_back(std::move(*array));
  }
  if (arrays.empty())
    return createStringError("it holds no array");
  return arrays;
}

Expected<Array> pipeline::parseIdx(StringRef bytes) {
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0)
    return createStringError("it is no idx file");
  size_t rank = uint8_t(bytes[3]);
  if (bytes.size() < 4 + 4 * rank)
    return createStringError("its idx header is truncated");
  Array array;
  for (size_t i = 0; i < rank; ++i)
    array.shape.push_back(support::endian::read32be(bytes.data() + 4 + 4 * i));
  StringRef type;
  switch (uint8_t(bytes[2])) {
  case 8:
    type = "u1";
    break;
  case 9:
    type = "i1";
    break;
  case 11:
    type = "i2";
    break;
  case 12:
    type = "i4";
    break;
  case 13:
    type = "f4";
    break;
  case 14:
    type = "f8";
    break;
  default:
    return createStringError("its idx element type %u is unknown",
                             unsigned(uint8_t(bytes[2])));
  }
  if (Error error = convertAs(type, bytes.drop_front(4 + 4 * rank),
                              /*bigEndian=*/true, array))
    return error;
  return array;
}

Expected<Array> pipeline::parseOnnxTensor(StringRef bytes) {
  onnx::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), int(bytes.size())) ||
      !proto.has_data_type())
    return createStringError("it is neither .npy, .npz, idx, .png, .jpg nor an "
                             "ONNX tensor (.pb)");
  Array array;
  array.name = proto.name();
  for (int64_t d : proto.dims())
    array.shape.push_back(d);
  using T = onnx::TensorProto;
  if (proto.has_raw_data()) {
    StringRef type;
    switch (proto.data_type()) {
    case T::FLOAT:
      type = "f4";
      break;
    case T::DOUBLE:
      type = "f8";
      break;
    case T::UINT8:
    case T::BOOL:
      type = "u1";
      break;
    case T::INT8:
      type = "i1";
      break;
    case T::UINT16:
      type = "u2";
      break;
    case T::INT16:
      type = "i2";
      break;
    case T::UINT32:
      type = "u4";
      break;
    case T::INT32:
      type = "i4";
      break;
    case T::INT64:
      type = "i8";
      break;
    default:
      return createStringError("its element type %d is not supported",
                               proto.data_type());
    }
    if (Error error = convertAs(type, proto.raw_data(), false, array))
      return error;
    return array;
  }
  auto take = [&](const auto &values) {
    array.values.assign(values.begin(), values.end());
  };
  if (proto.float_data_size())
    take(proto.float_data());
  else if (proto.double_data_size())
    take(proto.double_data());
  else if (proto.int64_data_size())
    take(proto.int64_data());
  else
    take(proto.int32_data());
  if (countOf(array.shape, array.values.size()) != int64_t(array.values.size()))
    return createStringError("its shape does not fit its %zu values",
                             array.values.size());
  return array;
}

Expected<Array> pipeline::parsePng(StringRef bytes) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  auto fail = [&] {
    std::string message = image.message;
    png_image_free(&image);
    return createStringError("as PNG: %s", message.c_str());
  };
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()))
    return fail();
  bool colour = image.format & PNG_FORMAT_FLAG_COLOR;
  image.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  if (uint64_t(image.width) * image.height > (uint64_t(1) << 28)) {
    png_image_free(&image);
    return createStringError("as PNG: %u x %u pixels are too many", image.width,
                             image.height);
  }
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(image));
  png_color black = {0, 0, 0};
  if (!png_image_finish_read(&image, &black, pixels.data(), 0, nullptr))
    return fail();
  Array array;
  array.shape = {image.height, image.width, colour ? 3 : 1};
  array.values.assign(pixels.begin(), pixels.end());
  array.isImage = true;
  return array;
}

namespace {
struct JpegErrors {
  jpeg_error_mgr base; // must be first: libjpeg knows only this part
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void leaveJpeg(j_common_ptr info) {
  auto *errors = reinterpret_cast<JpegErrors *>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}
} // namespace

Expected<Array> pipeline::parseJpeg(StringRef bytes) {
  jpeg_decompress_struct info = {};
  JpegErrors errors = {};
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = leaveJpeg;
  errors.base.emit_message = [](j_common_ptr, int) {};
  std::vector<uint8_t> pixels;
  if (setjmp(errors.jump)) {
    jpeg_destroy_decompress(&info);
    return createStringError("as JPEG: %s", errors.message);
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const uint8_t *>(bytes.data()),
               bytes.size());
  jpeg_read_header(&info, TRUE);
  info.dct_method = JDCT_ISLOW; // the exact, portable transform
  jpeg_start_decompress(&info);
  size_t rowBytes = size_t(info.output_width) * info.output_components;
  pixels.resize(rowBytes * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data() + rowBytes * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  Array array;
  array.shape = {info.output_height, info.output_width, info.output_components};
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  array.values.assign(pixels.begin(), pixels.end());
  array.isImage = true;
  return array;
}
