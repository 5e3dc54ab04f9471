// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resource vector: the cost of hardware, in each device's own kinds, and
// the bytes that it transfers to and from off-chip memories. The only list of
// resource names.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace rhizome::gen {
/// Kinds in the order of `Resources::amount`. `bram` counts 36-kbit blocks (or
/// the family's own block), a LUT counts LUT1–6 and the LUTs of LUTRAM and
/// shift registers; `lutram` is the part of `lut` that must be memory-capable.
constexpr std::array<const char *, 6> kResourceNames = {
    "lut", "ff", "dsp", "bram", "uram", "lutram"};

/// Maximum number of off-chip memories of a device.
constexpr size_t kMemories = 4;
/// Entries of a resource vector: the kinds above, then bytes per frame to and
/// from each memory, in the device's order. A budget contains there what a
/// memory transfers in the time of a frame.
constexpr size_t kResources = kResourceNames.size() + kMemories;
constexpr size_t memoryKind(size_t memory) {
  return kResourceNames.size() + memory;
}

struct Resources {
  std::array<double, kResources> amount{};

  double &lut() { return amount[0]; }
  double &ff() { return amount[1]; }
  double &dsp() { return amount[2]; }
  double &bram() { return amount[3]; }
  double &uram() { return amount[4]; }
  double &lutram() { return amount[5]; }
  double lut() const { return amount[0]; }
  double ff() const { return amount[1]; }
  double dsp() const { return amount[2]; }
  double bram() const { return amount[3]; }
  double uram() const { return amount[4]; }
  double lutram() const { return amount[5]; }

  Resources &operator+=(const Resources &other) {
    for (size_t i = 0; i < amount.size(); ++i)
      amount[i] += other.amount[i];
    return *this;
  }
  bool operator==(const Resources &) const = default;
};

/// A budget by resource name; a missing kind is not available at all
/// except `lutram`, which then equals `lut`.
using Budget = std::map<std::string, int64_t>;

/// `kind` is an index of kResourceNames.
inline double available(const Budget &budget, size_t kind) {
  auto it = budget.find(kResourceNames[kind]);
  if (it != budget.end())
    return double(it->second);
  if (std::string(kResourceNames[kind]) == "lutram") {
    auto lut = budget.find("lut");
    return lut == budget.end() ? 0 : double(lut->second);
  }
  return 0;
}
} // namespace rhizome::gen
