// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FrameLine.h"
#include "llvm/Support/Endian.h"
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;

namespace {
constexpr uint64_t kMostArrays = 1024, kMostBytes = uint64_t(1) << 31;

std::string number(uint64_t value) {
  std::string bytes(8, '\0');
  support::endian::write64le(bytes.data(), value);
  return bytes;
}
} // namespace

/// False at the end, also one in the middle.
bool FrameLine::read(void *bytes, size_t count) {
  for (size_t got = 0; got < count;) {
    const ssize_t part =
        ::read(source, static_cast<char *>(bytes) + got, count - got);
    if (part < 0 && errno == EINTR)
      continue;
    if (part <= 0)
      return false;
    got += size_t(part);
  }
  return true;
}

Error FrameLine::write(StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t part = ::write(sink, bytes.data(), bytes.size());
    if (part < 0 && errno == EINTR)
      continue;
    if (part < 0)
      return createStringError(std::string("an answer cannot be written: ") +
                               std::strerror(errno));
    bytes = bytes.drop_front(size_t(part));
  }
  return Error::success();
}

Error FrameLine::begin() { return write("R"); }

bool FrameLine::isDue(std::chrono::milliseconds patience) {
  pollfd wait = {source, POLLIN, 0};
  return poll(&wait, 1, int(patience.count())) > 0;
}

Expected<std::optional<std::vector<NamedTensor>>> FrameLine::next() {
  for (;;) {
    std::optional<std::vector<NamedTensor>> arrays;
    char head[8];
    if (!read(head, sizeof head))
      return arrays;
    const uint64_t count = support::endian::read64le(head);
    if (count == 0)
      return arrays;
    if (count > kMostArrays)
      return createStringError("a request says that it has %llu arrays",
                               (unsigned long long)count);
    arrays.emplace();
    std::string wrong;
    for (uint64_t k = 0; k < count; ++k) {
      if (!read(head, sizeof head))
        return std::nullopt;
      const uint64_t size = support::endian::read64le(head);
      if (size > kMostBytes)
        return createStringError("a request says that an array has %llu bytes",
                                 (unsigned long long)size);
      std::string bytes(size, '\0');
      if (!read(bytes.data(), size))
        return std::nullopt;
      Expected<std::vector<NamedTensor>> array =
          readArrays("array " + std::to_string(k), bytes);
      if (!array)
        wrong = toString(array.takeError());
      else
        arrays->push_back(std::move(array->front()));
    }
    if (wrong.empty())
      return arrays;
    if (Error error = refuse(wrong))
      return std::move(error);
  }
}

Error FrameLine::answer(ArrayRef<std::vector<Tensor>> outputs) {
  std::string bytes = number(outputs.size());
  for (const std::vector<Tensor> &frames : outputs) {
    const std::string array = npyOf(frames);
    bytes += number(array.size()) + array;
  }
  return write(bytes);
}

Error FrameLine::refuse(const std::string &why) {
  return write(number(UINT64_MAX) + number(why.size()) + why);
}
