// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of the streams are those of rhz_engine_unit between its borders.
#include "rhizome/Simulate/Core.h"
#include "rhizome/Engine/Faces.h"
#include "rhizome/Engine/Verifier.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

using namespace llvm;
using namespace rhizome;

/// A unit with what a plan says of it, if that is a unit.
static std::optional<unit::Instance> unitOf(const PlannedActor &actor) {
  const unit::Kind *kind = unit::find(actor.kind);
  if (!kind)
    return std::nullopt;
  unit::Instance unit(*kind);
  for (const auto &[key, value] : actor.config) {
    auto number = value.getAsInteger();
    if (!number)
      continue; // a file
    if (!kind->indexOf(key))
      return std::nullopt;
    unit.set(key, *number);
  }
  if (unit::check(unit))
    return std::nullopt;
  return unit;
}

Expected<PlannedCore> rhizome::coreOf(const Plan &plan) {
  PlannedCore core{nullptr, {}, 0, 0};
  std::vector<std::string> others;
  int cores = 0;
  for (const PlannedNode &node : plan.nodes)
    for (const PlannedActor &actor : node.actors) {
      const auto unit = unitOf(actor);
      if (unit && unit->is<unit::Engine>()) {
        ++cores;
        core.node = &node;
        core.unit = unit->as<unit::Engine>();
      } else if (unit && unit->is<unit::AxisIn>()) {
        core.rowIn = unit->as<unit::AxisIn>().Row;
      } else if (unit && unit->is<unit::AxisOut>()) {
        core.rowOut = unit->as<unit::AxisOut>().Row;
      } else {
        others.push_back(actor.name);
      }
    }
  if (cores != 1)
    return createStringError("has %s core%s that carries out programs",
                             cores ? "more than one" : "no", cores ? " " : "");
  constexpr size_t kMost = 5;
  if (others.size() > kMost) {
    others.resize(kMost);
    others.push_back("…");
  }
  if (!others.empty())
    return createStringError("has units for parts of its network beside its "
                             "core: %s",
                             join(others, ", ").c_str());
  return core;
}

/// The core's memory with the segments of the core's bank.
static Expected<std::vector<int8_t>> memoryOf(const Package &package,
                                              const PlannedCore &core) {
  std::vector<int8_t> memory(size_t(core.unit.Room * core.unit.In));
  const int64_t begin = core.unit.Page * unit::kPageBytes;
  const MemoryPort &port = core.node->memoryPorts.front();
  for (const PlannedSegment &segment : core.node->segments) {
    if (segment.memory != port.memory || segment.bank != port.bank ||
        segment.bytes == 0)
      continue;
    Expected<std::string> bytes = readFile(package.path(segment.file));
    if (!bytes)
      return bytes.takeError();
    const int64_t at = segment.address - begin;
    if (at < 0 || at + int64_t(bytes->size()) > int64_t(memory.size()))
      return createStringError("'%s' lies outside the core's memory",
                               segment.file.c_str());
    llvm::copy(*bytes, memory.begin() + at);
  }
  return memory;
}

/// A tensor as the words of a stream: each row begins a new one.
static std::vector<int8_t> wordsOf(const Tensor &tensor, int64_t row,
                                   const unit::Engine &unit) {
  const int64_t rowBytes = int64_t(alignTo(uint64_t(row), uint64_t(unit.In)));
  std::vector<int8_t> words(tensor.ints.size() / size_t(row) *
                            size_t(rowBytes));
  for (auto [i, value] : enumerate(tensor.ints))
    words[i / row * rowBytes + i % row] = int8_t(value - unit.InBias);
  return words;
}

/// The tensor of a stream's words.
static Tensor tensorOf(ArrayRef<int8_t> words, int64_t row,
                       const unit::Engine &unit, const BorderPort &port) {
  const int64_t rowBytes = int64_t(alignTo(uint64_t(row), uint64_t(unit.In)));
  std::vector<int64_t> values(port.elements());
  for (auto [i, value] : enumerate(values))
    value = words[i / row * rowBytes + i % row] + unit.OutBias;
  return Tensor::ofInts(port.shape, std::move(values));
}

Expected<std::vector<std::vector<Tensor>>>
rhizome::runCore(const Package &package, const PlannedCore &core,
                 const std::vector<std::vector<Tensor>> &frames) {
  const unit::Engine &unit = core.unit;
  const engine::Core built = engine::coreOf(unit);
  Expected<std::vector<int8_t>> memory = memoryOf(package, core);
  if (!memory)
    return memory.takeError();
  auto broken = [&](const Twine &why) {
    return createStringError("the program of '" + package.dir() +
                             "' cannot be carried out: " + why +
                             "; compile the model again");
  };
  const int64_t first = unit.Program * unit.In;
  if (first >= int64_t(memory->size()))
    return broken("it begins outside the core's memory");
  Expected<engine::Program> program = engine::fromMemory(
      ArrayRef(reinterpret_cast<const uint8_t *>(memory->data()) + first,
               memory->size() - size_t(first)));
  if (!program)
    return broken(toString(program.takeError()));
  engine::Surroundings around{{unit.Room}, unit.InBeats, unit.OutBeats};
  if (auto problems = engine::verify(*program, built, around, 1);
      !problems.empty())
    return broken("instruction " + Twine(problems.front().instruction) + ": " +
                  problems.front().text);
  std::vector<std::vector<Tensor>> outputs;
  engine::State state(built);
  state.memories[0] = std::move(*memory);
  for (const std::vector<Tensor> &frame : frames) {
    state.received = wordsOf(frame.front(), core.rowIn, unit);
    state.sent.clear();
    engine::runNative(*program, built, state);
    outputs.push_back(
        {tensorOf(state.sent, core.rowOut, unit, core.node->outputs.front())});
  }
  return outputs;
}
