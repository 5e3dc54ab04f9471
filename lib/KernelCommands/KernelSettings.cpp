// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What later phases need to know of a kernel's compile, in the module: entries
// of `rhizome.compile`, of which `kernel` says that it is one.
#include "Chosen.h"
#include "rhizome/Dialect/Marks/Settings.h"
#include "rhizome/Generator/OptionKey.h"
#include "rhizome/Support/Failures.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;

static DictionaryAttr settingsIn(ModuleOp module) {
  return module->getAttrOfType<DictionaryAttr>(marks::kCompile);
}

bool kernelcommands::holdsKernel(ModuleOp module) {
  DictionaryAttr settings = settingsIn(module);
  return settings && settings.contains("kernel");
}

void HardwareCompilation::record(bool isExplored) {
  marks::SettingsWriter list(module.getContext());
  marks::SettingsWriter kernel(module.getContext());
  list.text("device", request.target.device);
  list.text("board", request.target.board);
  list.text("cluster", request.target.cluster);
  list.real("clock_mhz", request.target.clockMhz);
  kernel.text("source", request.source);
  kernel.text("options", kernelOptionsText(request.options));
  if (!isExplored) {
    list.text("goal", request.goal);
    list.text("plan", request.plan);
    list.text("steer", request.steer);
    kernel.text("unit", keyOfUnit(request.unit, {}).text());
    kernel.texts("residents", request.unit.residents);
    std::vector<std::string> copies;
    for (const NestCopies &nest : request.copies)
      copies.push_back(textOf(nest));
    kernel.texts("copies", copies);
  }
  list.set("kernel", kernel.dictionary());
  module->setAttr(marks::kCompile, list.dictionary());
}

using marks::SettingsReader;

/// The options of a file, with those that the user gives anew.
static bool readOptions(SettingsReader &reader, NamedAttribute entry,
                        HardwareRequest &request) {
  std::string json;
  if (!reader.text(entry, json))
    return false;
  auto read = parseKernelOptions(json, request.options);
  if (!read) {
    llvm::consumeError(read.takeError());
    return reader.wrong(entry, "a kernel's options");
  }
  const KernelOptions given = std::exchange(request.options, *read);
  KernelOptions &options = request.options;
  if (request.isGiven("--gemm"))
    options.gemm = given.gemm;
  if (request.isGiven("--numbers"))
    options.numbers.format = given.numbers.format;
  if (request.isGiven("--rounding"))
    options.numbers.rounding = given.numbers.rounding;
  if (request.isGiven("--saturate"))
    options.numbers.saturate = given.numbers.saturate;
  if (request.isGiven("--fused"))
    options.numbers.fused = given.numbers.fused;
  return true;
}

static bool readUnit(SettingsReader &reader, NamedAttribute entry,
                     HardwareRequest &request) {
  std::string text;
  if (!reader.text(entry, text))
    return false;
  auto key = gen::OptionKey::parse(text);
  UnitChoice unit;
  if (!key || !readUnitKey(*key, unit))
    return reader.wrong(entry, "a choice of 'loops/unit'");
  UnitChoice &to = request.unit;
  auto take = [&](const char *option, auto UnitChoice::*field) {
    if (!request.isGiven(option))
      to.*field = unit.*field;
  };
  take("--stages", &UnitChoice::stages);
  take("--lanes", &UnitChoice::lanes);
  take("--words", &UnitChoice::words);
  take("--system", &UnitChoice::isSystem);
  take("--units", &UnitChoice::units);
  return true;
}

static bool readKernelSetting(SettingsReader &reader, NamedAttribute entry,
                              HardwareRequest &request) {
  const StringRef name = entry.getName();
  if (name == "source")
    return reader.text(entry, request.source);
  if (name == "options")
    return readOptions(reader, entry, request);
  if (name == "unit")
    return readUnit(reader, entry, request);
  std::vector<std::string> texts;
  if (name == "residents") {
    if (!reader.texts(entry, texts))
      return false;
    if (!request.isGiven("--resident"))
      request.unit.residents = texts;
    return true;
  }
  if (name != "copies")
    return reader.wrong(entry, "a setting");
  if (!reader.texts(entry, texts))
    return false;
  if (request.isGiven("--copies"))
    return true;
  for (const std::string &text : texts)
    if (auto copies = parseCopies(text))
      request.copies.push_back(std::move(*copies));
    else
      return reader.wrong(entry, "copies of nests");
  return true;
}

static bool readSetting(SettingsReader &reader, NamedAttribute entry,
                        HardwareRequest &request) {
  const StringRef name = entry.getName();
  const bool isMoved = request.isGiven("--device") ||
                       request.isGiven("--board") ||
                       request.isGiven("--cluster");
  std::string other;
  if (name == "device")
    return reader.text(entry, isMoved ? other : request.target.device);
  if (name == "board")
    return reader.text(entry, isMoved ? other : request.target.board);
  if (name == "cluster")
    return reader.text(entry, isMoved ? other : request.target.cluster);
  if (name == "goal")
    return reader.text(entry, request.isGiven("--goal") ? other : request.goal);
  const bool isSteered =
      request.isGiven("--plan") || request.isGiven("--steer");
  if (name == "plan")
    return reader.text(entry, isSteered ? other : request.plan);
  if (name == "steer")
    return reader.text(entry, isSteered ? other : request.steer);
  if (name == "clock_mhz") {
    std::optional<double> clock;
    if (!reader.real(entry, clock))
      return false;
    if (!request.target.clockMhz)
      request.target.clockMhz = clock;
    return true;
  }
  if (name != "kernel")
    return reader.wrong(entry, "a setting");
  return reader.entries(entry, [&](NamedAttribute inner) {
    return readKernelSetting(reader, inner, request);
  });
}

Status HardwareCompilation::readSettings() {
  DictionaryAttr settings = settingsIn(module);
  SettingsReader reader;
  if (!settings || llvm::all_of(settings, [&](NamedAttribute entry) {
        return readSetting(reader, entry, request);
      }))
    return Done();
  return Failure(Failure::Kind::Input, request.path + ": " + reader.problem,
                 "the compile that wrote the file writes it again");
}
