// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which reader a file goes to, and the whole-file readers of the interface.
#include "Bytes.h"
#include "rhizome/Support/ClassFolders.h"
#include "rhizome/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::data;

static llvm::Expected<std::vector<NamedTensor>> readBytes(const Input &input,
                                                          bool unpacked) {
  auto one = [](llvm::Expected<NamedTensor> tensor)
      -> llvm::Expected<std::vector<NamedTensor>> {
    if (!tensor)
      return tensor.takeError();
    std::vector<NamedTensor> out;
    out.push_back(std::move(*tensor));
    return out;
  };
  llvm::StringRef bytes = input.bytes;
  if (bytes.empty())
    return input.fail("the file is empty");
  if (bytes.starts_with("\x1f\x8b") && !unpacked) {
    auto inner = gunzip(input);
    if (!inner)
      return inner.takeError();
    return readBytes({input.file, *inner, inner->size()}, true);
  }
  if (bytes.starts_with("\x93NUMPY"))
    return one(readNpy(input));
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06"))
    return readNpz(input);
  if (bytes.starts_with("\x89PNG"))
    return one(readPng(input));
  if (bytes.starts_with("\xff\xd8\xff"))
    return one(readJpeg(input));
  if (bytes.starts_with(llvm::StringRef("\0\0", 2)))
    return one(readIdx(input));
  return one(readTensorProto(input));
}

llvm::Expected<std::vector<NamedTensor>>
rhizome::readArrays(llvm::StringRef file, llvm::StringRef bytes) {
  return readBytes({file, bytes}, false);
}

llvm::Expected<std::vector<NamedTensor>>
rhizome::readArrays(llvm::StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return Input{"", ""}.fail(llvm::toString(buffer.takeError()));
  return readArrays(path, (*buffer)->getBuffer());
}

llvm::Expected<size_t> data::selectArray(const Input &input,
                                         llvm::ArrayRef<NamedTensor> arrays,
                                         llvm::StringRef name) {
  if (arrays.size() == 1)
    return 0;
  std::string names;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].name == name)
      return i;
    names += (i ? ", '" : "'") + arrays[i].name + "'";
  }
  return input.fail("it holds " + llvm::Twine(arrays.size()) +
                        " arrays, none of them called '" + name + "'",
                    "name one of " + llvm::Twine(names));
}

llvm::Expected<Tensor> rhizome::readTensor(llvm::StringRef path,
                                           llvm::StringRef name) {
  auto arrays = readArrays(path);
  if (!arrays)
    return arrays.takeError();
  auto index = selectArray({path, ""}, *arrays, name);
  if (!index)
    return index.takeError();
  return std::move((*arrays)[*index].tensor);
}

/// Labels from text: the last integer of each line that is not blank.
static llvm::Expected<std::vector<int64_t>> labelLines(const Input &input) {
  std::vector<int64_t> out;
  llvm::SmallVector<llvm::StringRef> lines;
  input.bytes.split(lines, '\n');
  for (auto [i, line] : llvm::enumerate(lines)) {
    llvm::StringRef text = line.trim(" \t\r,;\"");
    if (text.empty())
      continue;
    size_t begin = text.find_last_not_of("-0123456789");
    int64_t label;
    if (text.substr(begin + 1).getAsInteger(10, label))
      return input.fail("line " + llvm::Twine(i + 1) +
                            " does not end in a class number",
                        "give one number per line");
    out.push_back(label);
  }
  return out;
}

llvm::Expected<std::vector<int64_t>> rhizome::readLabels(llvm::StringRef path) {
  if (llvm::sys::fs::is_directory(path)) {
    auto folders = classFolders(path);
    if (!folders)
      return folders.takeError();
    std::vector<int64_t> out;
    for (auto [label, each] : llvm::enumerate(*folders))
      if (!each.name.empty())
        out.insert(out.end(), each.images.size(), int64_t(label));
    if (out.empty())
      return Input{path, ""}.fail("the folder holds no folders of images",
                                  "give one for each class, or a file");
    return out;
  }
  if (path.ends_with_insensitive(".txt") ||
      path.ends_with_insensitive(".csv")) {
    auto buffer = mapFile(path, kMostTextBytes);
    if (!buffer)
      return Input{"", ""}.fail(llvm::toString(buffer.takeError()));
    return labelLines({path, (*buffer)->getBuffer()});
  }
  auto tensor = readTensor(path, "labels");
  if (!tensor)
    return tensor.takeError();
  if (!tensor->isFloat)
    return std::move(tensor->ints);
  std::vector<int64_t> out;
  for (float v : tensor->floats) {
    if (v != std::floor(v) || std::fabs(v) > 1e6f)
      return Input{path, ""}.fail("label " + llvm::Twine(out.size()) + " is " +
                                      std::to_string(v),
                                  "labels are class numbers");
    out.push_back(int64_t(v));
  }
  return out;
}
