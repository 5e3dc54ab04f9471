// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes data/models/<family>.yaml.
#include "rhizome/Target/CostModel.h"
#include "rhizome/Support/Yaml.h"
#include "rhizome/Support/Quoting.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::yaml;

namespace {
Residuals readResiduals(const YAML::Node &node) {
  yaml::Mapping map(node, "residuals");
  Residuals r;
  constexpr double kMostError = 1e9;
  r.points = map.whole("points", 0, kMostResources);
  r.median = map.real("median", 0, kMostError);
  r.p90 = map.real("p90", 0, kMostError);
  r.worst = map.real("worst", 0, kMostError);
  r.small = map.whole("small", 0, kMostResources);
  r.least = map.real("least", 0, kMostError);
  map.finish();
  return r;
}

FamilyModel::Unit readUnit(const YAML::Node &node) {
  yaml::Mapping map(node, "a unit");
  FamilyModel::Unit unit;
  YAML::Node terms = map.find("terms");
  if (!terms || !terms.IsMap())
    throw Mistake{lineOf(node), "a unit needs a mapping 'terms'"};
  for (const auto &entry : terms) {
    std::string name = entry.first.as<std::string>();
    unit.lut[name] =
        yaml::Mapping::realOf(entry.second, name, 0, kMostResources);
  }
  unit.lutResiduals = readResiduals(map.find("lut"));
  unit.ffResiduals = readResiduals(map.find("ff"));
  map.finish();
  return unit;
}

FamilyModel readModel(const YAML::Node &root) {
  yaml::Mapping map(root, "a model file");
  FamilyModel m;
  m.family = map.get<std::string>("family");
  yaml::Mapping mapping = map.section("mapping");
  m.mapping.shiftRegisters = mapping.get<bool>("shift_registers");
  m.mapping.halfBlocks = mapping.get<bool>("half_blocks");
  m.mapping.lutramBits = mapping.whole("lutram_bits", 0, 64);
  mapping.finish();
  if (map.find("delays")) {
    yaml::Mapping delays = map.section("delays");
    constexpr double kMostNs = 1e6;
    m.delays.level = delays.real("level_ns", 0.0001, kMostNs);
    m.delays.chain = delays.real("chain_ns", 0, kMostNs);
    m.delays.chainBit = delays.real("chain_bit_ns", 0, kMostNs);
    m.delays.reg = delays.real("register_ns", 0, kMostNs);
    delays.realIf("path_ns", 0, kMostNs, m.delays.path);
    if (YAML::Node sources = delays.find("sources"))
      m.delays.sources = sources.as<std::vector<std::string>>();
    delays.finish();
  }
  if (map.find("like")) {
    m.like = map.get<std::string>("like");
    map.finish();
    return m;
  }
  m.tool = map.get<std::string>("tool");
  m.options = map.get<std::string>("options");
  m.seed = map.whole<uint64_t>("seed", 0, int64_t(1) << 53);
  if (YAML::Node added = map.find("added"))
    m.added = added.as<std::vector<std::string>>();
  YAML::Node units = map.find("units");
  if (!units || !units.IsMap())
    throw Mistake{lineOf(root), "a model file needs a mapping 'units'"};
  for (const auto &entry : units)
    m.units[entry.first.as<std::string>()] = readUnit(entry.second);
  map.finish();
  return m;
}

std::string text(const Residuals &r) {
  return formatv("{{points: {0}, median: {1:F4}, p90: {2:F4}, worst: {3:F4}, "
                 "small: {4}, least: {5:F0}}",
                 r.points, r.median, r.p90, r.worst, r.small, r.least);
}
} // namespace

/// The file of a family; nothing if there is none.
static Expected<FamilyModel> readFamily(const std::string &data,
                                        const std::string &family) {
  std::string path = data + "/models/" + family + ".yaml";
  if (sys::fs::exists(path))
    return loadYaml<FamilyModel>(path, readModel);
  FamilyModel none;
  none.family = family;
  return none;
}

Expected<FamilyModel> rhizome::loadFamilyModel(StringRef family) {
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  Expected<FamilyModel> model = readFamily(*data, family.str());
  if (!model || model->like.empty())
    return model;
  Expected<FamilyModel> like = readFamily(*data, model->like);
  if (!like)
    return like;
  if (like->units.empty())
    return createStringError("%s/models/%s.yaml: 'like' names '%s', which has "
                             "no fit of its own",
                             data->c_str(), model->family.c_str(),
                             model->like.c_str());
  like->family = model->family;
  like->like = model->like;
  like->mapping = model->mapping;
  like->delays = model->delays;
  return like;
}

BestClock rhizome::bestClockOf(const FamilyModel &family) {
  const FamilyModel::Delays &d = family.delays;
  if (d.path > 0)
    return {
        std::floor(1000 / d.path),
        formatv("the longest path of designs routed for {0} takes {1:F1} ns",
                family.family, d.path)};
  const double path = d.reg + kCellLevels * d.level;
  return {std::floor(1000 / path),
          formatv("{0} levels of logic of {1:F2} ns and a register of {2:F2} "
                  "ns, the estimate for {3}",
                  kCellLevels, d.level, d.reg, family.family)};
}

std::string rhizome::printFamilyModel(const FamilyModel &m) {
  std::string out;
  raw_string_ostream os(out);
  auto flag = [](bool value) { return value ? "true" : "false"; };
  os << "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
     << "# Written by 'rhizome characterize --family " << m.family
     << "'; the 'mapping' and 'delays' parts are kept as they are here.\n"
     << "family: " << m.family
     << "\nmapping:\n  shift_registers: " << flag(m.mapping.shiftRegisters)
     << "\n  half_blocks: " << flag(m.mapping.halfBlocks)
     << "\n  lutram_bits: " << m.mapping.lutramBits
     << formatv("\ndelays:\n  level_ns: {0:F3}\n  chain_ns: {1:F3}\n"
                "  chain_bit_ns: {2:F4}\n  register_ns: {3:F3}",
                m.delays.level, m.delays.chain, m.delays.chainBit, m.delays.reg)
     << (m.delays.path > 0 ? formatv("\n  path_ns: {0:F2}", m.delays.path).str()
                           : std::string())
     << (m.delays.sources.empty() ? "" : "\n  sources:");
  for (const std::string &source : m.delays.sources)
    os << "\n    - " << yamlScalar(source);
  os << "\ntool: " << yamlScalar(m.tool)
     << "\noptions: " << yamlScalar(m.options) << "\nseed: " << m.seed
     << (m.added.empty() ? "" : "\nadded:");
  for (const std::string &package : m.added)
    os << "\n  - " << yamlScalar(package);
  os << "\nunits:\n";
  for (const auto &[name, unit] : m.units) {
    os << "  " << name << ":\n    terms:";
    for (const auto &[term, luts] : unit.lut)
      os << formatv("\n      {0}: {1:F4}", term, luts);
    os << "\n    lut: " << text(unit.lutResiduals)
       << "\n    ff: " << text(unit.ffResiduals) << "\n";
  }
  return out;
}
