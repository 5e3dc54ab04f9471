// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lists of generators and of unit models: those of the compiler, then those
// that a program adds.
#include "rhizome/Generator/Dhm/Dhm.h"
#include "rhizome/Generator/Engine/Engine.h"
#include "rhizome/Generator/Stream/Stream.h"
#include "rhizome/Units/Circuit.h"
#include "rhizome/Units/Shared.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>

namespace rhizome::gen {
namespace {
class Units {
public:
  Units() {
    for (auto &model : makeSharedUnits())
      insert(std::move(model));
    for (auto &model : makeStreamUnits())
      insert(std::move(model));
    insert(makeCircuitUnit());
    insert(makeEngineUnit());
  }

  const UnitModel *find(llvm::StringRef kind) const {
    auto found = byKind.find(kind);
    return found == byKind.end() ? nullptr : found->second.get();
  }
  void insert(std::unique_ptr<UnitModel> model) {
    llvm::StringRef kind = model->kind().name;
    assert(!find(kind) && "a kind has one model");
    byKind[kind] = std::move(model);
  }
  std::unique_ptr<UnitModel> take(llvm::StringRef kind) {
    auto found = byKind.find(kind);
    assert(found != byKind.end() && "no such unit");
    std::unique_ptr<UnitModel> model = std::move(found->second);
    byKind.erase(found);
    return model;
  }

private:
  llvm::StringMap<std::unique_ptr<UnitModel>> byKind;
};

Units &units() {
  static Units units;
  return units;
}
} // namespace

const UnitModel *findUnit(llvm::StringRef kind) { return units().find(kind); }

std::vector<const UnitModel *> allUnits() {
  std::vector<const UnitModel *> all;
  for (const unit::Kind *kind : unit::all())
    if (const UnitModel *model = findUnit(kind->name))
      all.push_back(model);
  return all;
}

void addUnit(std::unique_ptr<UnitModel> model) {
  unit::add(model->kind());
  units().insert(std::move(model));
}

std::unique_ptr<UnitModel> removeUnit(llvm::StringRef kind) {
  std::unique_ptr<UnitModel> model = units().take(kind);
  unit::remove(model->kind());
  return model;
}

std::vector<const char *> characterizedUnits() {
  std::vector<const char *> names;
  for (const UnitModel *model : allUnits())
    for (const char *name : model->kind().characterized)
      if (!llvm::is_contained(names, llvm::StringRef(name)))
        names.push_back(name);
  return names;
}

static std::vector<std::unique_ptr<Generator>> &registry() {
  static std::vector<std::unique_ptr<Generator>> generators = [] {
    std::vector<std::unique_ptr<Generator>> list;
    list.push_back(makeStreamGenerator());
    list.push_back(makeDhmGenerator());
    list.push_back(makeEngineGenerator());
    return list;
  }();
  return generators;
}

llvm::ArrayRef<std::unique_ptr<Generator>> allGenerators() {
  return registry();
}

const Generator *findGenerator(llvm::StringRef name) {
  for (const auto &generator : registry())
    if (generator->name() == name)
      return generator.get();
  return nullptr;
}

void addGenerator(std::unique_ptr<Generator> generator) {
  assert(!findGenerator(generator->name()) && "names are unique");
  registry().push_back(std::move(generator));
}

std::unique_ptr<Generator> removeGenerator(llvm::StringRef name) {
  auto &list = registry();
  auto it = std::find_if(list.begin(), list.end(),
                         [&](const auto &g) { return g->name() == name; });
  assert(it != list.end() && "no such generator");
  std::unique_ptr<Generator> taken = std::move(*it);
  list.erase(it);
  return taken;
}
} // namespace rhizome::gen
