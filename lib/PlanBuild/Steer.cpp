// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/PlanBuild/Steer.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Generator/Actor.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Support/Files.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::planbuild;

//===----------------------------------------------------------------------===//
// --steer
//===----------------------------------------------------------------------===//

namespace {
/// Reads the file into a Steering; the first error is kept.
class SteeringReader {
public:
  SteeringReader(const std::string &path, StringRef text)
      : path(path), stream(text, sources, /*ShowColors=*/false) {
    sources.setDiagHandler(
        [](const SMDiagnostic &diagnostic, void *self) {
          auto *reader = static_cast<SteeringReader *>(self);
          reader->fail(unsigned(diagnostic.getLineNo()),
                       diagnostic.getMessage().str());
        },
        this);
  }

  Expected<explore::Steering> run() {
    auto document = stream.begin();
    auto *root = document == stream.end()
                     ? nullptr
                     : dyn_cast_or_null<yaml::MappingNode>(document->getRoot());
    if (!root)
      fail(1, "expected a mapping with the keys 'nodes', 'splits' and "
              "'repeats'");
    else
      mapping(*root, [&](const std::string &key, yaml::Node &value) {
        if (key == "nodes")
          nodes(value);
        else if (key == "splits")
          splits(value);
        else if (key == "repeats")
          repeats(value);
        else
          fail(lineOf(value),
               "unknown key '" + key + "'; known are: nodes, splits, repeats");
      });
    if (!problem.empty())
      return createStringError("%s:%u: %s", path.c_str(), problemLine,
                               problem.c_str());
    return steering;
  }

private:
  std::string path, problem;
  unsigned problemLine = 0;
  SourceMgr sources;
  yaml::Stream stream;
  explore::Steering steering;

  void fail(unsigned line, const std::string &what) {
    if (problem.empty()) {
      problem = what;
      problemLine = line;
    }
  }
  unsigned lineOf(const yaml::Node &node) const {
    return sources.getLineAndColumn(node.getSourceRange().Start).first;
  }
  std::string text(yaml::Node *node) {
    SmallString<64> storage;
    if (auto *scalar = dyn_cast_or_null<yaml::ScalarNode>(node))
      return scalar->getValue(storage).str();
    fail(node ? lineOf(*node) : 1, "expected a single value");
    return "";
  }
  template <typename F> void mapping(yaml::Node &node, F each) {
    auto *map = dyn_cast<yaml::MappingNode>(&node);
    if (!map)
      return fail(lineOf(node), "expected 'key: value' pairs");
    for (yaml::KeyValueNode &pair : *map) {
      std::string key = text(pair.getKey());
      if (!pair.getValue() || !problem.empty())
        return;
      each(key, *pair.getValue());
    }
  }
  int64_t number(yaml::Node &node, int64_t least) {
    int64_t value = 0;
    std::string digits = text(&node);
    if (StringRef(digits).getAsInteger(10, value) || value < least ||
        value > 65535)
      fail(lineOf(node), "expected a whole number from " +
                             std::to_string(least) + ", not '" + digits + "'");
    return value;
  }
  void nodes(yaml::Node &all) {
    mapping(all, [&](const std::string &name, yaml::Node &value) {
      explore::Steering::Pin pin;
      pin.line = lineOf(value);
      mapping(value, [&](const std::string &key, yaml::Node &what) {
        if (key == "generator")
          pin.generator = text(&what);
        else if (key == "option")
          pin.option = text(&what);
        else if (key == "place")
          pin.place = int(number(what, 0));
        else if (key == "die")
          pin.die = int(number(what, 0));
        else if (key == "cut") {
          std::string word = text(&what);
          if (word != "before")
            fail(lineOf(what), "expected 'before', not '" + word + "'");
          pin.cutBefore = true;
        } else
          fail(lineOf(what), "unknown key '" + key +
                                 "'; known are: generator, option, place, die, "
                                 "cut");
      });
      pin.of.node = name;
      steering.pins.push_back(std::move(pin));
    });
  }
  void splits(yaml::Node &all) {
    mapping(all, [&](const std::string &name, yaml::Node &value) {
      steering.splits.push_back({{name}, int(number(value, 2))});
    });
  }
  void repeats(yaml::Node &all) {
    mapping(all, [&](const std::string &name, yaml::Node &value) {
      steering.repeats.push_back({{name}, 0, int(number(value, 1))});
    });
  }
};
} // namespace

Expected<explore::Steering> planbuild::readSteering(const std::string &path) {
  Expected<std::string> text = readText(path);
  if (!text)
    return text.takeError();
  return SteeringReader(path, *text).run();
}

//===----------------------------------------------------------------------===//
// --weights
//===----------------------------------------------------------------------===//

