// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shipped device files load; malformed ones are refused by line.
#include "rhizome/Target/Device.h"
#include "../TestFolder.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Support/Resources.h"
#include <algorithm>

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
constexpr const char *kGood = R"(name: toy
description: a device for tests
family: none
part: T-1
clock_mhz: 12.5
stream_bits: 32
lut_inputs: 4
bram_bits: 4096
bram_max_width: 16
budget:
  lut: 100
  ff: 200
  dsp: 0
  bram: 3
dsp:
  kind: none
  a_bits: 9
  b_bits: 9
sources:
  - nobody
)";

std::string messageFor(const std::string &text) {
  TestFolder folder;
  folder.write("d.yaml", text);
  auto device = loadDevice(folder.path("d.yaml"));
  if (device)
    return "accepted";
  std::string message = llvm::toString(device.takeError());
  return message.substr(message.find("d.yaml"));
}

std::string edited(const std::string &from, const std::string &to) {
  std::string text = kGood;
  return text.replace(text.find(from), from.size(), to);
}

long linesOf(const std::string &text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST(Device, ShippedOnesLoad) {
  auto devices = listDevices();
  ASSERT_TRUE(bool(devices)) << llvm::toString(devices.takeError());
  std::vector<std::string> names;
  for (const Device &d : *devices)
    names.push_back(d.name);
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "10ax115",    "cpu-x86",      "ice40-hx8k", "ice40-up5k", "lfe5u-12f",
          "lfe5u-25f",  "lfe5u-45f",    "lfe5u-85f",  "xc7a100t",   "xc7a35t",
          "xc7z007s",   "xc7z010",      "xc7z020",    "xc7z045",    "xck26",
          "xcku060",    "xcku060-role", "xcu200",     "xcu250",     "xcu280",
          "xcu50",      "xcu55c",       "xcvc1902",   "xcvu13p",    "xcvu9p",
          "xcvu9p-slr", "xczu3eg",      "xczu7ev",    "xczu9eg"}));
  auto role = loadDevice("xcku060-role");
  ASSERT_TRUE(bool(role));
  EXPECT_EQ(role->budget.at("lut"), 96801);
  EXPECT_EQ(role->budget.at("lutram"), 53941);
  EXPECT_EQ(role->budget.at("ff"), 202676);
  EXPECT_EQ(role->budget.at("bram"), 254);
  EXPECT_EQ(role->budget.at("dsp"), 1077);
  EXPECT_EQ(role->clockMhz, 156.25);
  EXPECT_EQ(role->maxClockMhz, 585);
  EXPECT_EQ(role->streamBits, 64u);
  EXPECT_EQ(role->shell, "themisto");
  ASSERT_TRUE(role->memory);
  EXPECT_EQ(role->memory->name, "ddr4");
  EXPECT_EQ(role->memory->bytesPerS, 10e9);
  EXPECT_EQ(role->memory->portBits, 512u);
  EXPECT_EQ(role->memory->refreshNs, 350);
  EXPECT_FALSE(role->processor);
  ASSERT_TRUE(role->dspPairs);
  EXPECT_EQ(role->dspPairs->maxPackedSigned, 7u);
  EXPECT_EQ(role->dspPairs->maxPackedUnsigned, 4u);
}

/// Ports of processors to one memory: as many as it serves at their full rate.
TEST(Device, PortsOfAMemoryAreThoseThatItServes) {
  auto device = loadDevice("xck26");
  ASSERT_TRUE(bool(device)) << llvm::toString(device.takeError());
  DeviceMemory memory = *device->memory;
  EXPECT_EQ(memory.banks, 1u);
  EXPECT_EQ(memory.ports, 4u);
  EXPECT_EQ(memory.portsAt(200), 4u); // 12.8 of 19.2 GB/s
  EXPECT_EQ(memory.portsAt(300), 4u); // 19.2
  EXPECT_EQ(memory.portsAt(400), 3u);
  memory.bytesPerS = 2.1e9;
  EXPECT_EQ(memory.portsAt(200), 1u);
  memory.ports = 1;
  memory.banks = 32;
  EXPECT_EQ(memory.portsAt(200), 32u);
}

