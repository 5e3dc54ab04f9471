// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One network, or one kernel, on its way through the phases: the module, and
// what was made of it already, so that nothing is built twice. All that a later
// phase needs is in the module too, once it is complete; what stands here saves
// time and memory.
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
  /// Of a network or a kernel: what the module holds, or, if it is empty, what
  /// the request says. `module` is what `request.from` leaves; it stays the
  /// caller's.
  static std::unique_ptr<Compilation> of(CompileRequest request,
                                         mlir::ModuleOp module);
  virtual ~Compilation() = default;
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;

  /// Takes over what the module records, and finds devices and goal. First.
  virtual Status begin() = 0;
  /// One phase, with its verifier.
  Status run(Phase phase);

  /// Where the package goes; "" if that is not known before `import`.
  virtual std::string target() const = 0;
  /// What is told of it, the plan included once there is one.
  virtual CompileResult take() = 0;
  /// Of the plan: needs and roofs. After `explore`.
  virtual llvm::Expected<llvm::json::Object> analysis() = 0;
  /// Enters in the module what a compile in one go keeps beside it.
  virtual void complete() {}
  /// The module, complete, with all names, as a file of its own.
  std::string text();

protected:
  Compilation(CompileRequest request, mlir::ModuleOp module);
  CompileRequest request;
  mlir::ModuleOp module;
  model::DiagnosticText diagnostics;

  /// What a phase needs of those before it, if the module was read from a file.
  virtual Status prepare(Phase) { return Done(); }
  virtual Status import() = 0;
  virtual Status normalize() = 0;
  virtual Status quantize() = 0;
  virtual Status integerize() = 0;
  virtual Status explore() = 0;
  virtual Status build() = 0;
  virtual Status lower() = 0;
  virtual Status emit() = 0;
  virtual Status package() = 0;
  /// Enters the settings that later phases need.
  virtual void record(Phase done) = 0;

private:
  Status perform(Phase phase);
};

class NetworkCompilation : public Compilation {
public:
  NetworkCompilation(CompileRequest request, mlir::ModuleOp module)
      : Compilation(std::move(request), module) {}
  ~NetworkCompilation() override;
  Status begin() override;
  std::string target() const override;
  CompileResult take() override;
  llvm::Expected<llvm::json::Object> analysis() override;
  void complete() override;

protected:
  Status prepare(Phase phase) override;
  Status import() override;
  Status normalize() override;
  Status quantize() override;
  Status integerize() override;
  Status explore() override;
  Status build() override;
  Status lower() override;
  Status emit() override;
  Status package() override;
  void record(Phase done) override;

private:
  planbuild::Targets targets;
  std::string goalText; ///< what `goal` was parsed from
  explore::Goal goal;
  Host host; ///< of the tasks that no device computes
  /// What was explored or built; its designs are in the module but between
  /// `explore` and `build`.
  std::optional<explore::Result> built;
  bool isDetached = false;
  std::optional<Plan> plan;
  std::optional<Plan> core; ///< of --core
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

  void settleHomes();
  Status holdWeights(const explore::Goal &wanted);
  std::string settingsThatMeet(const explore::Goal &wanted,
                               const explore::Steering &steering);
  Status waitForStates(explore::Goal &wanted);
  mlir::FailureOr<explore::Result>
  exploreClocks(const explore::Goal &wanted, const explore::Steering &steering);
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
