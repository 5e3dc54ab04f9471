// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as the input of other tools for high-level synthesis, with a test
// bench, the evaluator's bits and a script.
#pragma once

#include "rhizome/KernelCommands/Kernel.h"
#include "rhizome/PlanBuild/Targets.h"

namespace rhizome::kernelcommands {
enum class HlsTool { VitisHls, Bambu };

struct ForeignHlsRequest {
  std::string path;
  KernelOptions options;
  HlsTool tool = HlsTool::VitisHls;
  planbuild::TargetChoice target;
  std::string output; ///< "" for "<kernel>.vitis-hls" or "<kernel>.bambu"
};

struct ForeignHlsResult {
  std::string folder;
  std::vector<std::string> files; ///< in the folder
  double seconds = 0;
  std::vector<std::string> notes;
};

/// Vitis HLS: NAME.cpp, NAME.h, NAME_tb.cpp, NAME.tcl and NAME.cfg. Bambu:
/// NAME.ll, NAME_tb.c and bambu.sh. Both: NAME_data.txt, inputs of a few
/// elements and the evaluator's results. Refuses, all at once and at their
/// places, what the tool would compute otherwise.
Result<ForeignHlsResult> writeForeignHls(const ForeignHlsRequest &request);
} // namespace rhizome::kernelcommands
