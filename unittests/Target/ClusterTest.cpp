// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shipped links and clusters load; malformed ones are refused by line.
#include "rhizome/Target/Cluster.h"
#include "../TestFolder.h"
#include "rhizome/Target/Host.h"

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
constexpr const char *kLink = R"(name: toy
description: a link for tests
kind: udp
bits_per_s: 1000000000
latency_ns: 5000
mtu_bytes: 1472
overhead_bytes: 66
sources: [nobody]
)";

constexpr const char *kCluster = R"(name: toy
description: a cluster for tests
link: udp-10g
nodes:
  - {device: xcku060-role, count: 2, clock_mhz: 100}
  - {device: lfe5u-85f, link: udp-1g, budget: {lut: 5000}}
sources: [nobody]
)";

std::string edited(std::string text, const std::string &from,
                   const std::string &to) {
  return text.replace(text.find(from), from.size(), to);
}

template <typename T>
std::string messageFor(llvm::Expected<T> load(llvm::StringRef),
                       const std::string &text) {
  TestFolder folder;
  folder.write("t.yaml", text);
  auto loaded = load(folder.path("t.yaml"));
  if (loaded)
    return "accepted";
  std::string message = llvm::toString(loaded.takeError());
  return message.substr(message.find("t.yaml"));
}

std::string linkWith(const std::string &from, const std::string &to) {
  return messageFor<Link>(loadLink, edited(kLink, from, to));
}

std::string clusterWith(const std::string &from, const std::string &to) {
  return messageFor<Cluster>(loadCluster, edited(kCluster, from, to));
}

TEST(Link, ShippedOnesLoad) {
  auto links = listLinks();
  ASSERT_TRUE(bool(links)) << llvm::toString(links.takeError());
  std::vector<std::string> names;
  for (const Link &link : *links)
    names.push_back(link.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "aurora-10g", "bus-8x12m", "lvds-8x400m", "pcie3-x16",
                       "spi-24m", "udp-100g", "udp-10g", "udp-1g", "udp-25g"}));
}

/// A frame of 32 x 32 RGB pixels is three datagrams; 10 GbE carries 382,000
/// of them per second.
TEST(Link, ADatagramHasItsOverhead) {
  auto link = loadLink("udp-10g");
  ASSERT_TRUE(bool(link)) << llvm::toString(link.takeError());
  EXPECT_EQ(link->kind, Link::Kind::Udp);
  double frame = 2 * link->secondsFor(1472) + link->secondsFor(3072 - 2 * 1472);
  EXPECT_NEAR(1 / frame, 382263, 1);
}

TEST(Host, TheDefaultLoadsAndMistakesAreNamedByLine) {
  auto host = loadHost(kDefaultHost);
  ASSERT_TRUE(bool(host)) << llvm::toString(host.takeError());
  EXPECT_EQ(host->name, kDefaultHost);
  EXPECT_EQ(host->link.name, "pcie3-x16");
  for (HostWork work : {HostWork::Macs, HostWork::Elements, HostWork::Curves,
                        HostWork::Reduced})
    EXPECT_GT(host->perS(work), 0);
  const std::string text =
      "name: t\ndescription: d\nmacs_per_s: 1e9\nelements_per_s: 1e9\n"
      "curves_per_s: 1e8\nreduced_per_s: 1e9\ncall_us: 1\nlink: udp-1g\n"
      "sources: [nobody]\n";
  EXPECT_EQ(messageFor<Host>(loadHost, text), "accepted");
  EXPECT_EQ(messageFor<Host>(
                loadHost, edited(text, "curves_per_s: 1e8", "curves_per_s: 0")),
            "t.yaml:5: 'curves_per_s' is 0, not from 1000 to 1e+15");
  EXPECT_NE(messageFor<Host>(loadHost, edited(text, "udp-1g", "tin-cans"))
                .find("t.yaml:8: unknown link 'tin-cans'"),
            std::string::npos);
}

