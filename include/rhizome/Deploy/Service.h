// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running a package: one process that acts as a node of a
// service, and frames through a driver: a service's client, a board at a
// serial line or no device at all. All calls block until done or stopped.
#pragma once

#include "rhizome/Deploy/Drivers.h"
#include "rhizome/Model/Request.h"
#include "rhizome/Support/Result.h"

namespace rhizome::deploy {
/// The addresses of parties, "address:port" by name ("host" or a node's): from
/// the command line, else the package's deploy.yaml, else a file of that form.
struct PlacesRequest {
  std::vector<std::string> at; ///< NAME=ADDRESS:PORT
  std::string manifest;        ///< "" for the package's deploy.yaml, if any
};

/// What computes in a node's process.
enum class NodeEngine { Cpu, Rtl };

struct ServeRequest {
  std::string package, node;
  bool acceptChanges = false; ///< accept changed files
  bool trust = false;         ///< allow RTL that does more than a design
  PlacesRequest places;
  std::string key; ///< a file with what its peers share with it; "": none
  /// Where what it counts can be fetched, as runtime::MetricsOutput has it;
  /// "": nowhere.
  std::string metrics;
  NodeEngine engine = NodeEngine::Cpu;
  /// Called several times per second; true ends the process cleanly.
  std::function<bool()> isStopped;
  /// Receives the address once frames can come.
  std::function<void(const std::string &place)> onReady;
  /// Receives where the metrics are.
  std::function<void(const std::string &place)> onMetrics;
};

struct ServeResult {
  int64_t frames = 0; ///< computed
  int64_t epochs = 0; ///< started by a client
  int64_t cycles = 0; ///< of the design, engine rtl
  int64_t datagramsReceived = 0, datagramsSent = 0, resent = 0, dropped = 0;
  std::vector<std::string> notes; ///< notes on the package for the user
};
/// Serves until it is stopped. `compute`, if there is one, is the node's
/// function on the CPU; otherwise that of the package's model.
Result<ServeResult>
serveNode(const ServeRequest &request,
          const std::function<llvm::Expected<runtime::Compute>(
              const Package &package)> &compute = nullptr);

struct RunResult;

struct RunRequest : model::DataChoice {
  std::string package;
  bool acceptChanges = false; ///< accept changed files
  bool trust = false;         ///< allow RTL that does more than a design
  /// Default: nodes on a network, if the package has several.
  std::optional<DriverKind> driver;
  DriverOptions driverOptions;
  PlacesRequest places;
  std::string key;         ///< a file with what the nodes share; "": none
  std::string metrics;     ///< as in ServeRequest
  int64_t outstanding = 0; ///< frames in flight; 0: what the links take
  double patienceS = 10;   ///< without nodes or answers
  bool check = true;       ///< compare with the interpreter
  int64_t checkEvery = 1;  ///< only the first of so many frames
  std::function<void(const std::string &line)> onEvent;
  /// Called when the driver is made, simulators included, before it is opened.
  std::function<void()> onBegin;
  /// Called several times a second with the frames that are answered, of all,
  /// and what is known of them.
  std::function<void(int64_t done, int64_t all, const RunResult &soFar)>
      onProgress;
  /// Asked several times a second; true ends the run.
  std::function<bool()> isCancelled;
};

struct RunResult : model::Comparison {
  bool checked = false; ///< against the interpreter
  bool isInterrupted = false;
  int64_t frames = 0; ///< answered
  int64_t asked = 0, compared = 0, repeated = 0, resent = 0;
  double seconds = 0, throughputPerS = 0;
  int64_t frameErrors = 0; ///< too short or too long at the design's border
  /// How long frames waited for verdicts on others before they left.
  double heldSeconds = 0;
  double latencyUs = 0, shortestUs = 0, longestUs = 0; ///< mean, extremes
  Prediction predicted;
  std::vector<std::string> events; ///< nodes that appeared and disappeared
  std::vector<std::string> notes;  ///< notes on the package for the user
};
/// Runs frames and compares them meanwhile; differences are a result, and so is
/// an interruption. The files of outputs then have the answers up to the first
/// that is missing. In a failure, `detail` is the RunResult so far.
Result<RunResult> runPackage(const RunRequest &request);

/// The client of the package's nodes, whose host sends and gets these tensors.
llvm::Expected<std::unique_ptr<runtime::Driver>>
makeClient(const Package &package, const std::vector<BorderPort> &inputs,
           const std::vector<BorderPort> &outputs, const RunRequest &request,
           std::function<void(const std::string &line)> onEvent);

/// Opens the driver once and answers requests of a program that started this
/// one, until `source` ends or it is cancelled; nothing is compared. The form
/// of requests and answers: FrameLine.h, of which docs/howto/use-from-python.md
/// tells.
Result<RunResult> serveFrames(const RunRequest &request, int source, int sink);
} // namespace rhizome::deploy
