// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames for everything that runs a model: read or drawn, compared with the
// interpreter and with expected values, written.
#pragma once

#include "rhizome/Model/Passage.h"
#include "rhizome/Model/Request.h"

namespace rhizome::model {
/// Values of graph inputs or outputs from one file per value or from one .npz
/// with all their names; at most `limit` frames, 0 for all.
llvm::Expected<Frames> readValues(llvm::ArrayRef<DataRequest> files,
                                  llvm::ArrayRef<HostModel::Value> values,
                                  int64_t limit, const char *what);
/// The frames of a request, before the model's first task; for a
/// model whose network is free, random codes before that.
struct Drawn {
  Passage passage;
  bool isReal = false; ///< data were given
};
llvm::Expected<Drawn> framesFor(const DataChoice &request,
                                const HostModel &model);
/// Counts elements that differ, and describes the first.
void compare(const Frames &got, const Frames &want, const HostModel &model,
             Comparison &result);
/// Compares the graph's outputs with expected values.
llvm::Error compareExpected(const DataChoice &request, const HostModel &model,
                            const Frames &outputs, Comparison &result);
/// Writes each value of all frames to its file, [frame, shape…].
llvm::Error writeValues(const std::vector<std::string> &paths,
                        llvm::ArrayRef<HostModel::Value> values,
                        const Frames &frames);
/// What a request does with the graph's outputs: files, and a comparison.
llvm::Error keepOutputs(const DataChoice &request, const HostModel &model,
                        Passage &passage, Comparison &result);

/// Calls `work(i)` for 0 ≤ i < count on all cores; the first error stops it.
llvm::Error parallelFrames(int64_t count,
                           const std::function<llvm::Error(int64_t)> &work);
} // namespace rhizome::model
