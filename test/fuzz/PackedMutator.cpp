// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutations inside of what is packed: the content of gzip files, of a zip
// archive's entries and of PNG's chunks, packed again with checksums that fit,
// so that they get past the libraries. Anything else is bytes.
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>
#include <zlib.h>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {
constexpr size_t kMost = 1 << 20;

std::string mutated(std::string text, size_t more = 64) {
  const size_t size = text.size();
  text.resize(size + more);
  auto *data = reinterpret_cast<uint8_t *>(text.data());
  text.resize(LLVMFuzzerMutate(data, size, size + more));
  return text;
}

/// zlib's streams; `bits` as inflateInit2 and deflateInit2 take them.
std::optional<std::string> unpacked(std::string_view packed, int bits) {
  z_stream stream = {};
  if (inflateInit2(&stream, bits) != Z_OK)
    return std::nullopt;
  std::string out(kMost, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
  stream.avail_in = uInt(packed.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = uInt(out.size());
  int status = inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  if (status != Z_STREAM_END)
    return std::nullopt;
  return out;
}

std::string packed(const std::string &text, int bits) {
  z_stream stream = {};
  if (deflateInit2(&stream, 1, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
  std::string out(deflateBound(&stream, uLong(text.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = uInt(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = uInt(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

uint32_t crc(std::string_view text) {
  return uint32_t(crc32(0, reinterpret_cast<const Bytef *>(text.data()),
                        uInt(text.size())));
}

void append(std::string &to, uint32_t value, int bytes, bool bigEndian) {
  for (int i = 0; i < bytes; ++i)
    to += char(value >> 8 * (bigEndian ? bytes - 1 - i : i));
}

uint32_t number(std::string_view from, size_t at, int bytes, bool bigEndian) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= uint32_t(uint8_t(from[at + size_t(i)]))
             << 8 * (bigEndian ? bytes - 1 - i : i);
  return value;
}

/// A name and what it names: a chunk of PNG, an entry of an archive.
struct Part {
  std::string name, content;
};

/// One part changed, doubled, dropped or moved.
void change(std::vector<Part> &parts, std::mt19937 &rng,
            std::string (*content)(const std::string &)) {
  if (parts.empty())
    return;
  size_t at = rng() % parts.size(), other = rng() % parts.size();
  switch (rng() % 10) {
  case 0:
    parts.erase(parts.begin() + long(at));
    break;
  case 1:
    parts.insert(parts.begin() + long(other), Part(parts[at]));
    break;
  case 2:
    std::swap(parts[at], parts[other]);
    break;
  default:
    parts[at].content = content(parts[at].content);
  }
}

constexpr std::string_view kPng("\x89PNG\r\n\x1a\n", 8);

std::string ofChunk(const std::string &content) {
  // Rows are packed.
  if (auto inner = unpacked(content, 15))
    return packed(mutated(*inner), 15);
  return mutated(content, 16);
}

std::string png(std::string_view text, std::mt19937 &rng) {
  std::vector<Part> chunks;
  for (size_t at = kPng.size(); at + 12 <= text.size();) {
    size_t size = number(text, at, 4, true);
    if (size > text.size() - at - 12)
      break;
    chunks.push_back({std::string(text.substr(at + 4, 4)),
                      std::string(text.substr(at + 8, size))});
    at += size + 12;
  }
  change(chunks, rng, ofChunk);
  std::string out(kPng);
  for (const Part &chunk : chunks) {
    append(out, uint32_t(chunk.content.size()), 4, true);
    const std::string named = chunk.name + chunk.content;
    out += named;
    append(out, crc(named), 4, true);
  }
  return out;
}

/// Entries that are stored or deflated; others are dropped.
std::vector<Part> entriesOf(std::string_view text) {
  std::vector<Part> entries;
  for (size_t at = 0; at + 30 <= text.size() &&
                      text.substr(at, 4) == std::string_view("PK\3\4", 4);) {
    const uint32_t method = number(text, at + 8, 2, false);
    const size_t size = number(text, at + 18, 4, false);
    const size_t name = number(text, at + 26, 2, false);
    const size_t extra = number(text, at + 28, 2, false);
    if (name + extra + size > text.size() - at - 30)
      break;
    std::string_view content = text.substr(at + 30 + name + extra, size);
    std::string plain(content);
    if (method == 8)
      plain = unpacked(content, -15).value_or("");
    entries.push_back({std::string(text.substr(at + 30, name)), plain});
    at += 30 + name + extra + size;
  }
  return entries;
}

std::string archive(const std::vector<Part> &entries, bool isPacked) {
  std::string out, folder;
  for (const Part &entry : entries) {
    const std::string content =
        isPacked ? packed(entry.content, -15) : entry.content;
    std::string header;
    append(header, 20, 2, false);
    append(header, 0, 2, false);
    append(header, isPacked ? 8 : 0, 2, false);
    append(header, 0, 4, false);
    append(header, crc(entry.content), 4, false);
    append(header, uint32_t(content.size()), 4, false);
    append(header, uint32_t(entry.content.size()), 4, false);
    append(header, uint32_t(entry.name.size()), 2, false);
    append(header, 0, 2, false);
    folder += std::string("PK\1\2\x14\0", 6) + header + std::string(10, '\0');
    append(folder, uint32_t(out.size()), 4, false);
    folder += entry.name;
    out += "PK\3\4" + header + entry.name + content;
  }
  std::string end("PK\5\6\0\0\0\0", 8);
  append(end, uint32_t(entries.size()), 2, false);
  append(end, uint32_t(entries.size()), 2, false);
  append(end, uint32_t(folder.size()), 4, false);
  append(end, uint32_t(out.size()), 4, false);
  append(end, 0, 2, false);
  return out + folder + end;
}

std::string change(std::string_view text, std::mt19937 &rng) {
  if (text.substr(0, 2) == "\x1f\x8b") {
    if (auto inner = unpacked(text, 31))
      return packed(change(*inner, rng), 31);
  } else if (text.substr(0, kPng.size()) == kPng) {
    return png(text, rng);
  } else if (text.substr(0, 2) == "PK") {
    std::vector<Part> entries = entriesOf(text);
    change(entries, rng,
           [](const std::string &content) { return mutated(content); });
    return archive(entries, rng() % 2);
  }
  return mutated(std::string(text));
}
} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::mt19937 rng(seed);
  std::string text(reinterpret_cast<char *>(data), size);
  text = seed % 32 == 1 ? packed(text, 31) : change(text, rng);
  if (seed % 16 == 0 || text.empty() || text.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
