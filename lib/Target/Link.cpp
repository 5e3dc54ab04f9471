// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads link files, like Device.cpp for devices.
#include "rhizome/Target/Link.h"
#include "Yaml.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::target;

static Link readLink(const YAML::Node &root) {
  Mapping map(root, "a link file");
  Link link;
  link.name = map.plainName("name");
  link.description = map.get<std::string>("description");
  link.kind = map.choice<Medium::Kind>(
      "kind", {{"udp", Medium::Kind::Udp}, {"wire", Medium::Kind::Wire}});
  link.bitsPerS = map.get<double>("bits_per_s");
  if (!(link.bitsPerS > 0))
    throw Mistake{lineOf(map.find("bits_per_s")), "'bits_per_s' is 0"};
  link.latencyNs = map.get<int64_t>("latency_ns");
  link.mtuBytes = positive(map, "mtu_bytes");
  // The frame protocol's header, and room for a tensor after it.
  constexpr int64_t kLeast = 64;
  if (link.mtuBytes < kLeast)
    throw Mistake{lineOf(map.find("mtu_bytes")),
                  "'mtu_bytes' is " + std::to_string(link.mtuBytes) +
                      ", less than " + std::to_string(kLeast)};
  link.overheadBytes = map.get<int64_t>("overhead_bytes");
  link.sources = readSources(map, root);
  map.finish();
  return link;
}

Expected<Link> rhizome::loadLink(StringRef nameOrPath) {
  return loadNamed<Link>(nameOrPath, "links", "link", readLink);
}

Expected<std::vector<Link>> rhizome::listLinks() {
  return loadAll<Link>("links", readLink);
}
