// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A board: its device, its clock and the pins of its serial
// line, read from one data file each (data/boards/*.yaml).
#pragma once

#include "llvm/Support/Error.h"
#include <cmath>
#include <string>
#include <vector>

namespace rhizome {
struct Board {
  std::string name;
  std::string description;
  std::string device;   ///< a device's name
  std::string clockPin; ///< input of the oscillator; there is no PLL
  double clockMhz = 0;
  std::string rxPin, txPin; ///< of the serial line, as the FPGA sees it
  unsigned baud = 0;
  std::vector<std::string> highPins; ///< that the design must drive high
  std::string flash; ///< the command that loads a bitstream onto the board
  std::vector<std::string> sources;

  /// Clock cycles per bit of the serial line.
  int64_t divisor() const { return std::llround(clockMhz * 1e6 / baud); }
};

/// Reads a board by its name or from a path, like loadDevice.
llvm::Expected<Board> loadBoard(llvm::StringRef nameOrPath);

/// All boards of the data folder, by name in ascending order.
llvm::Expected<std::vector<Board>> listBoards();
} // namespace rhizome
