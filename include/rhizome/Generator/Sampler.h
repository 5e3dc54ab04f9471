// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The random source of UnitModel::sample(): seeded numbers within what
// generators offer, and images of random contents. Units are small, since
// synthesis takes seconds.
#pragma once

#include "rhizome/Generator/Generator.h"
#include "rhizome/Generator/UnitModel.h"
#include <random>

namespace rhizome::gen {
class Sampler {
public:
  Sampler(std::string name, std::mt19937_64 &random,
          const DeviceContext &device, MemoryImages &images)
      : device(device), images(images), random(random) {
    actor.name = std::move(name);
  }

  const DeviceContext &device;
  MemoryImages &images;
  Actor actor;
  int64_t depth = 2; ///< of the output buffer, at least

  int64_t draw(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }
  int64_t any(std::initializer_list<int64_t> of) {
    return *(of.begin() + draw(0, int64_t(of.size()) - 1));
  }
  /// 64 random bits.
  uint64_t bits() { return random(); }
  int64_t get(const char *key) const { return actor.get(key); }

  /// Turns the actor into one of that kind, without parameters.
  void begin(llvm::StringRef kind) { actor = Actor(kind, actor.name); }
  /// An image for a file parameter: values of up to `bits` bits, sign-extended
  /// to fields of `field` bits.
  void image(const char *param, int64_t words, int64_t fields, int64_t field,
             int64_t bits, int64_t low = 0);
  /// Adds an image whose file ends in `_<suffix>.hex`.
  void add(const char *param, const char *suffix, MemoryImage image);

private:
  std::mt19937_64 &random;
};

/// A random actor that is characterized under that name, with its buffer sized
/// and its memories placed; none if the device has no such memories.
std::optional<Actor> sampleActor(llvm::StringRef characterizedAs,
                                 const std::string &name,
                                 std::mt19937_64 &random,
                                 const DeviceContext &device,
                                 MemoryImages &images);
} // namespace rhizome::gen
