// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arbiter between the readers of one bank (rhz_mem_arbiter), for the cost
// model: not an actor, but a part of the design.
#include "rhizome/Generator/Shared.h"
#include <algorithm>

namespace rhizome::gen {
Resources costOfArbiter(const BankReaders &readers,
                        const CostContext &context) {
  using namespace cost;
  // It is characterized together with the readers.
  unit::Instance reader(*unit::find(unit::MemReader::kKind));
  Builder b(reader, context, nullptr);
  b.term(Term::Fixed, 1);
  // Whose turn it is, and the request; addresses are as wide as the segments
  // need.
  int64_t request = clog2(std::max<int64_t>(readers.bytes, 2)) + 8;
  b.ff(double(readers.count + 1 + request));
  b.adder(2, readers.count);
  b.mux(double(request), readers.count);
  // The owners of the bursts in flight, read without a register.
  b.counter(readers.inFlight, /*last=*/false);
  b.counter(readers.inFlight, /*last=*/false);
  b.ram(readers.inFlight, readers.count, /*stages=*/0);
  b.ff(double(clog2(readers.inFlight + 1) + 2));
  b.term(Term::Control, double(2 * readers.count));
  const CostModel::Unit &unit =
      context.model->of(reader.kind().characterized.front());
  Resources cost = b.structure.exact;
  for (size_t t = 0; t < b.structure.terms.size(); ++t)
    cost.lut() += unit.lut[t] * b.structure.terms[t];
  return cost;
}
} // namespace rhizome::gen
