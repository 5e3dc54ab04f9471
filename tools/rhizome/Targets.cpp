// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome targets: the devices that data files describe.
#include "Commands.h"
#include "Output.h"
#include "rhizome/Target/Device.h"
#include "rhizome/Vendor/Vendor.h"

using namespace rhizome;
using namespace rhizome::cli;

/// The flows that write build files for this device, with the files.
static llvm::json::Object filesFor(const Device &d,
                                   const std::vector<vendor::Flow> &flows) {
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

static llvm::json::Object toJson(const Device &d,
                                 const std::vector<vendor::Flow> &flows) {
  llvm::json::Object budget;
  for (auto &[name, count] : d.budget)
    budget[name] = count;
  llvm::json::Array sources;
  for (const std::string &source : d.sources)
    sources.push_back(source);
  return llvm::json::Object{{"name", d.name},
                            {"description", d.description},
                            {"family", d.family},
                            {"part", d.part},
                            {"clock_mhz", d.clockMhz},
                            {"stream_bits", d.streamBits},
                            {"dsp_kind", d.dspKind},
                            {"dsp_pairs", d.dspPairs.has_value()},
                            {"lut_inputs", d.lutInputs},
                            {"bram_bits", d.bramBits},
                            {"shell", d.shell},
                            {"platform", d.platform},
                            {"flows", filesFor(d, flows)},
                            {"budget", std::move(budget)},
                            {"sources", std::move(sources)}};
}

static int runTargets(const std::string &name, bool json) {
  std::vector<Device> devices;
  if (name.empty()) {
    auto all = listDevices();
    if (!all)
      return failWith(llvm::toString(all.takeError()), json);
    devices = std::move(*all);
  } else {
    auto one = loadDevice(name);
    if (!one)
      return failWith(llvm::toString(one.takeError()), json);
    devices.push_back(std::move(*one));
  }
  auto flows = vendor::listFlows();
  if (!flows)
    return failWith(llvm::toString(flows.takeError()), json);
  if (json) {
    llvm::json::Array list;
    for (const Device &d : devices)
      list.push_back(toJson(d, *flows));
    printJson(llvm::json::Object{{"ok", true}, {"targets", std::move(list)}});
    return 0;
  }
  Table table({"device", "family", "clock MHz", "LUT", "FF", "DSP", "BRAM",
               "LUTRAM", "DSP kind"});
  for (const Device &d : devices)
    table.add({d.name, d.family, decimal(d.clockMhz, 3),
               grouped(d.budget.at("lut")), grouped(d.budget.at("ff")),
               grouped(d.budget.at("dsp")), grouped(d.budget.at("bram")),
               grouped(d.budget.at("lutram")), d.dspKind});
  table.print();
  if (!name.empty()) {
    llvm::outs() << "\n" << devices[0].description << "\nsources:\n";
    for (const std::string &source : devices[0].sources)
      llvm::outs() << "  " << source << "\n";
    for (const vendor::Flow &flow : *flows) {
      if (!flow.serves(devices[0]))
        continue;
      llvm::outs() << "\n"
                   << flow.tool << ", below nodes/<n>/" << flow.name
                   << " of a package:\n";
      Table files({"file", "purpose"});
      for (auto &[file, purpose] : flow.files)
        files.add({file, purpose});
      files.print();
    }
  }
  return 0;
}

void cli::addTargets(CLI::App &app, Run &run) {
  struct Options {
    std::string name;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("targets", "List the devices, or describe one.");
  command->add_option("DEVICE", options->name, "a device, or a .yaml file");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n"
                  "  rhizome targets\n"
                  "  rhizome targets xcku060-role\n"
                  "  rhizome targets ./my-board.yaml --json");
  command->callback([options, &run] {
    run = [options] { return runTargets(options->name, options->json); };
  });
}
