// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What users say of a model and of data for it, and how answers compare: the
// part of their requests that the commands share.
#pragma once

#include "rhizome/Calibrate/Options.h"
#include "rhizome/Numeric/Format.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rhizome::model {
/// Told of each phase as it begins, e.g. "import"; may be empty.
using Progress = std::function<void(llvm::StringRef phase)>;

/// Parses the number format of a network. On failure `error` says why; `note`
/// is what to tell of a former spelling, "" for nothing.
std::optional<numeric::Format>
parseNetworkFormat(llvm::StringRef text, std::string &error, std::string &note);

/// Where input values come from and how they are brought to the model's range.
struct DataRequest {
  std::string path; ///< .npy .npz .pb .idx .gz .png .jpg, or a folder of these
  /// How 8-bit pixels become a model's reals: "0..1" is x / 255, "0..255" x,
  /// "MEAN,STD" (x / 255 - MEAN) / STD, per channel with a list of each; "" is
  /// for files of other numbers.
  std::string normalize{};
  /// The option that sets it, for messages.
  std::string normalizeOption = "--normalize";
  /// What is done with images before, as ImageSteps has it, and its option.
  std::string images{}, imagesOption = "--images";
};

/// Data of the user's from which a package takes its golden vectors.
struct Samples {
  std::vector<DataRequest> files; ///< as readValues takes them; none: drawn
  std::string option; ///< that gave them: "--input", "--calibration"
};

/// --calibration: a float model is quantized after training.
struct Calibration {
  DataRequest data;
  int64_t frames = 200; ///< at most
  calibrate::Options options;
  bool hasWidths = false; ///< the user says what all layers have
  /// If there is one, the first model that is quantized is left here, for
  /// others of the same request; these fill no report.
  std::shared_ptr<std::string> kept = nullptr;
  /// Filled once the model was quantized.
  std::shared_ptr<calibrate::Report> report =
      std::make_shared<calibrate::Report>();
};

/// A model file and how its numbers and shapes are to be read.
struct ModelRequest {
  std::string path;
  /// --shape; −N for a size of at most N.
  std::map<std::string, std::vector<int64_t>> shapes;
  std::optional<numeric::Format> numberFormat; ///< --number-format
  /// Formats that differ, by tensor or node name.
  std::map<std::string, numeric::Format> tensorFormats;
  /// --input-type: graph inputs that hold whole numbers, {signed, bits}.
  std::map<std::string, std::pair<bool, unsigned>> inputTypes;
  /// --state: graph inputs that hold what a graph output gave in the frame
  /// before, by name.
  std::map<std::string, std::string> states;
  /// --raw-integers: the file's tensors hold the number format's codes.
  bool rawIntegers = false;
  /// --fixed-point-functions
  bool fixedPointFunctions = false;
  std::optional<Calibration> calibration;
};

/// True if `text` is a normalization of a DataRequest.
bool isNormalization(llvm::StringRef text);
/// Why `text` are no steps for images; "" if they are.
std::string wrongImageSteps(llvm::StringRef text);

/// Which frames run, and what becomes of the answers.
struct DataChoice {
  /// One entry per graph input, or a single .npz that names them; empty for
  /// random integers over the range of each quantized input.
  std::vector<DataRequest> inputs;
  std::vector<std::string> expect; ///< files with the graph outputs' values
  /// .npy files to write, one per graph output: [frame, shape…].
  std::vector<std::string> outputs;
  /// Random real inputs, uniform between these, through all tasks.
  std::optional<std::pair<double, double>> inputRange;
  int64_t frames = 0; ///< 0: all of the data, or 1 without data
  uint64_t seed = 1;
};

/// How the answers compare.
struct Comparison {
  int64_t mismatches = 0; ///< elements that differ from the interpreter
  /// Of them, or of the expected values: the first, in words.
  std::string firstMismatch;
  /// Elements of the graph outputs that differ from --expect by more than
  /// float32's rounding; -1 without --expect.
  int64_t unexpected = -1;
};
} // namespace rhizome::model
