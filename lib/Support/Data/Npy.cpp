// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npy (format versions 1 to 3, any byte order, C and Fortran order)
// and .npz, a zip archive of them.
#include "Bytes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <zip.h>

using namespace rhizome;
using namespace rhizome::data;

/// The text after `'key':` in the header's dictionary, with its end not
/// trimmed.
static std::optional<llvm::StringRef> valueOf(llvm::StringRef header,
                                              llvm::StringRef key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = quote + key.str() + quote;
    size_t at = header.find(quoted);
    if (at == llvm::StringRef::npos)
      continue;
    llvm::StringRef rest = header.drop_front(at + quoted.size()).ltrim();
    if (rest.consume_front(":"))
      return rest.ltrim();
  }
  return std::nullopt;
}

static std::optional<Element> elementOf(llvm::StringRef code) {
  return llvm::StringSwitch<std::optional<Element>>(code)
      .Case("b1", Element::Bool)
      .Case("i1", Element::I8)
      .Case("u1", Element::U8)
      .Case("i2", Element::I16)
      .Case("u2", Element::U16)
      .Case("i4", Element::I32)
      .Case("u4", Element::U32)
      .Case("i8", Element::I64)
      .Case("u8", Element::U64)
      .Case("f2", Element::F16)
      .Case("f4", Element::F32)
      .Case("f8", Element::F64)
      .Default(std::nullopt);
}

/// Row-major values from column-major ones.
template <typename T>
static std::vector<T> fromFortran(llvm::ArrayRef<int64_t> shape,
                                  const std::vector<T> &values) {
  std::vector<T> out(values.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t linear = 0; linear < values.size(); ++linear) {
    size_t from = 0;
    for (size_t d = shape.size(); d-- > 0;)
      from = from * shape[d] + index[d];
    out[linear] = values[from];
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  return out;
}

llvm::Expected<NpyHeader> data::readNpyHeader(const Input &input) {
  llvm::StringRef rest = input.bytes.drop_front(6);
  if (rest.size() < 4)
    return input.fail("the .npy header is cut off");
  unsigned version = uint8_t(rest[0]);
  if (version < 1 || version > 3)
    return input.fail("the .npy format version " + llvm::Twine(version) +
                      " is none of 1, 2 and 3");
  rest = rest.drop_front(2);
  size_t length = 0, lengthBytes = version == 1 ? 2 : 4;
  if (rest.size() < lengthBytes)
    return input.fail("the .npy header is cut off");
  length = version == 1 ? llvm::support::endian::read16le(rest.data())
                        : llvm::support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthBytes);
  if (rest.size() < length)
    return input.fail("the .npy header is cut off");
  llvm::StringRef header = rest.take_front(length);

  auto descr = valueOf(header, "descr"),
       order = valueOf(header, "fortran_order"),
       shapeText = valueOf(header, "shape");
  if (!descr || !order || !shapeText || descr->size() < 4 ||
      ((*descr)[0] != '\'' && (*descr)[0] != '"'))
    return input.fail("the .npy header lacks a plain descr, fortran_order or "
                      "shape",
                      "save one array of numbers");
  llvm::StringRef code = descr->drop_front().take_until(
      [](char c) { return c == '\'' || c == '"'; });
  NpyHeader out;
  out.begin = 8 + lengthBytes + length;
  out.isBigEndian = code.starts_with(">");
  out.isFortran = order->starts_with("True");
  std::optional<Element> element = elementOf(code.ltrim("<>|="));
  if (!element)
    return input.fail("elements of type '" + code +
                          "' are no numbers that "
                          "can be used",
                      "use integers, booleans or floats of 2, 4 or 8 bytes");
  out.element = *element;
  if (!shapeText->consume_front("("))
    return input.fail("the .npy header's shape is not a tuple");
  size_t close = shapeText->find(')');
  if (close == llvm::StringRef::npos)
    return input.fail("the .npy header's shape does not end");
  llvm::SmallVector<llvm::StringRef> parts;
  shapeText->take_front(close).split(parts, ',', -1, false);
  for (llvm::StringRef part : parts) {
    int64_t size;
    part = part.trim();
    if (part.empty())
      continue;
    part.consume_back("L");
    if (part.getAsInteger(10, size))
      return input.fail("the .npy header's shape holds '" + part + "'");
    out.shape.push_back(size);
  }
  return out;
}

llvm::Expected<NamedTensor> data::readNpy(const Input &input) {
  llvm::Expected<NpyHeader> header = readNpyHeader(input);
  if (!header)
    return header.takeError();
  auto out = decode(input, input.bytes.drop_front(header->begin),
                    header->element, header->shape, header->isBigEndian,
                    /*copies=*/header->isFortran ? 2 : 1);
  if (out && header->isFortran) {
    Tensor &t = out->tensor;
    t.isFloat ? void(t.floats = fromFortran(t.shape, t.floats))
              : void(t.ints = fromFortran(t.shape, t.ints));
    if (!out->doubles.empty())
      out->doubles = fromFortran(t.shape, out->doubles);
  }
  return out;
}

