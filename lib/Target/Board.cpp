// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads board files, like Device.cpp for devices.
#include "rhizome/Target/Board.h"
#include "Yaml.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::target;

static Board readBoard(const YAML::Node &root) {
  Mapping map(root, "a board file");
  Board b;
  b.name = map.plainName("name");
  b.description = map.get<std::string>("description");
  b.device = map.get<std::string>("device");
  Mapping clock = map.section("clock");
  b.clockPin = clock.plainName("pin");
  b.clockMhz = clock.get<double>("mhz");
  if (!(b.clockMhz > 0))
    throw Mistake{lineOf(clock.find("mhz")), "'mhz' is 0"};
  clock.finish();
  Mapping uart = map.section("uart");
  b.rxPin = uart.plainName("rx");
  b.txPin = uart.plainName("tx");
  b.baud = unsigned(positive(uart, "baud"));
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
  b.flash = map.get<std::string>("flash");
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
