// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model or a package on data: simulated and compared with the interpreter, or
// measured against labels and against the file's own arithmetic.
#pragma once

#include "rhizome/Model/Request.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/Simulate/Cluster.h"
#include "rhizome/Support/Refusal.h"
#include "rhizome/Support/Result.h"

namespace rhizome::evaluate {
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

struct SimulateRequest : model::DataChoice {
  std::string package;
  bool acceptChanges = false; ///< files need not be as they were compiled
  bool trust = false;         ///< its RTL may do more than a design does
  Level level = Level::Rtl;
  unsigned stallsIn = 0, stallsOut = 0;
  bool fourState = false;
  std::string trace; ///< a file for waveforms, .fst or .vcd; "": none
  /// A file for what engines' units do, as JSON for Perfetto; "": none.
  std::string traceUnits;
  bool showProgress = false;
  /// Told in words of what takes a while, as it begins.
  std::function<void(const std::string &what)> onWait;
  /// Of the cluster's links: shares of datagrams, and the largest delay.
  double loss = 0, reorder = 0, reorderDelayUs = 20;
  std::string hostfile; ///< for mpirun
};

/// Where the cycles of a frame go on an engine, layer by layer.
struct EngineLayer {
  std::string name, kind;
  int64_t ideal = 0; ///< products by those of the array in a cycle
  int64_t predicted = 0, measured = 0;
  int64_t bytes = 0; ///< to and from memory
  /// The unit that the layer is about, and what it waits for most: whom, and in
  /// how many of the measured cycles.
  std::string unit;
  std::vector<std::pair<std::string, int64_t>> waits;
  llvm::json::Object units; ///< measured: works and waits of each
};
struct EngineCycles {
  std::string unit, memory;
  int64_t ideal = 0, predicted = 0, measured = 0;
  std::vector<EngineLayer> layers;
};
llvm::json::Array toJson(const std::vector<EngineCycles> &engines);

struct SimulateResult : model::Comparison {
  int64_t frames = 0;
  int64_t golden = 0;     ///< golden vectors that were compared, too
  std::string goldenFrom; ///< as model::Golden has it
  Prediction predicted;
  bool measured = false;
  double intervalCycles = 0;
  int64_t latencyCycles = 0, loadCycles = 0;
  std::vector<EngineCycles> engines; ///< of the RTL in Verilator
  double simCyclesPerS = 0;
  double buildSeconds = 0;
  std::string simulator; ///< the program that was run, "" if none was
  /// Of a cluster: its rate, a single request's time, who did what.
  std::optional<ClusterResult> cluster;
  std::vector<Saturation> saturation; ///< if data were given, all quantizers
  std::vector<std::string> notes; ///< what a user should know of the package
};
/// Runs it and compares. Differences are a result, not a failure.
Result<SimulateResult> simulatePackage(const SimulateRequest &request);

struct EvaluateRequest {
  model::ModelRequest model;  ///< its path may be a package
  bool acceptChanges = false; ///< its files need not be as they were compiled
  bool trust = false;         ///< its RTL may do more than a design does
  model::DataRequest data;
  std::string labels; ///< .npy, idx(.gz), or text: one label a line; "": none
  /// .npy files to write, one per graph output: [frame, shape…], of the form
  /// that was asked for.
  std::vector<std::string> outputs;
  /// Count the frames whose label is among this many classes of the highest
  /// scores; 0: do not.
  int64_t top = 0;
  std::string predictions; ///< a .csv file to write, a line for each frame
  bool time = false;       ///< measure a frame's time on one core
  Level level = Level::Functional;
  int64_t frames = 0; ///< 0: all
  // Beside the integer model on the CPU path, each on the first frames:
  int64_t floatFrames = 1000; ///< the file in float32
  int64_t rtlFrames = 0;      ///< the hardware
  int64_t layerFrames = 20;   ///< the signal-to-noise ratio of every layer
  /// Compiles the model to a package at this path; set where hardware is to be
  /// made of a model file.
  std::function<Status(const std::string &package)> compile;
  model::Progress progress;
};

/// How one form of the model did.
struct Accuracy {
  /// "float", "integer" or "rtl"; "host" where nothing of the model is on the
  /// FPGA, so that nothing is rounded to integers.
  std::string form;
  int64_t frames = 0, correct = 0;
  double seconds = 0;
  int64_t topCorrect = 0; ///< frames with their label among the top ones
  int64_t sameClass = 0;  ///< frames with the integer model's class
  /// Right answers of the integer model on these frames, which may be fewer
  /// than its own; -1 without one.
  int64_t integerCorrect = -1;
  double frameUs = 0; ///< a frame's time on one core, if asked for
};

struct EvaluateResult {
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
  /// Why there is no integer model, where the float one alone was evaluated
  /// although both were asked for.
  Refusals refused;
};
Result<EvaluateResult> evaluateModel(const EvaluateRequest &request);
} // namespace rhizome::evaluate
