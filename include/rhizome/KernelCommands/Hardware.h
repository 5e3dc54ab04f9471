// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as hardware: a package with its unit, and the unit in simulation
// against the evaluator.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/KernelCommands/Kernel.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/PlanBuild/Targets.h"
#include "rhizome/Simulate/Cluster.h"
#include <functional>
#include <memory>
#include <optional>

namespace rhizome::kernelcommands {
/// Copies of a nest's body that a user wants: of the loops of its result's
/// indices, then of its sums.
struct NestCopies {
  std::string nest; ///< its name, or its number from 1
  std::vector<int64_t> copies;
};
/// "t=4x2", or nothing.
std::optional<NestCopies> parseCopies(llvm::StringRef text);
std::string textOf(const NestCopies &copies);

struct HardwareRequest {
  std::string path;
  KernelOptions options;
  planbuild::TargetChoice target;
  std::string output = {}; ///< "" for "<kernel>.rhz"
  UnitChoice unit = {};
  /// As for networks; "": one copy of every nest's body.
  std::string goal = {};
  std::vector<NestCopies> copies = {};
  /// A plan.json, or a package, whose choice is built again, within what its
  /// goal allowed; "": none. Then `unit`, `goal` and `copies` are not read.
  std::string plan = {};
  /// A steering file: an option for the kernel and for its nests; "": none.
  std::string steer = {};
  /// The kernel as its file has it, once it is imported.
  std::string source = {};
  /// Options that take the place of what a module records.
  std::vector<std::string> given = {};
  bool isGiven(llvm::StringRef option) const {
    return llvm::is_contained(given, option);
  }
};

struct ChosenUnit;

struct HardwareResult {
  std::string package; ///< the folder that was written, "" for none
  Plan plan;
  std::vector<std::string> notes;
};

/// The module of a unit's RTL, after `lower`.
inline constexpr const char *kUnitRtl = "node0_rtl";

/// Whether a module is one of a kernel's phases.
bool holdsKernel(mlir::ModuleOp module);

/// A kernel on its way through the phases, each on what the one before has left
/// in the module: its loop nests are built for one device, or for equal nodes
/// of a cluster. Refuses, all at once and at their places, what no hardware is
/// built for; a unit that the device does not hold. A board stands for its
/// device and clock.
class HardwareCompilation {
public:
  /// `module` is empty, or what a phase has left. It stays the caller's.
  HardwareCompilation(HardwareRequest request, mlir::ModuleOp module);
  ~HardwareCompilation();
  HardwareCompilation(const HardwareCompilation &) = delete;
  HardwareCompilation &operator=(const HardwareCompilation &) = delete;

  /// Finds the device, and what a plan has chosen. First.
  Status begin();
  Status import();
  Status normalize();
  Status quantize();
  Status integerize();
  /// Chooses the unit: `flow.plan`.
  Status explore();
  /// Builds a unit that was chosen before the module was written to a file.
  Status build();
  Status lower();
  Status emit();
  /// Writes plan, RTL, scripts for vendors' tools, the kernel and its options.
  Status package();

  /// Enters the settings that later phases need.
  void record(bool isExplored);
  /// What was found; the plan after `explore`.
  HardwareResult take();

private:
  HardwareRequest request;
  mlir::ModuleOp module;
  planbuild::Targets targets;
  std::optional<explore::Goal> goal;
  std::optional<Plan> planned;
  std::unique_ptr<ChosenUnit> built;
  HardwareResult result;

  mlir::func::FuncOp kernel();
  Status readSettings();
};

struct HardwareRunRequest : KernelRunRequest {
  unsigned stallsIn = 0, stallsOut = 0; ///< percent of cycles
  bool fourState = false;               ///< Icarus, X is an error
  std::string trace;                    ///< a file for waveforms; "": none
  /// A tensor at whose buffer the memory of a system answers with an error,
  /// "u" or "u=decerr"; "": none.
  std::string memoryError;
  /// The nodes of a cluster with their links, instead of the RTL of one device.
  std::optional<ClusterOptions> cluster;
  bool acceptChanges = false, trust = false, showProgress = false;
  /// Told in words of what takes a while, as it begins.
  std::function<void(const std::string &what)> onWait = {};
};

struct HardwareRunResult {
  int64_t frames = 0;
  int64_t mismatches = 0; ///< words of the output stream
  std::string firstMismatch;
  Plan plan;
  bool measured = false;
  double intervalCycles = 0;
  int64_t latencyCycles = 0;
  double simCyclesPerS = 0, buildSeconds = 0;
  std::string simulator;
  /// Of a cluster: its rate, a single element's time, and who did what.
  std::optional<ClusterResult> cluster;
  std::vector<std::string> outputs; ///< names, in the order of their files
  bool isSingle = false;            ///< as in KernelRunResult
  std::vector<std::string> notes;
};

/// Runs the RTL of a kernel's package (`path`) and compares each word with the
/// evaluator's bits. Differences are a result, not a failure.
Result<HardwareRunResult> simulateHardware(const HardwareRunRequest &request);

/// Computes the kernel of a package on this CPU, with the bits of its hardware.
Result<KernelRunResult> runPackageOnCpu(const HardwareRunRequest &request);
} // namespace rhizome::kernelcommands
