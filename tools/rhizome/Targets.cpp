// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome targets: the devices, boards, links and clusters that data files
// describe, as tables, one by one, or for machines.
#include "Commands.h"
#include "Output.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Target/Target.h"
#include "rhizome/Vendor/Vendor.h"
#include "llvm/Support/raw_ostream.h"

using namespace rhizome;
using namespace rhizome::cli;
using llvm::outs;

namespace {
using Flows = std::vector<vendor::Flow>;

llvm::json::Array listOf(const std::vector<std::string> &texts) {
  llvm::json::Array array;
  for (const std::string &text : texts)
    array.push_back(text);
  return array;
}

/// "10 Gb/s", "96 Mb/s".
std::string rate(double perS, const char *unit) {
  for (auto [scale, prefix] : {std::pair(1e9, " G"), std::pair(1e6, " M")})
    if (perS >= scale)
      return decimal(perS / scale, 3) + prefix + unit + "/s";
  return decimal(perS, 0) + " " + unit + "/s";
}

std::string memoryOf(const Device &d) {
  if (!d.memory)
    return "-";
  std::string kind = d.memory->kind == "hbm" ? "HBM" : "DDR";
  return kind + " " + rate(d.memory->bytesPerS, "B");
}

//===----------------------------------------------------------------------===//
// For machines
//===----------------------------------------------------------------------===//

/// The flows that write build files for this device, with the files.
llvm::json::Object filesFor(const Device &d, const Flows &flows) {
  llvm::json::Object served;
  for (const vendor::Flow &flow : flows) {
    if (!flow.serves(d))
      continue;
    llvm::json::Object files;
    for (auto &[name, purpose] : flow.files)
      files[name] = purpose;
    served[flow.name] =
        llvm::json::Object{{"tool", flow.tool}, {"files", std::move(files)}};
  }
  return served;
}

llvm::json::Object toJson(const Device &d, const Flows &flows) {
  llvm::json::Object object{{"name", d.name},
                            {"kind", "device"},
                            {"description", d.description},
                            {"family", d.family},
                            {"part", d.part},
                            {"clock_mhz", d.clockMhz},
                            {"sources", listOf(d.sources)}};
  if (d.memory)
    object["memory"] =
        llvm::json::Object{{"name", d.memory->name},
                           {"kind", d.memory->kind},
                           {"banks", d.memory->banks},
                           {"ports", d.memory->ports},
                           {"bytes_per_s", d.memory->bytesPerS},
                           {"port_bits", d.memory->portBits},
                           {"port_mhz", d.memory->portMhz},
                           {"latency_ns", d.memory->latencyNs},
                           {"turnaround_ns", d.memory->turnaroundNs},
                           {"refresh_every_ns", d.memory->refreshEveryNs},
                           {"refresh_ns", d.memory->refreshNs}};
  if (d.processor) {
    object["processor"] =
        llvm::json::Object{{"cores", d.processor->cores},
                           {"macs_per_cycle", d.processor->macsPerCycle},
                           {"cache_bytes", d.processor->cacheBytes}};
    return object;
  }
  llvm::json::Object budget;
  for (auto &[name, count] : d.budget)
    budget[name] = count;
  if (d.maxClockMhz > 0)
    object["max_clock_mhz"] = d.maxClockMhz;
  object["stream_bits"] = d.streamBits;
  object["dsp_kind"] = d.dspKind;
  object["dsp_pairs"] = d.dspPairs.has_value();
  object["lut_inputs"] = d.lutInputs;
  object["bram_bits"] = d.bramBits;
  object["shell"] = d.shell;
  object["platform"] = d.platform;
  object["flows"] = filesFor(d, flows);
  object["budget"] = std::move(budget);
  if (!d.routable.empty()) {
    llvm::json::Object shares;
    for (auto &[name, share] : d.routable)
      shares[name] = share;
    object["routable"] = std::move(shares);
  }
  if (!d.dies.dies.empty()) {
    llvm::json::Array dies;
    for (const Die &die : d.dies.dies) {
      llvm::json::Object counts;
      for (auto &[name, count] : die.budget)
        counts[name] = count;
      dies.push_back(llvm::json::Object{{"name", die.name},
                                        {"budget", std::move(counts)}});
    }
    object["dies"] = std::move(dies);
    object["crossings"] = llvm::json::Object{{"wires", d.dies.wires},
                                             {"registers", d.dies.registers}};
    object["border_die"] = d.dies.dies[size_t(d.dies.border)].name;
    object["memory_die"] = d.dies.dies[size_t(d.dies.memory)].name;
  }
  return object;
}

llvm::json::Object toJson(const Board &b, const Flows &) {
  return llvm::json::Object{{"name", b.name},
                            {"kind", "board"},
                            {"description", b.description},
                            {"device", b.device},
                            {"clock_mhz", b.clockMhz},
                            {"host", nameOf(b.host())},
                            {"baud", b.baud},
                            {"flash", b.flash},
                            {"sources", listOf(b.sources)}};
}

llvm::json::Object toJson(const Link &l, const Flows &) {
  return llvm::json::Object{{"name", l.name},
                            {"kind", "link"},
                            {"description", l.description},
                            {"medium", nameOf(l.kind)},
                            {"bits_per_s", l.bitsPerS},
                            {"latency_ns", l.latencyNs},
                            {"mtu_bytes", l.mtuBytes},
                            {"overhead_bytes", l.overheadBytes},
                            {"sources", listOf(l.sources)}};
}

llvm::json::Object toJson(const Cluster &c, const Flows &) {
  llvm::json::Array nodes;
  for (const ClusterNode &node : c.nodes) {
    llvm::json::Object budget;
    for (auto &[name, count] : node.device.budget)
      budget[name] = count;
    nodes.push_back(llvm::json::Object{{"device", node.device.name},
                                       {"clock_mhz", node.device.clockMhz},
                                       {"link", node.link.name},
                                       {"budget", std::move(budget)}});
  }
  return llvm::json::Object{{"name", c.name},
                            {"kind", "cluster"},
                            {"description", c.description},
                            {"topology", nameOf(c.topology)},
                            {"replicas", c.replicas},
                            {"host_link", c.hostLink.name},
                            {"nodes", std::move(nodes)},
                            {"sources", listOf(c.sources)}};
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

/// "4 xcku060-role, 3 lfe5u-85f": runs of equal devices.
std::string membersOf(const Cluster &c) {
  std::string text;
  for (size_t i = 0, end; i < c.nodes.size(); i = end) {
    for (end = i; end < c.nodes.size() &&
                  c.nodes[end].device.name == c.nodes[i].device.name;)
      ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(end - i) + " " +
            c.nodes[i].device.name;
  }
  return text;
}

std::string wayTo(const Board &b) {
  switch (b.host()) {
  case Board::Host::Serial:
    return "UART, " + grouped(b.baud) + " baud";
  case Board::Host::Dma:
    return "DMA on the chip";
  case Board::Host::Platform:
    return "PCI Express";
  }
  llvm_unreachable("all hosts return");
}

/// One table per kind. Rows of other kinds are left out; an empty table is not
/// printed.
void printTables(const std::vector<Target> &targets) {
  Table devices({"device", "family", "clock MHz", "LUT", "FF", "DSP", "BRAM",
                 "URAM", "LUTRAM", "DSP kind", "memory"});
  Table boards({"board", "device", "clock MHz", "host at", "description"});
  Table links({"link", "medium", "rate", "latency ns", "payload B",
               "overhead B", "description"});
  Table clusters({"cluster", "nodes", "devices", "topology", "host link"});
  for (const Target &target : targets)
    if (auto *d = std::get_if<Device>(&target)) {
      auto count = [&](const char *resource) {
        auto found = d->budget.find(resource);
        return found == d->budget.end() ? "-" : grouped(found->second);
      };
      devices.add({d->name, d->family, decimal(d->clockMhz, 3), count("lut"),
                   count("ff"), count("dsp"), count("bram"), count("uram"),
                   count("lutram"), d->dspKind.empty() ? "-" : d->dspKind,
                   memoryOf(*d)});
    } else if (auto *b = std::get_if<Board>(&target)) {
      boards.add({b->name, b->device, decimal(b->clockMhz, 3), wayTo(*b),
                  b->description});
    } else if (auto *l = std::get_if<Link>(&target)) {
      links.add({l->name, nameOf(l->kind).str(), rate(l->bitsPerS, "b"),
                 grouped(l->latencyNs), grouped(l->mtuBytes),
                 grouped(l->overheadBytes), l->description});
    } else {
      auto &c = std::get<Cluster>(target);
      clusters.add({c.name, grouped(int64_t(c.nodes.size())), membersOf(c),
                    nameOf(c.topology).str(), c.hostLink.name});
    }
  const char *gap = "";
  for (const Table *table : {&devices, &boards, &links, &clusters}) {
    if (table->empty())
      continue;
    outs() << gap;
    table->print();
    gap = "\n";
  }
}

void explain(const Device &d, const Flows &flows) {
  if (d.processor)
    outs() << "cores " << d.processor->cores << ", "
           << d.processor->macsPerCycle
           << " products of 8 bits a cycle each, cache "
           << grouped(d.processor->cacheBytes) << " B\n";
  if (d.memory) {
    const DeviceMemory &m = *d.memory;
    outs() << "memory " << memoryOf(d) << " over " << m.banks
           << (m.banks == 1 ? " bank" : " banks") << ", " << m.name;
    if (m.latencyNs > 0)
      outs() << ": " << m.portBits << " bits a beat, " << m.latencyNs
             << " ns to the first, " << m.turnaroundNs
             << " ns between bursts that are apart, a refresh of "
             << m.refreshNs << " ns every " << m.refreshEveryNs << " ns";
    outs() << "\n";
  }
  if (!d.routable.empty()) {
    const char *separator = "a plan uses at most ";
    for (const auto &[name, share] : d.routable) {
      outs() << separator << percent(share) << " of " << name;
      separator = ", ";
    }
    outs() << ", unless the goal says otherwise\n";
  }
  if (!d.dies.dies.empty()) {
    const DeviceDies &row = d.dies;
    outs() << grouped(row.wires) << " wires from each die to the next one, "
           << row.registers << " registers on the way; the border is on "
           << row.dies[size_t(row.border)].name;
    if (d.memory)
      outs() << ", the memory's ports on " << row.dies[size_t(row.memory)].name;
    outs() << "\n\n";
    Table dies({"die", "LUT", "FF", "DSP", "BRAM", "URAM"});
    for (const Die &die : row.dies) {
      std::vector<std::string> cells = {die.name};
      for (const char *kind : {"lut", "ff", "dsp", "bram", "uram"}) {
        auto count = die.budget.find(kind);
        cells.push_back(count == die.budget.end() ? "-"
                                                  : grouped(count->second));
      }
      dies.add(cells);
    }
    dies.print();
  }
  for (const vendor::Flow &flow : flows) {
    if (!flow.serves(d))
      continue;
    outs() << "\n"
           << flow.tool << ", below nodes/<n>/" << flow.name
           << " of a package:\n";
    Table files({"file", "purpose"});
    for (auto &[file, purpose] : flow.files)
      files.add({file, purpose});
    files.print();
  }
}

void explain(const Board &b, const Flows &) {
  switch (b.host()) {
  case Board::Host::Serial:
    outs() << "clock at pin " << b.clockPin << ", serial line in at " << b.rxPin
           << " and out at " << b.txPin << ", " << b.ioStandard << "\n";
    break;
  case Board::Host::Dma:
    outs() << "the processors on the chip run the host's program and give the "
              "clock; DMA moves the frames\n"
              "to build: rhizome synth DIR --tool vivado; to run: the driver "
              "'pynq' in host/rhizome_client.py\n";
    break;
  case Board::Host::Platform:
    outs() << "the design is a kernel of the device's platform, which gives "
              "the clock\n"
              "to build: rhizome synth DIR --tool vitis; to run: the drivers "
              "'xrt' and 'opencl' in host/\n";
    break;
  }
  if (!b.flash.empty())
    outs() << "onto the board: " << b.flash << "\n";
}

void explain(const Link &l, const Flows &) {
  outs() << (l.kind == Medium::Kind::Udp
                 ? "datagrams may be lost, repeated or reordered"
                 : "reliable, in order, with flow control")
         << "; full pieces of " << grouped(l.mtuBytes) << " B carry "
         << rate(l.mtuBytes * 8 / l.secondsFor(l.mtuBytes), "b") << "\n";
}

void explain(const Cluster &c, const Flows &) {
  outs() << (c.topology == Cluster::Topology::Switch
                 ? "every node and the host reach every other"
                 : "a node sends to the next one, the last to the host")
         << "; the host at " << c.hostLink.name << "; "
         << (c.replicas ? "replicas allowed" : "no replicas") << "\n\n";
  Table table({"place", "device", "clock MHz", "LUT", "DSP", "BRAM", "link"});
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    const Device &d = c.nodes[i].device;
    auto count = [&](const char *resource) {
      auto found = d.budget.find(resource);
      return found == d.budget.end() ? "-" : grouped(found->second);
    };
    table.add({std::to_string(i), d.name, decimal(d.clockMhz, 3), count("lut"),
               count("dsp"), count("bram"), c.nodes[i].link.name});
  }
  table.print();
}

int runTargets(const std::string &name, bool json) {
  std::vector<Target> targets;
  if (name.empty()) {
    auto all = listTargets();
    if (!all)
      return failWith(llvm::toString(all.takeError()), json);
    targets = std::move(*all);
  } else {
    auto one = loadTarget(name);
    if (!one)
      return failWith(failureOf(one.takeError(), Failure::Kind::Input), json);
    targets.push_back(std::move(*one));
  }
  auto flows = vendor::listFlows();
  if (!flows)
    return failWith(llvm::toString(flows.takeError()), json);
  if (json) {
    llvm::json::Array list;
    for (const Target &target : targets)
      list.push_back(std::visit(
          [&](const auto &some) { return toJson(some, *flows); }, target));
    printJson(llvm::json::Object{{"ok", true}, {"targets", std::move(list)}});
    return 0;
  }
  printTables(targets);
  if (name.empty())
    return 0;
  std::visit(
      [&](const auto &one) {
        outs() << "\n" << one.description << "\n";
        explain(one, *flows);
        outs() << "\nsources:\n";
        for (const std::string &source : one.sources)
          outs() << "  " << source << "\n";
      },
      targets[0]);
  return 0;
}
} // namespace

void cli::addTargets(CLI::App &app, Run &run) {
  struct Options {
    std::string name;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "targets", "List devices, boards, links and clusters, or explain one.");
  command->add_option("NAME", options->name,
                      "a device, board, link or cluster, or its .yaml file");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n"
                  "  rhizome targets\n"
                  "  rhizome targets xcku060-role\n"
                  "  rhizome targets mixed9\n"
                  "  rhizome targets ./my-board.yaml --json");
  command->callback([options, &run] {
    run = [options] { return runTargets(options->name, options->json); };
  });
}
