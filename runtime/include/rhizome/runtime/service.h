// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled service as seen by a party: its channels, their
// tensors, the nodes. The compiler fills it in, for itself and for generated
// clients.
#pragma once

#include "rhizome/runtime/link.h"
#include "rhizome/runtime/region.h"

namespace rhizome::link {
/// The frames f of a service with f mod every == first take this channel at
/// a party's port.
struct Route {
  size_t port = 0;
  uint16_t channel = 0;
  uint64_t first = 0, every = 1;
};

/// Which channels the next frame of each port uses. Frames are numbered over
/// the whole service from the beginning of an epoch; a replica handles every
/// `count`-th of them, beginning with `index`.
class Router {
public:
  Router(const std::vector<Route> &routes, uint64_t index = 0,
         uint64_t count = 1);
  size_t size() const { return ports.size(); }
  /// One channel where a party receives, all of a broadcast where it sends.
  const std::vector<uint16_t> &next(size_t port) const;
  /// Advances to the port's next frame.
  void advance(size_t port) { ++ports[port].frame; }
  /// Restarts with the first frame.
  void reset();

private:
  struct Port {
    std::vector<std::vector<uint16_t>> channels; ///< by frame, periodic
    uint64_t frame = 0;
  };
  std::vector<Port> ports;
};

/// A tensor that the client sends or receives.
struct TensorInfo {
  std::string name;
  std::vector<int64_t> shape; ///< channels-last
  unsigned width = 8;         ///< bits of an element
  bool isSigned = false;
  size_t elements() const;
};

struct NodeInfo {
  std::string name;
  uint16_t address = 0;
};

/// The client's view of a service.
struct Service {
  std::vector<ChannelConfig> channels; ///< the client's
  std::vector<Route> inputs, outputs;  ///< of frames that enter and leave
  std::vector<TensorInfo> inputTensors, outputTensors;
  std::vector<NodeInfo> nodes;
  /// Of the inputs and outputs; none: one of all.
  std::vector<runtime::Region> regions;
};
} // namespace rhizome::link
