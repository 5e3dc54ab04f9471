// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Netlists written by hand: how every kind of cell is counted.
#include "rhizome/Synth/Netlist.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace rhizome::synth;

namespace {
/// A netlist of unconnected cells.
llvm::Expected<Netlist> cellsOf(const std::vector<std::string> &types) {
  std::vector<std::string> cells;
  for (const std::string &type : types)
    cells.push_back("\"c" + std::to_string(cells.size()) + "\": {\"type\": \"" +
                    type + "\", \"port_directions\": {}, \"connections\": {}}");
  return Netlist::parse("{\"modules\": {\"actor\": {\"ports\": {}, "
                        "\"netnames\": {}, \"cells\": {" +
                        llvm::join(cells, ", ") + "}}}}");
}

Counts countsOf(const std::vector<std::string> &types) {
  return countCells(llvm::cantFail(cellsOf(types)));
}

TEST(Netlist, CountsEveryKindOfCell) {
  Counts amd =
      countsOf({"LUT1", "LUT6", "INV", "FDRE", "FDSE", "CARRY4", "MUXF7",
                "SRL16E", "SRLC32E", "RAM32M", "RAM64X1D", "RAM32M16",
                "RAMB18E2", "RAMB36E2", "URAM288", "DSP48E2"});
  EXPECT_EQ(amd, (Counts{{"lut", 18},
                         {"lutram", 16},
                         {"shift", 2},
                         {"ff", 2},
                         {"carry", 1},
                         {"mux", 1},
                         {"bram", 1.5},
                         {"uram", 1},
                         {"dsp", 1}}));
  Counts ecp5 =
      countsOf({"LUT4", "PFUMX", "L6MUX21", "CCU2C", "CCU2C", "TRELLIS_FF",
                "TRELLIS_DPR16X4", "DP16KD", "PDPW16KD", "MULT18X18D"});
  EXPECT_EQ(ecp5["lut"], 11);
  EXPECT_EQ(ecp5["mux"], 2);
  EXPECT_EQ(ecp5["carry"], 2);
  EXPECT_EQ(ecp5["lutram"], 6);
  EXPECT_EQ(ecp5["bram"], 2);
  EXPECT_EQ(ecp5["dsp"], 1);
  Counts ice = countsOf({"SB_LUT4", "SB_CARRY", "SB_DFF", "SB_DFFESR",
                         "SB_RAM40_4K", "SB_MAC16"});
  EXPECT_EQ(ice["lut"], 1);
  EXPECT_EQ(ice["carry"], 1);
  EXPECT_EQ(ice["ff"], 2);
  EXPECT_EQ(ice["bram"], 1);
  EXPECT_EQ(ice["dsp"], 1);
}

TEST(Netlist, CountsOtherFamilies) {
  Counts nexus = countsOf({"LUT4", "WIDEFN9", "CCU2", "FD1P3IX", "DPR16X4",
                           "PDPSC16K", "MULT18X36", "VHI", "$scopeinfo"});
  EXPECT_EQ(nexus["lut"], 11);
  EXPECT_EQ(nexus["ff"], 1);
  EXPECT_EQ(nexus["bram"], 1);
  EXPECT_EQ(nexus["dsp"], 2);
  Counts gowin =
      countsOf({"LUT3", "MUX2_LUT5", "ALU", "DFFRE", "RAM16SDP4", "SDPX9"});
  EXPECT_EQ(gowin["lut"], 6);
  EXPECT_EQ(gowin["mux"], 1);
  EXPECT_EQ(gowin["ff"], 1);
  EXPECT_EQ(gowin["bram"], 1);
  Counts cyclone = countsOf(
      {"MISTRAL_ALUT3", "MISTRAL_ALUT6", "MISTRAL_ALUT_ARITH", "MISTRAL_FF",
       "MISTRAL_MLAB", "MISTRAL_M10K", "MISTRAL_MUL18X18", "MISTRAL_NOT"});
  EXPECT_EQ(cyclone["lut"], 5);
  EXPECT_EQ(cyclone["ff"], 1);
  EXPECT_EQ(cyclone["dsp"], 0.5);
}

TEST(Netlist, RefusesWhatItDoesNotKnow) {
  auto message = [](llvm::Expected<Netlist> netlist) {
    return netlist ? "accepted" : llvm::toString(netlist.takeError());
  };
  EXPECT_EQ(message(cellsOf({"LUT2", "FLUX", "$add", "FLUX"})),
            "Yosys' netlist holds cells that rhizome does not know: $add, "
            "FLUX");
  EXPECT_EQ(message(Netlist::parse("{\"modules\": {}}")),
            "Yosys' netlist is not as expected: it has no top module with "
            "cells, ports and netnames");
  EXPECT_EQ(message(Netlist::parse("[]")),
            "Yosys' netlist is not as expected: it has no modules");
  EXPECT_NE(message(Netlist::parse("{")), "accepted");
}
} // namespace
