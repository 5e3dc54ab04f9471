// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads device files. Every key is known, every value is checked, and what is
// wrong is named by file and line; defaults are few and stand here.
#include "rhizome/Target/Device.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <set>
#include <yaml-cpp/yaml.h>

using namespace llvm;
using namespace rhizome;

namespace {
/// A mistake in a file; never leaves this file.
struct Mistake {
  int line;
  std::string reason;
};

int lineOf(const YAML::Node &node) {
  return node.Mark().is_null() ? 1 : node.Mark().line + 1;
}

/// A YAML mapping whose keys are all read; finish() names one that was not.
class Mapping {
public:
  Mapping(YAML::Node node, std::string what)
      : node(std::move(node)), what(std::move(what)) {
    if (!this->node.IsMap())
      throw Mistake{lineOf(this->node), this->what + " must be a mapping"};
  }

  YAML::Node find(const std::string &key) {
    known.insert(key);
    return static_cast<const YAML::Node &>(node)[key];
  }

  template <typename T> T get(const std::string &key) {
    YAML::Node value = find(key);
    if (!value || value.IsNull())
      throw Mistake{lineOf(node), what + " needs '" + key + "'"};
    return convert<T>(value, key);
  }

  void finish() {
    for (const auto &entry : node) {
      std::string key = entry.first.as<std::string>();
      if (!known.count(key))
        throw Mistake{lineOf(entry.first), what + " has an unknown key '" +
                                               key + "'; known are " +
                                               join(known, ", ")};
    }
  }

  template <typename T>
  static T convert(const YAML::Node &value, const std::string &key) {
    try {
      T result = value.as<T>();
      if constexpr (std::is_arithmetic_v<T>)
        if (!(result >= 0) || !(result <= T(1e15)))
          throw Mistake{lineOf(value), "'" + key + "' is " +
                                           value.as<std::string>() +
                                           ", not a count"};
      return result;
    } catch (const YAML::BadConversion &) {
      std::string text = value.IsScalar() ? "'" + value.Scalar() + "'"
                                          : std::string("not a single value");
      throw Mistake{lineOf(value), "'" + key + "' is " + text +
                                       ", which is no " + kindOf<T>()};
    }
  }

private:
  template <typename T> static const char *kindOf() {
    if constexpr (std::is_same_v<T, std::string>)
      return "text";
    else if constexpr (std::is_floating_point_v<T>)
      return "number";
    else
      return "whole number";
  }

