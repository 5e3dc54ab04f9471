// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Library.h"
#include "rhizome/ClusterSim/Model.h"
#include "rhizome/Package/NodeChannels.h"
#include <algorithm>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::clustersim;

NodeModel::NodeModel() = default;
NodeModel::~NodeModel() = default;

Expected<std::unique_ptr<NodeModel>>
NodeModel::open(const std::string &path, const std::string &images,
                const Plan &plan, const PlannedNode &node, uint64_t seed) {
  std::unique_ptr<NodeModel> model(new NodeModel);
  Expected<std::unique_ptr<Library>> library = Library::open(
      path, images, seed, node.address, nodeConfiguration(plan, node), 1, 1);
  if (!library)
    return library.takeError();
  model->library = std::move(*library);
  model->beatBytes = node.streamBits / 8;
  model->beat.resize(model->beatBytes);
  model->library->outputs[0].data = model->beat.data();
  return std::move(model);
}

void NodeModel::push(std::vector<uint8_t> datagram) {
  arriving.push_back(std::move(datagram));
}

bool NodeModel::pop(Outgoing &datagram) {
  if (leaving.empty())
    return false;
  datagram = std::move(leaving.front());
  leaving.pop_front();
  return true;
}

Error NodeModel::cycle() {
  rhz_stream &in = library->inputs[0], &out = library->outputs[0];
  std::vector<uint8_t> padded(beatBytes);
  in.valid = !arriving.empty();
  if (in.valid) {
    const std::vector<uint8_t> &datagram = arriving.front();
    size_t bytes = std::min<size_t>(beatBytes, datagram.size() - position);
    std::copy_n(datagram.begin() + int64_t(position), bytes, padded.begin());
    in.data = padded.data();
    in.keep = uint8_t((1u << bytes) - 1);
    in.last = position + bytes == datagram.size();
  }
  out.ready = accepting;
  library->cycle();
  ++clocked;
  if (in.valid && in.ready) {
    position += beatBytes;
    if (in.last) {
      position = 0;
      arriving.pop_front();
    }
  }
  if (!out.valid || !out.ready)
    return Error::success();
  unsigned bytes = 0;
  while (bytes < beatBytes && (out.keep >> bytes & 1))
    ++bytes;
  if (out.keep != uint8_t((1u << bytes) - 1) || bytes == 0 ||
      (!out.last && bytes != beatBytes))
    return createStringError("its endpoint sends a beat with holes: keep is "
                             "0x%x, last %d",
                             out.keep, out.last);
  current.insert(current.end(), beat.begin(), beat.begin() + bytes);
  if (out.last)
    leaving.push_back({out.dest, std::exchange(current, {})});
  else if (current.size() > 4096)
    return createStringError("its endpoint sends a datagram without an end");
  return Error::success();
}
