// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames for everything that runs a model: read or drawn, compared with the
// interpreter and with expected values, written.
#pragma once

#include "rhizome/Model/Passage.h"
#include "rhizome/Model/Request.h"
#include "rhizome/Support/Data.h"

namespace rhizome::model {
/// Values of graph inputs or outputs from one file per value or from one .npz
/// with all their names; at most `limit` frames, 0 for all.
llvm::Expected<Frames> readValues(llvm::ArrayRef<DataRequest> files,
                                  llvm::ArrayRef<HostModel::Value> values,
                                  int64_t limit, const char *what);
/// The frames of a request one by one: files are read, and random numbers
/// drawn, when a frame is asked for.
class FrameStream {
public:
  /// For a model whose network is free and a request without data, random codes
  /// for that.
  static llvm::Expected<FrameStream> open(const DataChoice &request,
                                          const HostModel &model);
  /// Frames of arrays: one for each of the graph's inputs, as a file has it.
  static llvm::Expected<FrameStream> of(std::vector<NamedTensor> arrays,
                                        const HostModel &model);
  const HostModel &model() const { return *theModel; }
  size_t size() const { return count; }
  bool isReal() const { return areReal; } ///< data were given
  /// Frame i < size() before the model's first task, alone; what the model
  /// keeps is as given, or as after a reset. Safe from several threads.
  llvm::Expected<Passage>
  frame(size_t i,
        std::optional<std::vector<Tensor>> states = std::nullopt) const;
  /// All of them.
  llvm::Expected<Passage> all() const;

private:
  explicit FrameStream(const HostModel &model) : theModel(&model) {}
  const HostModel *theModel;
  std::vector<FrameSource> sources; ///< by value
  size_t count = 0;
  bool areReal = false, areCodes = false;
};

/// The frames of a request, before the model's first task.
struct Drawn {
  Passage passage;
  bool isReal = false; ///< data were given
};
llvm::Expected<Drawn> framesFor(const DataChoice &request,
                                const HostModel &model);
/// Counts elements of a frame that differ, and describes the first.
void compareFrame(size_t frame, llvm::ArrayRef<Tensor> got,
                  llvm::ArrayRef<Tensor> want, const HostModel &model,
                  Comparison &result);
/// Counts elements that differ, and describes the first.
void compare(const Frames &got, const Frames &want, const HostModel &model,
             Comparison &result);
/// Writes each value of all frames to its file, [frame, shape…].
llvm::Error writeValues(const std::vector<std::string> &paths,
                        llvm::ArrayRef<HostModel::Value> values,
                        const Frames &frames);
/// What a request does with the graph's outputs: files, and a comparison with
/// expected values; frame by frame, in order.
class OutputKeeper {
public:
  static llvm::Expected<OutputKeeper>
  open(const DataChoice &request, const HostModel &model, size_t frames);
  /// Whether it does anything.
  bool wants() const { return !paths.empty() || !expected.empty(); }
  llvm::Error add(llvm::ArrayRef<Tensor> outputs, Comparison &result);
  /// The files have their names, with the frames that were added.
  llvm::Error finish();

private:
  explicit OutputKeeper(const HostModel &model) : model(&model) {}
  const HostModel *model;
  std::vector<std::string> paths;
  std::vector<NpyWriter> writers;    ///< as of the first frame
  std::vector<FrameSource> expected; ///< by output
  size_t frames = 0, next = 0, expectedFrames = 0;
};
/// The same for all frames.
llvm::Error keepOutputs(const DataChoice &request, const HostModel &model,
                        Passage &passage, Comparison &result);

/// Calls `work(i)` for 0 ≤ i < count on all cores; the first error stops it.
llvm::Error parallelFrames(int64_t count,
                           const std::function<llvm::Error(int64_t)> &work);
} // namespace rhizome::model
