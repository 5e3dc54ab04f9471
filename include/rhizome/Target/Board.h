// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A board: its device, its clock and how a host reaches the device on it, read
// from one data file each (data/boards/*.yaml).
#pragma once

#include "rhizome/Target/Link.h"
#include "llvm/Support/Error.h"
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace rhizome {
struct Board {
  /// How frames get to the design: at a serial line; by DMA from processors on
  /// the same chip, whose clock the design has; or as a kernel of the platform
  /// that the device's file names, by PCI Express.
  enum class Host { Serial, Dma, Platform };

  std::string name;
  std::string description;
  std::string device;   ///< a device's name
  std::string clockPin; ///< input of the oscillator; there is no PLL
  double clockMhz = 0;
  std::string rxPin, txPin; ///< of the serial line, as the FPGA sees it
  unsigned baud = 0;
  std::vector<std::string> highPins;   ///< that the design must drive high
  std::string ioStandard = "LVCMOS33"; ///< of all pins
  std::string processor; ///< "zynq7", "zynqmp"; "" unless they run the host
  /// The board's name for Vivado's block design, without its version:
  /// "tul.com.tw:pynq-z2:part0". "" unless they do.
  std::string boardPart;
  std::string flash; ///< the command that loads a bitstream onto the board
  std::vector<std::string> sources;

  Host host() const {
    return baud > 0            ? Host::Serial
           : processor.empty() ? Host::Platform
                               : Host::Dma;
  }
  /// Between a host and the design, where neither a platform nor its bus is in
  /// between: the serial line, or DMA engines on the chip.
  Link ownLink() const;
  /// Clock cycles per bit of the serial line.
  int64_t divisor() const { return std::llround(clockMhz * 1e6 / baud); }
  /// The ports of the top module at a serial line, each with its pin.
  std::vector<std::pair<std::string, std::string>> pins() const;
};

/// "serial", "dma", "platform".
llvm::StringRef nameOf(Board::Host host);

/// Reads a board by its name or from a path, like loadDevice.
llvm::Expected<Board> loadBoard(llvm::StringRef nameOrPath);

/// All boards of the data folder, by name in ascending order.
llvm::Expected<std::vector<Board>> listBoards();
} // namespace rhizome