Error planbuild::addHomes(const std::vector<std::string> &asked,
                          explore::Steering &steering) {
  for (StringRef text : asked) {
    // A node's name may contain an equals sign.
    auto [node, home] = text.rsplit('=');
    if (!text.contains('='))
      std::swap(node, home);
    auto known = StringSwitch<std::optional<gen::WeightHome>>(home)
                     .Case("rom", gen::WeightHome::Rom)
                     .Case("resident", gen::WeightHome::Resident)
                     .Case("streamed", gen::WeightHome::Streamed)
                     .Default(std::nullopt);
    if (!known)
      return createStringError("'--weights %s': '%s' is not a home of weights; "
                               "known are rom, resident and streamed",
                               text.str().c_str(), home.str().c_str());
    steering.homes.push_back({node.str(), *known});
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// --fifos
//===----------------------------------------------------------------------===//

Error planbuild::addFifos(const std::vector<std::string> &asked,
                          explore::Steering &steering) {
  for (StringRef text : asked) {
    auto [node, place] = text.rsplit('=');
    if (!text.contains('='))
      std::swap(node, place);
    if (place != "on-chip" && place != "memory")
      return createStringError("'--fifos %s': '%s' is not a place of FIFOs; "
                               "known are on-chip and memory",
                               text.str().c_str(), place.str().c_str());
    steering.fifos.push_back({node.str(), place == "memory"});
  }
  return Error::success();
}

Error planbuild::checkFifos(const explore::Steering &steering,
                            const explore::Result &result) {
  auto isMet = [&](const explore::Steering::Fifo &fifo) {
    for (const explore::NodeResult &node : result.nodes) {
      flow::DesignOp design = node.design;
      for (auto op : design.getBody().getOps<flow::ActorOp>()) {
        if (!op.getUnit().is<unit::MemFifo>())
          continue;
        if (fifo.node.empty() || is_contained(op.getNodeNames(), fifo.node))
          return true;
      }
    }
    return false;
  };
  for (const explore::Steering::Fifo &fifo : steering.fifos)
    if (fifo.inMemory && !result.nodes.empty() && !isMet(fifo))
      return createStringError(
          "'--fifos %smemory': no FIFO%s can lie in a memory; those that can "
          "are deep ones before nodes that join streams, on a single device "
          "with a memory outside the chip",
          fifo.node.empty() ? "" : (fifo.node + "=").c_str(),
          fifo.node.empty() ? "" : (" before '" + fifo.node + "'").c_str());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// --plan
//===----------------------------------------------------------------------===//

/// The plan file, or the one in a package.
static std::string fileOf(const std::string &path) {
  return sys::fs::is_directory(path) ? path + "/plan.json" : path;
}

Expected<Plan> planbuild::planAt(const std::string &path) {
  const std::string file = fileOf(path);
  Expected<std::string> text = readFile(file);
  if (!text)
    return text.takeError();
  Expected<Plan> plan = parsePlan(*text);
  if (!plan)
    return createStringError("--plan: '%s' cannot be used: %s; remedy: give a "
                             "plan.json or a package of this version",
                             file.c_str(), toString(plan.takeError()).c_str());
  return plan;
}

/// Whether operations of the plan take turns on a unit.
static bool sharesUnits(const Plan &plan) {
  return llvm::any_of(plan.nodes, [](const PlannedNode &node) {
    return llvm::any_of(node.operations, [](const PlannedOperation &op) {
      return op.shared >= 0;
    });
  });
}

Expected<std::string> planbuild::goalOf(const std::string &path) {
  Expected<Plan> plan = planAt(path);
  if (!plan)
    return plan.takeError();
  std::string goal = "max-throughput";
  // At the highest rate, each of the operations that share a unit would have
  // one of its own. The sum of their times is a little more than the interval.
  constexpr double kPart = 0.9;
  if (sharesUnits(*plan))
    goal =
        formatv("throughput={0:f3}/s", kPart * plan->predicted.throughputPerS);
  for (StringRef clause : llvm::split(plan->goal, ','))
    if (is_contained(gen::kResourceNames, clause.split('=').first))
      goal += "," + clause.str();
  if (!explore::parseGoal(goal))
    return createStringError("'%s' cannot be used: its goal is '%s'",
                             fileOf(path).c_str(), plan->goal.c_str());
  return goal;
}

Expected<explore::Steering>
planbuild::steeringOf(const std::string &path,
                      const explore::Cluster &cluster) {
  std::string file = fileOf(path);
  Expected<Plan> plan = planAt(path);
  if (!plan)
    return plan.takeError();
  explore::Steering steering;
  steering.lutsOfABlock = plan->lutsOfABlock;
  for (const PlannedSplit &split : plan->splits)
    steering.splits.push_back(
        {{split.name, split.op, int(split.nth)}, int(split.parts)});
  for (const PlannedRepeat &repeat : plan->repeats)
    steering.repeats.push_back({{repeat.name, repeat.op, int(repeat.nth)},
                                int(repeat.length),
                                int(repeat.trips)});
  int place = 0;
  for (const PlannedNode &node : plan->nodes) {
    while (place < int(cluster.places.size()) &&
           cluster.places[place].device != node.device)
      ++place;
    if (place == int(cluster.places.size())) {
      std::vector<std::string> devices;
      for (const explore::ClusterPlace &each : cluster.places)
        devices.push_back(each.device);
      return createStringError(
          "'%s' cannot be used: its nodes need devices in their order, and for "
          "'%s', a '%s', none is left of those given: %s; %s",
          file.c_str(), node.name.c_str(), node.device.c_str(),
          join(devices, ", ").c_str(),
          plan->nodes.size() == 1 ? ("give --device " + node.device).c_str()
                                  : "give the plan's devices with --cluster");
    }
    for (const PlannedActor &actor : node.actors)
      if (actor.kind == unit::MemFifo::kKind)
        for (const std::string &joined : actor.nodes)
          steering.fifos.push_back({joined, /*inMemory=*/true});
    // Replicas have the settings of the first.
    if (node.rtlOf.empty())
      for (const PlannedOperation &op : node.operations) {
        explore::Steering::Pin pin;
        pin.of = {op.name, op.op, int(op.nth)};
        pin.generator = op.generator;
        pin.option = op.option;
        pin.place = place;
        pin.copies = int(node.replica.count);
        pin.streamBits = node.streamBits;
        for (size_t d = 0; d < node.dies.size(); ++d)
          if (node.dies[d].name == op.die)
            pin.die = int(d);
        steering.pins.push_back(std::move(pin));
      }
    ++place;
  }
  return steering;
}
