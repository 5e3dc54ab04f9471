// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The account of a frame on random programs: each cycle counts once. Its forms
// as a package's file and as a trace say the same.
#include "rhizome/Engine/Listing.h"
#include "RandomProgram.h"
#include <gtest/gtest.h>

using namespace rhizome::engine;
using namespace rhizome::engine::test;

namespace {
const Mix kAll = {{Opcode::Load, Opcode::Pack, Opcode::Weights, Opcode::Matrix,
                   Opcode::Vector, Opcode::Store},
                  40};

/// A random program in three layers.
Listing randomListing(uint64_t seed) {
  const Core core = coreOf(8, 8, 64, 1, seed);
  const Program program = randomCase(core, kAll, seed).program;
  const size_t count = program.instructions.size() - 1;
  std::vector<size_t> layers(count);
  for (size_t i = 0; i < count; ++i)
    layers[i] = 3 * i / count;
  Listing made = listingOf(
      program, core, layers,
      {{"first", "matrix", 1000}, {"second", "dot"}, {"third", "map"}},
      predict(program, core));
  made.unit = "unit";
  made.memory = "ddr";
  return made;
}

std::string textOf(llvm::json::Object object) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return text;
}

TEST(Listing, EachCycleCountsOnce) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Listing listing = randomListing(seed);
    std::array<int64_t, kUnits> ends = {}, counted = {};
    for (size_t i = 0; i < listing.lines.size(); ++i) {
      int64_t &end = ends[unsigned(infoOf(listing.lines[i].opcode).unit)];
      end = std::max(end, listing.predicted[i].end);
    }
    int64_t cycles = 0;
    for (const LayerUse &use :
         listing.account(listing.predicted, listing.cycles)) {
      cycles += use.cycles;
      for (unsigned unit = 0; unit < kUnits; ++unit) {
        counted[unit] += use.units[unit].all();
        EXPECT_GE(use.units[unit].works, 0);
        for (int64_t wait : use.units[unit].waits)
          EXPECT_GE(wait, 0);
      }
    }
    EXPECT_EQ(cycles, listing.cycles);
    EXPECT_EQ(counted, ends);
    EXPECT_EQ(listing.layers.front().ideal, 16);
  }
}

TEST(Listing, ItsFileSaysTheSame) {
  const Listing listing = randomListing(7);
  const std::string text = textOf(toJson(listing));
  llvm::Expected<Listing> read = listingFrom(text);
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(textOf(toJson(*read)), text);
}

TEST(Listing, StrangersAreRefused) {
  const llvm::json::Object whole = toJson(randomListing(7));
  auto refused = [&](llvm::StringRef key, llvm::json::Value value) {
    llvm::json::Object object = whole;
    llvm::json::Object &lines = *object.getObject("instructions");
    (key == "schema" ? object : lines)[key] = std::move(value);
    llvm::Expected<Listing> read = listingFrom(textOf(std::move(object)));
    return read ? "" : llvm::toString(read.takeError());
  };
  llvm::json::Array layers =
      *whole.getObject("instructions")->getArray("layer");
  layers.back() = 3;
  EXPECT_EQ(refused("layer", std::move(layers)),
            "instructions.layer has what is no number from 0 to 2");
  EXPECT_EQ(refused("end", llvm::json::Array{1}),
            "instructions.end has 1 members");
  EXPECT_EQ(refused("work", nullptr), "instructions.work is no list");
  llvm::json::Array opcodes =
      *whole.getObject("instructions")->getArray("opcode");
  opcodes.front() = int64_t(Opcode::Head);
  EXPECT_EQ(refused("opcode", std::move(opcodes)),
            "instruction 1 is for no unit");
  EXPECT_NE(refused("schema", 2).find("another version of rhizome wrote it"),
            std::string::npos);
}

TEST(Listing, ATraceHasAnEventForEachInstruction) {
  const Listing listing = randomListing(11);
  std::string text;
  llvm::raw_string_ostream os(text);
  writeTrace(os, {{&listing, "core", listing.predicted}});
  auto parsed = llvm::json::parse(text);
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  std::array<int64_t, kUnits + 1> ends = {};
  size_t events = 0;
  for (const llvm::json::Value &value :
       *parsed->getAsObject()->getArray("traceEvents")) {
    const llvm::json::Object &event = *value.getAsObject();
    if (event.getString("ph") != "X")
      continue;
    ++events;
    // Those of a thread follow each other.
    int64_t &end = ends[size_t(*event.getInteger("tid"))];
    EXPECT_GE(*event.getInteger("ts"), end);
    EXPECT_GE(*event.getInteger("dur"), 0);
    end = *event.getInteger("ts") + *event.getInteger("dur");
  }
  EXPECT_EQ(events, listing.lines.size());
}
} // namespace
