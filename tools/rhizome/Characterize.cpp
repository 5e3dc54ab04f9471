// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome characterize: a family's cost model from synthesis.
#include "rhizome/Characterize/Characterize.h"
#include "Commands.h"
#include "Output.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Synth/Synth.h"
#include "rhizome/Target/Device.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::characterize;

namespace {
llvm::json::Object toJson(const Residuals &r) {
  return llvm::json::Object{{"points", r.points}, {"median", r.median},
                            {"p90", r.p90},       {"worst", r.worst},
                            {"small", r.small},   {"least", r.least}};
}

llvm::json::Object toJson(const CharacterizeResult &result,
                          const std::string &file) {
  llvm::json::Array points;
  for (const CharacterizedPoint &p : result.points) {
    llvm::json::Object config, measured, terms;
    for (const auto &[name, value] : p.config)
      config[name] = value;
    for (const auto &[name, value] : p.measured)
      measured[name] = value;
    for (const auto &[name, value] : p.terms)
      terms[name] = value;
    points.push_back(llvm::json::Object{
        {"unit", p.unit},
        {"name", p.name},
        {"config", std::move(config)},
        {"held_out", p.held},
        {"predicted",
         llvm::json::Object{
             {"lut", p.lut}, {"ff", p.ff}, {"dsp", p.dsp}, {"bram", p.bram}}},
        {"measured", std::move(measured)},
        {"known_lut", p.known},
        {"terms", std::move(terms)}});
  }
  llvm::json::Object units;
  for (const auto &[name, unit] : result.model.units)
    units[name] = llvm::json::Object{{"lut", toJson(unit.lutResiduals)},
                                     {"ff", toJson(unit.ffResiduals)}};
  return llvm::json::Object{{"family", result.model.family},
                            {"tool", result.model.tool},
                            {"file", file},
                            {"lut", toJson(result.lut)},
                            {"ff", toJson(result.ff)},
                            {"held_out_lut", toJson(result.heldLut)},
                            {"held_out_ff", toJson(result.heldFf)},
                            {"units", std::move(units)},
                            {"points", std::move(points)}};
}

void printTable(const CharacterizeResult &result) {
  Table table({"unit", "points", "LUT median", "p90", "worst", "below 500",
               "FF median", "worst", "below 500"});
  auto row = [&](const std::string &name, const Residuals &lut,
                 const Residuals &ff) {
    auto share = [](const Residuals &r, double value) {
      return r.points ? percent(value) : std::string("-");
    };
    auto least = [](const Residuals &r) {
      return r.small ? "±" + decimal(r.least, 0) : std::string("-");
    };
    table.add({name, std::to_string(lut.points + lut.small),
               share(lut, lut.median), share(lut, lut.p90),
               share(lut, lut.worst), least(lut), share(ff, ff.median),
               share(ff, ff.worst), least(ff)});
  };
  for (const auto &[name, unit] : result.model.units)
    row(name, unit.lutResiduals, unit.ffResiduals);
  row("fitted now", result.lut, result.ff);
  if (result.heldLut.points + result.heldLut.small > 0)
    row("held out", result.heldLut, result.heldFf);
  table.print();
}

/// The first device of a family, by name.
llvm::Expected<std::string> deviceOf(const std::string &family) {
  auto devices = listDevices();
  if (!devices)
    return devices.takeError();
  for (const Device &device : *devices)
    if (device.family == family)
      return device.name;
  return llvm::createStringError(
      "no device of data/devices is of the family '%s'; families that can be "
      "characterized are %s",
      family.c_str(), llvm::join(synth::knownFamilies(), ", ").c_str());
}

int runCharacterize(CharacterizeRequest request, const std::string &family,
                    std::string output, bool json) {
  if (request.device.empty()) {
    auto device = deviceOf(family);
    if (!device)
      return failWith(llvm::toString(device.takeError()), json);
    request.device = *device;
  }
  ProgressLine line(!json);
  if (line.active())
    request.progress = [&](const std::string &text) { line.show(text); };
  rhizome::Result<CharacterizeResult> done =
      characterize::characterize(request);
  line.show("");
  if (!done)
    return failWith(done.failure(), json);
  CharacterizeResult &result = *done;
  if (output.empty()) {
    auto data = dataDir();
    if (!data)
      return failWith(llvm::toString(data.takeError()), json);
    output = *data + "/models/" + result.model.family + ".yaml";
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(output));
  }
  if (llvm::Error error =
          writeAtomically(output, printFamilyModel(result.model)))
    return failWith(llvm::toString(std::move(error)), json);
  if (json) {
    printJson(toJson(result, output));
    return 0;
  }
  llvm::outs() << result.model.family << ", " << result.model.tool << "\n\n";
  printTable(result);
  llvm::outs() << "\n" << output << "\n";
  return 0;
}
} // namespace

void cli::addCharacterize(CLI::App &app, Run &run) {
  struct Options {
    CharacterizeRequest request;
    std::string family, output;
    bool quick = false, json = false;
  };
  auto options = std::make_shared<Options>();
  CharacterizeRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "characterize",
      "Fit a device family's cost model to synthesis results of the cells.");
  CLI::Option *device =
      command->add_option("--device", request.device,
                          "a name from 'rhizome targets', or a .yaml file");
  command->add_option("--family", options->family, "a device family")
      ->excludes(device);
  command
      ->add_option("--cells", request.units,
                   "the cells to sample, otherwise all; see data/models")
      ->delimiter(',')
      ->check(CLI::IsMember(characterizedUnits()))
      ->option_text("NAME,…");
  command
      ->add_option("--points", request.points,
                   "samples of each; 0 uses only --add")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str()
      ->option_text("N");
  command->add_flag("--quick", options->quick, "three samples of each");
  command->add_option("--seed", request.seed, "the seed of the samples")
      ->capture_default_str()
      ->option_text("N");
  command
      ->add_option("--add", request.add,
                   "packages whose modules are also used for the fit")
      ->option_text("DIR");
  command
      ->add_option("--hold-out", request.holdOut,
                   "packages that are compared but not used for the fit")
      ->option_text("DIR");
  command
      ->add_option(
          "-o,--output", options->output,
          "the model's file, otherwise the program's file for the family")
      ->option_text("FILE");
  command
      ->add_option("--tool", request.tool,
                   "a Yosys in PATH or its path; the default is Debian's")
      ->option_text("PROGRAM");
  command
      ->add_option("--jobs", request.jobs, "Yosys processes to run in parallel")
      ->check(CLI::Range(1, 64))
      ->option_text("N");
  command
      ->add_option(
          "--cache", request.cache,
          "the folder of the cache, otherwise $XDG_CACHE_HOME/rhizome/synth")
      ->option_text("FOLDER");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n"
                  "  rhizome characterize --family ecp5\n"
                  "  rhizome characterize --device xczu3eg --points 40\n"
                  "  rhizome characterize --family ecp5 --points 0 --add "
                  "net.rhz");
  command->callback([options, &run] {
    if (options->request.device.empty() && options->family.empty())
      throw CLI::RequiredError("--device or --family");
    if (options->quick)
      options->request.points = 3;
    run = [options] {
      return runCharacterize(options->request, options->family, options->output,
                             options->json);
    };
  });
}