llvm::Expected<std::vector<NamedTensor>> data::readNpz(const Input &input) {
  zip_error_t error;
  zip_error_init(&error);
  llvm::scope_exit release([&] { zip_error_fini(&error); });
  zip_source_t *source = zip_source_buffer_create(
      input.bytes.data(), input.bytes.size(), 0, &error);
  zip_t *archive =
      source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
  if (!archive) {
    if (source)
      zip_source_free(source);
    return input.fail("it is not a readable zip archive (" +
                      llvm::Twine(zip_error_strerror(&error)) + ")");
  }
  llvm::scope_exit close([&] { zip_discard(archive); });
  std::vector<NamedTensor> out;
  uint64_t packed = 0, held = input.owned;
  for (zip_int64_t i = 0, n = zip_get_num_entries(archive, 0); i < n; ++i) {
    const char *name = zip_get_name(archive, i, 0);
    // Entries that share their bytes unpack to more than a file can hold.
    zip_stat_t about;
    if (zip_stat_index(archive, i, 0, &about) == 0 &&
        (about.valid & ZIP_STAT_COMP_SIZE) &&
        (about.comp_size > input.bytes.size() ||
         (packed += about.comp_size) > input.bytes.size()))
      return input.fail("the archive's entries overlap");
    zip_file_t *file = name ? zip_fopen_index(archive, i, 0) : nullptr;
    if (!file)
      return input.fail("entry " + llvm::Twine(i) + " cannot be read (" +
                        llvm::Twine(zip_strerror(archive)) + ")");
    llvm::scope_exit closeFile([&] { zip_fclose(file); });
    std::string bytes, chunk(1 << 16, '\0');
    zip_int64_t got;
    while ((got = zip_fread(file, chunk.data(), chunk.size())) > 0) {
      bytes.append(chunk.data(), got);
      if (held + bytes.size() > uint64_t(kMostDataBytes) / 2)
        return tooLarge(input);
    }
    if (got < 0)
      return input.fail("entry '" + llvm::Twine(name) + "' is damaged");
    llvm::StringRef stem = name;
    stem.consume_back(".npy");
    std::string where = (input.file + ":" + stem).str();
    Input entry{where, bytes, held + bytes.size()};
    if (!entry.bytes.starts_with("\x93NUMPY"))
      return entry.fail("it is not an .npy array");
    auto tensor = readNpy(entry);
    if (!tensor)
      return tensor.takeError();
    tensor->name = stem.str();
    held += memoryOf(*tensor) + sizeof(NamedTensor) + stem.size();
    out.push_back(std::move(*tensor));
  }
  if (out.empty())
    return input.fail("the archive holds no array");
  return out;
}

/// Writes a .npy of `code` elements, whose bits `each` returns one by one.
static llvm::Error writeElements(llvm::StringRef path, llvm::StringRef code,
                                 llvm::ArrayRef<int64_t> shape, size_t count,
                                 unsigned bytes,
                                 llvm::function_ref<uint64_t(size_t)> each) {
  std::string header =
      "{'descr': '" + code.str() + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape)
    header += std::to_string(size) + ",";
  header += "), }";
  // Magic, version and length take 10 bytes; data starts at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return Input{path, ""}.fail("it cannot be written: " + error.message());
  os << "\x93NUMPY" << '\1' << '\0' << char(header.size() & 255)
     << char(header.size() >> 8) << header;
  for (size_t k = 0; k < count; ++k) {
    uint64_t bits = each(k);
    for (unsigned i = 0; i < bytes; ++i)
      os << char(bits >> (8 * i));
  }
  os.close();
  if (os.has_error()) {
    error = os.error();
    os.clear_error();
    return Input{path, ""}.fail("it cannot be written: " + error.message());
  }
  return llvm::Error::success();
}

StoredType rhizome::storedType(llvm::StringRef name) {
  return llvm::StringSwitch<StoredType>(name)
      .Case("bool", StoredType::Bool)
      .Cases({"int8", "int4"}, StoredType::I8)
      .Cases({"uint8", "uint4"}, StoredType::U8)
      .Case("int16", StoredType::I16)
      .Case("uint16", StoredType::U16)
      .Case("int32", StoredType::I32)
      .Case("uint32", StoredType::U32)
      .Case("int64", StoredType::I64)
      .Case("uint64", StoredType::U64)
      .Default(StoredType::Own);
}

std::pair<llvm::StringRef, unsigned> data::npyForm(bool isFloat,
                                                   StoredType type) {
  static const std::pair<llvm::StringLiteral, unsigned> forms[] = {
      {"", 0},    {"|b1", 1}, {"|i1", 1}, {"|u1", 1}, {"<i2", 2},
      {"<u2", 2}, {"<i4", 4}, {"<u4", 4}, {"<i8", 8}, {"<u8", 8}};
  if (type != StoredType::Own)
    return forms[size_t(type)];
  return isFloat ? std::pair<llvm::StringRef, unsigned>("<f4", 4)
                 : std::pair<llvm::StringRef, unsigned>("<i8", 8);
}

llvm::Error rhizome::writeNpy(llvm::StringRef path, const Tensor &tensor,
                              StoredType type) {
  const auto [code, bytes] = data::npyForm(tensor.isFloat, type);
  if (type != StoredType::Own)
    return writeElements(
        path, code, tensor.shape, size_t(tensor.size()), bytes, [&](size_t i) {
          return uint64_t(tensor.isFloat ? int64_t(tensor.floats[i])
                                         : tensor.ints[i]);
        });
  if (tensor.isFloat)
    return writeElements(
        path, "<f4", tensor.shape, tensor.floats.size(), 4,
        [&](size_t i) { return llvm::bit_cast<uint32_t>(tensor.floats[i]); });
  return writeElements(path, "<i8", tensor.shape, tensor.ints.size(), 8,
                       [&](size_t i) { return uint64_t(tensor.ints[i]); });
}

llvm::Error rhizome::writeNpy(llvm::StringRef path,
                              llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<double> values) {
  return writeElements(path, "<f8", shape, values.size(), 8, [&](size_t i) {
    return llvm::bit_cast<uint64_t>(values[i]);
  });
}
