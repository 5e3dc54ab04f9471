// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Core.h"
#include "Settings.h"
#include "rhizome/Generator/OptionKey.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Simulate/Core.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;
using llvm::formatv;

Result<Plan> pipeline::aimAtCore(CompileRequest &request) {
  llvm::Expected<Package> package = Package::open(request.core);
  if (!package)
    return Failure(Failure::Kind::Input,
                   "--core: " + llvm::toString(package.takeError()));
  const Plan &plan = package->plan();
  if (llvm::Expected<PlannedCore> core = coreOf(plan); !core)
    return Failure(Failure::Kind::Input,
                   "--core: the package '" + request.core + "' " +
                       llvm::toString(core.takeError()),
                   "--generators engine makes a package of a core");
  if (request.device.empty() && request.board.empty())
    request.device = plan.device;
  if (!request.clockMhz)
    request.clockMhz = plan.clockMhz;
  request.generators = {plan.nodes.front().operations.front().generator};
  return plan;
}

explore::Steering pipeline::steeringFor(const Plan &core,
                                        func::FuncOp network) {
  explore::Steering steering;
  explore::Steering::Pin pin;
  pin.of = explore::idsOf(explore::hardwareOf(network)).front();
  pin.option = core.nodes.front().operations.front().option;
  steering.pins.push_back(std::move(pin));
  return steering;
}

Failure pipeline::noProgram(const CompileRequest &request, const Plan &core) {
  const std::string &option = core.nodes.front().operations.front().option;
  std::string room = "the memory";
  if (auto key = gen::OptionKey::parse(option))
    if (auto value = key->value("room"))
      room = ("the " + *value + " MiB").str();
  return Failure(
      Failure::Kind::Unsupported,
      formatv("'{0}' has no program for the core of '{1}' within {2} that "
              "it has",
              modelNameOf(request), request.core, room),
      "leave --core out to get hardware for this network; for a core with more "
      "memory, pin another room than that of '" +
          option + "' with --steer");
}

/// Where the hardware of two nodes differs.
static std::vector<std::string> differences(const PlannedNode &core,
                                            const PlannedNode &own) {
  std::vector<std::string> found;
  auto namesOf = [](const PlannedNode &node) {
    std::vector<std::string> names;
    for (const PlannedActor &actor : node.actors)
      names.push_back(actor.name);
    return names;
  };
  if (namesOf(core) != namesOf(own))
    return {formatv("it has the units {0}, this network needs {1}",
                    llvm::join(namesOf(core), ", "),
                    llvm::join(namesOf(own), ", "))};
  auto valueOf = [](const PlannedActor &actor, llvm::StringRef name) {
    const llvm::json::Value *value = actor.config.get(name);
    return formatv("{0}", value ? *value : llvm::json::Value(nullptr)).str();
  };
  for (auto [a, b] : llvm::zip_equal(core.actors, own.actors)) {
    if (a.module != b.module)
      found.push_back(
          formatv("'{0}' is a {1}, not a {2}", a.name, a.module, b.module));
    for (const std::string &name : b.parameters)
      if (std::string there = valueOf(a, name), here = valueOf(b, name);
          there != here)
        found.push_back(formatv("{0} of '{1}' is {2}, this network needs {3}",
                                name, a.name, there, here));
  }
  return found;
}

Status pipeline::checkCore(const CompileRequest &request, const Plan &core,
                           const Plan &own) {
  std::vector<std::string> found;
  if (core.device != own.device)
    found.push_back(
        formatv("it is for '{0}', not for '{1}'", core.device, own.device));
  else if (own.nodes.size() != core.nodes.size())
    found.push_back(formatv("this network needs {0} cores", own.nodes.size()));
  else
    found = differences(core.nodes.front(), own.nodes.front());
  if (found.empty())
    return Done();
  return Failure(
      Failure::Kind::Unsupported,
      formatv("the core of '{0}' cannot run '{1}': {2}", request.core,
              modelNameOf(request), llvm::join(found, "; ")),
      "networks of one core have inputs and outputs of the same shapes and "
      "types; leave --core out to get hardware for this one");
}
