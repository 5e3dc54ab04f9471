// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames for everything that runs a network: read or drawn, brought to integers
// by the prologue, compared with the interpreter and with expected values,
// written by way of the epilogue.
#pragma once

#include "HostModel.h"
#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::pipeline {
class SaturationCounter;
using Frames = std::vector<std::vector<Tensor>>; ///< [frame][value]

/// Values of graph inputs or outputs from one file per value or from one .npz
/// that names them all; `limit` frames at most, 0 for all.
llvm::Expected<Frames> readValues(llvm::ArrayRef<DataRequest> files,
                                  llvm::ArrayRef<HostModel::Value> values,
                                  int64_t limit, const char *what);
/// What the prologue gives: the network's inputs, and what is carried past it.
struct PreparedFrames {
  Frames inputs, carried;
  Frames given = {}; ///< of graph inputs, if data were given
};
/// Runs the model's prologue over frames of graph inputs.
llvm::Expected<PreparedFrames> prepare(const HostModel &model,
                                       const Frames &frames);
/// The network's inputs that a request asks for.
llvm::Expected<PreparedFrames> framesFor(const DataChoice &request,
                                         const HostModel &model);
llvm::Expected<Frames> runInterpreter(const HostModel &model,
                                      const Frames &frames,
                                      SaturationCounter *watcher = nullptr);
/// What quantizers of the model's prologue met on frames of graph inputs; empty
/// if the prologue computes more than conversions.
llvm::Expected<std::vector<Saturation>>
prologueSaturation(const HostModel &model, const Frames &given);
/// Runs integer frames on the CPU path.
llvm::Expected<Frames> runCpu(const HostModel &model, const Frames &frames);
/// Counts elements that differ, and describes the first.
void compare(const Frames &got, const Frames &want, const HostModel &model,
             Comparison &result);
/// Compares the graph's outputs with expected values.
llvm::Error compareExpected(const DataChoice &request, const HostModel &model,
                            const Frames &outputs, const Frames &carried,
                            Comparison &result);
/// Writes each value of all frames to its file, [frame, shape…].
llvm::Error writeValues(const std::vector<std::string> &paths,
                        llvm::ArrayRef<HostModel::Value> values,
                        const Frames &frames);
/// Runs the epilogue and writes each graph output of all frames to its file.
llvm::Error writeOutputs(const DataChoice &request, const HostModel &model,
                         const Frames &outputs, const Frames &carried);
} // namespace rhizome::pipeline
