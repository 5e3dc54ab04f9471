// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
std::optional<Goal> parseGoal(llvm::StringRef text) {
  if (text == "max-throughput")
    return Goal{Goal::Kind::MaxThroughput, 0};
  if (text == "min-resources")
    return Goal{Goal::Kind::MinResources, 0};
  if (text == "min-nodes")
    return Goal{Goal::Kind::MinNodes, 0};
  double value = 0;
  if (text.consume_front("throughput=")) {
    text.consume_back("/s");
    if (text.getAsDouble(value) || !(value > 0))
      return std::nullopt;
    return Goal{Goal::Kind::Throughput, value};
  }
  if (text.consume_front("latency=")) {
    double unit = 1;
    if (text.consume_back("ns"))
      unit = 1e-9;
    else if (text.consume_back("us"))
      unit = 1e-6;
    else if (text.consume_back("ms"))
      unit = 1e-3;
    else if (!text.consume_back("s"))
      return std::nullopt;
    if (text.getAsDouble(value) || !(value > 0))
      return std::nullopt;
    return Goal{Goal::Kind::Latency, value * unit};
  }
  return std::nullopt;
}
} // namespace rhizome::explore
