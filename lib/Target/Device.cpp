// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads device files. All keys and values are checked, and errors
// are reported with file and line; there are few defaults, all of them here.
#include "rhizome/Target/Device.h"
#include "rhizome/Support/Yaml.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::yaml;

namespace {
DspPairs readPairs(const YAML::Node &node) {
  Mapping map(node, "'dsp_pairs'");
  DspPairs pairs;
  constexpr int64_t kMostBits = 32, kMostSums = 1024;
  pairs.xBits = map.whole<unsigned>("x_bits", 2, kMostBits);
  pairs.wBits = map.whole<unsigned>("w_bits", 2, kMostBits);
  pairs.maxPackedSigned =
      map.whole<unsigned>("max_packed_signed", 1, kMostSums);
  pairs.maxPackedUnsigned =
      map.whole<unsigned>("max_packed_unsigned", 1, kMostSums);
  map.finish();
  return pairs;
}

Router readRouter(const YAML::Node &node) {
  Mapping map(node, "'nextpnr'");
  Router router;
  // A file that anybody may have written starts no other program.
  router.program =
      map.choice<const char *>("program", {{"nextpnr-ecp5", "nextpnr-ecp5"},
                                           {"nextpnr-ice40", "nextpnr-ice40"}});
  router.chip = map.plainName("chip");
  router.package = map.plainName("package");
  map.wholeIf("speed", 1, 99, router.speed);
  map.finish();
  return router;
}

/// More ports of one memory than this are treated as a mistake.
constexpr unsigned kMostPorts = 16;

DeviceMemory readMemory(const YAML::Node &node) {
  Mapping map(node, "'memory'");
  DeviceMemory memory;
  memory.kind =
      map.choice<const char *>("kind", {{"ddr", "ddr"}, {"hbm", "hbm"}});
  memory.banks = map.whole<unsigned>("banks", 1, 1024);
  if (map.wholeIf("ports", 1, kMostPorts, memory.ports) && memory.banks > 1)
    throw Mistake{lineOf(map.find("ports")),
                  "'ports' is for a memory of one bank"};
  memory.bytesPerS = map.real("bytes_per_s", kLeastPerS, kMostPerS);
  memory.name = memory.kind;
  if (YAML::Node name = map.find("name"))
    memory.name = Mapping::convert<std::string>(name, "name");
  if (memory.name.empty() || memory.name.size() > 64 ||
      !llvm::all_of(memory.name, [](char c) { return isAlnum(c) || c == '_'; }))
    throw Mistake{lineOf(map.find("name")),
                  "'name' is '" + memory.name +
                      "', not letters and digits, which ports are named after"};
  if (map.wholeIf("port_bits", 8, 1024, memory.portBits) &&
      !isPowerOf2_32(memory.portBits))
    throw Mistake{lineOf(map.find("port_bits")),
                  "'port_bits' is " + std::to_string(memory.portBits) +
                      ", not a power of two from 8 to 1024"};
  map.realIf("port_mhz", kLeastMhz, kMostMhz, memory.portMhz);
  for (auto [key, ns] : {std::pair("latency_ns", &memory.latencyNs),
                         {"turnaround_ns", &memory.turnaroundNs},
                         {"refresh_every_ns", &memory.refreshEveryNs},
                         {"refresh_ns", &memory.refreshNs}})
    map.wholeIf(key, 0, kMostLatencyNs, *ns);
  if (memory.refreshNs > 0 && memory.refreshNs >= memory.refreshEveryNs)
    throw Mistake{lineOf(map.find("refresh_ns")),
                  "'refresh_ns' is not below 'refresh_every_ns'"};
  map.finish();
  return memory;
}

Processor readProcessor(const YAML::Node &node) {
  Mapping map(node, "'processor'");
  Processor processor;
  processor.cores = map.whole<unsigned>("cores", 1, 1 << 16);
  processor.macsPerCycle = map.whole<unsigned>("macs_per_cycle", 1, 1 << 20);
  processor.cacheBytes = map.whole("cache_bytes", 1, int64_t(1) << 40);
  map.finish();
  return processor;
}

constexpr std::initializer_list<const char *> kCounted = {
    "lut", "ff", "dsp", "bram", "uram", "lutram"};

/// More dies than this are treated as a mistake.
constexpr size_t kMostDies = 16;

void readDies(Mapping &map, Device &device) {
  YAML::Node list = map.find("dies");
  if (!list) {
    for (const char *key : {"crossings", "border_die", "memory_die"})
      if (YAML::Node value = map.find(key))
        throw Mistake{lineOf(value),
                      "'" + std::string(key) + "' is for a device with 'dies'"};
    return;
  }
  if (!list.IsSequence() || list.size() < 2 || list.size() > kMostDies)
    throw Mistake{lineOf(list), "'dies' must be a list of 2 to " +
                                    std::to_string(kMostDies) + " dies"};
  std::map<std::string, int64_t> sum;
  for (const YAML::Node &entry : list) {
    Mapping one(entry, "a die");
    Die die;
    die.name = one.plainName("name");
    for (const char *key : kCounted)
      if (device.budget[key] > 0)
        sum[key] += die.budget[key] = one.whole(key, 0, kMostResources);
    one.finish();
    device.dies.dies.push_back(std::move(die));
  }
  for (const auto &[key, count] : sum)
    if (count != device.budget[key])
      throw Mistake{lineOf(list), "the dies have " + std::to_string(count) +
                                      " '" + key + "', the budget " +
                                      std::to_string(device.budget[key])};
  Mapping crossings = map.section("crossings");
  device.dies.wires = crossings.whole("wires", 1, 1 << 24);
  // At least one on each side.
  device.dies.registers = crossings.whole<int>("registers", 2, 31);
  crossings.finish();
  for (auto [key, index] : {std::pair("border_die", &device.dies.border),
                            {"memory_die", &device.dies.memory}}) {
    YAML::Node value = map.find(key);
    if (!value)
      continue;
    auto name = Mapping::convert<std::string>(value, key);
    auto found = llvm::find_if(
        device.dies.dies, [&](const Die &die) { return die.name == name; });
    if (found == device.dies.dies.end())
      throw Mistake{lineOf(value), "'" + std::string(key) + "' is '" + name +
                                       "', which is none of the dies"};
    *index = int(found - device.dies.dies.begin());
  }
}

void readRoutable(const YAML::Node &node, Device &device) {
  Mapping map(node, "'routable'");
  for (const char *key : kCounted)
    if (double share = 1; map.realIf(key, 0.001, 1, share))
      device.routable[key] = share;
  map.finish();
}

/// That the operands of a kind of block whose size is known have that size.
void checkDspKind(Mapping &dsp, const Device &device) {
  struct Kind {
    const char *name;
    unsigned wide, narrow;
  };
  constexpr Kind kKinds[] = {{"dsp48e1", 25, 18},   {"dsp48e2", 27, 18},
                             {"dsp58", 27, 24},     {"mult18x18", 18, 18},
                             {"mult18x19", 19, 18}, {"sb_mac16", 16, 16}};
  for (const Kind &kind : kKinds)
    if (kind.name == device.dspKind &&
        (kind.wide != device.dspABits || kind.narrow != device.dspBBits))
      throw Mistake{lineOf(dsp.find("a_bits")),
                    "a " + device.dspKind + " multiplies " +
                        std::to_string(kind.wide) + " by " +
                        std::to_string(kind.narrow) + " bits, not " +
                        std::to_string(device.dspABits) + " by " +
                        std::to_string(device.dspBBits)};
}

Device readDevice(const YAML::Node &root) {
  Mapping map(root, "a device file");
  Device d;
  d.name = map.plainName("name");
  d.description = map.get<std::string>("description");
  d.family = map.plainName("family");
  d.part = map.plainName("part");
  d.clockMhz = map.real("clock_mhz", kLeastMhz, kMostMhz);
  if (YAML::Node memory = map.find("memory"))
    d.memory = readMemory(memory);
  d.sources = readSources(map, root);
  if (YAML::Node processor = map.find("processor")) {
    d.processor = readProcessor(processor);
    map.finish();
    return d;
  }

  if (map.realIf("max_clock_mhz", kLeastMhz, kMostMhz, d.maxClockMhz) &&
      d.maxClockMhz < d.clockMhz)
    throw Mistake{lineOf(map.find("max_clock_mhz")),
                  "'max_clock_mhz' is below 'clock_mhz'"};
  // Wider borders come from --border wide.
  d.streamBits = map.whole<unsigned>("stream_bits", 8, 2048);
  if (d.streamBits % 8)
    throw Mistake{lineOf(map.find("stream_bits")),
                  "'stream_bits' is " + std::to_string(d.streamBits) +
                      ", not whole bytes"};
  d.lutInputs = map.whole<unsigned>("lut_inputs", 4, 6);
  d.bramBits = map.whole("bram_bits", 256, 1 << 24);
  d.bramMaxWidth = map.whole<unsigned>("bram_max_width", 1, 1024);
  if (d.bramMaxWidth > d.bramBits)
    throw Mistake{lineOf(map.find("bram_max_width")),
                  "'bram_max_width' is above 'bram_bits'"};

  for (auto [key, text] :
       {std::pair("shell", &d.shell), std::pair("platform", &d.platform)})
    if (YAML::Node value = map.find(key))
      *text = Mapping::plainName(value, key);

  Mapping dsp = map.section("dsp");
  d.dspKind = dsp.get<std::string>("kind");
  // A part of a product has at least two bits besides its sign.
  d.dspABits = dsp.whole<unsigned>("a_bits", 4, 64);
  d.dspBBits = dsp.whole<unsigned>("b_bits", 4, d.dspABits);
  checkDspKind(dsp, d);
  if (YAML::Node pairs = dsp.find("pairs"))
    d.dspPairs = readPairs(pairs);
  dsp.finish();

  if (YAML::Node router = map.find("nextpnr"))
    d.router = readRouter(router);

  Mapping counts = map.section("budget");
  for (const char *key : {"lut", "ff", "dsp", "bram"})
    d.budget[key] = counts.whole(key, 0, kMostResources);
  for (const char *key : {"uram", "lutram"})
    counts.wholeIf(key, 0, kMostResources, d.budget[key]);
  counts.finish();
  readDies(map, d);
  if (YAML::Node routable = map.find("routable"))
    readRoutable(routable, d);
  map.finish();
  return d;
}
} // namespace

unsigned DeviceMemory::portsAt(double clockMhz) const {
  if (ports <= 1)
    return banks;
  const double mhz = portMhz > 0 ? portMhz : clockMhz;
  const double most = bytesPerS / (double(portBits) / 8 * mhz * 1e6);
  return most >= ports ? ports : std::max(1u, unsigned(most * (1 + 1e-9)));
}

Expected<Device> rhizome::loadDevice(StringRef nameOrPath) {
  return loadNamed<Device>(nameOrPath, "devices", "device", readDevice);
}

Expected<std::vector<Device>> rhizome::listDevices() {
  return loadAll<Device>("devices", readDevice);
}
