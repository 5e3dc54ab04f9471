// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of a circuit: what its graph counts to (Circuit/Describe.cpp).
#include "Structure.h"

namespace rhizome::gen::cost {
void circuit(Builder &b) {
  const bool wide = b.context().lutInputs >= 6;
  auto of = [&](const char *six, const char *four) {
    return double(b.get(wide ? six : four));
  };
  b.term(Term::Adder, of("wideSumBits", "narrowSumBits"));
  b.term(Term::Select, of("wideLuts", "narrowLuts"));
  if (!wide)
    b.term(Term::Compare, double(b.get("narrowCompareBits")));
  b.term(Term::RomLeaf, of("wideTableLeaves", "narrowTableLeaves"));
  b.term(Term::RomMux, of("wideTableChoices", "narrowTableChoices"));
  b.ff(double(b.get("stages") + b.get("ffBits")));
  if (b.isAmd())
    b.shift(double(b.get("rowBits")));
  else
    b.ff(double(b.get("rowStageBits")));
  b.outbuf(b.get("Depth"), b.get("outBits"));
}
} // namespace rhizome::gen::cost