/// Names are found in any case, and those of other kinds are told.
TEST(Device, NamesOfBoardsAndCasesAreUnderstood) {
  auto message = [](const char *name) {
    auto device = loadDevice(name);
    return device ? "" : llvm::toString(device.takeError());
  };
  EXPECT_EQ(loadDevice("XCU55C")->name, "xcu55c");
  EXPECT_EQ(message("kv260"), "'kv260' is a board: --board kv260");
  EXPECT_EQ(message("Alveo-U55C"), "'Alveo-U55C' is a board: --board "
                                   "alveo-u55c");
  EXPECT_EQ(message("mixed9"), "'mixed9' is a cluster: --cluster mixed9");
  EXPECT_EQ(message("udp-10g"), "'udp-10g' is a link: DEVICE:COUNT@udp-10g");
  for (auto [name, meant] : {std::pair("U55C", "xcu55c"),
                             {"xcu55", "xcu55c"},
                             {"XCK2", "xck26"},
                             {"kv26", "--board kv260"}})
    EXPECT_NE(message(name).find("did you mean '" + std::string(meant) + "'"),
              std::string::npos)
        << message(name);
}

TEST(Device, UnknownNameListsTheKnown) {
  auto device = loadDevice("xcku60");
  ASSERT_FALSE(bool(device));
  EXPECT_EQ(llvm::toString(device.takeError()),
            "unknown device 'xcku60'; did you mean 'xcku060'? Known are "
            "10ax115, cpu-x86, ice40-hx8k, "
            "ice40-up5k, lfe5u-12f, lfe5u-25f, lfe5u-45f, lfe5u-85f, xc7a100t, "
            "xc7a35t, "
            "xc7z007s, xc7z010, xc7z020, xc7z045, xck26, xcku060-role, "
            "xcku060, xcu200, xcu250, "
            "xcu280, xcu50, xcu55c, xcvc1902, xcvu13p, xcvu9p-slr, xcvu9p, "
            "xczu3eg, xczu7ev, xczu9eg, "
            "or give the path of a .yaml file");
}

TEST(Device, DiesAndWhatRoutes) {
  auto hbm = loadDevice("xcu55c");
  ASSERT_TRUE(bool(hbm)) << llvm::toString(hbm.takeError());
  ASSERT_EQ(hbm->dies.dies.size(), 3u);
  EXPECT_EQ(hbm->dies.dies[0].name, "SLR0");
  EXPECT_EQ(hbm->dies.dies[0].budget.at("dsp"), 2880);
  EXPECT_EQ(hbm->dies.wires, 23040);
  EXPECT_EQ(hbm->dies.registers, 2);
  EXPECT_EQ(hbm->routable.at("lut"), 0.7);
  EXPECT_FALSE(hbm->routable.count("lutram"));
  auto vu9p = loadDevice("xcvu9p");
  ASSERT_TRUE(bool(vu9p)) << llvm::toString(vu9p.takeError());
  EXPECT_EQ(vu9p->dies.border, 1);
  EXPECT_EQ(vu9p->dies.memory, 1);

  auto with = [](const std::string &more) {
    return messageFor(std::string(kGood) + more);
  };
  EXPECT_EQ(with("border_die: a\n"),
            "d.yaml:" + std::to_string(linesOf(kGood) + 1) +
                ": 'border_die' is for a device with 'dies'");
  const std::string dies = "dies: [{name: a, lut: 1, ff: 1, bram: 1}, "
                           "{name: b, lut: 1, ff: 1, bram: 1}]\n";
  EXPECT_NE(with(dies).find("the dies have "), std::string::npos);
  EXPECT_NE(with("dies: [{name: a}]\n").find("a list of 2 to 16 dies"),
            std::string::npos);
  EXPECT_NE(
      with("routable: {lut: 70}\n").find("'lut' is 70, not from 0.001 to 1"),
      std::string::npos);
}

