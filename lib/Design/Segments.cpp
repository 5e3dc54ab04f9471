// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of segments: the only place that decides addresses.
#include "rhizome/Design/Segments.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace mlir;

namespace rhizome::gen {
/// Sets one of an actor's parameters.
static void setParameter(flow::ActorOp op, StringRef name, int64_t value) {
  Builder builder(op.getContext());
  NamedAttrList config(op.getConfig());
  config.set(name, builder.getI64IntegerAttr(value));
  op.setConfigAttr(config.getDictionary(op.getContext()));
}

FailureOr<std::vector<Segment>> layOut(flow::DesignOp design,
                                       const MemoryImages &images) {
  std::vector<Segment> segments;
  std::map<std::pair<StringRef, int64_t>, int64_t> free;
  auto placeOf = [&](flow::BankAttr bank, int64_t bytes) -> Segment & {
    for (Segment &s : segments)
      if (s.image == bank.getSegment() && s.memory == bank.getMemory() &&
          s.bank == bank.getBank())
        return s;
    int64_t &next = free[{bank.getMemory(), bank.getBank()}];
    int64_t address = next;
    next = int64_t(
        llvm::alignTo(uint64_t(address + bytes), uint64_t(unit::kPageBytes)));
    return segments.emplace_back(Segment{bank.getSegment().str(),
                                         bank.getMemory().str(), bank.getBank(),
                                         address, bytes});
  };
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = op.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), op.getBanks())) {
      if (port->writes())
        continue;
      auto image = images.find(bank.getSegment().str());
      if (image == images.end())
        return op.emitOpError("reads the segment '")
               << bank.getSegment() << "', which nobody has made";
      const MemoryImage &contents = image->second;
      if (contents.width != unit.bitsOf(*port))
        return op.emitOpError("reads the segment '")
               << bank.getSegment() << "' in words of " << unit.bitsOf(*port)
               << " bits, which has words of " << contents.width;
      Segment &segment = placeOf(bank, contents.width / 8 * contents.depth);
      segment.bytesPerFrame += port->traffic.bytes(unit.params.data());
      setParameter(op, port->traffic.page, segment.address / unit::kPageBytes);
    }
  }
  // What is only space follows, so that it needs no data in between.
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = op.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), op.getBanks())) {
      if (!port->writes())
        continue;
      int64_t &next = free[{bank.getMemory(), bank.getBank()}];
      setParameter(op, port->traffic.page, next / unit::kPageBytes);
      next = int64_t(llvm::alignTo(
          uint64_t(next + port->traffic.space(unit.params.data())),
          uint64_t(unit::kPageBytes)));
    }
  }
  return segments;
}
} // namespace rhizome::gen
