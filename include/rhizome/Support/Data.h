// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data files as tensors and frames: .npy, .npz, ONNX TensorProto (.pb), idx,
// PNG and JPEG, each also gzipped. The kind of a file is determined by its
// first bytes, not its name. A damaged file causes at most an error.
#pragma once

#include "rhizome/Support/Tensor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace rhizome {
/// Why a file (or a data option) cannot be used.
class DataError : public llvm::ErrorInfo<DataError> {
public:
  static char ID;
  DataError(std::string file, std::string reason, std::string remedy)
      : file(std::move(file)), reason(std::move(reason)),
        remedy(std::move(remedy)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  std::string file, reason, remedy;
};

/// A named array of a file: one for most kinds, several for .npz. Reals of any
/// width become float32, integers and booleans int64.
struct NamedTensor {
  std::string name; ///< "" if the file names none
  Tensor tensor;
  std::vector<double> doubles; ///< the same unrounded, if 64-bit reals
  bool isPixels = false;       ///< 8-bit unsigned: an image or samples of one
  bool isImage = false;        ///< from a PNG or JPEG file: `[H,W,C]`
};

/// Every array of a file. PNG and JPEG give `[H,W,C]`, where C is 1 or 3.
llvm::Expected<std::vector<NamedTensor>> readArrays(llvm::StringRef path);

/// The same for a file's content; `file` is for messages.
llvm::Expected<std::vector<NamedTensor>> readArrays(llvm::StringRef file,
                                                    llvm::StringRef bytes);

/// The only array of a file, or the one called `name`.
llvm::Expected<Tensor> readTensor(llvm::StringRef path,
                                  llvm::StringRef name = "");

/// A file of class numbers, one per frame, of any shape; for .txt or
/// .csv the last integer of each line.
llvm::Expected<std::vector<int64_t>> readLabels(llvm::StringRef path);

/// In which type a file holds a tensor: its own (int64 or float32), or one of
/// whole numbers.
enum class StoredType : uint8_t {
  Own,
  Bool,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64
};
/// That of an integer type by its name in ONNX; those of 4 bits become bytes.
StoredType storedType(llvm::StringRef name);

/// Writes `tensor` as .npy, version 1, C order.
llvm::Error writeNpy(llvm::StringRef path, const Tensor &tensor,
                     StoredType type = StoredType::Own);

/// The same for doubles.
llvm::Error writeNpy(llvm::StringRef path, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<double> values);

/// Frames of one shape as the content of an .npy file, [frame, shape…].
std::string npyOf(llvm::ArrayRef<Tensor> frames,
                  StoredType type = StoredType::Own);

/// Writes an .npy of frames, [frame, shape…], one after the other: int64 or
/// float32. The file is there once `finish` has returned; until then, and if it
/// is not called, what stood there stays.
class NpyWriter {
public:
  /// `frames` is how many are expected: a pipe or a device is told before they
  /// come. A file may get fewer or more.
  static llvm::Expected<NpyWriter> create(llvm::StringRef path, bool isFloat,
                                          llvm::ArrayRef<int64_t> shape,
                                          uint64_t frames,
                                          StoredType type = StoredType::Own);
  NpyWriter(NpyWriter &&) noexcept;
  NpyWriter &operator=(NpyWriter &&) = delete;
  ~NpyWriter();
  llvm::Error add(const Tensor &frame);
  llvm::Error finish();

private:
  NpyWriter() = default;
  llvm::Error failed();
  std::string path, part; ///< its name until it is complete
  bool isFloat = false, isDirect = false;
  StoredType type = StoredType::Own;
  std::vector<int64_t> shape;
  uint64_t count = 0;
  std::FILE *file = nullptr;
};

/// How pixels 0…255 are converted to a model's reals (`--normalize`).
struct Normalize {
  enum class Kind { None, Unit, Raw, MeanStd };
  Kind kind = Kind::None;
  std::vector<float> mean, std;       ///< one value, or one per channel
  std::string option = "--normalize"; ///< that sets it, for messages

  /// `0..1` (x/255), `0..255` (x), or `MEAN,STD` ((x/255 − MEAN)/STD), per
  /// channel as `M1,M2,…,S1,S2,…`; "" gives None.
  static llvm::Expected<Normalize>
  parse(llvm::StringRef text, llvm::StringRef option = "--normalize");
};

/// The type of one input of a model. For integers, lo..hi is the range.
struct InputSpec {
  std::string name;
  std::vector<int64_t> shape; ///< as in the model, batch 1 included
  bool isFloat = true;
  int64_t lo = INT64_MIN, hi = INT64_MAX;
  /// Reals that are whole numbers, in the bounds above.
  bool isWhole = false;
  /// The 8-bit values of a file are used directly instead of as pixels;
  /// likewise if the values are whole.
  bool isPlain = false;
};

class ImageSteps;
namespace data {
class NpyFile;
}

/// The frames for one input of a model, each in the input's shape.
class FrameSource {
public:
  /// Frames from a file, or from a folder of images in the order of their
  /// names. Array data has the input's shape, with or without axes of size 1,
  /// after one axis that counts frames (missing for one frame); images of
  /// `[H,W,C]` are used for inputs `[1,C,H,W]` and `[1,H,W,C]`. Images are
  /// brought there by `steps`, nothing else changes their size. From a .npz,
  /// the array with the input's name is taken, or the only one.
  static llvm::Expected<FrameSource>
  open(llvm::StringRef path, InputSpec spec, const Normalize &normalize = {},
       std::shared_ptr<const ImageSteps> steps = nullptr);

  /// Frames of an array; `name` is for messages.
  static llvm::Expected<FrameSource> of(NamedTensor array, std::string name,
                                        InputSpec spec);

  /// `count` seeded random frames: integers uniform over lo..hi of the spec,
  /// reals uniform over realLo..realHi. Frame i depends only on seed and i.
  static FrameSource random(InputSpec spec, uint64_t seed, size_t count,
                            float realLo = 0, float realHi = 1);

  size_t size() const { return count; }
  /// Frame i < size(); safe from several threads. Of an .npy file it is read
  /// now, so that a large one need not be in memory.
  llvm::Expected<Tensor> frame(size_t i) const;

private:
  InputSpec spec;
  size_t count = 0;
  Normalize normalize;
  std::shared_ptr<const ImageSteps> steps;   ///< may be null
  NamedTensor data;                          ///< all frames, if from one array
  std::shared_ptr<const data::NpyFile> file; ///< instead: they are read singly
  std::string path;                          ///< for messages
  std::vector<std::string> images; ///< one file per frame, if from a folder
  bool isRandom = false;
  uint64_t seed = 0;
  float realLo = 0, realHi = 1;

  llvm::Error countFrames();
  llvm::Expected<Tensor> finish(Tensor values, bool isPixels,
                                const std::string &file,
                                llvm::ArrayRef<double> doubles = {}) const;
  llvm::Expected<Tensor> fromImage(const NamedTensor &stored,
                                   const std::string &file) const;
  Tensor randomFrame(size_t i) const;
};
} // namespace rhizome
