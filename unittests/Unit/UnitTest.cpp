// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of unit kinds, instances and their checks.
#include "rhizome/Unit/Units.h"
#include <gtest/gtest.h>
#include <set>

using namespace rhizome;
using unit::Instance;

namespace {
Instance select(int64_t period, int64_t count) {
  Instance instance(*unit::find("select"));
  instance.params = {{"Elem", 8},  {"Inner", 1},     {"Period", period},
                     {"Start", 1}, {"Stride", 2},    {"Count", count},
                     {"Depth", 2}, {"frameBeats", 4}};
  return instance;
}

TEST(Unit, KindsAreFoundByName) {
  ASSERT_TRUE(unit::find("matvec"));
  EXPECT_STREQ(unit::find("matvec")->module, "rhz_matvec");
  EXPECT_FALSE(unit::find("rhz_matvec"));
  std::set<std::string> names;
  for (const unit::Kind *kind : unit::all()) {
    EXPECT_TRUE(names.insert(kind->name).second) << kind->name;
    EXPECT_NE(kind->isGenerated(), *kind->shell == 0) << kind->name;
    EXPECT_FALSE(kind->characterized.empty()) << kind->name;
  }
}

TEST(Unit, SourcesStandBeforeTheirUsersAndOnce) {
  std::vector<std::string> files;
  for (const unit::SourceFile &file : unit::find("fifo")->sources)
    files.push_back(file.name);
  EXPECT_EQ(files, (std::vector<std::string>{"rhz_counter.sv", "rhz_outbuf.sv",
                                             "rhz_fork.sv", "rhz_fifo.sv"}));
  auto models = llvm::count_if(unit::find("matvec")->sources,
                               [](const auto &file) { return file.isModel; });
  EXPECT_EQ(models, 2); // of both DSP blocks
  EXPECT_FALSE(unit::sourcesOf("rhz_link_rx").empty());
  EXPECT_TRUE(unit::sourcesOf("rhz_no_such_module").empty());
}

TEST(Unit, ParametersAreReadAsTheStructOfTheKind) {
  auto p = select(4, 2).as<unit::Select>();
  EXPECT_EQ(p.Period, 4);
  EXPECT_EQ(p.Stride, 2);
  EXPECT_EQ(p.frameBeats, 4);
}

TEST(Unit, WhatIsLeftOutHasItsPreset) {
  Instance requant(*unit::find("requant"));
  EXPECT_FALSE(requant.params.has("Pixels"));
  EXPECT_EQ(requant.get("Pixels"), 1);
  EXPECT_TRUE(requant.params.all().empty());
  requant.set("Pixels", 2);
  EXPECT_EQ(requant.get("Pixels"), 2);
  EXPECT_EQ(requant.params.all().size(), 1u);
}

TEST(Unit, ChecksNameTheParameter) {
  EXPECT_EQ(unit::check(select(4, 2)), std::nullopt);
  EXPECT_EQ(unit::check(select(0, 2)),
            "parameter 'Period' (groups of a period) is 0, not from 1 to "
            "2147483647");
  EXPECT_EQ(unit::check(select(4, 3)),
            "its parameters contradict each other: the last group that is "
            "kept lies within the period");
  Instance empty(*unit::find("fifo"));
  EXPECT_EQ(unit::check(empty), "parameter 'Width' (bits of a beat) is "
                                "missing");
}

/// Two layers of different sizes on a unit.
TEST(Unit, RowsAreTheValuesOfEachStream) {
  Instance turns(*unit::find("turns_resident"));
  turns.params = {{"Layers", 2},    {"Pe", 1},      {"Simd", 1},
                  {"XWidth", 8},    {"XSigned", 0}, {"WWidth", 8},
                  {"AccWidth", 24}, {"Folds", 300}, {"OutFolds", 4},
                  {"Vectors", 9},   {"Words", 304}, {"Biases", 5},
                  {"Bias", 0},      {"Style", 0},   {"Ultra", 0},
                  {"Load", 64},     {"Places", 8},  {"Depth", 2}};
  EXPECT_EQ(unit::check(turns), std::nullopt);
  EXPECT_TRUE(turns.rows().empty());
  turns.setRows({{300, 1, 9}, {1, 4, 2}});
  EXPECT_EQ(turns.files.back(), (std::pair<std::string, std::string>(
                                    "Sizes", "012c00010009000100040002")));
  EXPECT_EQ(unit::check(turns), std::nullopt);
  for (const unit::Port &port : turns.kind().ports) {
    const bool isIn = port.protocol == unit::Protocol::Stream && port.isInput;
    auto beats = [&](int64_t stream) {
      return port.beats(turns.valuesOf(port, stream).data());
    };
    if (isIn)
      EXPECT_EQ(std::pair(beats(0), beats(1)),
                std::pair(int64_t(2700), int64_t(8)));
    if (port.protocol == unit::Protocol::Load)
      EXPECT_EQ(beats(0), 304);
  }
  turns.files.back().second = "012c00010009";
  EXPECT_EQ(unit::check(turns),
            "'Sizes' has not 12 hexadecimal digits for each of 2 streams");
  turns.files.back().second = "012c00010009000100050002";
  EXPECT_EQ(unit::check(turns),
            "'Sizes' has 5 for 'OutFolds', not from 1 to 4");
}

TEST(Unit, MemoriesFollowFromTheParameters) {
  Instance reduce(*unit::find("lane_reduce"));
  reduce.params = {{"Pixels", 2},    {"Lanes", 3},     {"Taps", 4},
                   {"Op", 0},        {"WWidth", 5},    {"AccWidth", 20},
                   {"Folds", 6},     {"OutFolds", 7},  {"Bias", 1},
                   {"Positions", 8}, {"ScaleWidth", 9}};
  auto shapes = [&] {
    std::vector<std::pair<int64_t, int64_t>> shapes;
    for (const unit::Rom *rom : reduce.roms())
      shapes.push_back(
          {rom->words(reduce.params.data()), rom->width(reduce.params.data())});
    return shapes;
  };
  using Shapes = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(shapes(), (Shapes{{42, 60}, {7, 60}}));
  reduce.set("Op", 2); // a scaled sum has scales only
  EXPECT_EQ(shapes(), (Shapes{{8, 18}}));
  reduce.set("Positions", 0);
  EXPECT_EQ(shapes(), Shapes());
}

TEST(Unit, PortsAreAsWideAsTheParametersSay) {
  Instance fork(*unit::find("fork"));
  fork.params = {{"Width", 12}, {"Outputs", 3}};
  ASSERT_EQ(fork.kind().ports.size(), 2u);
  EXPECT_EQ(fork.bitsOf(fork.kind().ports[0]), 12);
  EXPECT_EQ(fork.bitsOf(fork.kind().ports[1]), 36);
}

TEST(Unit, AProgramAddsAKindAndTakesItOut) {
  static const unit::Parameter parameters[] = {
      {"Bits", 1, 64, std::nullopt, true, "bits of a beat"}};
  static const unit::Kind kind = {"test_unit",
                                  "a unit of a test",
                                  "test_module",
                                  "",
                                  {},
                                  parameters,
                                  {},
                                  {},
                                  {},
                                  {},
                                  {},
                                  {}};
  unit::add(kind);
  EXPECT_EQ(unit::find("test_unit"), &kind);
  Instance instance(kind);
  instance.set("Bits", 65);
  EXPECT_TRUE(unit::check(instance));
  unit::remove(kind);
  EXPECT_FALSE(unit::find("test_unit"));
}
} // namespace
