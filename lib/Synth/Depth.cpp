// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The path analysis. A node is an output bit of a cell with arcs to the bits it
// depends on; nodes are evaluated in depth-first order, each once.
#include "rhizome/Synth/Depth.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <array>
#include <limits>

using namespace llvm;
using namespace rhizome::synth;

namespace {
// Lengths are counted in 32nds of a level: a bit of a carry chain is one, and
// leaving the chain rounds down.
constexpr int kLevel = 32;
constexpr int kNone = std::numeric_limits<int>::min() / 2;
constexpr int kFreeChains = 2;

/// The maximum length to a node, by the number of chains on the way (the last
/// entry: two or more).
using Lengths = std::array<int, kFreeChains + 1>;

/// How a node depends on another bit.
struct Arc {
  enum Kind : uint8_t {
    Logic, ///< any bit
    Enter, ///< a bit enters a carry chain here
    Along, ///< a carry comes from the bit below of the same chain
  };
  int from; ///< a node
  Kind kind;
  int extra; ///< length that the arc adds
};

/// One output bit (or the end of a path) of a cell.
struct Node {
  const Cell *cell = nullptr; ///< null for a port
  Bit bit = -1;               ///< that it drives, for its name
  int own = 0;                ///< length that it adds to a path through it
  bool isCarry = false;
  bool isStart = false;
  std::vector<Arc> arcs;
  Lengths length{kNone, kNone, kNone};
  /// The origin of each length: a node, its number of chains, and whether the
  /// path ran along one chain.
  struct Before {
    int node = -1, chains = 0;
    bool isAlong = false;
  };
  std::array<Before, kFreeChains + 1> before;
};

struct OwnLuts;

class Walk {
public:
  explicit Walk(const Netlist &netlist)
      : netlist(netlist), driver(size_t(netlist.bitCount), -1) {}
  Depth run();

private:
  int addNode(const Cell *cell, Bit drives) {
    nodes.emplace_back();
    nodes.back().cell = cell;
    nodes.back().bit = drives;
    if (drives >= 0)
      driver[size_t(drives)] = int(nodes.size()) - 1;
    return int(nodes.size()) - 1;
  }
  void addCell(const Cell &cell);
  void addBoundary(const Cell &cell);
  void addLogic(const Cell &cell, int own);
  void addLutRam(const Cell &cell);
  void addSlices(const Cell &cell);
  void addOwnLuts(const Cell &cell, const OwnLuts &chain);
  void depend(int node, Bit on, Arc::Kind kind = Arc::Logic, int extra = 0) {
    if (on >= 0)
      pending.push_back({node, on, kind, extra});
  }
  void dependAll(int node, const Cell &cell, StringRef prefix);
  void connect();
  void evaluate(int node);
  void settle(Node &node);
  PathStep stepOf(const Node &node) const;
  std::vector<PathStep> trace(int node, int chains) const;

