// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The named phases, as the commands call them: one request in, one result out,
// nothing printed. This is the only layer that knows all others. Nothing
// throws: what a user can cause is a Failure, or stands in `refused` or
// `error`.
#pragma once

#include "rhizome/Calibrate/Options.h"
#include "rhizome/Explore/Limit.h"
#include "rhizome/Numeric/Format.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/Pipeline/Phases.h"
#include "rhizome/Support/Refusal.h"
#include "rhizome/Support/Result.h"
#include "rhizome/Target/Device.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rhizome::pipeline {
/// Told of each phase as it begins, e.g. "import"; may be empty.
using Progress = std::function<void(llvm::StringRef phase)>;

/// Parses the number format of a network. On failure `error` says why; `note`
/// is what to tell of a former spelling, "" for nothing.
std::optional<numeric::Format>
parseNetworkFormat(llvm::StringRef text, std::string &error, std::string &note);

/// Where input values come from and how they are brought to the model's range.
struct DataRequest {
  std::string path; ///< .npy .npz .pb .idx .gz .png .jpg, or a folder of these
  /// How 8-bit pixels become a model's reals: "0..1" is x / 255, "0..255" x,
  /// "MEAN,STD" (x / 255 - MEAN) / STD, per channel with a list of each; "" is
  /// for files of other numbers.
  std::string normalise;
  /// The option that sets it, for messages.
  std::string normaliseOption = "--normalise";
};

/// --calibration: a float model is quantised after training.
struct Calibration {
  DataRequest data;
  int64_t frames = 200; ///< at most
  calibrate::Options options;
  /// Filled once the model was quantised.
  std::shared_ptr<calibrate::Report> report =
      std::make_shared<calibrate::Report>();
};

/// A model file and how its numbers and shapes are to be read.
struct ModelRequest {
  std::string path;
  std::map<std::string, std::vector<int64_t>> shapes; ///< --shape
  std::optional<numeric::Format> numberFormat;        ///< --number-format
  /// Formats that differ, by tensor or node name.
  std::map<std::string, numeric::Format> tensorFormats;
  /// --input-type: graph inputs that hold whole numbers, {signed, bits}.
  std::map<std::string, std::pair<bool, unsigned>> inputTypes;
  /// --raw-integers: the file's tensors hold the number format's codes.
  bool rawIntegers = false;
  std::optional<Calibration> calibration;
};

//===----------------------------------------------------------------------===//
// compile
//===----------------------------------------------------------------------===//

/// True if `text` is a goal: bounds (throughput=N/s, latency=T, nodes=N and of
/// resources, such as lut=N or lut=P%) and an objective (max-throughput,
/// min-latency, min-resources or min-nodes), with commas between.
bool isGoal(llvm::StringRef text);

