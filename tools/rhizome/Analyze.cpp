// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome analyze: what a network or a kernel needs, and what devices could
// give it.
#include "Analyze.h"
#include "Commands.h"
#include "Kernel.h"
#include "ModelOptions.h"
#include "Output.h"
#include "Quantization.h"
#include "rhizome/Pipeline/Pipeline.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <set>

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::pipeline;
using llvm::json::Array;
using llvm::json::Object;

namespace {
/// "12.3 k", "4.56 M"; "-" where nothing binds.
std::string scaled(std::optional<double> value) {
  if (!value)
    return "-";
  for (auto [unit, prefix] : {std::pair(1e12, " T"), std::pair(1e9, " G"),
                              std::pair(1e6, " M"), std::pair(1e3, " k")})
    if (*value >= unit)
      return decimal(*value / unit, *value < 100 * unit ? 2 : 1) + prefix;
  return decimal(*value, 2);
}

std::string bytes(double value) { return grouped(int64_t(std::ceil(value))); }

void printNeeds(const Object &analysis) {
  Table table({"node", "op", "MACs", "flops", "params B", "in B", "out B",
               "flop/B stream", "flop/B engine"});
  auto add = [&](const Object &o, std::string node, std::string op) {
    auto number = [&](const char *key) { return o.getNumber(key).value_or(0); };
    table.add({std::move(node), std::move(op), grouped(int64_t(number("macs"))),
               grouped(int64_t(number("flops"))), bytes(number("param_bytes")),
               bytes(number("input_bytes")), bytes(number("output_bytes")),
               decimal(number("intensity_stream"), 2),
               decimal(number("intensity_engine"), 2)});
  };
  for (const llvm::json::Value &value : *analysis.getArray("operations")) {
    const Object &o = *value.getAsObject();
    add(o, o.getString("node")->str(), o.getString("op")->str());
  }
  add(*analysis.getObject("total"), "all", "");
  table.print();
}

/// One device: what it can move and store, then one column per roof.
void printRoofs(const Object &device, const Array &operations) {
  std::string link = device.getString("link")->str();
  llvm::outs() << "\n"
               << *device.getString("device") << " at "
               << decimal(*device.getNumber("clock_mhz"), 3) << " MHz, "
               << (link.empty() ? "its streams" : link) << " "
               << scaled(device.getNumber("network_bits_per_s")) << "b/s, DRAM "
               << scaled(device.getNumber("dram_bytes_per_s"))
               << "B/s, on chip "
               << scaled(device.getNumber("on_chip_bytes_per_s")) << "B/s and "
               << scaled(device.getNumber("on_chip_bytes"))
               << "B; iterations a second, of each operation alone with its "
                  "tensors on the\nnetwork, and of all as one design whose "
                  "operations any generator may build:\n";
  const Array &roofs = *device.getArray("operations");
  const Object &whole = *device.getObject("whole");
  std::set<std::string> generators;
  auto collect = [&](const Object &o) {
    for (auto &[name, value] : *o.getObject("compute"))
      generators.insert(name.str());
  };
  for (const llvm::json::Value &o : roofs)
    collect(*o.getAsObject());
  collect(whole);
  std::vector<std::string> head = {"node"};
  for (const std::string &name : generators)
    head.push_back("compute " + name);
  for (const char *name : {"network", "on chip", "DRAM", "weights on chip",
                           "bound", "weights in DRAM", "bound"})
    head.push_back(name);
  Table table(head);
  auto add = [&](const Object &o, const std::string &node) {
    std::vector<std::string> row = {node};
    const Object &compute = *o.getObject("compute");
    for (const std::string &name : generators)
      row.push_back(compute.get(name) ? scaled(compute.getNumber(name))
                    : name == "any"   ? "-"
                                      : "no");
    for (const char *key : {"network", "on_chip", "dram"})
      row.push_back(scaled(o.getNumber(key)));
    for (const llvm::json::Value &value : *o.getArray("attainable")) {
      const Object &a = *value.getAsObject();
      bool possible = a.getBoolean("possible").value_or(false);
      row.push_back(possible ? scaled(a.getNumber("per_s")) : "no room");
      row.push_back(possible ? a.getString("bound")->str() : "-");
    }
    table.add(std::move(row));
  };
  for (size_t i = 0; i < roofs.size(); ++i)
    add(*roofs[i].getAsObject(),
        operations[i].getAsObject()->getString("node")->str());
  add(whole, "all");
  table.print();
}

int runAnalyze(AnalyzeRequest request, bool json) {
  ProgressLine line(!json);
  request.progress = [&line](llvm::StringRef phase) {
    line.show(phase.str() + " …");
  };
  rhizome::Result<Object> analysis = analyzeModel(request);
  line.show("");
  if (!analysis)
    return isPlaced(analysis.failure())
               ? failWithPlaces(analysis.failure(), json)
               : failWith(analysis.failure(), json);
  if (json) {
    (*analysis)["ok"] = true;
    reportQuantization(request.model, *analysis);
    printJson(std::move(*analysis));
  } else {
    printQuantization(request.model);
    printAnalysis(*analysis);
  }
  return 0;
}
} // namespace

