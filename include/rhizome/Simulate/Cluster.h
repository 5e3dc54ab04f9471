// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a package of several nodes as a simulated cluster: one MPI rank per node
// and one for the host (tools/rhizome-rank), each node a Verilated design, time
// in picoseconds. It compares nothing; that is up to the caller.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Simulate/Program.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <optional>

namespace rhizome {
struct ClusterOptions {
  uint64_t seed = 1;          ///< of loss, delay and random initial values
  double loss = 0;            ///< probability that a datagram is lost
  double reorder = 0;         ///< probability that one is delayed
  double reorderDelayUs = 20; ///< maximum delay
  bool measure = true;        ///< also measure rate and latency
  bool progress = false;      ///< count frames on standard error
  WaitNotice onWait;
  /// A file for mpirun --hostfile, "" for this machine only. The package must
  /// have the same path everywhere.
  std::string hostfile;
};

/// Shares of time are for the steady state: per frame, at the measured rate.
struct ClusterParty {
  std::string name; ///< "host" or a node's
  std::string device;
  double utilization = 0; ///< of the node: its interval × its frames' rate
  double sending = 0, receiving = 0; ///< busy share of the busiest port
  int64_t datagrams = 0, lost = 0, resent = 0;
  int64_t cycles = 0, skipped = 0; ///< simulated; skipped, as nothing happened
};

/// Their shares of time, as results/cluster.json keeps them.
llvm::json::Array sharesOf(llvm::ArrayRef<ClusterParty> parties);

struct ClusterResult {
  /// [frame][output], channels-last, for the given frames.
  std::vector<std::vector<Tensor>> outputs;
  double throughputPerS = 0; ///< 0 unless measured
  /// From the host's first byte to its last result, for a single request.
  double latencyUs = 0;
  std::vector<ClusterParty> parties; ///< host first
  double simulatedUs = 0, seconds = 0, buildSeconds = 0;
};

/// Sends `frames` ([frame][input]) from the host through the plan's channels.
/// `inputs` and `outputs` are the host's tensors. An error names the failed
/// party and the reason: a missing tool, a rank that died, a hang, a stream
/// protocol violation.
llvm::Expected<ClusterResult> simulateCluster(
    const Package &package, const std::vector<std::vector<Tensor>> &frames,
    const std::vector<BorderPort> &inputs,
    const std::vector<BorderPort> &outputs, const ClusterOptions &options);

/// A package's nodes as ranks that wait for frames, as started by the runtime's
/// driver 'mpi'.
struct RankJob {
  std::vector<std::string> command;
  std::string folder;                     ///< the caller's to remove
  std::vector<KeptFiles::Held> held;      ///< keep the designs in place
  std::optional<Confinement> confinement; ///< with which it is started
  double buildSeconds = 0;
};
/// Builds the nodes' designs. An error names what is missing.
llvm::Expected<RankJob> rankJob(const Package &package,
                                const ClusterOptions &options);

/// A node's design as a shared library with the interface of
/// data/sim/rhz_model.h.
struct NodeModel {
  std::string library;
  KeptFiles::Held held; ///< keeps it in place
  /// Of the thread that loads it and runs it to the end; it writes nothing.
  std::optional<Confinement> confinement;
};
/// Builds it, or finds it in the user's cache.
llvm::Expected<NodeModel> buildNodeModel(const Package &package,
                                         const PlannedNode &node,
                                         const WaitNotice &onWait = nullptr);
} // namespace rhizome
