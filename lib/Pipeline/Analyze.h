// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analysis of an integer network as JSON: what `analyze` prints and what
// packages keep as model/analysis.json.
#pragma once

#include "rhizome/Analysis/Analysis.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Package/Package.h"

namespace rhizome::pipeline {
/// A device at its clock, with its link.
struct AnalyzedDevice {
  Device device; ///< clockMhz is the design's
  std::optional<Link> link;
};

/// The distinct devices of a cluster, in order.
std::vector<AnalyzedDevice> devicesOf(const Cluster &cluster);

llvm::Expected<llvm::json::Object>
analysisOf(mlir::func::FuncOp network, llvm::StringRef model,
           const std::vector<AnalyzedDevice> &devices);

/// Writes model/analysis.json.
llvm::Error writeAnalysis(PackageWriter &writer, mlir::func::FuncOp network,
                          llvm::StringRef model,
                          const std::vector<AnalyzedDevice> &devices);

/// Writes nodes/<node>/timeline.json: when each actor works on the first
/// frames.
llvm::Error writeTimeline(PackageWriter &writer, llvm::StringRef node,
                          flow::DesignOp design, double clockMhz);
} // namespace rhizome::pipeline
