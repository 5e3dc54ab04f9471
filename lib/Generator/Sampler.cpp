// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random units for characterization: images of random contents, and the
// completion of a unit whose parameters are drawn.
#include "rhizome/Generator/Sampler.h"
#include <algorithm>

namespace rhizome::gen {
void Sampler::image(const char *param, int64_t words, int64_t fields,
                    int64_t field, int64_t bits, int64_t low) {
  MemoryImage image(fields * field, words);
  for (int64_t w = 0; w < words; ++w)
    for (int64_t f = 0; f < fields; ++f) {
      int64_t value = int64_t(random()) >> (64 - std::min<int64_t>(bits, 62));
      image.set(w, f * field, field, value * (int64_t(1) << low));
    }
  add(param, param, std::move(image));
}

void Sampler::add(const char *param, const char *suffix, MemoryImage image) {
  std::string file = actor.name + "_" + suffix + ".hex";
  images[file] = std::move(image);
  actor.files.push_back({param, file});
}

std::optional<Actor> sampleActor(llvm::StringRef characterizedAs,
                                 const std::string &name,
                                 std::mt19937_64 &random,
                                 const DeviceContext &device,
                                 MemoryImages &images) {
  for (const UnitModel *model : allUnits()) {
    if (!llvm::is_contained(model->kind().characterized, characterizedAs))
      continue;
    Sampler sampler(name, random, device, images);
    // Others share the terms of the one that is sampled.
    if (!model->sample(sampler, characterizedAs))
      continue;
    Actor actor = std::move(sampler.actor);
    // Samples have no frames.
    for (const unit::Parameter &parameter : actor.kind().parameters)
      if (!parameter.inHardware && !actor.params.has(parameter.name))
        actor.set(parameter.name, 1);
    placeRoms(actor, device.cost);
    if (!actor.params.has("Depth"))
      sizeOutput(actor, sampler.depth);
    return actor;
  }
  return std::nullopt;
}
} // namespace rhizome::gen
