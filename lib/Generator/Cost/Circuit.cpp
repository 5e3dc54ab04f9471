// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of a circuit: what its graph counts to (Circuit/Describe.cpp).
#include "Structure.h"

namespace rhizome::gen::cost {
void circuit(Builder &b) {
  // Of an added constant only the ones take LUTs before AMD's carry chains.
  b.term(Term::Adder,
         double(b.get("adderBits")) +
             double(b.get(b.isAmd() ? "offsetOnes" : "offsetBits")));
  b.term(Term::Compare, double(b.get("compareBits")));
  const double any = double(b.get("anyBits")) / (b.context().lutInputs - 1);
  b.term(Term::Select, double(b.get("selectBits")) + any);
  // Counted as functions of six bits; of fewer each takes four and chooses.
  const bool narrow = b.context().lutInputs < 6;
  b.term(Term::RomLeaf, double(b.get("tableLeaves")) * (narrow ? 4 : 1));
  b.term(Term::RomMux, double(b.get("tableLeaves")) * (narrow ? 4 : 0));
  b.ff(double(b.get("stages") + b.get("ffBits")));
  if (b.isAmd())
    b.shift(double(b.get("rowBits")));
  else
    b.ff(double(b.get("rowStageBits")));
  b.outbuf(b.get("Depth"), b.get("outBits"));
}
} // namespace rhizome::gen::cost
