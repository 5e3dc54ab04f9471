// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What generators share: formats, foldings and the converter between formats.
#include "rhizome/Generator/Generator.h"
#include "rhizome/Dialect/Num/Num.h"

using namespace mlir;

namespace rhizome::gen {
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
