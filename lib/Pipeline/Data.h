// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data files become tensors: NumPy, ONNX tensors, idx, PNG, JPEG, label lists.
#pragma once

#include "rhizome/Support/Tensor.h"
#include "llvm/Support/Error.h"

namespace rhizome::pipeline {
/// An array of a file. Values are exact (integers up to 2^53).
struct Array {
  std::string name; ///< in a .npz or .pb, else ""
  std::vector<int64_t> shape;
  std::vector<double> values;
  bool isImage = false; ///< rows, columns, channels of a picture
};

/// All arrays of a file, or one array per file of a folder (by name). Errors
/// name the file and what is wrong with it.
llvm::Expected<std::vector<Array>> readArrays(const std::string &path);

/// Labels: integers of an array file, or of a text file's lines, of which the
/// last number before a line's end counts (so "file.bin, 12, 7" is 7).
llvm::Expected<std::vector<int64_t>> readLabels(const std::string &path);

/// Applies a --normalise text that isNormalisation accepts.
void normalise(Array &array, const std::string &how);

/// Cuts arrays into frames of `shape` as real values. An array holds whole
/// frames of `shape`'s number of elements, pictures are brought from
/// channels-last to the place where `shape` has channels. At most `limit`
/// frames, all if 0.
llvm::Expected<std::vector<Tensor>> cutFrames(const std::vector<Array> &arrays,
                                              const std::vector<int64_t> &shape,
                                              int64_t limit,
                                              const std::string &path);

// The formats, one reader each; `bytes` is a whole file.
llvm::Expected<Array> parseNpy(llvm::StringRef bytes);
llvm::Expected<std::vector<Array>> parseNpz(llvm::StringRef bytes);
llvm::Expected<Array> parseIdx(llvm::StringRef bytes);
llvm::Expected<Array> parseOnnxTensor(llvm::StringRef bytes);
llvm::Expected<Array> parsePng(llvm::StringRef bytes);
llvm::Expected<Array> parseJpeg(llvm::StringRef bytes);
/// Decompresses gzip (`windowBits` 31) or raw deflate (-15).
llvm::Expected<std::string> inflate(llvm::StringRef bytes, int windowBits);
} // namespace rhizome::pipeline
