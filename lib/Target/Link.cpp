// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads link files, like Device.cpp for devices.
#include "rhizome/Target/Link.h"
#include "rhizome/Support/Yaml.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::yaml;

static Link readLink(const YAML::Node &root) {
  Mapping map(root, "a link file");
  Link link;
  link.name = map.plainName("name");
  link.description = map.get<std::string>("description");
  link.kind = map.choice<Medium::Kind>(
      "kind", {{"udp", Medium::Kind::Udp}, {"wire", Medium::Kind::Wire}});
  link.bitsPerS = map.real("bits_per_s", kLeastPerS, kMostPerS);
  link.latencyNs = map.whole("latency_ns", 0, kMostLatencyNs);
  // The frame protocol's header, and room for a tensor after it.
  link.mtuBytes = map.whole("mtu_bytes", 64, 65535);
  link.overheadBytes = map.whole("overhead_bytes", 0, 65535);
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
