// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two tensors: the right operand is stored, the rows of the left
// one stream through, repeated by a `window` as for a dense layer.
#include "rhizome/Dialect/Osa/Matmul.h"
#include "Models.h"
#include "Units.h"
#include "rhizome/Units/Shared.h"

using namespace mlir;

namespace rhizome::gen::stream {
namespace {
/// One product, with everything that offers depend on.
struct Problem {
  osa::MatmulShape s;
  BeatFormat a, b, y; ///< elements of the operands and of the result
  int64_t zeroA = 0, zeroB = 0;
  int64_t xBits = 0, wBits = 0; ///< of the multipliers' operands
  bool xSigned = false;
  /// A line of the right operand is a column, and lines of the batch alternate.
  bool byColumn = false, interleaved = false;
  int64_t rows = 1, matrices = 1, passes = 1; ///< of a page (rhz_matmul)

  int64_t allRows() const { return s.outer * s.batch * s.rows; }
};

/// Signed bits of all values of `type` less `zero`.
int64_t bitsOfDifference(num::IntType type, int64_t zero) {
  return num::bitsForRange(std::min<int64_t>(type.getLo() - zero, -1),
                           std::max<int64_t>(type.getHi() - zero, 0));
}

Problem problemOf(osa::MatmulOp op) {
  Problem p;
  p.s = osa::matmulShape(op);
  p.a = formatOf(op.getLhs().getType(), 1, 1);
  p.b = formatOf(op.getRhs().getType(), 1, 1);
  p.y = formatOf(op.getOutput().getType(), 1, 1);
  p.zeroA = op.getLhsZero();
  p.zeroB = op.getRhsZero();
  num::IntType lhs = num::elementInt(op.getLhs().getType()),
               rhs = num::elementInt(op.getRhs().getType());
  p.xSigned = p.zeroA != 0 || lhs.getIsSigned();
  p.xBits = p.zeroA ? bitsOfDifference(lhs, p.zeroA) : p.a.width;
  p.wBits = p.zeroB ? bitsOfDifference(rhs, p.zeroB)
                    : p.b.width + (p.b.isSigned ? 0 : 1);
  auto [batch, inner, columns] = p.s.axes;
  p.byColumn = inner == 2;
  p.interleaved = p.s.batch > 1 && batch > std::min(inner, columns);
  // A page is a matrix if both operands have their matrices one after another.
  p.rows = p.s.rows;
  if (p.s.batch == 1) {
    p.rows *= p.s.outer;
  } else if (p.interleaved || p.s.outer > 1) {
    p.matrices = p.s.batch;
    p.passes = p.s.outer;
  }
  return p;
}

struct Folding {
  int64_t pe, simd, style;
  bool ultra;
};

Offer makeOffer(const Problem &p, const Folding &f) {
  const int64_t folds = ceilDiv(p.s.inner, f.simd),
                outFolds = ceilDiv(p.s.columns, f.pe), rows = p.allRows();
  Offer offer;
  BeatFormat a = p.a, b = p.b, out = p.y;
  a.lanes = f.simd;
  a.row = p.s.inner;
  b.lanes = p.byColumn ? f.simd : f.pe;
  b.row = p.byColumn ? p.s.inner : p.s.columns;
  out.lanes = f.pe;
  out.row = p.s.columns;
  offer.inputs = {a.canonical(), b.canonical()};
  offer.outputs = {out.canonical()};

  Actor unit(unit::Matmul::kKind, "matmul");
  unit.params = {{"Pe", f.pe},
                 {"Simd", f.simd},
                 {"AWidth", p.a.width},
                 {"ASigned", p.a.isSigned},
                 {"ZeroA", p.zeroA},
                 {"XWidth", p.xBits},
                 {"XSigned", p.xSigned},
                 {"BWidth", p.b.width},
                 {"BSigned", p.b.isSigned},
                 {"ZeroB", p.zeroB},
                 {"WWidth", p.wBits},
                 {"AccWidth", p.y.width},
                 {"Inner", p.s.inner},
                 {"Columns", p.s.columns},
                 {"Folds", folds},
                 {"OutFolds", outFolds},
                 {"Rows", p.rows},
                 {"Matrices", p.matrices},
                 {"Passes", p.passes},
                 {"ByColumn", p.byColumn},
                 {"Interleaved", p.interleaved},
                 {"Style", f.style},
                 {"Ultra", f.ultra},
                 {"frameBeats", rows * outFolds}};
  Body::Source left{-1, 0};
  if (outFolds > 1) {
    osa::Window w{rows, 1, p.s.inner, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, rows, 1};
    WindowReading reading;
    reading.lanes = f.simd;
    reading.repeat = outFolds;
    BeatFormat chunk = p.a;
    chunk.lanes = chunk.row = f.simd;
    chunk.count = f.simd * folds * outFolds * rows;
    offer.body.chain(makeWindow(w, p.a.width, /*padValue=*/0, reading),
                     chunk.canonical());
    left = {0, 0};
  }
  offer.body.units.push_back(
      {std::move(unit), {left, {-1, 1}}, {offer.outputs[0]}});
  offer.body.outputs = {{int(offer.body.units.size()) - 1, 0}};

  offer.busyCycles = std::max(rows * folds * outFolds, offer.inputs[1].beats());
  offer.key = OptionKey("stream", "matmul").add("pe", f.pe).add("simd", f.simd);
  offer.summary = "PE " + std::to_string(f.pe) + " × SIMD " +
                  std::to_string(f.simd) +
                  (f.ultra ? ", stored in UltraRAM" : "");
  if (f.ultra)
    offer.key.add("store", "ultra");
  return offer;
}

/// The ways of multiplying that the device supports for these widths.
std::vector<int64_t> stylesFor(const Problem &p, int64_t pe,
                               const DeviceContext &device) {
  if (!device.hasDsp || p.xBits == 1 || p.wBits == 1)
    return {0};
  bool pairs =
      pe >= 2 && p.xBits <= device.pairBits && p.wBits <= device.pairBits;
  return {0, pairs ? pairedStyle(device.cost) : 1};
}
} // namespace

bool isMatmul(Operation *op) { return isa<osa::MatmulOp>(op); }

std::optional<std::string> matmulCoverage(Operation *op) {
  if (osa::matmulShape(cast<osa::MatmulOp>(op)).axes[0] == 2)
    return "needs a right operand whose innermost axis is not the batch";
  return std::nullopt;
}

std::vector<Offer> matmulOffers(Operation *op, const DeviceContext &device) {
  const Problem p = problemOf(cast<osa::MatmulOp>(op));
  std::vector<Offer> offers;
  PriceList prices(device.cost);
  for (int64_t pe : foldings(p.s.columns))
    for (int64_t simd : foldings(p.s.inner))
      for (int64_t style : stylesFor(p, pe, device)) {
        offers.push_back(makeOffer(p, {pe, simd, style, /*ultra=*/false}));
        finish(offers.back(), prices);
        // What takes no blocks is too small for an UltraRAM.
        if (!device.hasUltra() || offers.back().resources.bram() == 0)
          continue;
        offers.push_back(makeOffer(p, {pe, simd, style, /*ultra=*/true}));
        finish(offers.back(), prices);
      }
  return offers;
}

std::string matmulDependence(Operation *op) {
  auto matmul = cast<osa::MatmulOp>(op);
  std::string text = op->getName().getStringRef().str();
  llvm::raw_string_ostream os(text);
  for (int64_t axis : matmul.getRhsAxes())
    os << ' ' << axis;
  os << ' ' << int64_t(matmul.getLhsZero()) << ' '
     << int64_t(matmul.getRhsZero()) << ' ' << matmul.getLhs().getType() << ' '
     << matmul.getRhs().getType() << ' ' << matmul.getOutput().getType();
  return text;
}
} // namespace rhizome::gen::stream
