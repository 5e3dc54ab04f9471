// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/ClusterSim/Engine.h"
#include <algorithm>

using namespace rhizome;
using namespace rhizome::clustersim;

llvm::Expected<RunStatistics> clustersim::simulate(Party &party,
                                                   Transport &transport,
                                                   Picoseconds lookahead) {
  RunStatistics statistics;
  while (true) {
    std::vector<Datagram> sent = party.ports.takeSent(), received;
    PartyStatus mine{party.next(), party.isDone()};
    for (const Datagram &datagram : sent)
      mine.next = std::min(mine.next, datagram.lastBit);
    Picoseconds next = kNever;
    for (const PartyStatus &report :
         transport.exchange(mine, std::move(sent), received)) {
      if (report.done)
        return statistics;
      next = std::min(next, report.next);
    }
    if (next == kNever) {
      // Only the host knows what it waits for, so only it reports an error.
      if (llvm::Error error = party.standsStill())
        return std::move(error);
      return statistics;
    }
    for (Datagram &datagram : received)
      party.ports.bring(std::move(datagram));
    statistics.end = next;
    ++statistics.windows;
    if (llvm::Error error =
            party.run(next > kNever - lookahead ? kNever : next + lookahead))
      return std::move(error);
  }
}
