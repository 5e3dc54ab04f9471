// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of datapaths: their widths, tables and readers.
#include "rhizome/Cost/Words.h"
#include <algorithm>
#include <bit>

namespace rhizome::gen::cost {
using Op = Word::Op;

int64_t Word::bits() const {
  if (lo >= 0)
    return std::max<int64_t>(1, std::bit_width(uint64_t(hi)));
  return 1 + int64_t(std::bit_width(uint64_t(std::max(~lo, hi))));
}

int64_t WordGraph::adderBits(const Word &n) const {
  if (!n.isSum())
    return 0;
  // The complement of zero is not zero.
  if (n.op != Op::AddNot && nodes[n.b].lo == 0 && nodes[n.b].hi == 0)
    return 0;
  const Word &a = nodes[n.a];
  if (n.op == Op::Rsub)
    return n.bits();
  bool disjoint = a.lo >= 0 && a.bits() <= n.shift;
  if (n.op == Op::Add && (disjoint || (a.lo == 0 && a.hi == 0)))
    return 0;
  if (n.op == Op::AddNot && disjoint)
    return 0;
  return std::max<int64_t>(n.bits() - n.shift, 0);
}

std::vector<int64_t> WordGraph::entriesOf(const Word &n) const {
  const Word &index = nodes[n.a];
  std::vector<int64_t> entries(size_t(1) << index.bits(), 0);
  const std::vector<int64_t> &values = tables[n.value];
  // The table may have more entries than the index can address: their bits
  // would be those of other entries.
  int64_t most = int64_t(entries.size()) / (index.isSigned() ? 2 : 1) - 1;
  for (int64_t i = 0; i < int64_t(values.size()) && n.shift + i <= most; ++i)
    entries[size_t(uint64_t(n.shift + i) & (entries.size() - 1))] = values[i];
  return entries;
}

std::vector<int> WordGraph::readers() const {
  std::vector<int> reads(nodes.size(), 0);
  for (int o : outputs)
    ++reads[o];
  for (size_t i = nodes.size(); i-- > 0;)
    if (reads[i] > 0)
      nodes[i].forOperands([&](int o) { ++reads[o]; });
  return reads;
}
} // namespace rhizome::gen::cost
