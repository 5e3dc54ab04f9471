// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a phase: counters, addresses that follow them, and the ports
// that read there.
#include "Unit.h"

using namespace mlir;

namespace rhizome::gen::hls {
Walk Unit::walk(ArrayRef<int64_t> trips, size_t inner, Value issue,
                ArrayRef<Reach> reaches, ArrayRef<int64_t> words) {
  Walk out;
  out.isLast = out.isFirst = out.isFinal = constant(1, 1);
  std::vector<Value> moves(trips.size()); ///< the loop steps or starts again
  std::vector<Value> ends(trips.size());
  for (size_t l = trips.size(); l-- > 0;) {
    int64_t n = addressBits(trips[l]);
    moves[l] = both(issue, out.isLast);
    Value count = state(n, moves[l]);
    ends[l] = isEqual(count, trips[l] - 1);
    setNext(count, choose(ends[l], constant(n, 0),
                          rtl::AddOp::create(b, loc, count, constant(n, 1))));
    if (l >= inner) {
      out.isFirst = both(out.isFirst, isEqual(count, 0));
      out.isFinal = both(out.isFinal, ends[l]);
    }
    out.isLast = both(out.isLast, ends[l]);
  }
  for (auto [reach, size] : llvm::zip_equal(reaches, words)) {
    int64_t n = addressBits(size);
    Value address = state(n, issue, reach.first);
    // The innermost loop that does not end steps; after all, the start again.
    int64_t back = 0; ///< of the loops further in
    std::vector<int64_t> by(trips.size());
    for (size_t l = trips.size(); l-- > 0;) {
      by[l] = reach.steps[l] - back;
      back += reach.steps[l] * (trips[l] - 1);
    }
    Value step = constant(n, -back);
    for (size_t l = 0; l < trips.size(); ++l)
      step = choose(ends[l], step, constant(n, by[l]));
    setNext(address, rtl::AddOp::create(b, loc, address, step));
    out.addresses.push_back(address);
  }
  return out;
}

Walk Unit::walkOver(Value tensor, Value issue) {
  View view = viewOf(tensor);
  if (view.base == tensor)
    return walk({wordsOf(tensor)}, 0, issue, {Reach{0, {1}}},
                {wordsOf(tensor)});
  return walk(cast<RankedTensorType>(tensor.getType()).getShape(), 0, issue,
              {Reach{view.first, view.strides}}, {wordsOf(view.base)});
}

void Unit::put(Value tensor, Value address, Value data, Value enable) {
  Store &store = stores[viewOf(tensor).base];
  if (!store.write) {
    store.write = rtl::WriteOp::create(b, loc, store.memory, address, data,
                                       clock, enable);
    return;
  }
  rtl::WriteOp w = store.write;
  Value others = w.getEnable();
  w.getAddressMutable().assign(choose(enable, address, w.getAddress()));
  w.getDataMutable().assign(choose(enable, data, w.getData()));
  w.getEnableMutable().assign(either(enable, others));
}

/// The element at `address`, a cycle later, in a phase's turn.
Value Unit::read(Value tensor, size_t port, Value turn, Value address) {
  Store &store = stores[viewOf(tensor).base];
  if (store.ports.size() <= port)
    store.ports.resize(port + 1);
  Store::Port &p = store.ports[port];
  p.addresses.push_back({turn, address});
  if (!p.read) {
    p.read = rtl::ReadOp::create(b, loc, bits(widthOf(tensor)), store.memory,
                                 address, clock, Value());
  } else {
    Value before = p.read.getAddress();
    p.read.getAddressMutable().assign(choose(turn, address, before));
  }
  return p.read.getResult();
}
} // namespace rhizome::gen::hls
