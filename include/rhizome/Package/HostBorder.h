// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `host`: which tensors a caller gives and gets, and how each of
// them becomes a frame of the device's ports, or is made from one. The
// runtime's border.c and the generated header of a package work by it. Host.td
// describes it.
#pragma once

#include "rhizome/Numeric/Format.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
/// The elements of a stream: their format, of integers, and which of them
/// occur.
struct StreamElement {
  numeric::Format format = numeric::Format::integer(8, false);
  int64_t lo = 0, hi = 255;

  StreamElement() = default;
  StreamElement(const numeric::Format &format, int64_t lo, int64_t hi)
      : format(format), lo(lo), hi(hi) {}
  StreamElement(bool isSigned, unsigned width, int64_t lo, int64_t hi)
      : format(numeric::Format::integer(int(width), isSigned)), lo(lo), hi(hi) {
  }
  bool isSigned() const { return format.isSigned; }
  unsigned width() const { return unsigned(format.width()); }
  bool operator==(const StreamElement &) const = default;
};

#include "rhizome/Package/HostBorder.h.inc"

/// The names of roundings in the order of the runtime's rhz_rounding.
const std::vector<std::string> &roundingNames();
} // namespace rhizome
