// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transport of a simulated cluster over MPI.
#pragma once

#include "rhizome/ClusterSim/Engine.h"

namespace rhizome {
/// Point-to-point messages, one to every other rank after each window. It
/// sleeps while it waits, so that there may be more ranks than cores.
class MpiTransport : public clustersim::Transport {
public:
  /// Initializes MPI.
  MpiTransport(int *argc, char ***argv);
  /// Finalizes it.
  ~MpiTransport() override;
  /// Ends all ranks.
  void abort();
  int rank() const override { return myRank; }
  int size() const override { return ranks; }
  std::vector<clustersim::PartyStatus>
  exchange(const clustersim::PartyStatus &mine,
           std::vector<clustersim::Datagram> sent,
           std::vector<clustersim::Datagram> &received) override;

private:
  int myRank = 0, ranks = 1;
};
} // namespace rhizome