TEST(Device, AProcessorHasNoLogic) {
  auto cpu = loadDevice("cpu-x86");
  ASSERT_TRUE(bool(cpu)) << llvm::toString(cpu.takeError());
  ASSERT_TRUE(cpu->processor);
  EXPECT_EQ(cpu->processor->macsPerCycle, 128u);
  EXPECT_TRUE(cpu->budget.empty());
  EXPECT_EQ(messageFor("name: c\ndescription: d\nfamily: cpu\npart: p\n"
                       "clock_mhz: 1\nprocessor: {cores: 0, macs_per_cycle: 1, "
                       "cache_bytes: 1}\nsources: [nobody]\n"),
            "d.yaml:6: 'cores' is 0, not from 1 to 65536");
  EXPECT_EQ(messageFor("name: c\ndescription: d\nfamily: cpu\npart: p\n"
                       "clock_mhz: 1\nprocessor: {cores: 1, macs_per_cycle: 1, "
                       "cache_bytes: 1}\nsources: [nobody]\nlut_inputs: 6\n"),
            "d.yaml:8: a device file has an unknown key 'lut_inputs'; known "
            "are clock_mhz, description, family, memory, name, part, "
            "processor, sources");
}

/// Values that no key of a file may have: below, above, what a cast to 32 bits
/// makes good again, and no numbers.
constexpr const char *kHostile[] = {"-1",
                                    "2147483648",
                                    "4294967296",
                                    "4294967304",
                                    "4294967328",
                                    "999999999999999",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "-9223372036854775808",
                                    "1e300",
                                    "-1e300",
                                    ".inf",
                                    ".nan",
                                    "0x100000000",
                                    "1.5e",
                                    "{}",
                                    "[1]"};

TEST(Device, EveryNumberHasBounds) {
  std::string whole = kGood;
  const std::string more =
      "max_clock_mhz: 20\n"
      "nextpnr: {program: nextpnr-ecp5, chip: c, package: p, speed: 6}\n"
      "memory: {kind: ddr, banks: 1, bytes_per_s: 1e9, port_bits: 64, "
      "port_mhz: 100, latency_ns: 1, turnaround_ns: 1, refresh_every_ns: 9, "
      "refresh_ns: 1}\n"
      "routable: {lut: 0.5}\n"
      "dies: [{name: a, lut: 50, ff: 100, bram: 2}, {name: b, lut: 50, ff: "
      "100, bram: 1}]\n"
      "crossings: {wires: 10, registers: 2}\n";
  whole.insert(whole.find("dsp:\n"), more);
  whole.replace(whole.find("b_bits: 9"), 9,
                "b_bits: 9\n  pairs: {x_bits: 8, w_bits: 8, "
                "max_packed_signed: 7, max_packed_unsigned: 4}");
  ASSERT_EQ(messageFor(whole), "accepted");
  for (const char *entry : {"clock_mhz: 12.5",
                            "stream_bits: 32",
                            "lut_inputs: 4",
                            "bram_bits: 4096",
                            "bram_max_width: 16",
                            "lut: 100",
                            "ff: 200",
                            "dsp: 0",
                            "bram: 3",
                            "a_bits: 9",
                            "b_bits: 9",
                            "max_clock_mhz: 20",
                            "speed: 6",
                            "banks: 1",
                            "bytes_per_s: 1e9",
                            "port_bits: 64",
                            "port_mhz: 100",
                            "latency_ns: 1",
                            "turnaround_ns: 1",
                            "refresh_every_ns: 9",
                            "refresh_ns: 1",
                            "lut: 0.5",
                            "lut: 50",
                            "wires: 10",
                            "registers: 2",
                            "x_bits: 8",
                            "w_bits: 8",
                            "max_packed_signed: 7",
                            "max_packed_unsigned: 4"})
    for (const char *value : kHostile) {
      std::string text = whole;
      const std::string old = entry;
      const size_t at = text.find(old);
      ASSERT_NE(at, std::string::npos) << entry;
      text.replace(at, old.size(), old.substr(0, old.find(' ') + 1) + value);
      // So many bytes a second are many, but a rate.
      const bool isRate = old.starts_with("bytes_per_s") && value[0] != '-' &&
                          std::atof(value) >= 1 && std::atof(value) < 1e15 &&
                          llvm::StringRef(value).find_first_not_of(
                              "0123456789") == llvm::StringRef::npos;
      if (!isRate)
        EXPECT_NE(messageFor(text), "accepted") << entry << " as " << value;
    }
  // What the finds of strangers had.
  for (auto [from, to, message] :
       {std::tuple("stream_bits: 32", "stream_bits: 4294967296",
                   "'stream_bits' is 4294967296, not from 8 to 2048"),
        {"a_bits: 9", "a_bits: 1", "'a_bits' is 1, not from 4 to 64"},
        {"b_bits: 9", "b_bits: 10", "'b_bits' is 10, not from 4 to 9"},
        {"lut_inputs: 4", "lut_inputs: 16",
         "'lut_inputs' is 16, not from 4 to 6"},
        {"banks: 1", "banks: 2147483647",
         "'banks' is 2147483647, not from 1 to 1024"},
        {"bytes_per_s: 1e9", "bytes_per_s: 0.5",
         "'bytes_per_s' is 0.5, not from 1000 to 1e+15"}}) {
    std::string text = whole;
    text.replace(text.find(from), std::string(from).size(), to);
    EXPECT_NE(messageFor(text).find(message), std::string::npos)
        << messageFor(text);
  }
  EXPECT_NE(
      messageFor(edited("bram_bits: 4096", "bram_bits: 256")).find("accepted"),
      std::string::npos);
  EXPECT_NE(messageFor(edited("bram_max_width: 16", "bram_max_width: 1024"))
                .find("accepted"),
            std::string::npos);
  std::string narrow = edited("bram_bits: 4096", "bram_bits: 256");
  narrow.replace(narrow.find("bram_max_width: 16"), 18, "bram_max_width: 512");
  EXPECT_EQ(messageFor(narrow),
            "d.yaml:9: 'bram_max_width' is above 'bram_bits'");
}

