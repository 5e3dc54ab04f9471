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
/// Serves until it is stopped.
Result<ServeResult> serveNode(const ServeRequest &request);

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
  std::function<void(const std::string &line)> onEvent;
  /// Called several times a second with the frames that are answered.
  std::function<void(int64_t done, int64_t all)> onProgress;
  std::function<bool()> isCancelled;
};

struct RunResult : model::Comparison {
  bool checked = false; ///< against the interpreter
  int64_t frames = 0, repeated = 0, resent = 0;
  double seconds = 0, throughputPerS = 0;
  double latencyUs = 0, shortestUs = 0, longestUs = 0; ///< mean, extremes
  Prediction predicted;
  std::vector<std::string> events; ///< nodes that appeared and disappeared
  std::vector<std::string> notes;  ///< notes on the package for the user
};
/// Runs frames and compares; differences are a result. In a failure, `detail`
/// is the RunResult so far.
Result<RunResult> runPackage(const RunRequest &request);
} // namespace rhizome::deploy
