// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A medium for the link's tests and benchmark: serializes datagrams at a rate,
// and delays, loses, duplicates, reorders, truncates and invents them, by a
// seed.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

namespace rhizome::link::test {
struct MediumConfig {
  double bitsPerS = 10e9;
  uint64_t delayNs = 2000; ///< one way
  uint64_t overheadBytes = 66;
  double loss = 0;
  double twice = 0;         ///< delivered twice
  double late = 0;          ///< overtaken by others
  uint64_t lateNs = 5000;   ///< maximum delay
  double garbage = 0;       ///< random bytes in addition to a datagram
  size_t garbageBytes = 64; ///< at most; always this many if `exact`
  bool exact = false;
  double cut = 0;  ///< truncated
  double flip = 0; ///< a bit of the header wrong
};

/// One direction.
class Medium {
public:
  Medium(MediumConfig config, uint64_t seed) : config(config), random(seed) {}

  void send(uint64_t now, std::vector<uint8_t> bytes) {
    double ns =
        double(bytes.size() + config.overheadBytes) * 8e9 / config.bitsPerS;
    free = std::max(free, double(now)) + ns;
    bytesOnWire += bytes.size() + config.overheadBytes;
    uint64_t at = uint64_t(free) + config.delayNs;
    if (chance(config.garbage))
      arrive(at, noise());
    if (chance(config.cut))
      bytes.resize(random() % (bytes.size() + 1));
    else if (chance(config.flip))
      bytes[random() % 16] ^= uint8_t(1u << random() % 8);
    if (chance(config.loss)) {
      ++lost;
      return;
    }
    if (chance(config.twice))
      arrive(at + random() % (config.lateNs + 1), bytes);
    if (chance(config.late))
      at += random() % (config.lateNs + 1);
    arrive(at, std::move(bytes));
  }

  /// When the next datagram arrives, ~0 if none is in flight.
  uint64_t next() const { return way.empty() ? ~0ull : way.begin()->first; }
  std::vector<uint8_t> take() {
    std::vector<uint8_t> bytes = std::move(way.begin()->second);
    way.erase(way.begin());
    return bytes;
  }
  /// When the sender's line is free.
  uint64_t freeAt() const { return uint64_t(free); }

  uint64_t bytesOnWire = 0, lost = 0;

private:
  MediumConfig config;
  std::mt19937_64 random;
  double free = 0;
  std::multimap<uint64_t, std::vector<uint8_t>> way;

  bool chance(double p) {
    return p > 0 && double(random() >> 11) * 0x1p-53 < p;
  }
  void arrive(uint64_t at, std::vector<uint8_t> bytes) {
    way.emplace(at, std::move(bytes));
  }
  std::vector<uint8_t> noise() {
    size_t size = config.exact ? config.garbageBytes
                               : random() % (config.garbageBytes + 1);
    std::vector<uint8_t> bytes(size);
    for (uint8_t &byte : bytes)
      byte = uint8_t(random());
    return bytes;
  }
};

/// The bytes of tensor `number`, of `bits` bits.
inline std::vector<uint8_t> tensorBytes(uint64_t number, uint64_t bits) {
  std::vector<uint8_t> bytes((bits + 7) / 8);
  uint64_t x = number * 0x9e3779b97f4a7c15 + 1;
  for (uint8_t &byte : bytes) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    byte = uint8_t(x >> 24);
  }
  if (bits % 8)
    bytes.back() &= uint8_t((1u << bits % 8) - 1);
  return bytes;
}
} // namespace rhizome::link::test
