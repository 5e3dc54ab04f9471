// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PNG and JPEG through libpng and libjpeg: 8-bit gray or RGB, values as stored
// (no gamma). Both libraries use longjmp on errors; therefore the decoders
// keep everything that must be freed outside the function that is left.
#include "Bytes.h"
#include "llvm/Support/Endian.h"
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <jpeglib.h>
#include <png.h>

using namespace rhizome;
using namespace rhizome::data;

namespace {
/// Of an image; each takes a byte, then an integer of a tensor.
constexpr uint64_t kMostValues = uint64_t(1) << 27;

/// The output of a decoder; it survives a longjmp.
struct Pixels {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> bytes;
  std::vector<uint8_t *> rows;
  std::string message;

  /// Allocates the image, unless `packedBytes`, those of its pixels alone, are
  /// too few for it: neither format compresses by more than about 1,000 to 1.
  bool allocate(uint64_t packedBytes) {
    bool isLarge = height < 1 || width < 1 || height > 65535 || width > 65535;
    const uint64_t values =
        isLarge ? 0 : uint64_t(height) * uint64_t(width) * uint64_t(channels);
    isLarge |= values > kMostValues;
    if (isLarge || values > 4096 * packedBytes) {
      message = "its header states " + std::to_string(width) + " x " +
                std::to_string(height) + " pixels, which " +
                (isLarge ? "is more than can be used" : "cannot be");
      return false;
    }
    bytes.resize(height * width * channels);
    for (int64_t y = 0; y < height; ++y)
      rows.push_back(bytes.data() + y * width * channels);
    return true;
  }
};

NamedTensor toTensor(const Pixels &pixels) {
  NamedTensor out;
  out.isPixels = out.isImage = true;
  out.tensor.shape = {pixels.height, pixels.width, pixels.channels};
  out.tensor.ints.assign(pixels.bytes.begin(), pixels.bytes.end());
  return out;
}

struct PngReader {
  llvm::StringRef rest;
  Pixels *pixels;
};

void pngRead(png_structp png, png_bytep to, size_t n) {
  auto *reader = static_cast<PngReader *>(png_get_io_ptr(png));
  if (reader->rest.size() < n)
    png_error(png, "the file ends too early");
  std::memcpy(to, reader->rest.data(), n);
  reader->rest = reader->rest.drop_front(n);
}

void pngError(png_structp png, const char *message) {
  static_cast<PngReader *>(png_get_error_ptr(png))->pixels->message = message;
  png_longjmp(png, 1);
}

void pngWarn(png_structp, const char *) {}

/// Bytes of the chunks that hold pixels; others may be there in any size.
uint64_t pixelBytes(llvm::StringRef bytes) {
  uint64_t all = 0;
  for (size_t at = 8; at + 12 <= bytes.size();) {
    const uint64_t length = llvm::support::endian::read32be(bytes.data() + at);
    if (bytes.substr(at + 4, 4) == "IDAT")
      all += length;
    at += 12 + length;
  }
  return std::min<uint64_t>(all, bytes.size());
}

/// Bytes of a JPEG image outside of its marker segments.
uint64_t scanBytes(llvm::StringRef bytes) {
  uint64_t all = 0;
  bool inScan = false;
  for (size_t at = 2; at + 1 < bytes.size();) {
    const auto first = uint8_t(bytes[at]), second = uint8_t(bytes[at + 1]);
    // A zero after it, or a restart, belongs to the pixels.
    const bool isMarker = first == 0xff && second != 0 && second != 0xff &&
                          (second < 0xd0 || second > 0xd7);
    if (!isMarker) {
      all += inScan;
      ++at;
      continue;
    }
    if (second == 0xd9) // the end
      break;
    if (at + 4 > bytes.size())
      break;
    inScan = second == 0xda;
    at += 2 + llvm::support::endian::read16be(bytes.data() + at + 2);
  }
  return all;
}

bool decodePng(png_structp png, png_infop info, uint64_t packedBytes,
               Pixels &pixels) {
  if (setjmp(png_jmpbuf(png)))
    return false;
  png_read_info(png, info);
  if (png_get_bit_depth(png, info) == 16) {
    pixels.message = "it has 16 bits per channel";
    return false;
  }
  png_set_expand(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  pixels.height = png_get_image_height(png, info);
  pixels.width = png_get_image_width(png, info);
  pixels.channels = png_get_channels(png, info);
  if (!pixels.allocate(packedBytes))
    return false;
  png_read_image(png, pixels.rows.data());
  png_read_end(png, nullptr);
  return true;
}

struct JpegErrors {
  jpeg_error_mgr base;
  jmp_buf leave;
  char message[JMSG_LENGTH_MAX];
  jpeg_progress_mgr progress;
};

void jpegExit(j_common_ptr info) {
  auto *errors = reinterpret_cast<JpegErrors *>(info->err);
  info->err->format_message(info, errors->message);
  longjmp(errors->leave, 1);
}

void jpegEmit(j_common_ptr info, int level) {
  // A warning means damaged data: the pixels would be unreliable.
  if (level < 0)
    jpegExit(info);
}

/// Each scan of a progressive image, however short, goes through all pixels.
void jpegLimitScans(j_common_ptr info) {
  constexpr int kMostScans = 500;
  auto *decoder = reinterpret_cast<j_decompress_ptr>(info);
  auto *errors = reinterpret_cast<JpegErrors *>(info->err);
  if (decoder->input_scan_number <= kMostScans)
    return;
  std::snprintf(errors->message, sizeof errors->message,
                "it has more than %d scans", kMostScans);
  longjmp(errors->leave, 1);
}

bool decodeJpeg(jpeg_decompress_struct &info, JpegErrors &errors,
                llvm::StringRef bytes, Pixels &pixels) {
  if (setjmp(errors.leave))
    return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char *>(bytes.data()),
               bytes.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  info.dct_method = JDCT_ISLOW;
  errors.progress.progress_monitor = jpegLimitScans;
  info.progress = &errors.progress;
  jpeg_calc_output_dimensions(&info);
  pixels.height = info.output_height;
  pixels.width = info.output_width;
  pixels.channels = info.output_components;
  // Before libjpeg allocates the coefficients of a progressive image.
  if (!pixels.allocate(scanBytes(bytes)))
    return false;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height)
    jpeg_read_scanlines(&info, &pixels.rows[info.output_scanline], 1);
  jpeg_finish_decompress(&info);
  return true;
}
} // namespace

llvm::Expected<NamedTensor> data::readPng(const Input &input) {
  Pixels pixels;
  PngReader reader{input.bytes, &pixels};
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, pngError, pngWarn);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (info)
    png_set_read_fn(png, &reader, pngRead);
  bool ok = info && decodePng(png, info, pixelBytes(input.bytes), pixels);
  png_destroy_read_struct(&png, &info, nullptr);
  if (!ok)
    return input.fail("the PNG image cannot be read: " + pixels.message,
                      "save it with 8 bits per channel");
  return toTensor(pixels);
}

llvm::Expected<NamedTensor> data::readJpeg(const Input &input) {
  Pixels pixels;
  jpeg_decompress_struct info = {};
  JpegErrors errors = {};
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = jpegExit;
  errors.base.emit_message = jpegEmit;
  bool ok = decodeJpeg(info, errors, input.bytes, pixels);
  jpeg_destroy_decompress(&info);
  if (!ok)
    return input.fail("the JPEG image cannot be read: " +
                      (pixels.message.empty() ? std::string(errors.message)
                                              : pixels.message));
  return toTensor(pixels);
}
