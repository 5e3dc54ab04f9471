// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome-bench-circuits: the cost of circuits of constant matrices in the
// compact form of the search and as `rtl` operations: seconds to build
// and to price, and bytes. For the largest ones found in networks.
#include "../lib/Generator/Dhm/AdderGraph.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <ctime>
#include <malloc.h>
#include <random>

using namespace mlir;
using namespace rhizome;

namespace {
/// Processor seconds: other load on the machine does not count.
double now() { return double(std::clock()) / CLOCKS_PER_SEC; }
/// Bytes that the program has allocated.
double allocated() {
  struct mallinfo2 info = mallinfo2();
  return double(info.uordblks) + double(info.hblkhd);
}

struct Matrix {
  const char *name;
  int64_t outputs, inputs, bits;
};

gen::Circuit circuitOf(const Matrix &m, int64_t pairs) {
  std::mt19937_64 rng(1);
  gen::Circuit c;
  c.inLanes = m.inputs;
  c.inWidth = 8;
  c.outWidth = 24;
  std::vector<int> inputs;
  for (int64_t i = 0; i < m.inputs; ++i)
    inputs.push_back(c.input(i, -128, 127));
  std::vector<gen::dhm::Row> rows(m.outputs);
  for (auto &row : rows)
    for (int64_t i = 0; i < m.inputs; ++i)
      if (int64_t weight = int64_t(rng() % (uint64_t(1) << m.bits)) -
                           (int64_t(1) << (m.bits - 1)))
        row.push_back({int(i), weight});
  gen::dhm::Effort effort;
  effort.pairs = pairs;
  c.outputs = gen::dhm::addLinear(c, inputs, rows, {}, effort);
  return c;
}
} // namespace

int main() {
  const Matrix matrices[] = {{"dense 16-64, 6 bits", 64, 16, 6},
                             {"dense 64-64, 8 bits", 64, 64, 8},
                             {"conv 3x3x16-32, 8 bits", 32, 144, 8},
                             {"conv 3x3x32-64, 6 bits", 64, 288, 6}};
  llvm::outs()
      << "                            words  search ms  price ms  "
         "MB     rtl ops  build ms  MB     bytes a word, compact/rtl\n";
  for (const Matrix &m : matrices) {
    double before = allocated(), start = now();
    gen::Circuit c = circuitOf(m, 20000);
    double searched = now(), compact = allocated() - before;
    gen::describe(c, 192);
    double priced = now();

    MLIRContext context(MLIRContext::Threading::DISABLED);
    context.loadDialect<rtl::RtlDialect>();
    Location loc = UnknownLoc::get(&context);
    before = allocated();
    double built = now();
    Block block;
    OpBuilder builder(&context);
    builder.setInsertionPointToEnd(&block);
    Value beat = block.addArgument(
        builder.getIntegerType(unsigned(c.inLanes * c.inWidth)), loc);
    auto logic = gen::combinational(c, builder, loc, beat);
    double done = now();
    logic.groups = {};
    double rtlBytes = allocated() - before;
    size_t ops = block.getOperations().size();
    double words = double(c.nodes.size());
    llvm::outs() << llvm::format(
        "%-26s %6zu %10.1f %9.2f %5.2f %9zu %9.2f %5.2f %9.0f / %.0f\n", m.name,
        c.nodes.size(), 1e3 * (searched - start), 1e3 * (priced - searched),
        compact / 1e6, ops, 1e3 * (done - built), rtlBytes / 1e6,
        compact / words, rtlBytes / words);
    while (!block.empty())
      block.back().erase();
  }
  return 0;
}
