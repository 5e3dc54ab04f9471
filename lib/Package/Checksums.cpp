// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Package/Checksums.h"
#include "rhizome/Support/LayersFile.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace rhizome;

bool rhizome::isChecked(StringRef path) {
  if (path == "plan.json" || path.starts_with("model/") ||
      path.starts_with("segments/") || path.starts_with("host/"))
    return true;
  if (!path.consume_front("nodes/"))
    return false;
  StringRef inner = path.split('/').second;
  return inner.starts_with("rtl/") || inner == "timeline.json" ||
         inner == "design.mlir" || isLayersFile(inner);
}

/// Size and checksum of an existing file.
static ErrorOr<FileChecksum> read(StringRef folder, StringRef path) {
  auto buffer = MemoryBuffer::getFile(folder + "/" + path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return buffer.getError();
  XXH128_hash_t hash =
      xxh3_128bits(arrayRefFromStringRef((*buffer)->getBuffer()));
  return FileChecksum{path.str(), (*buffer)->getBufferSize(),
                      formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64)};
}

Expected<FileChecksum> rhizome::checksumOf(StringRef folder, StringRef path) {
  ErrorOr<FileChecksum> file = read(folder, path);
  if (!file)
    return createStringError(file.getError(), "cannot read '%s/%s': %s",
                             folder.str().c_str(), path.str().c_str(),
                             file.getError().message().c_str());
  return *file;
}

Expected<std::vector<FileChecksum>> rhizome::checksumsOf(StringRef folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (sys::fs::recursive_directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error)) {
    StringRef path = StringRef(it->path()).drop_front(folder.size() + 1);
    if (!sys::fs::is_directory(it->path()) && isChecked(path))
      paths.push_back(path.str());
  }
  if (error)
    return createStringError(error, "cannot read the folder '%s': %s",
                             folder.str().c_str(), error.message().c_str());
  llvm::sort(paths);
  std::vector<FileChecksum> files;
  for (const std::string &path : paths) {
    Expected<FileChecksum> file = checksumOf(folder, path);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
  }
  return files;
}

std::string rhizome::printChecksums(const std::vector<FileChecksum> &files) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream os(stream, /*IndentSize=*/2);
  os.object([&] {
    os.attribute("checksum", "XXH3-128");
    os.attributeArray("files", [&] {
      for (const FileChecksum &file : files)
        os.object([&] {
          os.attribute("path", file.path);
          os.attribute("bytes", int64_t(file.bytes));
          os.attribute("checksum", file.hash);
        });
    });
  });
  os.flush();
  stream << "\n";
  return text;
}

Expected<std::vector<FileChecksum>> rhizome::parseChecksums(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  const json::Array *list = object ? object->getArray("files") : nullptr;
  if (!list || object->getString("checksum") != "XXH3-128")
    return createStringError("it is not a list of XXH3-128 checksums");
  std::vector<FileChecksum> files;
  for (const json::Value &entry : *list) {
    const json::Object *file = entry.getAsObject();
    auto path = file ? file->getString("path") : std::nullopt;
    auto bytes = file ? file->getInteger("bytes") : std::nullopt;
    auto hash = file ? file->getString("checksum") : std::nullopt;
    if (!path || !bytes || *bytes < 0 || !hash)
      return createStringError("an entry lacks path, bytes or checksum");
    if (!isChecked(*path) || is_contained(llvm::split(*path, '/'), ".."))
      return createStringError("'%s' is not a file of a package",
                               path->str().c_str());
    files.push_back({path->str(), uint64_t(*bytes), hash->str()});
  }
  return files;
}

std::vector<std::string>
rhizome::changesOf(StringRef folder, const std::vector<FileChecksum> &files) {
  std::vector<std::string> found(files.size());
  parallelFor(0, files.size(), [&](size_t i) {
    const FileChecksum &file = files[i];
    std::string at = (folder + "/" + file.path).str();
    uint64_t bytes = 0;
    if (!sys::fs::is_regular_file(at) || sys::fs::file_size(at, bytes))
      found[i] = "'" + file.path + "' is missing";
    else if (bytes != file.bytes)
      found[i] =
          formatv("'{0}' has {1} bytes, not {2}", file.path, bytes, file.bytes);
    else if (ErrorOr<FileChecksum> is = read(folder, file.path); !is)
      found[i] = "'" + file.path + "' cannot be read";
    else if (is->hash != file.hash)
      found[i] = "'" + file.path + "' was altered";
  });
  llvm::erase_if(found, [](const std::string &s) { return s.empty(); });
  return found;
}
