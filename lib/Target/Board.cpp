// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads board files, like Device.cpp for devices.
#include "rhizome/Target/Board.h"
#include "rhizome/Support/Yaml.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::yaml;

StringRef rhizome::nameOf(Board::Host host) {
  switch (host) {
  case Board::Host::Serial:
    return "serial";
  case Board::Host::Dma:
    return "dma";
  case Board::Host::Platform:
    return "platform";
  }
  llvm_unreachable("all hosts return");
}

/// DMA engines of 64 bits from and to the memory of processors on the same
/// chip.
static Link dmaLink(double clockMhz) {
  Link link;
  link.name = "axi-dma";
  link.description = "DMA engines on the chip";
  link.kind = Medium::Kind::Wire;
  link.bitsPerS = 64e6 * clockMhz;
  // An assumption: registers of an engine are written, and its first words come
  // from the memory.
  link.latencyNs = 1000;
  link.mtuBytes = 1 << 26; // the engine's longest transfer
  link.overheadBytes = 0;
  return link;
}

/// A byte has a start bit and a stop bit.
static Link serialLink(unsigned baud) {
  Link link;
  link.name = "uart-" + std::to_string(baud);
  link.description = "a serial line";
  link.kind = Medium::Kind::Wire;
  link.bitsPerS = 0.8 * baud;
  link.latencyNs = int64_t(10e9 / baud); // of a byte
  link.overheadBytes = 0;
  return link;
}

Link Board::ownLink() const {
  return host() == Host::Serial ? serialLink(baud) : dmaLink(clockMhz);
}

std::vector<std::pair<std::string, std::string>> Board::pins() const {
  std::vector<std::pair<std::string, std::string>> all = {
      {"clk_i", clockPin}, {"uart_rx_i", rxPin}, {"uart_tx_o", txPin}};
  for (size_t i = 0; i < highPins.size(); ++i)
    all.push_back({"high_" + std::to_string(i) + "_o", highPins[i]});
  return all;
}

/// Pins and speed of the serial line.
static void readSerial(Mapping &map, Mapping &clock, Board &b) {
  b.clockPin = clock.plainName("pin");
  Mapping uart = map.section("uart");
  b.rxPin = uart.plainName("rx");
  b.txPin = uart.plainName("tx");
  b.baud = uart.whole<unsigned>("baud", 300, 100'000'000);
  // The receiver samples each bit in the middle.
  if (b.divisor() < 3)
    throw Mistake{lineOf(uart.find("baud")),
                  "'baud' is " + std::to_string(b.baud) +
                      ", less than 3 cycles of the clock a bit"};
  uart.finish();
  if (YAML::Node high = map.find("drive_high")) {
    if (!high.IsSequence())
      throw Mistake{lineOf(high), "'drive_high' must be a list of pins"};
    for (const YAML::Node &pin : high)
      b.highPins.push_back(Mapping::plainName(pin, "drive_high"));
  }
  if (map.find("io_standard"))
    b.ioStandard = map.plainName("io_standard");
  b.flash = map.get<std::string>("flash");
}

static void readProcessor(Mapping &map, Board &b) {
  Mapping processor = map.section("processor");
  b.processor = processor.choice<const char *>(
      "kind", {{"zynq7", "zynq7"}, {"zynqmp", "zynqmp"}});
  b.boardPart = processor.get<std::string>("board_part");
  SmallVector<StringRef> parts;
  StringRef(b.boardPart).split(parts, ':');
  if (parts.size() != 3 || !all_of(parts, isPlainName))
    throw Mistake{lineOf(processor.find("board_part")),
                  "'board_part' is '" + printable(b.boardPart) +
                      "', not 'vendor:board:part0'"};
  processor.finish();
}

static Board readBoard(const YAML::Node &root) {
  Mapping map(root, "a board file");
  Board b;
  b.name = map.plainName("name");
  b.description = map.get<std::string>("description");
  b.device = map.get<std::string>("device");
  Mapping clock = map.section("clock");
  b.clockMhz = clock.real("mhz", kLeastMhz, kMostMhz);
  if (map.find("processor"))
    readProcessor(map, b);
  else if (clock.find("pin") || map.find("uart"))
    readSerial(map, clock, b);
  clock.finish();
  b.sources = readSources(map, root);
  map.finish();
  return b;
}

Expected<Board> rhizome::loadBoard(StringRef nameOrPath) {
  return loadNamed<Board>(nameOrPath, "boards", "board", readBoard);
}

Expected<std::vector<Board>> rhizome::listBoards() {
  return loadAll<Board>("boards", readBoard);
}
