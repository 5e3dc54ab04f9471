// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way of a network, or of a kernel that becomes hardware, from its file to
// a plan or a package, as the commands call it: one request in, one result out,
// nothing printed. This is the only layer that knows all others. Nothing
// throws: what a user can cause is a Failure.
#pragma once

#include "rhizome/Explore/Solver/Limit.h"
#include "rhizome/KernelCommands/Hardware.h"
#include "rhizome/Model/Coverage.h"
#include "rhizome/Model/Request.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/Pipeline/Phases.h"
#include "rhizome/PlanBuild/Targets.h"
#include "rhizome/Support/Result.h"
#include "llvm/ADT/STLExtras.h"

namespace rhizome::pipeline {
/// Why `text` is no goal, "" if it is one: bounds (throughput=N/s, latency=T,
/// nodes=N and of resources, such as lut=N or lut=P%) and an objective
/// (max-throughput, min-latency, min-resources or min-nodes), with commas
/// between.
std::string faultOfGoal(llvm::StringRef text);

/// What is wrong with a generator's name, or "".
std::string faultOfGenerator(llvm::StringRef name);

struct CompileRequest : planbuild::TargetChoice {
  model::ModelRequest model;
  /// "" for max-throughput, with a plan within the resources that its own goal
  /// allowed.
  std::string goal;
  std::optional<int64_t> maxNodes; ///< devices of the cluster that may be used
  std::string steer;               ///< a file of pins, "" for none
  std::string plan;        ///< a plan.json or package to build as it stands
  std::string constraints; ///< a constraint file of DOSA's
  /// A package whose hardware is one core: the network becomes a program for
  /// it. It says device, clock and generator; "" for none.
  std::string core;
  /// Where weights live: "rom" or "resident", of all nodes or, as NAME=HOME, of
  /// one.
  std::vector<std::string> weights;
  /// Where FIFOs before joins lie: "on-chip" or "memory", of all nodes or, as
  /// NAME=PLACE, of one.
  std::vector<std::string> fifos;
  /// Who keeps what the model keeps from frame to frame: "auto", the FPGA where
  /// it can, or "host".
  std::string stateHome = "auto";
  /// Next values of states that the FPGA keeps are no outputs of the package.
  bool hideStates = false;
  /// The package, "" for "<model>.rhz" in the current folder; of a compile that
  /// stops before, the module's file, "" or "-" for the result's `text`.
  std::string output;
  bool acceptNearest = false;
  /// Whether an Infeasible failure has the nearest plan even where the weights
  /// alone say that nothing fits.
  bool describesNearest = false;
  /// Also the model as machine code for this processor, by LLVM's name; "":
  /// without.
  std::string objectCpu;
  /// Golden vectors; none given: as many as cost little.
  std::optional<int64_t> golden;
  /// From which they are taken; none given: from the calibration data, or
  /// drawn.
  model::Samples samples;
  /// The model's name, "" for its file's.
  std::string name;
  /// The file is a module as this phase leaves it; none for a model.
  std::optional<Phase> from;
  /// Stop after this phase; none for the last one.
  std::optional<Phase> to;
  /// Of a compile that begins at a phase: the options that the user gives, and
  /// which take the place of what the module records.
  std::vector<std::string> given;
  bool isGiven(llvm::StringRef option) const {
    return llvm::is_contained(given, option);
  }
  model::Progress progress;
  /// Whether `model.path` is a kernel; of a module, what it holds tells.
  bool isKernel = false;
  /// Of a kernel: how it is read, and what is asked of its unit.
  kernelcommands::KernelOptions kernel;
  UnitChoice unit;
  std::vector<kernelcommands::NestCopies> copies;
};

/// What a compile gives, or the nearest that it could have given.
struct CompileResult {
  std::string package; ///< where it lies, or the module, if one was written
  std::string text;    ///< the module, if it is not written to a file
  double seconds = 0;
  double exploreSeconds = 0; ///< of exploration alone
  /// What was found; no nodes before the phase `explore`.
  Plan plan;
  bool meetsGoal = false;
  bool fits = false;              ///< the devices hold it, whatever its rate
  explore::Limit cause;           ///< what binds
  std::string limit;              ///< the same for people
  bool hasGoal = false;           ///< did the user give one?
  llvm::json::Object analysis;    ///< of explore: needs and the devices' roofs
  std::vector<std::string> notes; ///< what a user should know, e.g. saturation
};

/// The phases from `from` to `to`. What is written is written whole or not at
/// all. Where the goal cannot be met and `acceptNearest` is not set, the
/// Failure is Infeasible and has the nearest plan, unless the weights alone are
/// too many bits.
Result<CompileResult> compileModel(const CompileRequest &request);

/// The same as far as the plan; nothing is written.
Result<CompileResult> exploreModel(const CompileRequest &request);

/// What an Infeasible failure says besides: the limit, and the nearest plan,
/// which has no nodes if there is none. Null for other kinds.
const CompileResult *nearestOf(const Failure &failure);

/// Which generators can build each operation of a model, and what the host
/// computes.
Result<model::CoverageResult> coverModel(const model::ModelRequest &request);

/// What a model needs and what devices could give; see Analysis/Analysis.h.
struct AnalyzeRequest {
  model::ModelRequest model;
  bool isKernel = false;                ///< whether `model.path` is one
  kernelcommands::KernelOptions kernel; ///< of a kernel
  std::vector<std::string> devices;     ///< names or .yaml files
  std::string cluster;                  ///< its unlike devices too; "" for none
  std::string link; ///< of `devices`; "" for the width of their streams
  std::optional<double> clockMhz; ///< otherwise the devices'
  model::Progress progress;
};
/// The analysis as model/analysis.json holds it.
Result<llvm::json::Object> analyzeModel(const AnalyzeRequest &request);
} // namespace rhizome::pipeline
