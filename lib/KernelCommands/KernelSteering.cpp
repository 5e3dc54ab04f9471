// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a steering file asks of a kernel: fields of its unit's key, and copies
// of its nests.
#include "Chosen.h"
#include "rhizome/PlanBuild/Steer.h"
#include "rhizome/Support/Failures.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using gen::OptionKey;
using Pin = explore::Steering::Pin;

namespace {
class Steerer {
public:
  Steerer(HardwareRequest &request, const NumberedKernel &kernel)
      : request(request), kernel(kernel),
        parts(gen::loops::partsOf(kernel.integers)),
        names(namesOf(parts.nests)) {}
  Status run();

private:
  HardwareRequest &request;
  const NumberedKernel &kernel;
  const gen::loops::KernelParts parts;
  const std::vector<std::string> names; ///< of nests

  Failure refuse(unsigned line, const std::string &reason,
                 const std::string &remedy) const {
    return Failure(Failure::Kind::Input,
                   request.steer +
                       (line ? ":" + std::to_string(line) : std::string()) +
                       ": " + reason,
                   remedy);
  }
  Status take(const Pin &pin);
  Status takeUnit(const Pin &pin, const OptionKey &key);
  Status takeNest(const Pin &pin, const OptionKey &key, size_t nest);
  Status checkFields(const Pin &pin, const OptionKey &key, const char *unit,
                     ArrayRef<StringRef> known) const;
};
} // namespace

/// Refuses what a key states beside the fields that can be asked for.
Status Steerer::checkFields(const Pin &pin, const OptionKey &key,
                            const char *unit, ArrayRef<StringRef> known) const {
  OptionKey asked("loops", unit);
  for (StringRef name : known)
    if (auto value = key.value(name))
      asked.add(name, *value);
  if (key.matches(asked))
    return Done();
  return refuse(pin.line,
                "'" + pin.option + "' of '" + pin.of.node +
                    "' is no option that can be asked for",
                "choose from loops/" + std::string(unit) + " with " +
                    llvm::join(known, ", "));
}

Status Steerer::takeUnit(const Pin &pin, const OptionKey &key) {
  if (Status good = checkFields(
          pin, key, "unit",
          {"stages", "lanes", "words", "system", "units", "resident"});
      !good)
    return good;
  std::vector<int64_t> residents;
  if (!readUnitKey(key, request.unit) || !readResidents(key, residents))
    return refuse(pin.line,
                  "'" + pin.option +
                      "' has a number out of range, or not a number",
                  "'explore' shows keys of this form");
  if (!key.value("resident"))
    return Done();
  const std::vector<PlannedTensor> inputs = tensorsOf(kernel, parts.inputs);
  request.unit.residents.clear();
  for (int64_t number : residents)
    if (size_t(number) < inputs.size())
      request.unit.residents.push_back(inputs[size_t(number)].name);
    else
      return refuse(
          pin.line, "the kernel has no input " + std::to_string(number),
          "inputs are numbered from 0 to " + std::to_string(inputs.size() - 1));
  return Done();
}

Status Steerer::takeNest(const Pin &pin, const OptionKey &key, size_t nest) {
  if (Status good = checkFields(pin, key, "nest", {"copies"}); !good)
    return good;
  std::vector<int64_t> copies;
  if (!readCopies(key, copies))
    return refuse(pin.line, "'" + pin.option + "' has copies that are none",
                  "give a number for each loop, with '-' between them");
  const SmallVector<unsigned> order = loopsOf(parts.nests[nest]);
  if (copies.size() != order.size())
    return refuse(pin.line,
                  "'" + pin.of.node + "' has " + std::to_string(order.size()) +
                      " loops, and " + std::to_string(copies.size()) +
                      " copies are given",
                  "give a number for each loop, with '-' between them");
  NestCopies asked{std::to_string(nest + 1), {}};
  for (unsigned loop : order)
    asked.copies.push_back(copies[loop]);
  request.copies.push_back(std::move(asked));
  return Done();
}

Status Steerer::take(const Pin &pin) {
  if (pin.place >= 0 || pin.die >= 0 || pin.cutBefore)
    return refuse(pin.line,
                  "'" + pin.of.node +
                      "' is part of a kernel, which is one unit "
                      "on one device",
                  "leave place, die and cut out");
  if (!pin.generator.empty() && pin.generator != "loops")
    return refuse(pin.line,
                  "'" + pin.generator + "' does not build '" + pin.of.node +
                      "'",
                  "kernels are built by 'loops'");
  auto at = llvm::find(names, pin.of.node);
  const bool isNest = at != names.end();
  if (!isNest && pin.of.node != kernel.signature.name)
    return refuse(pin.line,
                  "the kernel has no nest '" + pin.of.node +
                      "', nor is it its "
                      "name",
                  "choose from " + kernel.signature.name + ", " +
                      llvm::join(names, ", "));
  if (pin.option.empty())
    return Done();
  // Generator and unit may be left out.
  std::string text = pin.option;
  if (text.starts_with("?"))
    text = (isNest ? "nest" : "unit") + text;
  if (!llvm::StringRef(text).contains('/'))
    text = "loops/" + text;
  auto key = OptionKey::parse(text);
  if (!key)
    return refuse(pin.line, "'" + pin.option + "' is no key of an option",
                  "'explore' shows keys of this form");
  return isNest ? takeNest(pin, *key, size_t(at - names.begin()))
                : takeUnit(pin, *key);
}

Status Steerer::run() {
  auto steering = planbuild::readSteering(request.steer);
  if (!steering)
    return failureOf(steering.takeError(), Failure::Kind::Input);
  if (!steering->splits.empty() || !steering->repeats.empty())
    return refuse(0, "a kernel has neither splits nor repeats",
                  "leave both out");
  for (const Pin &pin : steering->pins)
    if (Status taken = take(pin); !taken)
      return taken;
  return Done();
}

Status kernelcommands::steer(HardwareRequest &request,
                             const NumberedKernel &kernel) {
  return request.steer.empty() ? Status(Done())
                               : Steerer(request, kernel).run();
}