TEST(Link, MistakesAreNamedByLine) {
  EXPECT_EQ(linkWith("kind: udp", "kind: pigeon"),
            "t.yaml:3: 'kind' is 'pigeon'; known are udp, wire");
  EXPECT_EQ(linkWith("bits_per_s: 1000000000", "bits_per_s: 0"),
            "t.yaml:4: 'bits_per_s' is 0, not from 1000 to 1e+15");
  EXPECT_EQ(linkWith("mtu_bytes: 1472", "mtu_bytes: 20"),
            "t.yaml:6: 'mtu_bytes' is 20, not from 64 to 65535");
  EXPECT_EQ(linkWith("overhead_bytes: 66\n", ""),
            "t.yaml:1: a link file needs 'overhead_bytes'");
  EXPECT_EQ(linkWith("latency_ns: 5000", "latency_ns: -1"),
            "t.yaml:5: 'latency_ns' is -1, not from 0 to 1000000000");
  EXPECT_EQ(linkWith("sources: [nobody]", "sources: []"),
            "t.yaml:8: a link file needs a list 'sources'");
  EXPECT_NE(linkWith("kind", "kinds").find("needs 'kind'"), std::string::npos);
}

TEST(Cluster, ShippedOnesLoad) {
  auto clusters = listClusters();
  ASSERT_TRUE(bool(clusters)) << llvm::toString(clusters.takeError());
  std::map<std::string, size_t> sizes;
  for (const Cluster &cluster : *clusters)
    sizes[cluster.name] = cluster.nodes.size();
  EXPECT_EQ(sizes, (std::map<std::string, size_t>{{"ecp5-12fx4", 4},
                                                  {"hbm4", 4},
                                                  {"ku060x1", 1},
                                                  {"ku060x2", 2},
                                                  {"ku060x20", 20},
                                                  {"ku060x9", 9},
                                                  {"mixed9", 9},
                                                  {"up5kx16", 16}}));
}

TEST(Cluster, PlacesHaveTheirOwnClockBudgetAndLink) {
  TestFolder folder;
  folder.write("t.yaml", kCluster);
  auto cluster = loadCluster(folder.path("t.yaml"));
  ASSERT_TRUE(bool(cluster)) << llvm::toString(cluster.takeError());
  ASSERT_EQ(cluster->nodes.size(), 3u);
  EXPECT_EQ(cluster->nodes[1].device.clockMhz, 100);
  EXPECT_EQ(cluster->nodes[1].device.budget.at("lut"), 96801);
  EXPECT_EQ(cluster->nodes[2].device.clockMhz, 80);
  EXPECT_EQ(cluster->nodes[2].device.budget.at("lut"), 5000);
  EXPECT_TRUE(cluster->replicas);
  EXPECT_EQ(cluster->hostLink.name, "udp-10g");
  EXPECT_EQ(cluster->between(0, 1).name, "udp-10g");
  EXPECT_EQ(cluster->between(0, 2).name, "udp-1g");
  EXPECT_EQ(cluster->between(Cluster::kHost, 2).name, "udp-1g");
  EXPECT_TRUE(cluster->joined(2, 0));
  EXPECT_FALSE(cluster->joined(1, 1));
}

TEST(Cluster, IsFormedFromDevicesAndALink) {
  auto formed = [](const char *text) -> std::string {
    auto cluster = loadCluster(text);
    if (!cluster)
      return llvm::toString(cluster.takeError());
    std::string all = cluster->name;
    for (const ClusterNode &node : cluster->nodes)
      all += " " + node.device.name + "/" + node.link.name + "/" +
             std::to_string(int(node.device.clockMhz));
    return all + " " + nameOf(cluster->topology).str() + " " +
           cluster->hostLink.name;
  };
  EXPECT_EQ(formed("xcku060:2@udp-10g"),
            "2-xcku060-udp-10g xcku060/udp-10g/156 xcku060/udp-10g/156 switch "
            "udp-10g");
  // A board has its own clock.
  EXPECT_EQ(formed("pynq-z2,icebreaker@udp-1g"),
            "1-pynq-z2-1-icebreaker-udp-1g xc7z020/udp-1g/100 "
            "ice40-up5k/udp-1g/12 switch udp-1g");
  EXPECT_EQ(formed("ice40-up5k:1@bus-8x12m"),
            "1-ice40-up5k-bus-8x12m ice40-up5k/bus-8x12m/12 chain bus-8x12m");
  EXPECT_EQ(formed("xcku060:0@udp-10g"),
            "the cluster 'xcku060:0@udp-10g' is not DEVICE:COUNT,…@LINK, such "
            "as xcku060:4@udp-10g: '0' is no count");
  EXPECT_EQ(formed(":3@udp-10g"),
            "the cluster ':3@udp-10g' is not DEVICE:COUNT,…@LINK, such as "
            "xcku060:4@udp-10g: a device is missing");
  EXPECT_NE(formed("xcku060:9999@udp-10g").find("at most 4096 nodes"),
            std::string::npos);
  EXPECT_NE(formed("xcku061:2@udp-10g").find("unknown device 'xcku061'"),
            std::string::npos);
  EXPECT_NE(formed("xcku060:2@udp-11g").find("unknown link 'udp-11g'"),
            std::string::npos);
}

