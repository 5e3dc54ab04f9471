// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .npy files part by part: frames are read when they are asked for, and written
// when they are there, so that neither has to be in memory as a whole. A file
// has its name when it is complete; before, nothing is there.
#include "Bytes.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace rhizome;
using namespace rhizome::data;

/// Reads up to `size` bytes; fewer at the file's end, nothing after a failure.
static std::string readAt(int descriptor, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  size_t got = 0;
  while (got < size) {
    ssize_t part =
        pread(descriptor, bytes.data() + got, size - got, off_t(offset + got));
    if (part < 0 && errno == EINTR)
      continue;
    if (part <= 0)
      break;
    got += size_t(part);
  }
  bytes.resize(got);
  return bytes;
}

llvm::Expected<std::shared_ptr<const NpyFile>>
NpyFile::open(llvm::StringRef path) {
  if (llvm::Error error = checkIsFile(path))
    return std::move(error);
  const std::shared_ptr<const NpyFile> none;
  auto file = std::make_shared<NpyFile>();
  file->path = path.str();
  file->descriptor = ::open(file->path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file->descriptor < 0)
    return Input{path, ""}.fail(std::string("it cannot be read: ") +
                                std::strerror(errno));
  // The longest header of version 1; longer ones are read as a whole.
  std::string head = readAt(file->descriptor, 0, 1 << 16);
  if (!llvm::StringRef(head).starts_with("\x93NUMPY"))
    return none;
  llvm::Expected<NpyHeader> header = readNpyHeader({path, head});
  if (!header) {
    llvm::consumeError(header.takeError());
    return none; // who reads all of it says what is wrong
  }
  if (header->isFortran)
    return none;
  struct stat about = {};
  if (fstat(file->descriptor, &about) != 0 ||
      uint64_t(about.st_size) < header->begin)
    return none;
  if (auto count = checkedCount({path, ""}, header->shape,
                                uint64_t(about.st_size) - header->begin,
                                elementBytes(header->element));
      !count)
    return count.takeError();
  file->theHeader = std::move(*header);
  return file;
}

NpyFile::~NpyFile() {
  if (descriptor >= 0)
    close(descriptor);
}

llvm::Expected<NamedTensor> NpyFile::read(uint64_t begin,
                                          uint64_t count) const {
  const unsigned size = elementBytes(theHeader.element);
  const std::string bytes =
      readAt(descriptor, theHeader.begin + begin * size, size_t(count * size));
  return decode({path, ""}, bytes, theHeader.element, {int64_t(count)},
                theHeader.isBigEndian);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

llvm::Error NpyWriter::failed() {
  return Input{path, ""}.fail(std::string("it cannot be written: ") +
                              std::strerror(errno));
}

/// The beginning of a file of so many frames; as long for every number of them.
static std::string headerOf(bool isFloat, StoredType type,
                            llvm::ArrayRef<int64_t> shape, uint64_t frames) {
  std::string shapeText = std::to_string(frames) + ",";
  for (int64_t size : shape)
    shapeText += std::to_string(size) + ",";
  std::string text = "{'descr': '" + npyForm(isFloat, type).first.str() +
                     "', 'fortran_order': False, 'shape': (" + shapeText +
                     "), }";
  // Magic, version and length take 10 bytes; data starts at a multiple of 64.
  constexpr size_t kDigits = 20;
  const size_t most =
      text.size() - std::to_string(frames).size() + kDigits + 10 + 1;
  text.append((most + 63) / 64 * 64 - 10 - 1 - text.size(), ' ');
  text += '\n';
  std::string out = "\x93NUMPY";
  out += '\1';
  out += '\0';
  out += char(text.size() & 255);
  out += char(text.size() >> 8);
  return out + text;
}

static void addElements(std::string &bytes, const Tensor &frame,
                        StoredType type) {
  const unsigned size = npyForm(frame.isFloat, type).second;
  auto put = [&](uint64_t bits, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
      bytes += char(bits >> (8 * i));
  };
  for (float value : frame.floats)
    put(type == StoredType::Own ? llvm::bit_cast<uint32_t>(value)
                                : uint64_t(int64_t(value)),
        size);
  for (int64_t value : frame.ints)
    put(uint64_t(value), size);
}

std::string rhizome::npyOf(llvm::ArrayRef<Tensor> frames, StoredType type) {
  std::string bytes = headerOf(frames.front().isFloat, type,
                               frames.front().shape, frames.size());
  for (const Tensor &frame : frames)
    addElements(bytes, frame, type);
  return bytes;
}

llvm::Expected<NpyWriter> NpyWriter::create(llvm::StringRef path, bool isFloat,
                                            llvm::ArrayRef<int64_t> shape,
                                            uint64_t frames,
                                            StoredType type) {
  NpyWriter writer;
  writer.type = type;
  writer.path = path.str();
  writer.isFloat = isFloat;
  writer.shape = shape.vec();
  struct stat about = {};
  writer.isDirect = stat(writer.path.c_str(), &about) == 0 &&
                    !S_ISREG(about.st_mode); // such as /dev/stdout
  if (!writer.isDirect)
    writer.part = writer.path + ".part-" + std::to_string(getpid());
  const std::string &name = writer.isDirect ? writer.path : writer.part;
  writer.file = std::fopen(name.c_str(), "wbe");
  if (!writer.file) {
    writer.part.clear();
    return writer.failed();
  }
  const std::string head = headerOf(isFloat, type, shape, frames);
  if (std::fwrite(head.data(), 1, head.size(), writer.file) != head.size())
    return writer.failed();
  return writer;
}

NpyWriter::NpyWriter(NpyWriter &&other) noexcept
    : path(std::move(other.path)), part(std::exchange(other.part, {})),
      isFloat(other.isFloat), isDirect(other.isDirect), type(other.type),
      shape(std::move(other.shape)), count(other.count),
      file(std::exchange(other.file, nullptr)) {}

NpyWriter::~NpyWriter() {
  if (file)
    std::fclose(file);
  if (!part.empty())
    std::remove(part.c_str());
}

llvm::Error NpyWriter::add(const Tensor &frame) {
  std::string bytes;
  addElements(bytes, frame, type);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
    return failed();
  ++count;
  return llvm::Error::success();
}

llvm::Error NpyWriter::finish() {
  const std::string head = headerOf(isFloat, type, shape, count);
  const bool isGood = (isDirect || (std::fseek(file, 0, SEEK_SET) == 0 &&
                                    std::fwrite(head.data(), 1, head.size(),
                                                file) == head.size()));
  // What was buffered meets a full disk here.
  const bool isClosed = std::fclose(std::exchange(file, nullptr)) == 0;
  if (!isGood || !isClosed ||
      (!isDirect && std::rename(part.c_str(), path.c_str()) != 0))
    return failed();
  part.clear();
  return llvm::Error::success();
}
