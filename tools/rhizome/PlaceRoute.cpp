// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PlaceRoute.h"
#include "Output.h"
#include "llvm/ADT/StringExtras.h"

using namespace rhizome;
using namespace rhizome::cli;

llvm::Expected<PlaceRouteResult>
cli::placeAndRouteShown(const std::string &dir, Changes changes,
                        PlaceRouteOptions options, bool json) {
  llvm::Expected<Package> package = Package::open(dir, changes);
  if (!package)
    return package.takeError();
  printNotes(package->notes());
  ProgressLine line(!json);
  options.progress = [&](llvm::StringRef step) {
    line.show(step.str() + " …");
  };
  llvm::Expected<PlaceRouteResult> result = placeAndRoute(*package, options);
  line.show("");
  return result;
}

int cli::printPlaceRoute(const PlaceRouteResult &result) {
  llvm::outs() << (result.board.empty()
                       ? result.device
                       : result.board + " (" + result.device + ")")
               << ", " << result.tools << ", " << decimal(result.seconds, 0)
               << " s\n";
  llvm::outs() << "  Fmax       " << decimal(result.fmaxMhz, 1)
               << " MHz, the clock is " << decimal(result.clockMhz, 3)
               << " MHz\n";
  for (const auto &[kind, counts] : result.utilization) {
    std::string name = kind;
    name.resize(std::max<size_t>(name.size(), 16), ' ');
    llvm::outs() << "  " << name << " " << grouped(counts.first);
    if (counts.second > 0)
      llvm::outs() << " of " << grouped(counts.second) << ", "
                   << percent(double(counts.first) / double(counts.second));
    llvm::outs() << "\n";
  }
  if (result.path) {
    const CriticalPath &path = *result.path;
    llvm::outs() << "  longest path " << decimal(path.ns, 1) << " ns ("
                 << decimal(path.logicNs, 1) << " logic, "
                 << decimal(path.routingNs, 1) << " wires), " << path.cells
                 << " cells\n    from " << path.from << "\n    to   " << path.to
                 << "\n";
    for (const auto &[actor, node] : path.actors)
      llvm::outs() << "    through " << actor << " of node '" << node << "'\n";
  }
  if (!result.meetsClock()) {
    llvm::errs() << "error: the clock of " << decimal(result.clockMhz, 3)
                 << " MHz is missed\n";
    return 1;
  }
  if (!result.bitstream.empty())
    llvm::outs() << "  bitstream  " << result.bitstream << "\n  to flash   "
                 << result.flash << "\n";
  return 0;
}
