// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arbiters between the readers of one bank (rhz_mem_arbiter) and between
// its writers (rhz_mem_write_arbiter), for the cost model: not actors, but
// parts of the design.
#include "rhizome/Generator/Shared.h"
#include <algorithm>

namespace rhizome::gen {
Resources costOfArbiter(const BankReaders &readers,
                        const CostContext &context) {
  using namespace cost;
  // It is characterized together with the readers.
  unit::Instance reader(*unit::find(unit::MemReader::kKind));
  Builder b(reader, context, nullptr);
  // Whose turn it is, and the request; addresses are as wide as the segments
  // need.
  int64_t request = clog2(std::max<int64_t>(readers.bytes, 2)) + 8;
  auto add = [&](int64_t count, int64_t queues) {
    if (count < 2)
      return;
    b.term(Term::Fixed, 1);
    b.ff(double(count + 1 + request));
    b.adder(2, count);
    b.mux(double(request), count);
    // The owners of the bursts in flight, read without a register by each
    // queue.
    b.counter(readers.inFlight, /*last=*/false);
    for (int64_t i = 0; i < queues; ++i) {
      b.counter(readers.inFlight, /*last=*/false);
      b.ram(readers.inFlight, count, /*stages=*/0);
      b.ff(double(clog2(readers.inFlight + 1) + 1));
    }
    b.ff(1);
    b.term(Term::Control, double(2 * count));
  };
  add(readers.count, 1);
  add(readers.writers, 2);
  if (readers.writers > 1)
    b.mux(double(readers.bits), readers.writers);
  const CostModel::Unit &unit =
      context.model->of(reader.kind().characterized.front());
  Resources cost = b.structure.exact;
  for (size_t t = 0; t < b.structure.terms.size(); ++t)
    cost.lut() += unit.lut[t] * b.structure.terms[t];
  return cost;
}
} // namespace rhizome::gen
