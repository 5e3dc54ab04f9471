// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The path analysis on netlists written by hand: what counts as a level, what
// is free, and that no path is found where the bits have none.
#include "rhizome/Synth/Depth.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <gtest/gtest.h>

using namespace rhizome::synth;

namespace {
/// Cells by hand; bits are any numbers from 2 on, -1 is a constant.
class Hand {
public:
  /// Ports whose name begins with '>' are outputs.
  void
  cell(const std::string &type,
       const std::vector<std::pair<std::string, std::vector<int>>> &ports) {
    std::vector<std::string> directions, connections;
    for (auto [name, bits] : ports) {
      bool isOutput = name[0] == '>';
      std::string key = "\"" + name.substr(isOutput) + "\": ";
      directions.push_back(key + (isOutput ? "\"output\"" : "\"input\""));
      connections.push_back(key + list(bits));
    }
    cells.push_back(
        "\"c" + std::to_string(cells.size()) + "\": {\"type\": \"" + type +
        "\", \"attributes\": {" + "\"src\": \"/lib/cells.v:1.2-3.4|top.sv:" +
        std::to_string(cells.size()) + ".5-6.7\"}, \"port_directions\": {" +
        llvm::join(directions, ", ") + "}, \"connections\": {" +
        llvm::join(connections, ", ") + "}}");
  }
  void ff(int d, int q) { cell("FDRE", {{"D", {d}}, {">Q", {q}}}); }
  void lut(std::vector<int> inputs, int out) {
    std::vector<std::pair<std::string, std::vector<int>>> ports = {
        {">O", {out}}};
    for (size_t i = 0; i < inputs.size(); ++i)
      ports.push_back({"I" + std::to_string(i), {inputs[i]}});
    cell("LUT" + std::to_string(inputs.size()), ports);
  }
  /// A chain of `count` CARRY4 over operands s and s + 1 …, carries co …, sums
  /// o …; its first carry comes from `in`.
  void chain(int count, int in, int s, int co, int o) {
    auto four = [](int from) {
      return std::vector<int>{from, from + 1, from + 2, from + 3};
    };
    for (int i = 0; i < count; ++i)
      cell("CARRY4", {{"CI", {i ? co + 4 * i - 1 : -1}},
                      {"CYINIT", {i ? -1 : in}},
                      {"S", four(s + 4 * i)},
                      {"DI", {-1, -1, -1, -1}},
                      {">CO", four(co + 4 * i)},
                      {">O", four(o + 4 * i)}});
  }
  void name(const std::string &net, int bit) {
    nets.push_back("\"" + net + "\": {\"hide_name\": 0, \"bits\": " +
                   list({bit}) + ", \"attributes\": {}}");
  }
  void port(const std::string &port, bool isOutput, int bit) {
    ports.push_back("\"" + port + "\": {\"direction\": \"" +
                    (isOutput ? "output" : "input") +
                    "\", \"bits\": " + list({bit}) + "}");
  }
  Depth depth() const {
    return depthOf(llvm::cantFail(Netlist::parse(
        "{\"modules\": {\"actor\": {\"ports\": {" + llvm::join(ports, ", ") +
        "}, \"netnames\": {" + llvm::join(nets, ", ") + "}, \"cells\": {" +
        llvm::join(cells, ", ") + "}}}}")));
  }

private:
  static std::string list(const std::vector<int> &bits) {
    std::vector<std::string> texts;
    for (int bit : bits)
      texts.push_back(bit < 0 ? "\"0\"" : std::to_string(bit));
    return "[" + llvm::join(texts, ", ") + "]";
  }
  std::vector<std::string> cells, nets, ports;
};

std::string pathOf(const Depth &depth) {
  std::vector<std::string> steps;
  for (const PathStep &step : depth.path)
    steps.push_back(step.cell + (step.bits ? std::to_string(step.bits) : ""));
  return llvm::join(steps, " ");
}

TEST(Depth, CountsLutsBetweenRegisters) {
  Hand hand;
  hand.ff(9, 2);
  hand.lut({2, 3}, 4);
  hand.cell("INV", {{"I", {4}}, {">O", {5}}});
  hand.cell("MUXF7", {{"I0", {5}}, {"I1", {6}}, {"S", {3}}, {">O", {7}}});
  hand.lut({7}, 8);
  hand.ff(8, 9);
  hand.name("start_q", 2);
  hand.name("between", 7);
  hand.name("gen_x[3].end_q", 9);
  Depth depth = hand.depth();
  EXPECT_EQ(depth.levels, 2);
  EXPECT_EQ(pathOf(depth), "FDRE LUT2 INV MUXF7 LUT1 FDRE");
  EXPECT_EQ(depth.path.front().name, "start_q");
  EXPECT_EQ(depth.path.front().src, "top.sv:0");
  EXPECT_EQ(depth.path[3].name, "between");
  EXPECT_EQ(depth.path.back().name, "gen_x[3].end_q");
  EXPECT_EQ(depth.path.back().src, "top.sv:5");
  EXPECT_EQ(depth.loop, "");
}

TEST(Depth, PortsAreBorders) {
  Hand hand;
  hand.port("in_i", false, 2);
  hand.port("out_o", true, 5);
  hand.lut({2}, 3);
  hand.lut({3, 2}, 4);
  hand.lut({4}, 5);
  EXPECT_EQ(hand.depth().levels, 3);
  EXPECT_EQ(pathOf(hand.depth()), "port LUT1 LUT2 LUT1 port");
  EXPECT_EQ(Hand().depth().levels, 0);
  EXPECT_TRUE(Hand().depth().path.empty());
}

/// A chain of `bits` from its first carry's operand to its last sum.
int levelsOfChain(int bits) {
  Hand hand;
  hand.ff(-1, 2);
  hand.lut({2}, 1000);
  hand.chain((bits + 3) / 4, -1, 1000, 2000, 3000);
  hand.ff(3000 + bits - 1, 3);
  return hand.depth().levels;
}

TEST(Depth, ChainsAreFreeUpTo32Bits) {
  EXPECT_EQ(levelsOfChain(1), 1);
  EXPECT_EQ(levelsOfChain(24), 1);
  EXPECT_EQ(levelsOfChain(32), 1);
  EXPECT_EQ(levelsOfChain(33), 2);
  EXPECT_EQ(levelsOfChain(64), 2);
  EXPECT_EQ(levelsOfChain(65), 3);
  Hand hand;
  hand.ff(-1, 2);
  hand.lut({2}, 1001);
  hand.chain(2, -1, 1000, 2000, 3000);
  hand.ff(3006, 3);
  EXPECT_EQ(pathOf(hand.depth()), "FDRE LUT1 CARRY46 FDRE");
  EXPECT_EQ(hand.depth().path[2].src, "top.sv:3");
}

TEST(Depth, TwoChainsAreFree) {
  for (int chains = 1; chains <= 4; ++chains) {
    Hand hand;
    hand.ff(-1, 2);
    int from = 2;
    for (int i = 0; i < chains; ++i) {
      int base = 10000 * (i + 1);
      hand.lut({from}, base);
      hand.chain(1, -1, base, base + 100, base + 200);
      from = base + 200;
    }
    hand.ff(from, 3);
    EXPECT_EQ(hand.depth().levels, chains + std::max(0, chains - 2)) << chains;
  }
}

TEST(Depth, ChainsHaveNoFalseLoops) {
  // As in a comparison: a carry returns as a higher operand of its cell.
  Hand hand;
  hand.ff(-1, 2);
  hand.cell("CARRY4", {{"CI", {-1}},
                       {"CYINIT", {-1}},
                       {"S", {2, 10, -1, -1}},
                       {"DI", {-1, -1, -1, -1}},
                       {">CO", {20, 21, 22, 23}},
                       {">O", {30, 31, 32, 33}}});
  hand.lut({20}, 10);
  hand.ff(31, 3);
  EXPECT_EQ(hand.depth().loop, "");
  EXPECT_EQ(hand.depth().levels, 1);
  EXPECT_EQ(pathOf(hand.depth()), "FDRE CARRY41 LUT1 CARRY41 FDRE");
  // A sum does not depend on its own DI.
  Hand own;
  own.ff(-1, 2);
  own.cell("CARRY4", {{"S", {2}}, {"DI", {10}}, {">CO", {20}}, {">O", {30}}});
  own.lut({30}, 10);
  own.ff(20, 3);
  EXPECT_EQ(own.depth().loop, "");
  EXPECT_EQ(own.depth().levels, 1);
}

TEST(Depth, LoopsAreNamed) {
  Hand hand;
  hand.lut({3}, 2);
  hand.lut({2}, 3);
  hand.ff(3, 4);
  EXPECT_NE(hand.depth().loop, "");
}

TEST(Depth, MemoriesInLutsAreReadAtOnce) {
  Hand hand;
  hand.ff(-1, 2);
  hand.lut({2}, 3);
  hand.lut({3}, 4);
  hand.cell("RAM32M",
            {{"ADDRA", {2}}, {"ADDRD", {4}}, {"DIA", {4}}, {">DOA", {5}}});
  hand.ff(5, 6);
  // Two levels to the write port; one through the read port.
  EXPECT_EQ(hand.depth().levels, 2);
  EXPECT_EQ(pathOf(hand.depth()), "FDRE LUT1 LUT1 RAM32M");
  hand.lut({5}, 7);
  hand.lut({7}, 8);
  hand.ff(8, 9);
  EXPECT_EQ(hand.depth().levels, 3);
  EXPECT_EQ(pathOf(hand.depth()), "FDRE RAM32M LUT1 LUT1 FDRE");
  // A shift register and a block RAM are registers.
  Hand border;
  border.cell("SRL16E", {{"D", {9}}, {"A0", {9}}, {">Q", {2}}});
  border.lut({2}, 3);
  border.cell("RAMB18E2", {{"ADDRARDADDR", {3}}, {">DOUTADOUT", {4}}});
  border.lut({4}, 9);
  EXPECT_EQ(border.depth().levels, 1);
}

TEST(Depth, ChainsOfOtherVendors) {
  // The LUT before the carry is the CCU2C's own.
  Hand ecp5;
  ecp5.cell("TRELLIS_FF", {{"DI", {-1}}, {">Q", {2}}});
  ecp5.cell("CCU2C", {{"A0", {2}}, {">COUT", {10}}});
  ecp5.cell("CCU2C", {{"CIN", {10}}, {"A0", {-1}}, {">S1", {11}}});
  ecp5.cell("TRELLIS_FF", {{"DI", {11}}, {">Q", {3}}});
  EXPECT_EQ(ecp5.depth().levels, 1);
  EXPECT_EQ(pathOf(ecp5.depth()), "TRELLIS_FF CCU2C4 TRELLIS_FF");
  Hand gowin;
  gowin.cell("DFF", {{"D", {-1}}, {">Q", {2}}});
  gowin.cell("ALU", {{"I0", {2}}, {">COUT", {10}}});
  gowin.cell("ALU", {{"CIN", {10}}, {"I0", {-1}}, {">SUM", {11}}});
  gowin.cell("DFF", {{"D", {11}}, {">Q", {3}}});
  EXPECT_EQ(pathOf(gowin.depth()), "DFF ALU2 DFF");
  EXPECT_EQ(gowin.depth().levels, 1);
  // iCE40's carry feeds the LUT that makes the sum.
  Hand ice;
  ice.cell("SB_DFF", {{"D", {-1}}, {">Q", {2}}});
  ice.cell("SB_CARRY", {{"CI", {-1}}, {"I0", {2}}, {"I1", {-1}}, {">CO", {3}}});
  ice.cell("SB_CARRY", {{"CI", {3}}, {"I0", {-1}}, {"I1", {-1}}, {">CO", {4}}});
  ice.cell("SB_LUT4", {{"I3", {4}}, {">O", {5}}});
  ice.cell("SB_DFF", {{"D", {5}}, {">Q", {6}}});
  EXPECT_EQ(ice.depth().levels, 1);
  EXPECT_EQ(pathOf(ice.depth()), "SB_DFF SB_CARRY2 SB_LUT4 SB_DFF");
}
} // namespace