  struct Pending {
    int node;
    Bit on;
    Arc::Kind kind;
    int extra;
  };
  const Netlist &netlist;
  std::vector<int> driver; ///< of each bit: a node, or -1
  std::vector<Node> nodes;
  std::vector<Pending> pending; ///< arcs whose drivers are not known yet
  std::vector<int> ends;
  std::vector<uint8_t> state; ///< of a node: 1 in progress, 2 done
  std::string loop;
};

/// Adds arcs from all inputs whose names are `prefix` with digits, or `prefix`.
void Walk::dependAll(int node, const Cell &cell, StringRef prefix) {
  for (const CellPort &port : cell.ports) {
    StringRef rest = port.name;
    if (port.isOutput || !rest.consume_front(prefix) ||
        !llvm::all_of(rest, isDigit))
      continue;
    for (Bit bit : port.bits)
      depend(node, bit);
  }
}

/// Registers and the like: outputs start, inputs end.
void Walk::addBoundary(const Cell &cell) {
  Bit drives = -1;
  for (const CellPort &port : cell.ports)
    if (port.isOutput)
      for (Bit bit : port.bits) {
        nodes[size_t(addNode(&cell, bit))].isStart = true;
        if (drives < 0)
          drives = bit;
      }
  int end = addNode(&cell, -1);
  nodes[size_t(end)].bit = drives;
  ends.push_back(end);
  for (const CellPort &port : cell.ports)
    if (!port.isOutput)
      for (Bit bit : port.bits)
        depend(end, bit);
}

/// Every output depends on every input.
void Walk::addLogic(const Cell &cell, int own) {
  for (const CellPort &port : cell.ports)
    if (port.isOutput)
      for (Bit bit : port.bits) {
        int node = addNode(&cell, bit);
        nodes[size_t(node)].own = own;
        for (const CellPort &input : cell.ports)
          if (!input.isOutput)
            for (Bit on : input.bits)
              depend(node, on);
      }
}

/// A read depends on its own port's address; all inputs also end paths.
void Walk::addLutRam(const Cell &cell) {
  for (const CellPort &port : cell.ports) {
    if (!port.isOutput)
      continue;
    for (Bit bit : port.bits) {
      int node = addNode(&cell, bit);
      nodes[size_t(node)].own = kLevel;
      StringRef name = port.name;
      if (name == "DPO") {
        dependAll(node, cell, "DPRA");
      } else if (name == "DO") {
        dependAll(node, cell, cell.bits("RAD").empty() ? "AD" : "RAD");
      } else if (name == "B1DATA") {
        dependAll(node, cell, "B1ADDR");
      } else if (name.consume_front("DO")) {
        dependAll(node, cell, ("ADDR" + name).str());
      } else {
        dependAll(node, cell, "A");
      }
    }
  }
  int end = addNode(&cell, -1);
  ends.push_back(end);
  for (const CellPort &port : cell.ports)
    if (!port.isOutput)
      for (Bit bit : port.bits)
        depend(end, bit);
}

/// AMD's and iCE40's chains: per bit, a carry out of the carry in, S and DI,
/// and a sum out of the carry in and S. Operands come from separate LUTs.
void Walk::addSlices(const Cell &cell) {
  bool isIce = StringRef(cell.type->name) == "SB_CARRY";
  const std::vector<Bit> &propagate = cell.bits(isIce ? "I0" : "S");
  const std::vector<Bit> &generate = cell.bits(isIce ? "I1" : "DI");
  const std::vector<Bit> &carries = cell.bits("CO");
  const std::vector<Bit> &sums = cell.bits("O");
  const std::vector<Bit> &in = cell.bits("CI"), &init = cell.bits("CYINIT");
  auto at = [](const std::vector<Bit> &bits, size_t i) {
    return i < bits.size() ? bits[i] : -1;
  };
  int below = -1;
  size_t width = std::max({propagate.size(), generate.size(), carries.size()});
  for (size_t i = 0; i < width; ++i) {
    auto enterBelow = [&](int node) {
      if (i > 0) {
        nodes[size_t(node)].arcs.push_back({below, Arc::Along, 1});
      } else {
        depend(node, at(in, 0), Arc::Along, 1);
        depend(node, at(init, 0), Arc::Enter);
      }
    };
    if (at(sums, i) >= 0) {
      int sum = addNode(&cell, at(sums, i));
      nodes[size_t(sum)].isCarry = true;
      enterBelow(sum);
      depend(sum, at(propagate, i), Arc::Enter);
    }
    int carry = addNode(&cell, at(carries, i));
    nodes[size_t(carry)].isCarry = true;
    enterBelow(carry);
    depend(carry, at(propagate, i), Arc::Enter);
    depend(carry, at(generate, i), Arc::Enter);
    below = carry;
  }
}

/// Chains whose cells contain the LUTs for their operands: the carry's
/// ports and, bit by bit, the operands and the sum.
struct OwnLuts {
  const char *cell, *in, *out;
  struct OneBit {
    std::array<const char *, 5> operands;
    const char *sum;
  };
  std::vector<OneBit> bits;
};

const OwnLuts *ownLutsOf(StringRef cell) {
  static const std::vector<OwnLuts> chains = {
      {"CCU2",
       "CIN",
       "COUT",
       {{{"A0", "B0", "C0", "D0"}, "S0"}, {{"A1", "B1", "C1", "D1"}, "S1"}}},
      {"ALU", "CIN", "COUT", {{{"I0", "I1", "I3"}, "SUM"}}},
      {"MISTRAL_ALUT_ARITH", "CI", "CO", {{{"A", "B", "C", "D0", "D1"}, "SO"}}},
  };
  cell.consume_back("C"); // ECP5's CCU2C
  for (const OwnLuts &chain : chains)
    if (cell == chain.cell)
      return &chain;
  return nullptr;
}

void Walk::addOwnLuts(const Cell &cell, const OwnLuts &chain) {
  int below = -1;
  for (const OwnLuts::OneBit &one : chain.bits) {
    auto operands = [&](int node) {
      nodes[size_t(node)].isCarry = true;
      if (below >= 0)
        nodes[size_t(node)].arcs.push_back({below, Arc::Along, 1});
      else
        for (Bit bit : cell.bits(chain.in))
          depend(node, bit, Arc::Along, 1);
      for (const char *operand : one.operands)
        for (Bit bit : cell.bits(operand ? operand : ""))
          depend(node, bit, Arc::Enter, kLevel);
    };
    for (Bit bit : cell.bits(one.sum))
      operands(addNode(&cell, bit));
    const std::vector<Bit> &out = cell.bits(chain.out);
    bool isLast = &one == &chain.bits.back();
    int carry = addNode(&cell, isLast && !out.empty() ? out.front() : -1);
    operands(carry);
    below = carry;
  }
}

void Walk::addCell(const Cell &cell) {
  switch (cell.type->kind) {
  case CellKind::Lut:
    return addLogic(cell, kLevel);
  case CellKind::Inverter:
  case CellKind::Mux:
    return addLogic(cell, 0);
  case CellKind::Carry:
    if (const OwnLuts *chain = ownLutsOf(cell.type->name))
      return addOwnLuts(cell, *chain);
    return addSlices(cell);
  case CellKind::LutRam:
    return addLutRam(cell);
  case CellKind::Ff:
  case CellKind::Shift:
  case CellKind::Memory:
  case CellKind::Dsp:
    return addBoundary(cell);
  case CellKind::Constant:
    return;
  }
}

/// Turns the arcs to bits into arcs to their drivers.
void Walk::connect() {
  for (const Pending &p : pending) {
    int from = driver[size_t(p.on)];
    if (from < 0)
      continue;
    Arc::Kind kind = p.kind;
    // A carry input driven by logic is where a path enters the chain.
    if (kind == Arc::Along && !nodes[size_t(from)].isCarry)
      kind = Arc::Enter;
    nodes[size_t(p.node)].arcs.push_back(
        {from, kind, kind == p.kind ? p.extra : 0});
  }
}

/// The lengths of a node whose arcs' origins are done.
void Walk::settle(Node &node) {
  if (node.isStart || node.arcs.empty())
    node.length[0] = node.own;
  for (const Arc &arc : node.arcs) {
    const Node &from = nodes[size_t(arc.from)];
    for (int chains = 0; chains <= kFreeChains; ++chains) {
      int length = from.length[size_t(chains)];
      if (length == kNone)
        continue;
      int after = chains;
      if (arc.kind != Arc::Along)
        length -= length % kLevel; // it leaves any chain it was in
      if (arc.kind == Arc::Enter) {
        after = std::min(chains + 1, kFreeChains);
        if (chains == kFreeChains)
          length += kLevel;
      }
      length += arc.extra + node.own;
      if (length > node.length[size_t(after)]) {
        node.length[size_t(after)] = length;
        node.before[size_t(after)] = {arc.from, chains, arc.kind == Arc::Along};
      }
    }
  }
}

/// Evaluates everything that a node depends on, then the node, without
/// recursion.
void Walk::evaluate(int root) {
  std::vector<std::pair<int, size_t>> stack = {{root, 0}};
  while (!stack.empty()) {
    auto &[index, next] = stack.back();
    Node &node = nodes[size_t(index)];
    uint8_t &mark = state[size_t(index)];
    mark = std::max<uint8_t>(mark, 1);
    if (next < node.arcs.size()) {
      int from = node.arcs[next++].from;
      if (state[size_t(from)] == 0)
        stack.push_back({from, 0});
      else if (state[size_t(from)] == 1 && loop.empty())
        loop = node.cell ? node.cell->name : "a port";
      continue;
    }
    settle(node);
    mark = 2;
    stack.pop_back();
  }
}

PathStep Walk::stepOf(const Node &node) const {
  PathStep step;
  step.cell = node.cell ? node.cell->type->name : "port";
  if (node.cell)
    step.src = node.cell->src;
  auto name = netlist.names.find(node.bit);
  if (name != netlist.names.end()) {
    step.name = name->second.name;
    if (step.src.empty())
      step.src = name->second.src;
  }
  return step;
}

std::vector<PathStep> Walk::trace(int index, int chains) const {
  std::vector<PathStep> path;
  bool inChain = false;
  while (index >= 0) {
    const Node &node = nodes[size_t(index)];
    const Node::Before &before = node.before[size_t(chains)];
    if (inChain)
      ++path.back().bits;
    else
      path.push_back(stepOf(node));
    if (node.isCarry && !inChain)
      path.back().bits = 1;
    inChain = before.isAlong;
    index = before.node;
    chains = before.chains;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Depth Walk::run() {
  for (const CellPort &port : netlist.ports)
    if (!port.isOutput)
      for (Bit bit : port.bits)
        nodes[size_t(addNode(nullptr, bit))].isStart = true;
  for (const Cell &cell : netlist.cells)
    addCell(cell);
  for (const CellPort &port : netlist.ports)
    if (port.isOutput)
      for (Bit bit : port.bits) {
        int end = addNode(nullptr, -1);
        nodes[size_t(end)].bit = bit;
        depend(end, bit);
        ends.push_back(end);
      }
  connect();
  state.assign(nodes.size(), 0);
  for (int node = 0; node < int(nodes.size()); ++node)
    if (state[size_t(node)] == 0)
      evaluate(node);

  Depth depth;
  int longest = -1, end = -1, chains = 0;
  for (int candidate : ends)
    for (int c = 0; c <= kFreeChains; ++c) {
      int length = nodes[size_t(candidate)].length[size_t(c)];
      if (length / kLevel > longest && !nodes[size_t(candidate)].arcs.empty()) {
        longest = length / kLevel;
        end = candidate;
        chains = c;
      }
    }
  if (end >= 0) {
    depth.levels = longest;
    depth.path = trace(end, chains);
  }
  depth.loop = loop;
  return depth;
}
} // namespace

Depth rhizome::synth::depthOf(const Netlist &netlist) {
  return Walk(netlist).run();
}
