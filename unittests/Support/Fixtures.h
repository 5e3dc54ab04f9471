// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test help: a temporary folder, and small files of every kind in it.
#pragma once

#include "rhizome/Support/Data.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <csetjmp>
#include <cstdio>
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>
#include <zip.h>
#include <zlib.h>

namespace rhizome::test {
class Files : public ::testing::Test {
protected:
  Files() { llvm::sys::fs::createUniqueDirectory("rhizome", folder); }
  ~Files() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) const {
    return (folder + "/" + name).str();
  }
  std::string write(llvm::StringRef name, llvm::StringRef bytes) const {
    std::error_code code;
    llvm::raw_fd_ostream(path(name), code) << bytes;
    return path(name);
  }
  static std::string bytes(std::initializer_list<int> values) {
    return std::string(values.begin(), values.end());
  }

  /// A .npy file with the given header fields and payload.
  static std::string npy(const std::string &descr, bool fortran,
                         const std::string &shape, const std::string &payload,
                         int version = 1) {
    std::string header = "{'descr': '" + descr +
                         "', 'fortran_order': " + (fortran ? "True" : "False") +
                         ", 'shape': " + shape + ", }";
    header.append(64 - (header.size() + 13) % 64, ' ');
    header += "\n";
    std::string out = "\x93NUMPY" + bytes({version, 0});
    unsigned n = header.size();
    out += bytes({int(n & 255), int(n >> 8)});
    if (version > 1)
      out += bytes({0, 0});
    return out + header + payload;
  }

  /// An archive of the given entries, stored or deflated.
  std::string npz(llvm::StringRef name,
                  std::vector<std::pair<std::string, std::string>> entries,
                  bool deflate) const {
    zip_t *archive =
        zip_open(path(name).c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (auto &[entry, content] : entries) {
      zip_source_t *source =
          zip_source_buffer(archive, content.data(), content.size(), 0);
      zip_int64_t index = zip_file_add(archive, entry.c_str(), source, 0);
      zip_set_file_compression(archive, index,
                               deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 9);
    }
    zip_close(archive);
    return path(name);
  }

  std::string gz(llvm::StringRef name, const std::string &content) const {
    gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, content.data(), content.size());
    gzclose(file);
    return path(name);
  }

  std::string png(llvm::StringRef name, unsigned width, unsigned height,
                  bool rgb, std::vector<uint8_t> pixels) const {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = rgb ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    png_image_write_to_file(&image, path(name).c_str(), 0, pixels.data(), 0,
                            nullptr);
    return path(name);
  }

  /// Baseline, or progressive with these scans.
  std::string jpeg(llvm::StringRef name, unsigned width, unsigned height,
                   uint8_t gray, std::vector<jpeg_scan_info> scans = {}) const {
    jpeg_compress_struct info = {};
    jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    FILE *file = std::fopen(path(name).c_str(), "wb");
    jpeg_stdio_dest(&info, file);
    info.image_width = width;
    info.image_height = height;
    info.input_components = 1;
    info.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&info);
    if (!scans.empty()) {
      info.scan_info = scans.data();
      info.num_scans = int(scans.size());
    }
    jpeg_start_compress(&info, TRUE);
    std::vector<uint8_t> row(width, gray);
    uint8_t *rows[] = {row.data()};
    while (info.next_scanline < info.image_height)
      jpeg_write_scanlines(&info, rows, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::fclose(file);
    return path(name);
  }

  /// The message of a failure, "" for a success.
  template <typename T> static std::string why(llvm::Expected<T> result) {
    return result ? "" : llvm::toString(result.takeError());
  }
  static Tensor read(const std::string &file) {
    auto tensor = readTensor(file);
    EXPECT_TRUE(bool(tensor));
    if (tensor)
      return *tensor;
    ADD_FAILURE() << llvm::toString(tensor.takeError());
    return {};
  }

  llvm::SmallString<128> folder;
};
} // namespace rhizome::test
