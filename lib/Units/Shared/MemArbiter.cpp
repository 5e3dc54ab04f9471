// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arbiters between the readers of one bank (rhz_mem_arbiter) and between
// its writers (rhz_mem_write_arbiter), for the cost model: not actors, but
// parts of the design.
#include "rhizome/Units/Shared.h"
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
  // A choice by a bit for each, in LUTs a bit as measured in random points of
  // up to 12: those of requests are on the longest path, and take more for it.
  auto choice = [&](int64_t bits, int64_t count, double each) {
    b.term(Term::Mux, double(bits) * (count > 2 ? each * double(count) : 1.0));
  };
  auto ofCount = [](int64_t count, double few, double some, double many) {
    return count > 10 ? many : count > 6 ? some : few;
  };
  auto add = [&](int64_t count, int64_t queues) {
    if (count < 2)
      return;
    constexpr int64_t kFlags = 13;
    b.term(Term::Fixed, 1);
    b.ff(double(count + 1 + request));
    b.adder(2, count);
    choice(request, count, ofCount(count, 0.62, 0.9, 1.1));
    // The owners of the bursts in flight, read without a register by each
    // queue, whose pointer Yosys keeps twice.
    for (int64_t i = 0; i < queues; ++i) {
      b.counter(readers.inFlight);
      b.counter(readers.inFlight);
      b.ram(readers.inFlight, count, /*stages=*/0);
      b.ff(double(clog2(readers.inFlight + 1) + clog2(readers.inFlight) + 2));
    }
    b.term(Term::Control, double(2 * count));
    b.structure.exact.lut() += double(kFlags * queues);
  };
  add(readers.count, 1);
  add(readers.writers, 2);
  if (readers.writers > 1)
    choice(readers.bits, readers.writers,
           ofCount(readers.writers, 0.55, 0.55, 0.67));
  const CostModel::Unit &unit =
      context.model->of(reader.kind().characterized.front());
  Resources cost = b.structure.exact;
  for (size_t t = 0; t < b.structure.terms.size(); ++t)
    cost.lut() += unit.lut[t] * b.structure.terms[t];
  return cost;
}
} // namespace rhizome::gen
