// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What generators share: formats, foldings and the converter between formats.
#include "rhizome/Generator/Generator.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/StringSet.h"
#include <mutex>

using namespace mlir;

namespace rhizome::gen {
ParamName ParamName::kept(llvm::StringRef text) {
  static std::mutex mutex;
  static llvm::StringSet<> known;
  std::lock_guard<std::mutex> lock(mutex);
  return {known.insert(text).first->getKey(), Kept{}};
}

std::string counted(int64_t number, llvm::StringRef noun) {
  return (llvm::Twine(number) + " " + noun + (number == 1 ? "" : "s")).str();
}

std::string Format::lanesText() const {
  bool isDefault = canonical().row == count;
  return counted(lanes, "lane") +
         (isDefault ? "" : ", rows of " + std::to_string(row));
}

Format formatOf(Type tensor, int64_t lanes, int64_t row) {
  num::IntType element = num::elementInt(tensor);
  Format f;
  f.isSigned = element.getIsSigned();
  f.width = element.getWidth();
  f.lanes = lanes;
  f.row = row;
  f.count = cast<RankedTensorType>(tensor).getNumElements();
  return f.canonical();
}

int64_t channelsOf(Operation *op) {
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  return shape.empty() ? 1 : shape.back();
}

std::vector<int64_t> foldings(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t lanes = 1; lanes <= n;) {
    int64_t folds = (n + lanes - 1) / lanes;
    out.push_back(lanes);
    if (folds == 1)
      break;
    // The fewest lanes with one fold less.
    lanes = (n + folds - 2) / (folds - 1);
  }
  return out;
}

Actor makeBorder(const Format &f, int64_t dataWidth, bool enters) {
  Actor a{enters ? "axis_in" : "axis_out", "", {}, {}};
  a.params = {{"DataWidth", dataWidth},   {"Elem", f.width}, {"Lanes", f.lanes},
              {"FrameElements", f.count}, {"Row", f.row},    {"Depth", 4}};
  return a;
}

void finishOption(Option &option, const DeviceContext &device) {
  option.resources = {};
  for (Actor &actor : option.actors) {
    // A beat every `period` firings needs fewer places in flight.
    int64_t period = 1;
    if (actor.cell == "matvec" || actor.cell == "lane_reduce")
      period = actor.get("Folds");
    placeRoms(actor, device.cost);
    actor.set("Depth", 2);
    int64_t depth = (fullRateDepth(actor) + period - 1) / period;
    actor.set("Depth", std::max<int64_t>(2, depth));
    option.resources += costOf(actor, device.cost);
  }
}

Actor makeWindow(const osa::Window &w, int64_t width, int64_t padValue,
                 const WindowReading &r) {
  Actor a{"window", "window", {}, {}};
  a.params = {
      {"Elem", width},
      {"Channels", w.channels},
      {"Height", w.height},
      {"Width", w.width},
      {"KernelH", w.kernelH},
      {"KernelW", w.kernelW},
      {"StrideH", w.strideH},
      {"StrideW", w.strideW},
      {"DilationH", w.dilationH},
      {"DilationW", w.dilationW},
      {"PadTop", w.padTop},
      {"PadLeft", w.padLeft},
      {"OutHeight", w.outHeight},
      {"OutWidth", w.outWidth},
      {"PadValue", padValue},
      {"Lanes", r.lanes},
      {"Groups", r.groups},
      {"Repeat", r.repeat},
      {"KernelParallel", r.parallel},
      {"PixelsIn", r.pixelsIn},
      {"PixelsOut", r.pixelsOut},
      // Twice the span: the rows of the next frame's first window fill up
      // while the last window of this one is read, so frames follow each
      // other without a bubble.
      {"Rows", std::max(2 * w.spanH(), w.spanH() + w.strideH)},
  };
  return a;
}

int64_t pixelsInFor(const osa::Window &w, int64_t cycles) {
  int64_t q = 1;
  while (q < w.width && w.height * ((w.width + q - 1) / q) > cycles)
    q *= 2;
  return q;
}

Actor makeConverter(const Format &from, const Format &to) {
  Actor a{"gearbox", "", {}, {}};
  a.params = {{"Elem", from.width},
              {"LanesIn", from.lanes},
              {"LanesOut", to.lanes},
              {"RowIn", from.row},
              {"RowOut", to.row},
              {"frameElements", from.count},
              {"Depth", 4}};
  return a;
}
} // namespace rhizome::gen