void cli::printAnalysis(const Object &analysis) {
  printNeeds(analysis);
  for (const llvm::json::Value &device : *analysis.getArray("devices"))
    printRoofs(*device.getAsObject(), *analysis.getArray("operations"));
}

void cli::addAnalyze(CLI::App &app, Run &run) {
  struct Options {
    AnalyzeRequest request;
    double clockMhz = 0;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  AnalyzeRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "analyze", "Show what each operation needs, and the roofs of devices.");
  command
      ->add_option("MODEL", request.model.path,
                   "a network, .onnx or .mlir, or a kernel")
      ->required();
  CLI::Option *device =
      command
          ->add_option("--device", request.devices,
                       std::string("a name from 'rhizome targets', or a .yaml "
                                   "file; may be repeated, otherwise ") +
                           kDefaultDevice)
          ->option_text("NAME")
          ->take_all();
  CLI::Option *cluster =
      command
          ->add_option("--cluster", request.cluster,
                       "the distinct devices of a cluster, each with its link")
          ->option_text("NAME");
  command
      ->add_option("--link", request.link,
                   "the link of every --device, otherwise the width of its "
                   "streams is the limit")
      ->option_text("NAME");
  CLI::Option *clock =
      command
          ->add_option("--clock-mhz", options->clockMhz,
                       "the clock, otherwise each device's own")
          ->check(CLI::Range(0.001, 10000.0));
  addModelOptions(*command, request.model);
  addKernelOptions(*command, request.kernel);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "A roof is what one resource alone would allow: all of a device's "
      "multipliers\n"
      "and LUTs, its link, its memories, its DRAM. The two columns named bound "
      "are\n"
      "the lowest of them, for weights that stay on chip and for weights in "
      "DRAM.\n"
      "Examples:\n"
      "  rhizome analyze net_qdq.onnx\n"
      "  rhizome analyze net_qdq.onnx --device xcu55c --device cpu-x86\n"
      "  rhizome analyze net_qdq.onnx --cluster mixed9 --json\n"
      "  rhizome analyze kernel.cfd --numbers 'fixed<8,24>' --device xcu280");
  command->callback([options, device, cluster, clock, command, &run] {
    options->request.isKernel = checkOptionsOf(
        *command, options->request.model.path,
        {"--device", "--cluster", "--link", "--clock-mhz", "--json"});
    if (!device->count() && !cluster->count())
      options->request.devices = {kDefaultDevice};
    if (clock->count())
      options->request.clockMhz = options->clockMhz;
    run = [options] { return runAnalyze(options->request, options->json); };
  });
}
