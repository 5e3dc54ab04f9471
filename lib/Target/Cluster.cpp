// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads cluster files: resolves names to devices and links, expands counts to
// places, and refuses what cannot be connected.
#include "rhizome/Target/Cluster.h"
#include "rhizome/Support/Yaml.h"
#include "rhizome/Target/Board.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::yaml;

StringRef rhizome::nameOf(Cluster::Topology topology) {
  return topology == Cluster::Topology::Switch ? "switch" : "chain";
}

const Link &Cluster::between(size_t from, size_t to) const {
  const Link &a = from == kHost ? hostLink : nodes[from].link;
  const Link &b = to == kHost ? hostLink : nodes[to].link;
  return b.bitsPerS < a.bitsPerS ? b : a;
}

bool Cluster::joined(size_t from, size_t to) const {
  if (from == to)
    return false;
  if (topology == Topology::Switch || to == kHost)
    return true;
  return to == (from == kHost ? 0 : from + 1);
}

namespace {
/// More places than this are treated as a mistake.
constexpr int64_t kMostNodes = 4096;

/// The target that `key` names; mistakes in its own file are reported after
/// this place.
template <typename T>
T loadNamedIn(Mapping &map, const std::string &key, const std::string &folder,
              Expected<T> load(StringRef)) {
  std::string name = map.get<std::string>(key);
  if (namesPath(name) && sys::path::is_relative(name) && !folder.empty())
    name = folder + "/" + name;
  Expected<T> loaded = load(name);
  if (!loaded)
    throw Mistake{lineOf(map.find(key)), toString(loaded.takeError())};
  return std::move(*loaded);
}

/// Applies the cluster's limits to a device.
void readBudget(const YAML::Node &node, Device &device) {
  Mapping map(node, "'budget'");
  for (auto &[resource, count] : device.budget) {
    YAML::Node value = map.find(resource);
    if (!value)
      continue;
    int64_t left = Mapping::wholeOf(value, resource, 0, kMostResources);
    if (left > count)
      throw Mistake{lineOf(value), "'" + resource + "' is " +
                                       std::to_string(left) + ", but '" +
                                       device.name + "' has " +
                                       std::to_string(count)};
    count = left;
  }
  map.finish();
}

void readNodes(const YAML::Node &list, const std::string &folder,
               const std::optional<Link> &common, Cluster &cluster) {
  if (!list.IsSequence() || list.size() == 0)
    throw Mistake{lineOf(list), "'nodes' must be a list of nodes"};
  for (const YAML::Node &entry : list) {
    Mapping map(entry, "a node");
    ClusterNode node;
    node.device = loadNamedIn<Device>(map, "device", folder, loadDevice);
    map.realIf("clock_mhz", kLeastMhz, kMostMhz, node.device.clockMhz);
    if (YAML::Node budget = map.find("budget"))
      readBudget(budget, node.device);
    if (map.find("link"))
      node.link = loadNamedIn<Link>(map, "link", folder, loadLink);
    else if (common)
      node.link = *common;
    else
      throw Mistake{lineOf(entry), "a node needs 'link', as the cluster has "
                                   "none for all"};
    int64_t count = 1;
    map.wholeIf("count", 1, kMostNodes, count);
    map.finish();
    if (count > kMostNodes - int64_t(cluster.nodes.size()))
      throw Mistake{lineOf(entry), "the cluster has more than " +
                                       std::to_string(kMostNodes) + " nodes"};
    if (!cluster.nodes.empty() && node.link.kind != cluster.nodes[0].link.kind)
      throw Mistake{lineOf(entry),
                    "'" + node.link.name + "' is a " +
                        nameOf(node.link.kind).str() + " link, but '" +
                        cluster.nodes[0].link.name + "' of the first node a " +
                        nameOf(cluster.nodes[0].link.kind).str() +
                        " link; they cannot be joined"};
    cluster.nodes.insert(cluster.nodes.end(), count, node);
  }
}

/// Paths in the file are relative to `folder`.
Cluster readCluster(const YAML::Node &root, const std::string &folder) {
  Mapping map(root, "a cluster file");
  Cluster c;
  c.name = map.plainName("name");
  c.description = map.get<std::string>("description");
  using Topology = Cluster::Topology;
  if (map.find("topology"))
    c.topology = map.choice<Topology>(
        "topology", {{"switch", Topology::Switch}, {"chain", Topology::Chain}});
  if (YAML::Node replicas = map.find("replicas"))
    c.replicas = Mapping::convert<bool>(replicas, "replicas");
  std::optional<Link> common;
  if (map.find("link"))
    common = loadNamedIn<Link>(map, "link", folder, loadLink);
  YAML::Node nodes = map.find("nodes");
  if (!nodes)
    throw Mistake{lineOf(root), "a cluster file needs 'nodes'"};
  readNodes(nodes, folder, common, c);
  if (map.find("host_link"))
    c.hostLink = loadNamedIn<Link>(map, "host_link", folder, loadLink);
  else if (common)
    c.hostLink = *common;
  else
    throw Mistake{lineOf(root), "a cluster file needs 'link' or 'host_link'"};
  c.sources = readSources(map, root);
  map.finish();
  return c;
}
} // namespace

