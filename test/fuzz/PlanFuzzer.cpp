// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a package's folder holds: plan.json, checksums.json and RTL. A plan that
// is taken prints as one that is read alike, and gives the channels of all
// parties.
#include "../../lib/Package/RtlCheck.h"
#include "FuzzTarget.h"
#include "rhizome/ClusterSim/Channels.h"
#include "rhizome/Package/Checksums.h"
#include "rhizome/Package/NodeChannels.h"
#include "rhizome/Package/Plan.h"

using namespace rhizome;

/// What every command makes of a plan.
static void derive(const Plan &plan) {
  std::vector<std::string> parties{kHost};
  for (const PlannedNode &node : plan.nodes) {
    parties.push_back(node.name);
    nodeConfiguration(plan, node);
    plan.owner(node);
    for (const auto *ports : {&node.inputs, &node.outputs})
      for (const BorderPort &port : *ports)
        fuzz::require(port.beats() > 0);
  }
  for (const std::string &party : parties)
    for (bool receives : {false, true}) {
      link::Router router = clustersim::routerOf(plan, party, receives);
      for (size_t port = 0; port < router.size(); ++port)
        router.next(port);
    }
  clustersim::serviceOf(plan, {}, {});
  for (const std::string &party : parties)
    link::Endpoint(clustersim::addressOf(plan, party),
                   clustersim::channelsOf(plan, party));
}

RHIZOME_FUZZ_TARGET(plan, bytes) {
  if (auto plan = parsePlan(bytes); !fuzz::isRefused(plan.takeError())) {
    const std::string text = printPlan(*plan);
    auto again = parsePlan(text);
    fuzz::require(!fuzz::isRefused(again.takeError()) &&
                  printPlan(*again) == text);
    derive(*plan);
  }
  if (auto files = parseChecksums(bytes); !fuzz::isRefused(files.takeError()))
    printChecksums(*files);
  fuzz::isRefused(checkRtl("fuzzed.sv", bytes));
}
