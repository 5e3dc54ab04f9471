// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames for everything that runs a model: read or drawn, compared with the
// interpreter and with expected values, written.
#pragma once

#include "Passage.h"
#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::pipeline {
/// Values of graph inputs or outputs from one file per value or from one .npz
/// that names them all; `limit` frames at most, 0 for all.
llvm::Expected<Frames> readValues(llvm::ArrayRef<DataRequest> files,
                                  llvm::ArrayRef<HostModel::Value> values,
                                  int64_t limit, const char *what);
/// The frames that a request asks for, before the model's first task; of a
/// model whose network is free, random codes before that.
struct Drawn {
  Passage passage;
  bool isReal = false; ///< data were given
};
llvm::Expected<Drawn> framesFor(const DataChoice &request,
                                const HostModel &model);
/// What the host's quantizers before the FPGA's tasks met; of tasks that
/// compute no more than conversions.
llvm::Expected<std::vector<Saturation>> hostSaturation(const HostModel &model,
                                                       const Passage &passage);
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
/// What a request wants of the graph's outputs: files, and a comparison.
llvm::Error keepOutputs(const DataChoice &request, const HostModel &model,
                        Passage &passage, Comparison &result);
} // namespace rhizome::pipeline
