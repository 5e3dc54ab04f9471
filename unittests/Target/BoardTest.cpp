// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shipped boards load and fit their devices; malformed ones are refused.
#include "rhizome/Target/Board.h"
#include "../TestFolder.h"
#include "rhizome/Target/Device.h"
#include "rhizome/Target/Host.h"

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
constexpr const char *kGood = R"(name: toy
description: a board for tests
device: ice40-hx8k
clock: {pin: A1, mhz: 12}
uart: {rx: B1, tx: B2, baud: 1000000}
drive_high: [C1]
flash: nothing
sources: [nobody]
)";

std::string messageFor(const std::string &from, const std::string &to) {
  std::string text = kGood;
  text.replace(text.find(from), from.size(), to);
  TestFolder folder;
  folder.write("b.yaml", text);
  auto board = loadBoard(folder.path("b.yaml"));
  if (board)
    return "accepted";
  std::string message = llvm::toString(board.takeError());
  return message.substr(message.find("b.yaml"));
}

TEST(Board, ShippedOnesFitTheirDevices) {
  auto boards = listBoards();
  ASSERT_TRUE(bool(boards)) << llvm::toString(boards.takeError());
  std::vector<std::string> names;
  for (const Board &board : *boards) {
    names.push_back(board.name);
    auto device = loadDevice(board.device);
    ASSERT_TRUE(bool(device)) << llvm::toString(device.takeError());
    EXPECT_LE(board.clockMhz, device->maxClockMhz ? device->maxClockMhz : 1e9)
        << board.name;
    switch (board.host()) {
    case Board::Host::Serial: {
      EXPECT_TRUE(device->router || device->family == "7series") << board.name;
      // The far end must not be off by a tenth of a bit over ten bits.
      double exact = board.clockMhz * 1e6 / board.baud;
      EXPECT_NEAR(double(board.divisor()) / exact, 1, 0.01) << board.name;
      break;
    }
    case Board::Host::Dma:
      EXPECT_EQ(board.processor,
                device->family == "7series" ? "zynq7" : "zynqmp");
      break;
    case Board::Host::Platform:
      EXPECT_NE(device->platform, "") << board.name;
    }
  }
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "alveo-u200", "alveo-u250",   "alveo-u280",  "alveo-u50",
          "alveo-u55c", "arty-a7-100t", "arty-a7-35t", "ice40-hx8k-breakout",
          "icebreaker", "kr260",        "kv260",       "pynq-z1",
          "pynq-z2",    "ultra96-v2",   "ulx3s-12f",   "ulx3s-25f",
          "ulx3s-45f",  "ulx3s-85f",    "zcu102",      "zcu104",
          "zedboard"}));
}

TEST(Board, AHostMayBeOnTheChipOrAtAPlatform) {
  auto read = [](const std::string &more) {
    TestFolder folder;
    folder.write("b.yaml", "name: toy\ndescription: d\ndevice: xc7z020\n"
                           "clock: {mhz: 100}\nsources: [nobody]\n" +
                               more);
    auto board = loadBoard(folder.path("b.yaml"));
    if (!board) {
      std::string message = llvm::toString(board.takeError());
      return message.substr(message.find("b.yaml"));
    }
    return nameOf(board->host()).str() + " " + board->boardPart;
  };
  EXPECT_EQ(read(""), "platform ");
  EXPECT_EQ(read("processor: {kind: zynq7, board_part: 'a.com:b:part0'}\n"),
            "dma a.com:b:part0");
  EXPECT_EQ(read("processor: {kind: zynq8, board_part: 'a.com:b:part0'}\n"),
            "b.yaml:6: 'kind' is 'zynq8'; known are zynq7, zynqmp");
  // It becomes a word of a script.
  EXPECT_EQ(read("processor: {kind: zynq7, board_part: 'a:b:[exec id]'}\n"),
            "b.yaml:6: 'board_part' is 'a:b:[exec id]', not "
            "'vendor:board:part0'");
  EXPECT_EQ(read("uart: {rx: A1, tx: A2, baud: 9600}\nflash: x\n"),
            "b.yaml:4: 'clock' needs 'pin'");
}

