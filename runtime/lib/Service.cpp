// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/service.h"
#include <numeric>

namespace rhizome::link {
Router::Router(const std::vector<Route> &routes, uint64_t index,
               uint64_t count) {
  std::vector<uint64_t> periods;
  for (const Route &route : routes) {
    if (periods.size() <= route.port)
      periods.resize(route.port + 1, 1);
    periods[route.port] = std::lcm(periods[route.port], route.every);
  }
  ports.resize(periods.size());
  for (size_t p = 0; p < ports.size(); ++p)
    ports[p].channels.resize(size_t(periods[p] / std::gcd(periods[p], count)));
  for (const Route &route : routes) {
    std::vector<std::vector<uint16_t>> &channels = ports[route.port].channels;
    for (size_t f = 0; f < channels.size(); ++f)
      if ((index + f * count) % route.every == route.first)
        channels[f].push_back(route.channel);
  }
}

const std::vector<uint16_t> &Router::next(size_t port) const {
  const Port &p = ports[port];
  return p.channels[size_t(p.frame % p.channels.size())];
}

void Router::reset() {
  for (Port &port : ports)
    port.frame = 0;
}

size_t TensorInfo::elements() const {
  size_t n = 1;
  for (int64_t size : shape)
    n *= size_t(size);
  return n;
}
} // namespace rhizome::link
