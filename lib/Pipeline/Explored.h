// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exploration as commands ask for it: devices from data files, the plan with
// nodes, channels and links from what the explorer found.
#pragma once

#include "Model.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Pipeline/Build.h"

namespace rhizome::pipeline {
/// Where a network is to run.
struct Targets {
  std::string board, cluster;  ///< names, "" if there is none
  std::vector<Device> devices; ///< of each place, at its clock
  std::vector<PlannedLink> links;
  std::string hostLink;
  explore::Cluster places;
};

/// Reads the device, board or cluster that a request names.
llvm::Expected<Targets> targetsOf(const CompileRequest &request);

/// The model's name in its plan, from its file's.
std::string modelNameOf(const CompileRequest &request);

/// The plan of what was found. Nodes stand in the order of places; replicas
/// follow each other.
Plan planOf(const CompileRequest &request, const Targets &targets,
            explore::Result &result, mlir::func::FuncOp network);
} // namespace rhizome::pipeline
