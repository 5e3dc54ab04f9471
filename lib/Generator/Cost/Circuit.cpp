// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of a circuit: what its graph counts to (Circuit/Describe.cpp).
#include "Structure.h"

namespace rhizome::gen::cost {
void circuit(Builder &b) {
  // What only a carry is added to takes no LUT before AMD's carry chains, nor
  // do the zeros of an added constant.
  b.term(Term::Adder,
         double(b.isAmd() ? b.get("sharedBits") + b.get("offsetOnes")
                          : b.get("adderBits") + b.get("offsetBits")));
  b.term(Term::Compare, double(b.get("compareBits")));
  const double any = double(b.get("anyBits")) / (b.context().lutInputs - 1);
  b.term(Term::Select, double(b.get("selectBits")) + any);
  const bool wide = b.context().lutInputs >= 6;
  b.term(Term::RomLeaf,
         double(b.get(wide ? "tableLeaves" : "narrowTableLeaves")));
  b.term(Term::RomMux,
         double(b.get(wide ? "tableChoices" : "narrowTableChoices")));
  b.ff(double(b.get("stages") + b.get("ffBits")));
  if (b.isAmd())
    b.shift(double(b.get("rowBits")));
  else
    b.ff(double(b.get("rowStageBits")));
  b.outbuf(b.get("Depth"), b.get("outBits"));
}
} // namespace rhizome::gen::cost
