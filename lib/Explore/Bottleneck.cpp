// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a plan's bottleneck is called.
#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
std::string describe(const Bottleneck &bottleneck) {
  switch (bottleneck.kind) {
  case flow::BottleneckKind::Operation:
    return bottleneck.node;
  case flow::BottleneckKind::Border:
    return "the border";
  case flow::BottleneckKind::Link:
    return "the link";
  case flow::BottleneckKind::HostLink:
    return "the host's link";
  case flow::BottleneckKind::Memory:
    return "the memory '" + bottleneck.node + "'";
  case flow::BottleneckKind::State:
    return "the way of '" + bottleneck.node + "' to the next frame";
  }
  llvm_unreachable("every kind has its words");
}
} // namespace rhizome::explore
