// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Explore/Solver/Limit.h"
#include "rhizome/Support/Units.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

namespace rhizome::explore {
static std::string resourceText(const Limit &limit) {
  return llvm::formatv("{0}: {1:F0} needed, {2:F0} available", limit.resource,
                       limit.needed, limit.available);
}

static std::string bitsText(double bits) {
  return bits < 1e6 ? llvm::formatv("{0:F1} kbit", bits * 1e-3)
                    : llvm::formatv("{0:F1} Mbit", bits * 1e-6);
}

std::string describe(const Limit &limit) {
  switch (limit.kind) {
  case Limit::Kind::None:
    return "";
  case Limit::Kind::Options:
    return "no generator offers anything quicker";
  case Limit::Kind::Stage:
    return "node '" + limit.stage + "' by itself is slower, or fits no device";
  case Limit::Kind::StageAlone:
    return "node '" + limit.stage + "' by itself on a '" + limit.device +
           "', " + resourceText(limit);
  case Limit::Kind::Resource:
    return resourceText(limit);
  case Limit::Kind::Weights:
    return "the weights alone take " + bitsText(limit.needed) +
           ", all memories and LUTs hold " + bitsText(limit.available);
  case Limit::Kind::Bandwidth:
    return llvm::formatv("the memory '{0}': {1:F0} bytes a frame, {2:F0} in "
                         "the time of one",
                         limit.resource, limit.needed, limit.available);
  case Limit::Kind::AllResources:
    return "the resources of all devices together";
  case Limit::Kind::HostLink:
    return "the host's link";
  case Limit::Kind::Links:
    return "the links";
  case Limit::Kind::Border:
    return llvm::formatv("the border: {0} beats of {1} bits a frame",
                         limit.beats, limit.bits);
  case Limit::Kind::Latency:
    return "the least latency found is " + durationText(limit.seconds);
  case Limit::Kind::State:
    return llvm::formatv("a frame takes '{0}' from the one before: the way "
                         "around that loop takes {1}",
                         limit.stage, durationText(limit.seconds));
  case Limit::Kind::Cuts:
    return "where the network can be cut: all devices together would have "
           "enough";
  case Limit::Kind::Dies:
    return "where the network can be cut between dies: all of them together "
           "would have enough";
  case Limit::Kind::Search:
    return "the search, which follows too few combinations of options here";
  case Limit::Kind::Pins:
    return "the pinned places and cuts";
  case Limit::Kind::PinOrder:
    return llvm::formatv("the pins: '{0}' at place {1} comes after '{2}' at "
                         "place {3}, but places are taken in order",
                         limit.stage, limit.place, limit.other,
                         limit.otherPlace);
  }
  llvm_unreachable("every kind has its words");
}
} // namespace rhizome::explore
