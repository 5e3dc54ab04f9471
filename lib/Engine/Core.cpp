// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads core files, like lib/Target for devices.
#include "rhizome/Engine/Core.h"
#include "rhizome/Support/Yaml.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

uint32_t Core::hash() const {
  std::vector<std::string> texts;
  for (const ParameterInfo &parameter : parameters())
    texts.push_back(std::string(parameter.name) + "=" +
                    std::to_string(this->*parameter.member));
  SHA256 sha;
  sha.update(join(texts, ","));
  auto digest = sha.final();
  return uint32_t(uint8_t(digest[0])) << 24 | uint8_t(digest[1]) << 16 |
         uint8_t(digest[2]) << 8 | uint8_t(digest[3]);
}

Core engine::coreOf(const unit::Engine &p) {
  Core core;
  core.in = p.In;
  core.out = p.Out;
  core.words = p.Words;
  core.banks = p.Banks;
  core.entries = p.Entries;
  core.sum_bits = p.SumBits;
  core.queue = p.Queue;
  core.depth = p.Waiting;
  core.tokens = p.Tokens;
  core.ports = 1;
  core.port_bits = p.DataWidth;
  return core;
}

Error engine::check(const Parameters &core) {
  for (const ParameterInfo &parameter : parameters())
    if (int64_t value = core.*parameter.member;
        value < parameter.least || value > parameter.most)
      return createStringError("'%s' is %lld, not from %lld to %lld",
                               parameter.name, (long long)value,
                               (long long)parameter.least,
                               (long long)parameter.most);
  auto refuse = [](const char *what, int64_t value, const std::string &why) {
    return createStringError("'%s' is %lld, %s", what, (long long)value,
                             why.c_str());
  };
  for (auto [name, value] :
       {std::pair("in", core.in), {"words", core.words}, {"banks", core.banks}})
    if (!isPowerOf2_64(uint64_t(value)))
      return refuse(name, value, "not a power of two");
  if (core.out != core.in && core.out != 2 * core.in)
    return refuse("out", core.out,
                  "not one or two times 'in', which is " +
                      std::to_string(core.in));
  if (!isPowerOf2_64(core.port_bits) || core.port_bits > 8 * core.in)
    return refuse("port_bits", core.port_bits,
                  "not a power of two of at most a word, which has " +
                      std::to_string(8 * core.in) + " bits");
  return Error::success();
}

static Core readCore(const YAML::Node &root) {
  yaml::Mapping map(root, "a core file");
  Core core;
  core.name = map.plainName("name");
  core.description = map.get<std::string>("description");
  for (const ParameterInfo &parameter : parameters())
    core.*parameter.member =
        map.whole(parameter.name, parameter.least, parameter.most);
  map.finish();
  if (Error error = check(core))
    throw yaml::Mistake{yaml::lineOf(root), toString(std::move(error))};
  return core;
}

Expected<Core> engine::loadCore(StringRef nameOrPath) {
  return yaml::loadNamed<Core>(nameOrPath, "engines", "core", readCore);
}

Expected<std::vector<Core>> engine::listCores() {
  return yaml::loadAll<Core>("engines", readCore);
}
