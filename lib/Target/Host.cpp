// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads host files, like Device.cpp for devices.
#include "rhizome/Target/Host.h"
#include "rhizome/Support/Yaml.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::yaml;

double Host::perS(HostWork work) const {
  switch (work) {
  case HostWork::Macs:
    return macsPerS;
  case HostWork::Elements:
    return elementsPerS;
  case HostWork::Curves:
    return curvesPerS;
  case HostWork::Reduced:
    return reducedPerS;
  }
  llvm_unreachable("all classes return");
}

static Host readHost(const YAML::Node &root) {
  Mapping map(root, "a host file");
  Host host;
  host.name = map.get<std::string>("name");
  host.description = map.get<std::string>("description");
  auto rate = [&](const char *key) {
    return map.real(key, kLeastPerS, kMostPerS);
  };
  host.macsPerS = rate("macs_per_s");
  host.elementsPerS = rate("elements_per_s");
  host.curvesPerS = rate("curves_per_s");
  host.reducedPerS = rate("reduced_per_s");
  host.callUs = map.real("call_us", 1e-6, 1e6);
  Expected<Link> link = loadLink(map.get<std::string>("link"));
  if (!link)
    throw Mistake{lineOf(map.find("link")), toString(link.takeError())};
  host.link = std::move(*link);
  host.sources = readSources(map, root);
  map.finish();
  return host;
}

Expected<Host> Host::at(const Device &device, const Board *board) const {
  Host host = *this;
  std::vector<Board> boards;
  if (!board && device.platform.empty() && device.shell.empty()) {
    Expected<std::vector<Board>> all = listBoards();
    if (!all)
      return all.takeError();
    boards = std::move(*all);
    auto found = find_if(
        boards, [&](const Board &one) { return one.device == device.name; });
    if (found != boards.end())
      board = &*found;
  }
  if (board && board->host() != Board::Host::Platform)
    host.link = board->ownLink();
  return host;
}

Expected<Host> rhizome::loadHost(StringRef nameOrPath) {
  return loadNamed<Host>(nameOrPath, "hosts", "host", readHost);
}