TEST(Device, AKnownKindOfDspBlockHasItsSize) {
  const std::string text = llvm::cantFail(
      readFile(llvm::cantFail(dataDir()) + "/devices/xc7z020.yaml"));
  for (auto [from, to, message] :
       {std::tuple("a_bits: 25", "a_bits: 25", "accepted"),
        {"a_bits: 25", "a_bits: 27",
         "a dsp48e1 multiplies 25 by 18 bits, not 27 by 18"},
        {"kind: dsp48e1", "kind: dsp48e2",
         "a dsp48e2 multiplies 27 by 18 bits, not 25 by 18"},
        {"kind: dsp48e1", "kind: another", "accepted"}}) {
    std::string changed = text;
    ASSERT_NE(changed.find(from), std::string::npos);
    changed.replace(changed.find(from), std::string(from).size(), to);
    EXPECT_NE(messageFor(changed).find(message), std::string::npos)
        << messageFor(changed);
  }
}

TEST(Device, MalformedFilesAreRefusedByLine) {
  EXPECT_EQ(messageFor(kGood), "accepted");
  EXPECT_EQ(
      messageFor(edited("stream_bits", "max_clock_mhz: 300\nstream_bits")),
      "accepted");
  EXPECT_EQ(messageFor(edited("stream_bits", "max_clock_mhz: 12\nstream_bits")),
            "d.yaml:6: 'max_clock_mhz' is below 'clock_mhz'");
  EXPECT_EQ(messageFor(edited("lut: 100", "lut: many")),
            "d.yaml:11: 'lut' is 'many', which is not a whole number");
  EXPECT_EQ(messageFor(edited("lut: 100", "lut: -4")),
            "d.yaml:11: 'lut' is -4, not from 0 to 1000000000");
  EXPECT_EQ(messageFor(edited("lut: 100", "luts: 100")),
            "d.yaml:11: 'budget' needs 'lut'; is 'luts' meant to be it?");
  EXPECT_EQ(messageFor(edited("budget:", "budgett:")),
            "d.yaml:10: a device file needs 'budget'; is 'budgett' meant to be "
            "it?");
  EXPECT_EQ(messageFor(edited("lut: 100", "gates: 100")),
            "d.yaml:11: 'budget' needs 'lut'");
  EXPECT_EQ(messageFor(edited("  bram: 3", "  bram: 3\n  laser: 1")),
            "d.yaml:15: 'budget' has an unknown key 'laser'; known are bram, "
            "dsp, ff, lut, lutram, uram");
  EXPECT_EQ(messageFor(edited("clock_mhz: 12.5", "clock_mhz: 0")),
            "d.yaml:5: 'clock_mhz' is 0, not from 0.001 to 10000");
  EXPECT_EQ(messageFor(edited("clock_mhz: 12.5", "clock_mhz: .nan")),
            "d.yaml:5: 'clock_mhz' is .nan, not from 0.001 to 10000");
  EXPECT_EQ(messageFor(edited("stream_bits: 32", "stream_bits: 31")),
            "d.yaml:6: 'stream_bits' is 31, not whole bytes");
  EXPECT_EQ(messageFor(edited("sources:\n  - nobody\n", "")),
            "d.yaml:1: a device file needs a list 'sources'");
  EXPECT_EQ(messageFor(edited("dsp:\n", "shell: moon\nplatform: p_1\n"
                                        "memory: {kind: hbm, banks: 32, "
                                        "bytes_per_s: 1000}\n"
                                        "dsp:\n")),
            "accepted");
  EXPECT_EQ(messageFor(edited("dsp:\n", "shell: [a]\ndsp:\n")),
            "d.yaml:15: 'shell' is not a single value, which is not text");
  // It becomes a word of a makefile.
  EXPECT_EQ(messageFor(edited("dsp:\n", "platform: $(shell id)\ndsp:\n")),
            "d.yaml:15: 'platform' is '$(shell id)'; it may have letters, "
            "digits and any of '_.+-'");
  EXPECT_EQ(messageFor(edited("a device for tests", "\"a\\e[2J\"")),
            "d.yaml:2: 'description' is 'a\\x1b[2J', which has control "
            "characters");
  auto router = [](const char *fields) {
    return messageFor(
        edited("dsp:\n", std::string("nextpnr: {") + fields + "}\ndsp:\n"));
  };
  EXPECT_EQ(router("program: nextpnr-ice40, chip: hx8k, package: ct256"),
            "accepted");
  // No file says which program is started, nor adds options to it.
  EXPECT_EQ(router("program: ./x.sh, chip: hx8k, package: ct256"),
            "d.yaml:15: 'program' is './x.sh'; known are nextpnr-ecp5, "
            "nextpnr-ice40");
  EXPECT_EQ(router("program: nextpnr-ice40, chip: run=x.py, package: ct256"),
            "d.yaml:15: 'chip' is 'run=x.py'; it may have letters, digits and "
            "any of '_.+-'");
  EXPECT_EQ(messageFor(edited("dsp:\n", "memory: {kind: tape, banks: 1}\n"
                                        "dsp:\n")),
            "d.yaml:15: 'kind' is 'tape'; known are ddr, hbm");
  EXPECT_EQ(messageFor(edited("dsp:\n", "memory: {kind: ddr, banks: 0}\n"
                                        "dsp:\n")),
            "d.yaml:15: 'banks' is 0, not from 1 to 1024");
  EXPECT_EQ(messageFor(edited("dsp:\n", "memory: {kind: ddr, banks: 1}\n"
                                        "dsp:\n")),
            "d.yaml:15: 'memory' needs 'bytes_per_s'");
  auto memory = [](const std::string &more) {
    return messageFor(edited("dsp:\n", "memory: {kind: ddr, banks: 1, "
                                       "bytes_per_s: 1000, " +
                                           more + "}\ndsp:\n"));
  };
  EXPECT_EQ(memory("name: ddr4, port_bits: 64, latency_ns: 100"), "accepted");
  EXPECT_EQ(memory("name: ddr-4"),
            "d.yaml:15: 'name' is 'ddr-4', not letters and digits, which ports "
            "are named after");
  EXPECT_EQ(memory("port_bits: 96"),
            "d.yaml:15: 'port_bits' is 96, not a power of two from 8 to 1024");
  EXPECT_EQ(memory("latency_ns: -1"), "d.yaml:15: 'latency_ns' is -1, not "
                                      "from 0 to 1000000000");
  EXPECT_EQ(memory("refresh_every_ns: 300, refresh_ns: 350"),
            "d.yaml:15: 'refresh_ns' is not below 'refresh_every_ns'");
  EXPECT_EQ(messageFor("[1, 2]"), "d.yaml:1: a device file must be a mapping");
  EXPECT_EQ(messageFor(""), "d.yaml:1: a device file must be a mapping");
  EXPECT_NE(messageFor("a: [1\nb: }").find("d.yaml:2: "), std::string::npos);
  auto missing = loadDevice("/no/such.yaml");
  ASSERT_FALSE(bool(missing));
  EXPECT_NE(llvm::toString(missing.takeError()).find("'/no/such.yaml'"),
            std::string::npos);
}
} // namespace
