// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Model files: written files are read back, mistakes are reported by line.
#include "rhizome/Target/CostModel.h"
#include "../TestFolder.h"

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
FamilyModel toy() {
  FamilyModel m;
  m.family = "toy";
  m.mapping = {true, true, 14};
  m.tool = "Yosys 0.23";
  m.options = "synth_toy -top actor";
  m.seed = 7;
  m.units["fork"].lut = {{"buffer", 1.25}, {"mux", 0.5}};
  m.units["fork"].lutResiduals = {3, 0.01, 0.02, 0.03, 9, 4};
  return m;
}

/// Loads data/models/toy.yaml of a folder with this text.
llvm::Expected<FamilyModel> load(const std::string &text) {
  TestFolder folder;
  llvm::sys::fs::create_directories(folder.path("devices"));
  llvm::sys::fs::create_directories(folder.path("models"));
  folder.write("models/toy.yaml", text);
  setenv("RHIZOME_DATA", folder.path().c_str(), 1);
  auto model = loadFamilyModel("toy");
  unsetenv("RHIZOME_DATA");
  return model;
}

TEST(CostModel, WhatIsWrittenReadsBack) {
  std::string text = printFamilyModel(toy());
  auto model = load(text);
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  EXPECT_EQ(printFamilyModel(*model), text);
  EXPECT_EQ(model->units["fork"].lut["buffer"], 1.25);
  EXPECT_EQ(model->units["fork"].lutResiduals.small, 9);
}

TEST(CostModel, MistakesAreNamedByLine) {
  std::string text = printFamilyModel(toy());
  auto messageOf = [](const std::string &text) {
    auto model = load(text);
    if (model)
      return std::string("accepted");
    std::string message = llvm::toString(model.takeError());
    return message.substr(message.find("toy.yaml"));
  };
  EXPECT_NE(messageOf(text + "color: red\n").find("unknown key 'color'"),
            std::string::npos);
  std::string units = text.substr(0, text.find("units:"));
  EXPECT_NE(messageOf(units).find("needs a mapping 'units'"),
            std::string::npos);
  EXPECT_NE(
      messageOf(units + "units: {fork: {}}\n").find("needs a mapping 'terms'"),
      std::string::npos);
}

TEST(CostModel, AFitStandsInForAnother) {
  auto model = loadFamilyModel("ultrascale");
  auto like = loadFamilyModel("ultrascale+");
  ASSERT_TRUE(bool(model) && bool(like));
  EXPECT_EQ(model->like, "ultrascale+");
  EXPECT_EQ(model->seed, like->seed);
  EXPECT_EQ(model->units.size(), like->units.size());
  std::string own = "family: toy\nmapping: {shift_registers: true, "
                    "half_blocks: true, lutram_bits: 6}\nlike: ";
  for (const char *other : {"toy", "nobodys"}) {
    auto bad = load(own + other + "\n");
    ASSERT_FALSE(bool(bad));
    EXPECT_NE(llvm::toString(bad.takeError()).find("no fit of its own"),
              std::string::npos);
  }
}

TEST(CostModel, AFamilyWithoutAFileHasNoUnits) {
  auto model = loadFamilyModel("nobodys");
  ASSERT_TRUE(bool(model));
  EXPECT_TRUE(model->units.empty());
}

TEST(CostModel, TheShippedModelsLoad) {
  for (const char *family :
       {"ultrascale+", "ultrascale", "7series", "ecp5", "ice40"}) {
    auto model = loadFamilyModel(family);
    ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
    EXPECT_EQ(model->family, family);
  }
}
} // namespace