/// A device by its own name or a board's, whose clock it then has.
static Expected<Device> deviceOrBoard(StringRef name) {
  Expected<std::vector<std::string>> boards = yamlPaths("boards");
  if (!boards)
    return boards.takeError();
  if (none_of(*boards, [&](const std::string &path) {
        return sys::path::stem(path) == name;
      }))
    return loadDevice(name);
  Expected<Board> board = loadBoard(name);
  if (!board)
    return board.takeError();
  Expected<Device> device = loadDevice(board->device);
  if (device)
    device->clockMhz = board->clockMhz;
  return device;
}

/// "xcu55c:2,xcu280:2@udp-100g".
static Expected<Cluster> formCluster(StringRef text) {
  auto refuse = [&](const Twine &why) {
    return createStringError("the cluster '%s' is not DEVICE:COUNT,…@LINK, "
                             "such as xcku060:4@udp-10g: %s",
                             printable(text).c_str(), why.str().c_str());
  };
  auto [members, linkName] = text.rsplit('@');
  Expected<Link> link = loadLink(linkName);
  if (!link)
    return link.takeError();
  Cluster c;
  if (link->kind == Medium::Kind::Wire) {
    c.topology = Cluster::Topology::Chain;
    c.replicas = false;
  }
  SmallVector<StringRef> parts;
  members.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, digits] = part.rsplit(':');
    int64_t count = 1;
    if (part.contains(':') && (digits.getAsInteger(10, count) || count < 1))
      return refuse("'" + printable(digits) + "' is no count");
    if (count > kMostNodes - int64_t(c.nodes.size()))
      return refuse("there are at most " + Twine(kMostNodes) + " nodes");
    if (name.empty())
      return refuse("a device is missing");
    Expected<Device> device = deviceOrBoard(name);
    if (!device)
      return device.takeError();
    // The name becomes part of the plan.
    const std::string stem = sys::path::stem(name).str();
    c.name += (c.name.empty() ? "" : "-") + std::to_string(count) + "-" +
              (isPlainName(stem) ? stem : device->name);
    ClusterNode node;
    node.device = std::move(*device);
    node.link = *link;
    c.nodes.insert(c.nodes.end(), size_t(count), node);
  }
  c.name += "-" + link->name;
  c.description = (c.topology == Cluster::Topology::Chain
                       ? "a row, each joined to the next by "
                       : "all at one switch on ") +
                  link->name;
  c.hostLink = std::move(*link);
  c.sources = {"as named: " + printable(text)};
  return c;
}

Expected<Cluster> rhizome::loadCluster(StringRef nameOrPath) {
  if (formsCluster(nameOrPath))
    return formCluster(nameOrPath);
  std::string folder;
  if (namesPath(nameOrPath))
    folder = sys::path::parent_path(nameOrPath);
  return loadNamed<Cluster>(
      nameOrPath, "clusters", "cluster",
      [&](const YAML::Node &root) { return readCluster(root, folder); });
}

Expected<std::vector<Cluster>> rhizome::listClusters() {
  return loadAll<Cluster>(
      "clusters", [](const YAML::Node &root) { return readCluster(root, ""); });
}
