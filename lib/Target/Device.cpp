// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads device files. All keys and values are checked, and errors
// are reported with file and line; there are few defaults, all of them here.
#include "rhizome/Target/Device.h"
#include "Yaml.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::target;

namespace {
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

Router readRouter(const YAML::Node &node) {
  Mapping map(node, "'nextpnr'");
  Router router;
  // A file that anybody may have written starts no other program.
  router.program =
      map.choice<const char *>("program", {{"nextpnr-ecp5", "nextpnr-ecp5"},
                                           {"nextpnr-ice40", "nextpnr-ice40"}});
  router.chip = map.plainName("chip");
  router.package = map.plainName("package");
  if (map.find("speed"))
    router.speed = unsigned(positive(map, "speed"));
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
  memory.banks = unsigned(positive(map, "banks"));
  if (YAML::Node ports = map.find("ports")) {
    memory.ports = unsigned(positive(map, "ports"));
    if (memory.ports > kMostPorts)
      throw Mistake{lineOf(ports), "'ports' is " +
                                       std::to_string(memory.ports) +
                                       ", more than " +
                                       std::to_string(kMostPorts)};
    if (memory.banks > 1)
      throw Mistake{lineOf(ports), "'ports' is for a memory of one bank"};
  }
  memory.bytesPerS = map.get<double>("bytes_per_s");
  if (!(memory.bytesPerS > 0))
    throw Mistake{lineOf(map.find("bytes_per_s")), "'bytes_per_s' is 0"};
  memory.name = memory.kind;
  if (YAML::Node name = map.find("name"))
    memory.name = Mapping::convert<std::string>(name, "name");
  if (!llvm::all_of(memory.name, [](char c) { return isAlnum(c) || c == '_'; }))
    throw Mistake{lineOf(map.find("name")),
                  "'name' is '" + memory.name +
                      "', not letters and digits, which ports are named after"};
  if (YAML::Node bits = map.find("port_bits")) {
    memory.portBits = unsigned(positive(map, "port_bits"));
    if (memory.portBits < 8 || memory.portBits > 1024 ||
        !isPowerOf2_32(memory.portBits))
      throw Mistake{lineOf(bits), "'port_bits' is " +
                                      std::to_string(memory.portBits) +
                                      ", not a power of two from 8 to 1024"};
  }
  if (YAML::Node clock = map.find("port_mhz")) {
    memory.portMhz = Mapping::convert<double>(clock, "port_mhz");
    if (!(memory.portMhz > 0))
      throw Mistake{lineOf(clock), "'port_mhz' is not above 0"};
  }
  for (auto [key, ns] : {std::pair("latency_ns", &memory.latencyNs),
                         {"turnaround_ns", &memory.turnaroundNs},
                         {"refresh_every_ns", &memory.refreshEveryNs},
                         {"refresh_ns", &memory.refreshNs}})
    if (YAML::Node value = map.find(key))
      *ns = Mapping::convert<int64_t>(value, key);
  if (memory.refreshNs > 0 && memory.refreshNs >= memory.refreshEveryNs)
    throw Mistake{lineOf(map.find("refresh_ns")),
                  "'refresh_ns' is not below 'refresh_every_ns'"};
  map.finish();
  return memory;
}

Processor readProcessor(const YAML::Node &node) {
  Mapping map(node, "'processor'");
  Processor processor;
  processor.cores = unsigned(positive(map, "cores"));
  processor.macsPerCycle = unsigned(positive(map, "macs_per_cycle"));
  processor.cacheBytes = positive(map, "cache_bytes");
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
        sum[key] += die.budget[key] = one.get<int64_t>(key);
    one.finish();
    device.dies.dies.push_back(std::move(die));
  }
  for (const auto &[key, count] : sum)
    if (count != device.budget[key])
      throw Mistake{lineOf(list), "the dies have " + std::to_string(count) +
                                      " '" + key + "', the budget " +
                                      std::to_string(device.budget[key])};
  Mapping crossings = map.section("crossings");
  device.dies.wires = positive(crossings, "wires");
  device.dies.registers = int(positive(crossings, "registers"));
  if (device.dies.registers < 2 || device.dies.registers > 31)
    throw Mistake{lineOf(crossings.find("registers")),
                  "'registers' is " + std::to_string(device.dies.registers) +
                      ", not from 2, one on each side, to 31"};
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
    if (YAML::Node value = map.find(key)) {
      double share = Mapping::convert<double>(value, key);
      if (!(share > 0 && share <= 1))
        throw Mistake{lineOf(value), "'" + std::string(key) +
                                         "' is not a share above 0 and at "
                                         "most 1"};
      device.routable[key] = share;
    }
  map.finish();
}

Device readDevice(const YAML::Node &root) {
  Mapping map(root, "a device file");
  Device d;
  d.name = map.plainName("name");
  d.description = map.get<std::string>("description");
  d.family = map.plainName("family");
  d.part = map.plainName("part");
  d.clockMhz = map.get<double>("clock_mhz");
  if (!(d.clockMhz > 0))
    throw Mistake{lineOf(map.find("clock_mhz")), "'clock_mhz' is 0"};
  if (YAML::Node memory = map.find("memory"))
    d.memory = readMemory(memory);
  d.sources = readSources(map, root);
  if (YAML::Node processor = map.find("processor")) {
    d.processor = readProcessor(processor);
    map.finish();
    return d;
  }

  if (YAML::Node most = map.find("max_clock_mhz")) {
    d.maxClockMhz = Mapping::convert<double>(most, "max_clock_mhz");
    if (!(d.maxClockMhz >= d.clockMhz))
      throw Mistake{lineOf(most), "'max_clock_mhz' is below 'clock_mhz'"};
  }
  d.streamBits = positive(map, "stream_bits");
  if (d.streamBits % 8)
    throw Mistake{lineOf(map.find("stream_bits")),
                  "'stream_bits' is " + std::to_string(d.streamBits) +
                      ", not whole bytes"};
  if (d.streamBits > 2048)
    throw Mistake{lineOf(map.find("stream_bits")),
                  "'stream_bits' is " + std::to_string(d.streamBits) +
                      "; up to 2048 are supported, and --border wide beyond"};
  d.lutInputs = positive(map, "lut_inputs");
  d.bramBits = positive(map, "bram_bits");
  d.bramMaxWidth = positive(map, "bram_max_width");

  for (auto [key, text] :
       {std::pair("shell", &d.shell), std::pair("platform", &d.platform)})
    if (YAML::Node value = map.find(key))
      *text = Mapping::plainName(value, key);

  Mapping dsp = map.section("dsp");
  d.dspKind = dsp.get<std::string>("kind");
  d.dspABits = positive(dsp, "a_bits");
  d.dspBBits = positive(dsp, "b_bits");
  if (YAML::Node pairs = dsp.find("pairs"))
    d.dspPairs = readPairs(pairs);
  dsp.finish();

  if (YAML::Node router = map.find("nextpnr"))
    d.router = readRouter(router);

  Mapping counts = map.section("budget");
  for (const char *key : {"lut", "ff", "dsp", "bram"})
    d.budget[key] = counts.get<int64_t>(key);
  for (const char *key : {"uram", "lutram"}) {
    YAML::Node value = counts.find(key);
    d.budget[key] = value ? Mapping::convert<int64_t>(value, key) : 0;
  }
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
