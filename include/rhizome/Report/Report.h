// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report.html: a self-contained page with its data and its drawing library,
// made from the contents of a package. The page itself is data/report.
#pragma once

#include "rhizome/Package/Package.h"

namespace rhizome::report {
/// Everything that the page shows, as one JSON object: "plan", "analysis" (null
/// if the package has none), "timelines" by node, "results" by file name,
/// "energy" (null without an analysis), "version".
llvm::Expected<llvm::json::Object> dataOf(const Package &package);

/// An estimate of one inference's dynamic energy from its counts of products
/// and bytes, by the model in data/report/energy.json.
llvm::Expected<llvm::json::Object> energyOf(const llvm::json::Object &plan,
                                            const llvm::json::Object &analysis);

/// The page's text. The drawing library is a file of the system (Debian's
/// node-d3, or $RHIZOME_D3); if it is missing, this is an error with a
/// remedy.
llvm::Expected<std::string> render(const Package &package);

/// A page of layers traced on data alone, for a model without a package.
llvm::Expected<std::string> renderTrace(llvm::StringRef title,
                                        llvm::json::Object trace);

/// "<package>/report.html", or the place of the results of a package that
/// cannot be written.
std::string pageOf(const Package &package);

/// Writes the page to that file.
llvm::Error write(const Package &package);

/// Writes report.html of a package whose plan is written; where it cannot be
/// drawn, `notes` has the reason.
llvm::Error writeInto(PackageWriter &writer, std::vector<std::string> &notes);

/// Measures `model` (ONNX) with ONNX Runtime at batch 1, one thread and all,
/// and writes results/baseline.json. Fails with the reason if Python has no
/// onnxruntime; $RHIZOME_PYTHON names another Python than python3.
llvm::Error measureBaseline(const Package &package, llvm::StringRef model);
} // namespace rhizome::report
