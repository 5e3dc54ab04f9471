// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From sampled and given packages to a family's model: every point's structure
// and its synthesis result, one fit per unit.
#include "rhizome/Characterize/Characterize.h"
#include "Fit.h"
#include "rhizome/Generator/Sampler.h"
#include "rhizome/PlanBuild/Build.h"
#include "rhizome/PlanBuild/Cells.h"
#include "rhizome/PlanBuild/DeviceContext.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Synth/Synth.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::characterize;
using namespace rhizome::planbuild;

namespace {
/// One actor, its structure and its measured resources.
struct Point {
  std::string unit, name;
  std::map<std::string, int64_t> config;
  gen::Structure structure;
  synth::Counts measured;
  bool held = false;

  double of(const char *resource) const {
    auto found = measured.find(resource);
    return found == measured.end() ? 0 : found->second;
  }
};

class Characterization {
public:
  explicit Characterization(const CharacterizeRequest &request)
      : request(request) {}

  Error run();

  CharacterizeResult result;

private:
  Expected<std::string> sample(const Device &device);
  Error addPackage(const std::string &dir, bool held, bool isSample);
  void fit();
  void judge();

  const CharacterizeRequest &request;
  std::vector<Point> points;
};

/// Writes a package of sampled actors and returns its folder.
Expected<std::string> Characterization::sample(const Device &device) {
  Expected<gen::DeviceContext> context = contextOf(device, device.clockMhz);
  if (!context)
    return context.takeError();
  std::string folder = request.work;
  if (folder.empty()) {
    SmallString<128> path;
    sys::path::system_temp_directory(true, path);
    folder = (path + "/rhizome-characterize-" + device.family + ".rhz").str();
  }
  auto writer = PackageWriter::create(folder);
  if (!writer)
    return writer.takeError();
  Expected<std::string> library = rtlDir();
  if (!library)
    return library.takeError();

  Plan plan;
  plan.model = "characterize";
  plan.device = device.name;
  plan.clockMhz = device.clockMhz;
  plan.goal = "min-resources";
  PlannedNode node;
  node.name = "node0";
  node.device = device.name;
  node.family = device.family;
  node.budget = device.budget;
  const std::string rtl = "nodes/node0/rtl/";
  if (auto made = (*writer)->makeFolder("nodes/node0/rtl"); !made)
    return made.takeError();
  std::error_code error;
  for (sys::fs::directory_iterator it(*library + "/src", error), end;
       it != end && !error; it.increment(error))
    if (sys::path::extension(it->path()) == ".sv")
      node.rtl.push_back(sys::path::filename(it->path()).str());
  llvm::sort(node.rtl);
  for (const std::string &file : node.rtl)
    if (Error e = (*writer)->copyFile(rtl + file, *library + "/src/" + file))
      return std::move(e);

  std::vector<std::string> units = request.units;
  if (units.empty())
    units = characterizedUnits();
  for (const std::string &unit : units) {
    // Every unit has its own seed, so that each can be sampled alone.
    std::mt19937_64 random(request.seed * 1000003 +
                           std::hash<std::string>()(unit));
    for (int64_t i = 0; i < request.points; ++i) {
      gen::MemoryImages images;
      std::optional<gen::Actor> actor = gen::sampleActor(
          unit, unit + "_" + std::to_string(i), random, *context, images);
      if (!actor)
        break; // the device has no such unit
      PlannedActor planned;
      planned.name = actor->name;
      planned.nodes = {unit};
      describeUnit(*actor, planned);
      node.modules[planned.module] = sourcesOf(*actor);
      for (const auto &[name, image] : images)
        if (Error e = (*writer)->writeFile(rtl + name, image.hex()))
          return std::move(e);
      gen::Resources r = gen::costOf(*actor, context->cost, &images);
      planned.resources = {{"lut", std::ceil(r.lut())}, {"ff", r.ff()}};
      node.actors.push_back(std::move(planned));
    }
  }
  plan.nodes.push_back(std::move(node));
  if (Error e = (*writer)->writePlan(plan))
    return std::move(e);
  if (Error e = (*writer)->commit())
    return std::move(e);
  return folder;
}

/// The actor described by a plan, and its memories' contents.
Expected<gen::Actor> actorOf(const Package &package, const PlannedNode &node,
                             const PlannedActor &planned,
                             gen::MemoryImages &images) {
  auto unlike = [&](const llvm::Twine &how) {
    return createStringError(
        "the actor '%s' of '%s' was described by another version of this "
        "program: %s; compile the model again",
        planned.name.c_str(), package.dir().c_str(), how.str().c_str());
  };
  const gen::UnitModel *model = gen::findUnit(planned.kind);
  if (!model)
    return unlike("there is no unit '" + planned.kind + "'");
  gen::Actor actor(*model, planned.name);
  for (const auto &[key, value] : planned.config) {
    if (auto number = value.getAsInteger()) {
      if (!actor.kind().indexOf(key))
        return unlike("its unit has no parameter '" + key.str() + "'");
      actor.set(key, *number);
    } else if (auto file = value.getAsString(); file && !file->empty()) {
      actor.files.push_back({key.str(), file->str()});
      Expected<std::string> text =
          readFile(package.rtlPath(node) + "/" + file->str());
      if (!text)
        return text.takeError();
      images[file->str()] = gen::MemoryImage::parse(*text);
    }
  }
  if (std::optional<std::string> problem = unit::check(actor))
    return unlike(*problem);
  return actor;
}

Error Characterization::addPackage(const std::string &dir, bool held,
                                   bool isSample) {
  Expected<Package> package = Package::open(dir);
  if (!package)
    return package.takeError();
  SynthOptions options;
  options.tool = request.tool;
  options.cache = request.cache;
  options.jobs = request.jobs;
  if (request.progress)
    options.progress = [&](const SynthProgress &p) {
      request.progress(llvm::formatv(
          "{0}{1} of {2} modules{3}{4}", isSample ? "" : dir + ": ", p.done,
          p.total, p.running.empty() ? "" : ": ", p.running));
    };
  Expected<SynthResult> synthesized = synthesize(*package, options);
  if (!synthesized)
    return synthesized.takeError();
  result.model.tool = synthesized->tool;
  if (!isSample && !held)
    result.model.added.push_back(package->plan().model + ", " +
                                 package->plan().goal);
  for (const PlannedNode &node : package->plan().nodes) {
    if (node.family != result.model.family)
      return createStringError("'%s' is built for the family '%s', not '%s'",
                               dir.c_str(), node.family.c_str(),
                               result.model.family.c_str());
    Expected<Device> device = loadDevice(node.device);
    if (!device)
      return device.takeError();
    Expected<gen::CostContext> context = costContextOf(*device);
    if (!context)
      return context.takeError();
    std::map<std::string, const PlannedActor *> actors;
    for (const PlannedActor &actor : node.actors)
      actors[actor.name] = &actor;
    for (const SynthModule &module : synthesized->modules) {
      if (module.node != node.name)
        continue;
      gen::MemoryImages images;
      Expected<gen::Actor> actor =
          actorOf(*package, node, *actors.at(module.name), images);
      if (!actor)
        return actor.takeError();
      Point point;
      point.structure = gen::structureOf(*actor, *context, &images);
      point.unit = point.structure.unit;
      point.name = module.name;
      for (auto [key, value] : actor->params.all())
        point.config[key.str()] = value;
      point.measured = module.measured;
      point.held = held;
      points.push_back(std::move(point));
    }
  }
  return Error::success();
}

/// The name under which deep output buffers are characterized.
StringRef bufferUnit() {
  for (const gen::UnitModel *model : gen::allUnits())
    if (model->samplesDeepBuffers())
      return model->kind().characterized.front();
  return "";
}

void Characterization::fit() {
  // Few points have a large share of some terms; those must not absorb the
  // residuals of others. All except the control's are about one LUT each,
  // counters a few.
  std::vector<double> pull(gen::kTermNames.size(), 0.3);
  pull[size_t(gen::Term::Adder)] = 1;
  for (gen::Term t : {gen::Term::Counter, gen::Term::Buffer})
    pull[size_t(t)] = 0.05;
  for (gen::Term t : {gen::Term::Fixed, gen::Term::Lane, gen::Term::Control})
    pull[size_t(t)] = 0;
  // Output buffers are the same in all units, but not all are sampled with
  // deep ones: one that is comes first, and the others are pulled to its terms.
  std::vector<double> towards(gen::kTermNames.size(), 1);
  std::vector<const char *> units = gen::characterizedUnits();
  StringRef deep = bufferUnit();
  llvm::stable_sort(
      units, [&](StringRef a, StringRef b) { return a == deep && b != deep; });
  for (StringRef unit : units) {
    if (unit != deep) {
      auto &known = result.model.units[deep.str()].lut;
      auto found = known.find(gen::kTermNames[size_t(gen::Term::Buffer)]);
      towards[size_t(gen::Term::Buffer)] =
          found == known.end() ? 1 : found->second;
      pull[size_t(gen::Term::Buffer)] = 0.3;
    }
    std::vector<std::vector<double>> rows;
    std::vector<double> targets, scale;
    for (const Point &p : points) {
      if (p.unit != unit || p.held)
        continue;
      rows.emplace_back(p.structure.terms.begin(), p.structure.terms.end());
      targets.push_back(p.of("lut") - p.structure.exact.lut());
      scale.push_back(p.of("lut") + 100);
    }
    if (rows.empty())
      continue;
    std::vector<double> found =
        fitNonNegative(rows, targets, scale, pull, towards);
    FamilyModel::Unit &target = result.model.units[unit.str()];
    target.lut.clear();
    for (size_t t = 0; t < found.size(); ++t)
      if (found[t] > 1e-6)
        target.lut[gen::kTermNames[t]] = found[t];
  }
}

/// Deviations of (predicted, measured).
Residuals residualsOf(std::vector<std::pair<double, double>> &pairs) {
  Residuals r;
  std::vector<double> shares, small;
  for (auto [predicted, measured] : pairs) {
    double off = std::abs(predicted - measured);
    if (measured > 500)
      shares.push_back(off / measured);
    else
      small.push_back(off);
  }
  auto at = [](std::vector<double> &values, double part) {
    if (values.empty())
      return 0.0;
    llvm::sort(values);
    return values[size_t(part * double(values.size() - 1) + 0.5)];
  };
  r.points = int64_t(shares.size());
  r.median = at(shares, 0.5);
  r.p90 = at(shares, 0.9);
  r.worst = at(shares, 1);
  r.small = int64_t(small.size());
  r.least = at(small, 0.9);
  return r;
}

void Characterization::judge() {
  // By unit, "" for all, "held" for all held-out points.
  std::map<std::string, std::vector<std::pair<double, double>>> luts, ffs;
  for (const Point &p : points) {
    CharacterizedPoint point;
    point.unit = p.unit;
    point.name = p.name;
    point.config = p.config;
    point.held = p.held;
    point.measured = p.measured;
    point.lut = point.known = p.structure.exact.lut();
    for (size_t t = 0; t < p.structure.terms.size(); ++t) {
      auto &known = result.model.units[p.unit].lut;
      if (p.structure.terms[t] != 0)
        point.terms[gen::kTermNames[t]] = p.structure.terms[t];
      auto found = known.find(gen::kTermNames[t]);
      if (found != known.end())
        point.lut += found->second * p.structure.terms[t];
    }
    point.ff = p.structure.exact.ff();
    point.dsp = p.structure.exact.dsp();
    point.bram = p.structure.exact.bram();
    for (const std::string &set : p.held
                                      ? std::vector<std::string>{"held"}
                                      : std::vector<std::string>{p.unit, ""}) {
      luts[set].push_back({point.lut, p.of("lut")});
      ffs[set].push_back({point.ff, p.of("ff")});
    }
    result.points.push_back(std::move(point));
  }
  for (auto &[unit, pairs] : luts) {
    Residuals lut = residualsOf(pairs), ff = residualsOf(ffs[unit]);
    if (unit.empty()) {
      result.lut = lut;
      result.ff = ff;
    } else if (unit == "held") {
      result.heldLut = lut;
      result.heldFf = ff;
    } else {
      result.model.units[unit].lutResiduals = lut;
      result.model.units[unit].ffResiduals = ff;
    }
  }
}

Error Characterization::run() {
  Expected<Device> device = loadDevice(request.device);
  if (!device)
    return device.takeError();
  auto dsp = device->budget.find("dsp");
  std::string script = synth::familyScript(
      device->family, dsp != device->budget.end() && dsp->second > 0);
  if (script.empty())
    return createStringError("devices of the family '%s' cannot be "
                             "synthesized; families that can are %s",
                             device->family.c_str(),
                             join(synth::knownFamilies(), ", ").c_str());
  Expected<FamilyModel> known = loadFamilyModel(device->family);
  if (!known)
    return known.takeError();
  result.model = std::move(*known);
  result.model.options = script;
  result.model.seed = request.seed;
  result.model.added.clear();
  if (request.points > 0) {
    Expected<std::string> sampled = sample(*device);
    if (!sampled)
      return sampled.takeError();
    if (Error error = addPackage(*sampled, false, true))
      return error;
  }
  for (const std::string &dir : request.add)
    if (Error error = addPackage(dir, false, false))
      return error;
  for (const std::string &dir : request.holdOut)
    if (Error error = addPackage(dir, true, false))
      return error;
  fit();
  judge();
  return Error::success();
}
} // namespace

std::vector<std::string> characterize::characterizedUnits() {
  std::vector<std::string> units;
  for (const gen::UnitModel *model : gen::allUnits())
    // Generated datapaths are not sampled; packages that contain some are
    // added.
    if (!model->kind().isGenerated())
      for (const char *name : model->kind().characterized)
        if (!llvm::is_contained(units, name))
          units.push_back(name);
  return units;
}

rhizome::Result<CharacterizeResult>
characterize::characterize(const CharacterizeRequest &request) {
  Characterization work(request);
  if (Error error = work.run())
    return Failure(Failure::Kind::Input, toString(std::move(error)));
  return std::move(work.result);
}
