// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One network on its way through the phases: the module, and what was made of
// it already, so that nothing is built twice. All that a later phase needs is
// in the module too, once it is complete; what stands here saves time and
// memory.
#pragma once

#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Model/HostModel.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Pipeline/Pipeline.h"
#include "rhizome/PlanBuild/Targets.h"
#include "rhizome/Target/Host.h"

namespace rhizome::pipeline {
class Compilation {
public:
  /// `module` is empty, or what `request.from` leaves. It stays the caller's.
  Compilation(CompileRequest request, mlir::ModuleOp module);
  ~Compilation();
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;

  /// Takes over what the module records, and finds devices and goal. First.
  Status begin();
  /// One phase, with its verifier.
  Status run(Phase phase);

  const CompileRequest &settings() const { return request; }
  /// What is told of it, the plan included once there is one.
  CompileResult take();
  /// Of the plan: needs and roofs. After `explore`.
  llvm::Expected<llvm::json::Object> analysis();
  /// Enters in the module what a compile in one go keeps beside it.
  void complete();
  /// The module, complete, with all names, as a file of its own.
  std::string text();

private:
  CompileRequest request;
  mlir::ModuleOp module;
  model::DiagnosticText diagnostics;
  planbuild::Targets targets;
  std::string goalText; ///< what `goal` was parsed from
  explore::Goal goal;
  Host host; ///< of the tasks that no device computes
  /// What was explored or built; its designs are in the module but between
  /// `explore` and `build`.
  std::optional<explore::Result> built;
  bool isDetached = false;
  std::optional<Plan> plan;
  CompileResult result;

  Status failed(Failure::Kind kind, llvm::Error error);
  Status aim();
  Status linkHost();
  flow::PlanOp planOp();
  mlir::func::FuncOp network();
  Failure nothingToBuild() const;
  Status layOut();
  void finishPlan();
  Status readBuilt();
  void notePlan();

  Status import();
  Status normalize();
  Status quantize();
  Status integerize();
  void settleHomes();
  Status holdWeights(const explore::Goal &wanted);
  std::string settingsThatMeet(const explore::Goal &wanted,
                               const explore::Steering &steering);
  Status waitForStates(explore::Goal &wanted);
  mlir::FailureOr<explore::Result>
  exploreClocks(const explore::Goal &wanted, const explore::Steering &steering);
  Status explore();
  Status build();
  Status lower();
  Status emit();
  Status package();
  llvm::Error write(PackageWriter &writer);
  llvm::Error writeNodes(PackageWriter &writer);
  std::string printModel();
  void fillHost();
};

/// Where the package goes.
std::string packageOf(const CompileRequest &request);
/// Why there is no package although nothing was refused: one sentence.
std::string whyNone(const CompileResult &result);
} // namespace rhizome::pipeline