TEST(Cluster, AChainReachesItsNeighbors) {
  auto chain = loadCluster("up5kx16");
  ASSERT_TRUE(bool(chain)) << llvm::toString(chain.takeError());
  EXPECT_EQ(chain->topology, Cluster::Topology::Chain);
  EXPECT_FALSE(chain->replicas);
  EXPECT_TRUE(chain->joined(0, 1));
  EXPECT_FALSE(chain->joined(0, 2));
  EXPECT_FALSE(chain->joined(1, 0));
  EXPECT_TRUE(chain->joined(Cluster::kHost, 0));
  EXPECT_FALSE(chain->joined(Cluster::kHost, 1));
  EXPECT_TRUE(chain->joined(5, Cluster::kHost));
}

/// Paths in a cluster's file are relative to that file's folder.
TEST(Cluster, DevicesAndLinksMayBeFiles) {
  TestFolder folder;
  folder.write("slow.yaml", kLink);
  folder.write("t.yaml",
               edited(kCluster, "link: udp-10g", "link: ./slow.yaml"));
  auto cluster = loadCluster(folder.path("t.yaml"));
  ASSERT_TRUE(bool(cluster)) << llvm::toString(cluster.takeError());
  EXPECT_EQ(cluster->nodes[0].link.name, "toy");
  folder.write("slow.yaml", edited(kLink, "udp", "smoke"));
  cluster = loadCluster(folder.path("t.yaml"));
  ASSERT_FALSE(bool(cluster));
  std::string message = llvm::toString(cluster.takeError());
  EXPECT_NE(message.find("t.yaml:3: "), std::string::npos) << message;
  EXPECT_NE(message.find("slow.yaml:3: 'kind' is 'smoke'"), std::string::npos)
      << message;
}

TEST(Cluster, MistakesAreNamedByLine) {
  EXPECT_EQ(clusterWith("count: 2", "count: 0"),
            "t.yaml:5: 'count' is 0, not from 1 to 4096");
  EXPECT_EQ(clusterWith("count: 2", "count: 4096"),
            "t.yaml:6: the cluster has more than 4096 nodes");
  EXPECT_EQ(clusterWith("lut: 5000", "lut: 500000"),
            "t.yaml:6: 'lut' is 500000, but 'lfe5u-85f' has 83640");
  EXPECT_EQ(clusterWith("lut: 5000", "gates: 5"),
            "t.yaml:6: 'budget' has an unknown key 'gates'; known are bram, "
            "dsp, ff, lut, lutram, uram");
  EXPECT_EQ(clusterWith("link: udp-1g", "link: lvds-8x400m"),
            "t.yaml:6: 'lvds-8x400m' is a wire link, but 'udp-10g' of the "
            "first node a udp link; they cannot be joined");
  EXPECT_EQ(clusterWith("link: udp-10g\n", ""),
            "t.yaml:4: a node needs 'link', as the cluster has none for all");
  EXPECT_EQ(clusterWith("clock_mhz: 100", "clock_mhz: 0"),
            "t.yaml:5: 'clock_mhz' is 0, not from 0.001 to 10000");
  EXPECT_EQ(clusterWith("link: udp-10g", "link: udp-10g\ntopology: ring"),
            "t.yaml:4: 'topology' is 'ring'; known are switch, chain");
  EXPECT_EQ(clusterWith("link: udp-10g", "link: udp-10g\nreplicas: 3"),
            "t.yaml:4: 'replicas' is '3', which is not true or false");
  EXPECT_NE(
      clusterWith("xcku060-role", "xcku60")
          .find("t.yaml:5: unknown device 'xcku60'; did you mean 'xcku060'? "
                "Known are "),
      std::string::npos);
  EXPECT_NE(clusterWith("link: udp-10g", "link: udp-11g")
                .find("t.yaml:3: unknown link 'udp-11g'; did you mean "
                      "'udp-10g'? Known are "),
            std::string::npos);
  EXPECT_EQ(messageFor<Cluster>(loadCluster, "name: t\ndescription: d\n"
                                             "nodes: []\n"),
            "t.yaml:3: 'nodes' must be a list of nodes");
  EXPECT_EQ(messageFor<Cluster>(loadCluster, "name: t\ndescription: d\n"),
            "t.yaml:1: a cluster file needs 'nodes'");
}
} // namespace