TEST(Board, IsRead) {
  TestFolder folder;
  folder.write("b.yaml", kGood);
  auto board = loadBoard(folder.path("b.yaml"));
  ASSERT_TRUE(bool(board)) << llvm::toString(board.takeError());
  EXPECT_EQ(board->clockPin, "A1");
  EXPECT_EQ(board->txPin, "B2");
  EXPECT_EQ(board->divisor(), 12);
  EXPECT_EQ(board->highPins, std::vector<std::string>{"C1"});
}

TEST(Board, MistakesAreNamedByLine) {
  EXPECT_EQ(messageFor("baud: 1000000", "baud: 6000000"),
            "b.yaml:5: 'baud' is 6000000, less than 3 cycles of the clock a "
            "bit");
  EXPECT_EQ(messageFor("mhz: 12", "mhz: 0"),
            "b.yaml:4: 'mhz' is 0, not from 0.001 to 10000");
  EXPECT_EQ(messageFor("[C1]", "C1"),
            "b.yaml:6: 'drive_high' must be a list of pins");
  EXPECT_EQ(messageFor("sources: [nobody]", ""),
            "b.yaml:1: a board file needs a list 'sources'");
  // Pins become words of constraint files.
  for (auto [from, to] : {std::pair("A1", "'A1; x'"),
                          {"B1", "'B1 -pullup'"},
                          {"B2", "'B2\"'"},
                          {"[C1]", "['C1 C2']"}})
    EXPECT_NE(messageFor(from, to).find("it may have letters, digits and"),
              std::string::npos)
        << messageFor(from, to);
  EXPECT_EQ(messageFor("flash: nothing", "flash: \"\\e[2J\""),
            "b.yaml:7: 'flash' is '\\x1b[2J', which has control characters");
  EXPECT_NE(messageFor("flash", "flesh").find("needs 'flash'"),
            std::string::npos);
}

TEST(Board, UnknownNamesAreRefusedWithTheKnown) {
  auto board = loadBoard("nobody");
  ASSERT_FALSE(bool(board));
  EXPECT_EQ(llvm::toString(board.takeError()),
            "unknown board 'nobody'; known are alveo-u200, alveo-u250, "
            "alveo-u280, alveo-u50, alveo-u55c, arty-a7-100t, arty-a7-35t, "
            "ice40-hx8k-breakout, icebreaker, kr260, kv260, pynq-z1, pynq-z2, "
            "ultra96-v2, ulx3s-12f, ulx3s-25f, ulx3s-45f, ulx3s-85f, zcu102, "
            "zcu104, zedboard, or give the path of a .yaml file");
}

/// A host is at the board's own link, which a device without a board has from
/// one with it.
TEST(Board, TheHostsLinkIsTheBoards) {
  auto host = loadHost(kDefaultHost);
  ASSERT_TRUE(bool(host)) << llvm::toString(host.takeError());
  auto linkAt = [&](const char *device, const char *board) {
    auto of = loadDevice(device);
    std::optional<Board> on;
    if (board)
      on = *loadBoard(board);
    return host->at(*of, on ? &*on : nullptr)->link;
  };
  const Link serial = linkAt("ice40-up5k", "icebreaker");
  EXPECT_EQ(serial.name, "uart-1000000");
  EXPECT_DOUBLE_EQ(serial.bitsPerS, 800000); // of 10 a byte
  EXPECT_EQ(linkAt("ice40-up5k", nullptr).name, "uart-1000000");
  EXPECT_EQ(linkAt("xck26", "kv260").name, "axi-dma");
  EXPECT_EQ(linkAt("xck26", nullptr).name, "axi-dma");
  EXPECT_EQ(linkAt("xcu55c", "alveo-u55c").name, "pcie3-x16");
  EXPECT_EQ(linkAt("xcu55c", nullptr).name, "pcie3-x16");
  EXPECT_EQ(linkAt("xcku060-role", nullptr).name, "pcie3-x16");
}
} // namespace
