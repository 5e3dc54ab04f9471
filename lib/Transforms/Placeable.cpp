// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations could run on the host as well as on the FPGA. Quantized
// layers stay on the FPGA, together with everything connected to them by
// codes. Groups of other operations between host tasks may
// go to either place; if they compute nothing, a copy would be useless.
#include "Integerizer.h"
#include "rhizome/Transforms/Tasks.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace rhizome;

bool rhizome::isIdle(Operation *op) {
  return isa<osa::QuantizeOp, osa::DequantizeOp, osa::ReshapeOp,
             osa::TransposeOp, osa::ConstantOp>(op);
}

bool rhizome::isGlue(Operation *op) {
  return isIdle(op) ||
         isa<osa::ReluOp, osa::LeakyReluOp, osa::ClipOp, osa::BatchNormOp,
             osa::UnaryOp, osa::AddOp, osa::SubOp, osa::MulOp, osa::DivOp,
             osa::MaxOp, osa::MinOp, osa::ConcatOp, osa::PadOp, osa::GatherOp>(
             op);
}

/// Bytes of a tensor when copied: codes bit-packed, reals in float32.
static int64_t bytesOf(Value v, const LazyTensor *held) {
  auto type = cast<RankedTensorType>(v.getType());
  int64_t bits = type.getElementType().isIntOrFloat()
                     ? type.getElementType().getIntOrFloatBitWidth()
                     : 32;
  if (held) {
    Value codes = held->physical ? held->physical : held->sum->lhs;
    bits = num::elementInt(codes.getType()).getWidth();
  } else if (num::IntType element = num::elementInt(type)) {
    bits = element.getWidth();
  }
  return (type.getNumElements() * bits + 7) / 8;
}

/// Groups of FPGA operations. Values read by a later region belong to it: on
/// the host its codes would be reals, which no FPGA operation reads.
llvm::EquivalenceClasses<Operation *> Integerizer::groups() const {
  llvm::EquivalenceClasses<Operation *> groups;
  for (Operation &op : func::FuncOp(model).getBody().front()) {
    if (op.getNumResults() != 1 || !held.contains(op.getResult(0)))
      continue;
    groups.insert(&op);
    for (Value v : valuesRead(&op))
      if (held.contains(v))
        groups.unionSets(&op, v.getDefiningOp());
  }
  return groups;
}

std::vector<PlaceableOp> Integerizer::placeable() const {
  llvm::EquivalenceClasses<Operation *> all = groups();
  DenseSet<Operation *> fixed; // leaders of groups with a layer
  DenseSet<Operation *> works; // and of those that compute at all
  for (Operation &op : func::FuncOp(model).getBody().front()) {
    if (op.getNumResults() != 1 || !held.contains(op.getResult(0)))
      continue;
    if (!isGlue(&op))
      fixed.insert(all.getLeaderValue(&op));
    // A quantizer without a host value as input is a requantizer.
    if (!isIdle(&op) || (isa<osa::QuantizeOp>(op) && !entries.contains(&op)))
      works.insert(all.getLeaderValue(&op));
  }
  // Without any layer, these operations are all that the FPGA could do.
  const bool isLayered = !fixed.empty();
  std::vector<PlaceableOp> list;
  DenseMap<Operation *, unsigned> index;
  for (Operation &op : func::FuncOp(model).getBody().front()) {
    if (op.getNumResults() == 0 || isa<osa::ConstantOp>(op) ||
        !dependsOnInput.contains(op.getResult(0)))
      continue;
    PlaceableOp entry;
    entry.op = &op;
    Lazy own = held.lookup(op.getResult(0));
    entry.quantizes = isa<osa::QuantizeOp, osa::MultiThresholdOp>(op);
    const bool enters = entries.contains(&op);
    if (own && !enters) {
      Operation *leader = all.getLeaderValue(&op);
      entry.onFpga = works.contains(leader);
      entry.onHost = !entry.onFpga || (isLayered && !fixed.contains(leader));
    } else {
      entry.onHost = true;
    }
    entry.region = own ? regionOf(*own) : stages.lookup(op.getResult(0));
    entry.bytes = bytesOf(op.getResult(0), own.get());
    for (Value v : valuesRead(&op))
      if (auto from = index.find(v.getDefiningOp()); from != index.end())
        list[from->second].readers.push_back(unsigned(list.size()));
    index[&op] = unsigned(list.size());
    list.push_back(std::move(entry));
  }
  return list;
}

DenseSet<Operation *> Integerizer::choosePlaces(const Placer &placer) const {
  std::vector<PlaceableOp> list = placeable();
  std::vector<flow::Place> places;
  const bool isOpen = llvm::any_of(
      list, [](const PlaceableOp &op) { return op.onHost && op.onFpga; });
  if (placer && isOpen)
    places = placer(list);
  else
    for (const PlaceableOp &op : list)
      places.push_back(op.onFpga ? flow::Place::Fpga : flow::Place::Host);
  DenseSet<Operation *> host;
  for (auto [op, place] : llvm::zip_equal(list, places)) {
    if (place == flow::Place::Fpga || !held.contains(op.op->getResult(0)))
      continue;
    // The host quantizes the inputs of the FPGA.
    bool isRead = llvm::any_of(op.readers, [&](unsigned reader) {
      return places[reader] == flow::Place::Fpga;
    });
    if (!(op.quantizes && isRead))
      host.insert(op.op);
  }
  return host;
}
