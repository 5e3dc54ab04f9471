// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and normalization of rows: a unit takes a row in any number of lanes,
// a new beat for each row.
#include "rhizome/Dialect/Osa/Rows.h"
#include "Models.h"
#include "Units.h"
#include <cmath>

using namespace mlir;

namespace rhizome::gen::stream {
namespace {
/// Signed bits of numbers up to ±most.
int64_t signedBits(__int128 most) {
  int64_t bits = 1;
  for (; most > 0; most >>= 1)
    ++bits;
  return bits;
}

Actor softmaxUnit(osa::RowSoftmaxOp op, const BeatFormat &in,
                  const BeatFormat &out) {
  auto table = op.getExponentials();
  const auto numerator = int64_t(op.getNumerator());
  const int64_t bits = signedBits(numerator / table[0]) - 1;
  const int64_t row =
      cast<RankedTensorType>(op.getInput().getType()).getShape().back();
  Actor a(unit::RowSoftmax::kKind, "row_softmax");
  a.params = {{"Lanes", in.lanes},
              {"InWidth", in.width},
              {"InSigned", in.isSigned},
              {"Channels", row},
              {"Entries", int64_t(table.size())},
              {"PowerWidth", signedBits(table[0]) - 1},
              {"SumWidth", signedBits(__int128(table[0]) * row) - 1},
              {"QuotientBits", bits},
              {"First", numerator >> bits},
              {"Low", numerator & ((int64_t(1) << bits) - 1)},
              {"Shift", int64_t(op.getShift())},
              {"OutWidth", out.width},
              {"Hi", num::elementInt(op.getOutput().getType()).getHi()}};
  return a;
}

Actor normUnit(osa::RowNormOp op, const BeatFormat &in, const BeatFormat &out) {
  const osa::RowNormShape s = osa::rowNormShape(op);
  const auto epsilon = int64_t(op.getEpsilon());
  const bool isCentered = op.getCentered();
  // |C · (x − zero) − A| · 2^k is at most √C · 4^digits' root.
  const int64_t reach =
      osa::mostNormalized(s.elements, 0) * (int64_t(1) << s.digits);
  Actor a(unit::RowNorm::kKind, "row_norm");
  a.params = {{"Lanes", in.lanes},
              {"InWidth", in.width},
              {"InSigned", in.isSigned},
              {"Channels", s.elements},
              {"Centered", isCentered},
              {"Zero", int64_t(op.getZero())},
              {"XWidth", signedBits(s.most)},
              {"SumWidth", isCentered
                               ? signedBits(__int128(s.most) * s.elements)
                               : int64_t(1)},
              {"SquareWidth",
               std::max<int64_t>(
                   1, signedBits(__int128(s.most) * s.most * s.elements) - 1)},
              {"Digits", s.digits},
              {"EpsilonLow", epsilon & ((int64_t(1) << 30) - 1)},
              {"EpsilonHigh", epsilon >> 30},
              {"DiffWidth", signedBits(s.mostDifference)},
              {"ScaledWidth", signedBits(reach)},
              {"Shift", s.digits + osa::kRootBits - int64_t(op.getFraction())},
              {"OutWidth", out.width}};
  return a;
}
} // namespace

bool isRowwise(Operation *op) {
  return isa<osa::RowSoftmaxOp, osa::RowNormOp>(op);
}

std::vector<Offer> rowOffers(Operation *op, Upstream upstream,
                             const DeviceContext &device) {
  const int64_t row =
      cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back();
  std::vector<int64_t> candidates = foldings(row);
  for (const auto &f : upstream)
    if (f && f->lanes <= row && !llvm::is_contained(candidates, f->lanes))
      candidates.push_back(f->lanes);
  std::vector<Offer> offers;
  for (int64_t lanes : candidates) {
    const BeatFormat in = formatOf(op->getOperand(0).getType(), lanes, row),
                     out = formatOf(op->getResult(0).getType(), lanes, row);
    Offer offer;
    offer.inputs = {in.canonical()};
    offer.outputs = {out.canonical()};
    offer.busyCycles = in.beats();
    offer.summary = in.lanesText();
    Actor unit = isa<osa::RowNormOp>(op)
                     ? normUnit(cast<osa::RowNormOp>(op), in, out)
                     : softmaxUnit(cast<osa::RowSoftmaxOp>(op), in, out);
    sizeRowStores(unit);
    unit.set("frameBeats", out.beats());
    for (int64_t style = 0; style <= int64_t(device.hasDsp); ++style) {
      unit.set("Style", style);
      Offer variant = offer;
      variant.key = OptionKey("stream", unit.kind().name).add("lanes", lanes);
      variant.body.chain(unit, offer.outputs[0]);
      finish(variant, device);
      offers.push_back(std::move(variant));
    }
  }
  return offers;
}

void buildRows(Operation *op, Offer &offer, MemoryImages &images) {
  Actor &unit = offer.body.back();
  if (auto norm = dyn_cast<osa::RowNormOp>(op)) {
    if (!unit.get("Stored"))
      return;
    MemoryImage image(2 * unit.get("Digits"), 1);
    image.set(0, 0, image.width, int64_t(norm.getEpsilon()));
    std::string name = unit.name + "_epsilon.hex";
    images[name] = std::move(image);
    unit.files.push_back({"EpsilonFile", name});
    return;
  }
  auto softmax = cast<osa::RowSoftmaxOp>(op);
  auto table = softmax.getExponentials();
  MemoryImage image(unit.get("PowerWidth"), int64_t(table.size()));
  for (auto [i, e] : llvm::enumerate(table))
    image.set(int64_t(i), 0, unit.get("PowerWidth"), e);
  std::string name = unit.name + "_exponentials.hex";
  images[name] = std::move(image);
  unit.files.push_back({"TableFile", name});
}
} // namespace rhizome::gen::stream
