// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A package as something that runs: one process that stands for a node of a
// service, and frames through a driver, be it a service's client, a board at a
// serial line or no device at all. All block until they are done or stopped.
#pragma once

#include "rhizome/Deploy/Drivers.h"
#include "rhizome/Model/Request.h"
#include "rhizome/Support/Result.h"

namespace rhizome::deploy {
/// Where parties are, "address:port" by name ("host" or a node's): what the
/// command line says, else the package's deploy.yaml, else a file of its form.
struct PlacesRequest {
  std::vector<std::string> at; ///< NAME=ADDRESS:PORT
  std::string manifest;        ///< "" for the package's deploy.yaml, if any
};

/// What computes in a node's process.
enum class NodeEngine { Cpu, Rtl };

struct ServeRequest {
  std::string package, node;
  bool acceptChanges = false; ///< files need not be as they were compiled
  bool trust = false;         ///< its RTL may do more than a design does
  PlacesRequest places;
  std::string key; ///< a file with what its peers share with it; "": none
  NodeEngine engine = NodeEngine::Cpu;
  /// Asked several times a second; true ends it in good order.
  std::function<bool()> isStopped;
  /// Told the place once frames can come.
  std::function<void(const std::string &place)> onReady;
};

struct ServeResult {
  int64_t frames = 0; ///< computed
  int64_t epochs = 0; ///< begun by a client
  int64_t cycles = 0; ///< of the design, engine rtl
  int64_t datagramsReceived = 0, datagramsSent = 0, resent = 0, dropped = 0;
  std::vector<std::string> notes; ///< what a user should know of the package
};
/// Serves until it is stopped.
Result<ServeResult> serveNode(const ServeRequest &request);

struct RunRequest : model::DataChoice {
  std::string package;
  bool acceptChanges = false; ///< files need not be as they were compiled
  bool trust = false;         ///< its RTL may do more than a design does
  /// Not given: nodes on a network, if the package has several.
  std::optional<DriverKind> driver;
  DriverOptions driverOptions;
  PlacesRequest places;
  std::string key;         ///< a file with what the nodes share; "": none
  int64_t outstanding = 0; ///< frames on their way; 0: what the links take
  double patienceS = 10;   ///< without nodes or answers
  bool check = true;       ///< compare with the interpreter
  std::function<void(const std::string &line)> onEvent;
  std::function<bool()> isCancelled;
};

struct RunResult : model::Comparison {
  bool checked = false; ///< against the interpreter
  int64_t frames = 0, repeated = 0, resent = 0;
  double seconds = 0, throughputPerS = 0;
  double latencyUs = 0, shortestUs = 0, longestUs = 0; ///< mean, extremes
  Prediction predicted;
  std::vector<std::string> events; ///< nodes that came and went
  std::vector<std::string> notes;  ///< what a user should know of the package
};
/// Runs frames and compares; differences are a result. Of a failure `detail`
/// is the RunResult as far as it came.
Result<RunResult> runPackage(const RunRequest &request);
} // namespace rhizome::deploy