  YAML::Node node;
  std::string what;
  std::set<std::string> known;
};

int64_t positive(Mapping &map, const std::string &key) {
  int64_t value = map.get<int64_t>(key);
  if (value == 0)
    throw Mistake{lineOf(map.find(key)), "'" + key + "' is 0"};
  return value;
}

DspPairs readPairs(const YAML::Node &node) {
  Mapping map(node, "'dsp_pairs'");
  DspPairs pairs;
  pairs.xBits = positive(map, "x_bits");
  pairs.wBits = positive(map, "w_bits");
  pairs.maxPackedSigned = positive(map, "max_packed_signed");
  pairs.maxPackedUnsigned = positive(map, "max_packed_unsigned");
  map.finish();
  return pairs;
}

DeviceMemory readMemory(const YAML::Node &node) {
  Mapping map(node, "'memory'");
  DeviceMemory memory;
  memory.kind = map.get<std::string>("kind");
  if (memory.kind != "hbm" && memory.kind != "ddr")
    throw Mistake{lineOf(map.find("kind")),
                  "'kind' is '" + memory.kind + "'; known are ddr, hbm"};
  memory.banks = unsigned(positive(map, "banks"));
  map.finish();
  return memory;
}

Device readDevice(const YAML::Node &root) {
  Mapping map(root, "a device file");
  Device d;
  d.name = map.get<std::string>("name");
  d.description = map.get<std::string>("description");
  d.family = map.get<std::string>("family");
  d.part = map.get<std::string>("part");
  d.clockMhz = map.get<double>("clock_mhz");
  if (!(d.clockMhz > 0))
    throw Mistake{lineOf(map.find("clock_mhz")), "'clock_mhz' is 0"};
  d.streamBits = positive(map, "stream_bits");
  if (d.streamBits % 8)
    throw Mistake{lineOf(map.find("stream_bits")),
                  "'stream_bits' is " + std::to_string(d.streamBits) +
                      ", not whole bytes"};
  d.lutInputs = positive(map, "lut_inputs");
  d.bramBits = positive(map, "bram_bits");
  d.bramMaxWidth = positive(map, "bram_max_width");

  for (auto [key, text] :
       {std::pair("shell", &d.shell), std::pair("platform", &d.platform)})
    if (YAML::Node value = map.find(key))
      *text = Mapping::convert<std::string>(value, key);
  if (YAML::Node memory = map.find("memory"))
    d.memory = readMemory(memory);

  Mapping dsp(map.find("dsp"), "'dsp'");
  d.dspKind = dsp.get<std::string>("kind");
  d.dspABits = positive(dsp, "a_bits");
  d.dspBBits = positive(dsp, "b_bits");
  if (YAML::Node pairs = dsp.find("pairs"))
    d.dspPairs = readPairs(pairs);
  dsp.finish();

  YAML::Node budget = map.find("budget");
  Mapping counts(budget, "'budget'");
  for (const char *key : {"lut", "ff", "dsp", "bram"})
    d.budget[key] = counts.get<int64_t>(key);
  for (const char *key : {"uram", "lutram"}) {
    YAML::Node value = counts.find(key);
    d.budget[key] = value ? Mapping::convert<int64_t>(value, key) : 0;
  }
  counts.finish();

  YAML::Node sources = map.find("sources");
  if (!sources || !sources.IsSequence() || sources.size() == 0)
    throw Mistake{sources ? lineOf(sources) : 1,
                  "a device file needs a list 'sources'"};
  for (const YAML::Node &source : sources)
    d.sources.push_back(Mapping::convert<std::string>(source, "sources"));
  map.finish();
  return d;
}

Expected<Device> loadFile(StringRef path) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.takeError();
  auto refuse = [&](int line, const std::string &reason) {
    return createStringError("%s:%d: %s", path.str().c_str(), line,
                             reason.c_str());
  };
  try {
    return readDevice(YAML::Load(*text));
  } catch (const Mistake &mistake) {
    return refuse(mistake.line, mistake.reason);
  } catch (const YAML::Exception &error) {
    return refuse(error.mark.is_null() ? 1 : error.mark.line + 1, error.msg);
  }
}

Expected<std::vector<std::string>> devicePaths() {
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  std::vector<std::string> paths;
  std::error_code error;
  for (sys::fs::directory_iterator it(*data + "/devices", error), end;
       it != end && !error; it.increment(error))
    if (sys::path::extension(it->path()) == ".yaml")
      paths.push_back(it->path());
  if (error)
    return createStringError(error, "cannot list '%s/devices': %s",
                             data->c_str(), error.message().c_str());
  llvm::sort(paths);
  return paths;
}
} // namespace

Expected<Device> rhizome::loadDevice(StringRef nameOrPath) {
  if (nameOrPath.ends_with(".yaml") || nameOrPath.contains('/'))
    return loadFile(nameOrPath);
  Expected<std::vector<std::string>> paths = devicePaths();
  if (!paths)
    return paths.takeError();
  std::vector<std::string> names;
  for (const std::string &path : *paths) {
    names.push_back(sys::path::stem(path).str());
    if (names.back() == nameOrPath)
      return loadFile(path);
  }
  return createStringError("unknown device '%s'; known are %s, or give the "
                           "path of a .yaml file",
                           nameOrPath.str().c_str(), join(names, ", ").c_str());
}

Expected<std::vector<Device>> rhizome::listDevices() {
  Expected<std::vector<std::string>> paths = devicePaths();
  if (!paths)
    return paths.takeError();
  std::vector<Device> devices;
  for (const std::string &path : *paths) {
    Expected<Device> device = loadFile(path);
    if (!device)
      return device.takeError();
    devices.push_back(std::move(*device));
  }
  llvm::sort(devices,
             [](const Device &a, const Device &b) { return a.name < b.name; });
  return devices;
}