struct CompileRequest {
  ModelRequest model;
  std::string device; ///< a name or a .yaml file
  /// A board's name or file, which brings device and clock; "" for none.
  std::string board;
  /// A cluster's name or file, in place of device and board; "" for none.
  std::string cluster;
  std::optional<double> clockMhz;
  /// "" for max-throughput, with a plan within the resources that its own goal
  /// allowed.
  std::string goal;
  std::optional<int64_t> maxNodes; ///< devices of the cluster that may be used
  std::string steer;               ///< a file of pins, "" for none
  std::string plan;        ///< a plan.json or package to build as it stands
  std::string constraints; ///< a constraint file of DOSA's
  /// Where weights live: "rom" or "resident", of all nodes or, as NAME=HOME, of
  /// one.
  std::vector<std::string> weights;
  /// The package, "" for "<model>.rhz" in the current folder; of a compile that
  /// stops before, the module's file, "" or "-" for the result's `text`.
  std::string output;
  bool acceptNearest = false;
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
  Progress progress;
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
/// Failure is Infeasible and has the nearest plan.
Result<CompileResult> compileModel(const CompileRequest &request);

/// The same as far as the plan; nothing is written.
Result<CompileResult> exploreModel(const CompileRequest &request);

/// The nearest plan that an Infeasible failure brings; null for other kinds.
const CompileResult *nearestOf(const Failure &failure);

/// Where an operation runs, and who can build it.
struct CoverageRow {
  /// Of the integer model on the FPGA, of the file on the host.
  std::string node, op, type;
  bool onHost = false;
  /// Of the host's: why not on the FPGA; "" if it is none's business there.
  std::string reason, remedy;
  /// generator -> "" if it can, else the reason.
  std::vector<std::pair<std::string, std::string>> generators;
};
struct CoverageResult {
  bool ok = false; ///< the model can be compiled, or computed by the host alone
  std::vector<CoverageRow> rows;
  int64_t fpga = 0, host = 0; ///< operations
  /// Tensors that go to the FPGA, and come from it.
  int64_t copiesIn = 0, copiesOut = 0;
  PlannedTasks tasks;
  /// Needs, and the roofs of the default device; empty without a network.
  llvm::json::Object analysis;
  Refusals refused;
  std::string error;
};
CoverageResult coverModel(const ModelRequest &request);

/// What a model needs and what devices could give; see Analysis/Analysis.h.
struct AnalyseRequest {
  ModelRequest model;
  std::vector<std::string> devices; ///< names or .yaml files
  std::string cluster;              ///< its unlike devices too; "" for none
  std::string link; ///< of `devices`; "" for the width of their streams
  std::optional<double> clockMhz; ///< otherwise the devices'
  Progress progress;
};
/// The analysis as model/analysis.json holds it.
Result<llvm::json::Object> analyseModel(const AnalyseRequest &request);

//===----------------------------------------------------------------------===//
// simulate and evaluate
//===----------------------------------------------------------------------===//

/// True if `text` is a normalisation as above.
bool isNormalisation(llvm::StringRef text);

/// What computes: the CPU path, the file's own float arithmetic, the RTL, all
/// nodes and what joins them, or a board at the far end of its serial line: its
/// RTL, the netlist that entered the router, the bitstream.
enum class Level { Functional, Float, Rtl, Cluster, Board, Netlist, Bitstream };

/// How many of the values that a quantizer met on real data lie below its
/// first code and above its last, and saturate there.
struct Saturation {
  std::string name, op;
  int64_t values = 0, low = 0, high = 0;
};

/// Which frames run, and what becomes of the answers.
struct DataChoice {
  /// One entry per graph input, or a single .npz that names them; empty for
  /// random integers over the range of each quantised input.
  std::vector<DataRequest> inputs;
  std::vector<std::string> expect; ///< files with the graph outputs' values
  /// .npy files to write, one per graph output: [frame, shape…].
  std::vector<std::string> outputs;
  /// Random real inputs, uniform between these, through all tasks.
  std::optional<std::pair<double, double>> inputRange;
  int64_t frames = 0; ///< 0: all of the data, or 1 without data
  uint64_t seed = 1;
};

/// How the answers compare.
struct Comparison {
  int64_t mismatches = 0; ///< elements that differ from the interpreter
  /// Of them, or of the expected values: the first, in words.
  std::string firstMismatch;
  /// Elements of the graph outputs that differ from --expect by more than
  /// float32's rounding; -1 without --expect.
  int64_t unexpected = -1;
};

struct SimulateRequest : DataChoice {
  std::string package;
  bool acceptChanges = false; ///< files need not be as they were compiled
  bool trust = false;         ///< its RTL may do more than a design does
  Level level = Level::Rtl;
  unsigned stallsIn = 0, stallsOut = 0;
  bool fourState = false;
  bool showProgress = false;
  /// Of the cluster's links: shares of datagrams, and the largest delay.
  double loss = 0, reorder = 0, reorderDelayUs = 20;
  std::string hostfile; ///< for mpirun
};

/// What a party of a simulated cluster did.
struct PartyResult {
  std::string name, device;
  double utilisation = 0, sending = 0, receiving = 0; ///< shares of time
  int64_t datagrams = 0, lost = 0, resent = 0, cycles = 0, skipped = 0;
};

struct SimulateResult : Comparison {
  bool ok = false; ///< it ran; mismatches may be there
  int64_t frames = 0;
  Prediction predicted;
  bool measured = false;
  double intervalCycles = 0;
  int64_t latencyCycles = 0, loadCycles = 0;
  double simCyclesPerS = 0;
  double buildSeconds = 0;
  std::string simulator; ///< the program that was run, "" if none was
  /// Of a cluster: frames a second, a single request's time, who did what.
  double throughputPerS = 0, latencyUs = 0;
  std::vector<PartyResult> parties;
  double simulatedUs = 0, seconds = 0;
  std::vector<Saturation> saturation; ///< if data were given, all quantizers
  std::vector<std::string> notes; ///< what a user should know of the package
  std::string error;
};
SimulateResult simulatePackage(const SimulateRequest &request);

struct EvaluateRequest {
  ModelRequest model;         ///< its path may be a package
  bool acceptChanges = false; ///< its files need not be as they were compiled
  bool trust = false;         ///< its RTL may do more than a design does
  DataRequest data;
  std::string labels; ///< .npy, idx(.gz), or text: one label a line; "": none
  /// .npy files to write, one per graph output: [frame, shape…], of the form
  /// that was asked for.
  std::vector<std::string> outputs;
  bool time = false; ///< measure a frame's time on one core
  Level level = Level::Functional;
  int64_t frames = 0; ///< 0: all
  // Beside the integer model on the CPU path, each on the first frames:
  int64_t floatFrames = 1000; ///< the file in float32
  int64_t rtlFrames = 0;      ///< the hardware
  int64_t layerFrames = 20;   ///< the signal-to-noise ratio of every layer
  std::string device = kDefaultDevice; ///< of hardware from a model file
  Progress progress;
};

/// How one form of the model did.
struct Accuracy {
  /// "float", "integer" or "rtl"; "host" where nothing of the model is on the
  /// FPGA, so that nothing is rounded to integers.
  std::string form;
  int64_t frames = 0, correct = 0;
  double seconds = 0;
  int64_t sameClass = 0; ///< frames with the integer model's class
  /// Right answers of the integer model on these frames, which may be fewer
  /// than its own; -1 without one.
  int64_t integerCorrect = -1;
  double frameUs = 0; ///< a frame's time on one core, if asked for
};

struct EvaluateResult {
  bool ok = false;
  std::vector<Accuracy> forms; ///< the one that was asked for first
  /// [label][class] of that one.
  std::vector<std::vector<int64_t>> confusion;
  /// The integer model against the network without rounding, in dB, at the
  /// tensors that both hold, in order.
  struct Layer {
    std::string name, op;
    double snr;
  };
  std::vector<Layer> layers;
  /// Of the quantizers of the integer model, over `layerFrames`.
  std::vector<Saturation> saturation;
  std::vector<std::string> notes; ///< what a user should know of the package
  /// Why there is no integer model; the float one may have been evaluated.
  Refusals refused;
  std::string error;
};
EvaluateResult evaluateModel(const EvaluateRequest &request);
} // namespace rhizome::pipeline
