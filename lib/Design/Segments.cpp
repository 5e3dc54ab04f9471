// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of segments: the only place that decides addresses.
#include "rhizome/Design/Segments.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <utility>

using namespace mlir;

namespace rhizome::gen {
/// Sets one of an actor's parameters.
static void setParameter(flow::ActorOp op, StringRef name, int64_t value) {
  Builder builder(op.getContext());
  NamedAttrList config(op.getConfig());
  config.set(name, builder.getI64IntegerAttr(value));
  op.setConfigAttr(config.getDictionary(op.getContext()));
}

/// Calls use(actor, unit, port, bank) for each memory port of a design's
/// actors, until it fails.
template <typename Use>
static LogicalResult forPorts(flow::DesignOp design, Use use) {
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = op.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), op.getBanks()))
      if (failed(use(op, unit, *port, bank)))
        return failure();
  }
  return success();
}

FailureOr<std::vector<Segment>> layOut(flow::DesignOp design,
                                       const MemoryImages &images) {
  std::vector<Segment> segments;
  std::map<std::pair<StringRef, int64_t>, int64_t> free;
  auto take = [&](flow::BankAttr bank, int64_t bytes) {
    int64_t &next = free[{bank.getMemory(), bank.getBank()}];
    return std::exchange(
        next, int64_t(llvm::alignTo(uint64_t(next + bytes), unit::kPageBytes)));
  };
  auto placeOf = [&](flow::BankAttr bank, int64_t bytes) -> Segment & {
    for (Segment &s : segments)
      if (s.image == bank.getSegment() && s.memory == bank.getMemory() &&
          s.bank == bank.getBank())
        return s;
    const int64_t address = take(bank, bytes);
    return segments.emplace_back(Segment{bank.getSegment().str(),
                                         bank.getMemory().str(), bank.getBank(),
                                         address, bytes});
  };
  auto place = [&](flow::ActorOp op, const unit::Instance &unit,
                   const unit::Port &port,
                   flow::BankAttr bank) -> LogicalResult {
    auto image = images.find(bank.getSegment().str());
    if (image == images.end())
      return op.emitOpError("reads the segment '")
             << bank.getSegment() << "', which nobody has made";
    const MemoryImage &contents = image->second;
    if (contents.width != unit.bitsOf(port))
      return op.emitOpError("reads the segment '")
             << bank.getSegment() << "' in words of " << unit.bitsOf(port)
             << " bits, which has words of " << contents.width;
    Segment &segment = placeOf(bank, contents.width / 8 * contents.depth);
    segment.bytesPerFrame += port.traffic.bytes(unit.params.data());
    setParameter(op, port.traffic.page, segment.address / unit::kPageBytes);
    return success();
  };
  auto heldBy = [](const unit::Instance &unit, const unit::Port &port) {
    return port.writes() ? port.traffic.held(unit.params.data()) : 0;
  };
  // What is read, then segments of units that have space behind them, then what
  // is only space: so hardly any space lies between data.
  if (failed(forPorts(
          design,
          [&](flow::ActorOp op, auto &unit, auto &port, flow::BankAttr bank) {
            return port.writes() ? success() : place(op, unit, port, bank);
          })) ||
      failed(forPorts(
          design,
          [&](flow::ActorOp op, auto &unit, auto &port, flow::BankAttr bank) {
            if (heldBy(unit, port) == 0)
              return success();
            const LogicalResult placed = place(op, unit, port, bank);
            take(bank, port.traffic.space(unit.params.data()));
            return placed;
          })) ||
      failed(forPorts(design, [&](flow::ActorOp op, auto &unit, auto &port,
                                  flow::BankAttr bank) {
        if (port.writes() && heldBy(unit, port) == 0)
          setParameter(op, port.traffic.page,
                       take(bank, port.traffic.space(unit.params.data())) /
                           unit::kPageBytes);
        return success();
      })))
    return failure();
  return segments;
}

Space spaceOf(flow::DesignOp design, StringRef memory, int64_t bank) {
  int64_t end = 0;
  Space space;
  (void)forPorts(design, [&](flow::ActorOp, auto &unit, auto &port,
                             flow::BankAttr at) {
    if (!port.writes() || at.getMemory() != memory || at.getBank() != bank)
      return success();
    const int64_t *params = unit.params.data();
    const int64_t begin = unit.get(port.traffic.page) * unit::kPageBytes +
                          port.traffic.held(params);
    space.address = end == 0 ? begin : std::min(space.address, begin);
    end = std::max(
        end, int64_t(llvm::alignTo(uint64_t(begin + port.traffic.space(params)),
                                   unit::kPageBytes)));
    if (port.traffic.held(params) == 0)
      space.bytesPerFrame += port.traffic.bytes(params);
    return success();
  });
  space.bytes = end - space.address;
  return space;
}
} // namespace rhizome::gen
