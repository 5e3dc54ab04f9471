// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices that work together: which, in which order, with which links, read
// from one data file each (data/clusters/*.yaml). How much of them a plan uses
// is the explorer's choice.
#pragma once

#include "rhizome/Target/Device.h"
#include "rhizome/Target/Link.h"

namespace rhizome {
/// One place of a cluster.
struct ClusterNode {
  /// With the cluster's own budget and clock (Device::clockMhz), if it
  /// has any.
  Device device;
  Link link; ///< the node's link
};

struct Cluster {
  /// Switch: every node and the host reach every other. Chain: a node sends
  /// only to the next one, the host to the first, and the last one in use to
  /// the host.
  enum class Topology { Switch, Chain };
  /// The host's index, in between() and joined().
  static constexpr size_t kHost = SIZE_MAX;

  std::string name;
  std::string description;
  Topology topology = Topology::Switch;
  bool replicas = true; ///< may nodes hold copies that share the frames?
  Link hostLink;
  std::vector<ClusterNode> nodes; ///< in order; counts are expanded
  std::vector<std::string> sources;

  /// The medium between two nodes (or kHost): the slower of the two ends'
  /// links.
  const Link &between(size_t from, size_t to) const;
  /// Whether `from` may send to `to` (or kHost). In a chain every node may send
  /// to the host: the nodes after it are then bypassed.
  bool joined(size_t from, size_t to) const;
};

/// "switch", "chain".
llvm::StringRef nameOf(Cluster::Topology topology);

/// Reads a cluster by its name (a file of data/clusters without ".yaml") or
/// from a path, or forms one from "DEVICE:COUNT,…@LINK": devices or boards on
/// links of one kind, on a wire as a chain, otherwise at a switch. Devices and
/// links are names or, with a "/" or ".yaml", paths, relative ones from the
/// cluster's file. Errors are reported with path, line and reason; for a
/// device's or link's own file both places are named.
llvm::Expected<Cluster> loadCluster(llvm::StringRef nameOrPath);

/// All clusters of the data folder, by name in ascending order.
llvm::Expected<std::vector<Cluster>> listClusters();
} // namespace rhizome
