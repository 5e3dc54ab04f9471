// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every reader of YAML on one text: devices, boards, links, hosts, clusters,
// steering files and deployment manifests.
#include "../../lib/Deploy/Places.h"
#include "Scratch.h"
#include "rhizome/PlanBuild/Steer.h"
#include "rhizome/Target/Board.h"
#include "rhizome/Target/Cluster.h"
#include "rhizome/Target/Host.h"

using namespace rhizome;

RHIZOME_FUZZ_TARGET(yaml, bytes) {
  fuzz::Scratch scratch(bytes);
  const std::string path = scratch.path();
  fuzz::isRefused(loadDevice(path).takeError());
  fuzz::isRefused(loadBoard(path).takeError());
  fuzz::isRefused(loadLink(path).takeError());
  fuzz::isRefused(loadHost(path).takeError());
  fuzz::isRefused(loadCluster(path).takeError());
  fuzz::isRefused(planbuild::readSteering(path).takeError());
  Plan plan;
  plan.nodes.emplace_back().name = "node0";
  fuzz::isRefused(deploy::readManifest(path, plan).takeError());
}
