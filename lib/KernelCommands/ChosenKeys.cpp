// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit's choice as flow.plan: an offer of `loops` for the unit,
// loops/unit?stages=…, and one for each nest, loops/nest?copies=….
#include "Chosen.h"
#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Explore/Record.h"
#include "rhizome/Generator/OptionKey.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using gen::OptionKey;

static constexpr const char *kGenerator = "loops";

//===----------------------------------------------------------------------===//
// Into the module
//===----------------------------------------------------------------------===//

/// "4-1-2".
static std::string listText(ArrayRef<int64_t> numbers) {
  return llvm::join(
      llvm::map_range(numbers, [](int64_t n) { return std::to_string(n); }),
      "-");
}

static void addList(OptionKey &key, StringRef name, ArrayRef<int64_t> numbers) {
  if (!numbers.empty())
    key.add(name, listText(numbers));
}

/// The numbers of a unit's inputs that stay.
static std::vector<int64_t> residentsOf(const Plan &plan) {
  std::vector<int64_t> numbers;
  const UnitChoice &choice = plan.kernel->choice;
  for (auto [i, tensor] : llvm::enumerate(plan.kernel->inputs))
    if (llvm::is_contained(choice.residents, tensor.name))
      numbers.push_back(int64_t(i));
  return numbers;
}

OptionKey kernelcommands::keyOfUnit(const UnitChoice &choice,
                                    ArrayRef<int64_t> residents) {
  OptionKey key(kGenerator, "unit");
  key.add("stages", choice.stages)
      .add("lanes", choice.lanes)
      .add("words", choice.words)
      .add("system", int64_t(choice.isSystem))
      .add("units", choice.units);
  if (choice.nodes > 1)
    key.add("nodes", choice.nodes);
  addList(key, "resident", residents);
  addList(key, "borders", choice.borders);
  std::vector<std::string> sums;
  for (const ChosenSum &sum : choice.sums)
    sums.push_back(std::to_string(sum.sum) + "." + std::to_string(sum.loop) +
                   "." + std::to_string(sum.terms));
  if (!sums.empty())
    key.add("sums", llvm::join(sums, "-"));
  return key;
}

static OptionKey keyOfNest(const ChosenNest *nest) {
  OptionKey key(kGenerator, "nest");
  if (!nest)
    return key;
  addList(key, "copies", nest->copies);
  addList(key, "order", nest->order);
  return key.add("datapath", nest->datapath);
}

void kernelcommands::recordUnit(const ChosenUnit &unit, ModuleOp module) {
  const Plan &plan = unit.plan;
  const Prediction &predicted = plan.predicted;
  const UnitChoice &choice = plan.kernel->choice;
  explore::Result result;
  result.seconds = result.solvedSeconds = 1 / predicted.throughputPerS;
  result.latency = predicted.latencyUs * 1e-6;
  result.bound = plan.boundPerS > 0 ? 1 / plan.boundPerS : result.seconds;
  result.isExact = false;
  result.bottleneck = {flow::symbolizeBottleneckKind(plan.bottleneckKind)
                           .value_or(flow::BottleneckKind::Operation),
                       plan.bottleneck};
  explore::NodeResult &node = result.nodes.emplace_back();
  node.copies = int(choice.nodes);
  for (int place = 0; place < node.copies; ++place)
    node.places.push_back(place);
  node.streamBits = plan.nodes[0].streamBits;
  auto take = [&](const std::string &name, const char *op, const OptionKey &key,
                  const std::string &summary, int64_t cycles) {
    explore::Taken &taken = node.taken.emplace_back();
    const int position = int(node.taken.size()) - 1;
    taken.id = {name, op, std::max(0, position - 1)};
    taken.generator = kGenerator;
    taken.key = key;
    taken.summary = summary;
    taken.busyCycles = cycles;
    taken.position = position;
  };
  take(plan.kernel->name, "unit", keyOfUnit(choice, residentsOf(plan)), "",
       predicted.intervalCycles);
  for (auto [n, nest] : llvm::enumerate(plan.kernel->nests))
    take(nest.name, "nest",
         keyOfNest(choice.nests.empty() ? nullptr : &choice.nests[n]),
         plan.nodes[0].operations[n].text, nest.cycles);
  explore::record(result, plan.goal, module);
}

//===----------------------------------------------------------------------===//
// And back
//===----------------------------------------------------------------------===//

static std::optional<std::vector<int64_t>> parseList(StringRef text,
                                                     char between = '-') {
  std::vector<int64_t> out;
  SmallVector<StringRef> parts;
  text.split(parts, between);
  for (StringRef part : parts) {
    int64_t number = 0;
    if (part.getAsInteger(10, number) || number < 0)
      return std::nullopt;
    out.push_back(number);
  }
  return out;
}

namespace {
/// Reads the fields of one key; what a key does not have stays.
class KeyReader {
public:
  explicit KeyReader(const OptionKey &key) : key(key) {}
  bool number(StringRef name, int64_t least, int64_t most, int64_t &to) {
    std::vector<int64_t> one;
    if (!list(name, one) || one.size() > 1 ||
        (!one.empty() && (one[0] < least || one[0] > most)))
      return false;
    to = one.empty() ? to : one[0];
    return true;
  }
  bool list(StringRef name, std::vector<int64_t> &to) {
    auto text = key.value(name);
    if (!text)
      return true;
    auto numbers = parseList(*text);
    if (numbers)
      to = std::move(*numbers);
    return numbers.has_value();
  }
  bool sums(std::vector<ChosenSum> &to) {
    auto text = key.value("sums");
    SmallVector<StringRef> parts;
    if (text)
      text->split(parts, '-');
    for (StringRef part : parts) {
      auto numbers = parseList(part, '.');
      if (!numbers || numbers->size() != 3 || (*numbers)[2] < 1)
        return false;
      to.push_back({(*numbers)[0], (*numbers)[1], (*numbers)[2]});
    }
    return true;
  }

private:
  const OptionKey &key;
};
} // namespace

bool kernelcommands::readUnitKey(const OptionKey &key, UnitChoice &choice) {
  KeyReader reader(key);
  int64_t isSystem = choice.isSystem;
  const bool isGood =
      OptionKey(kGenerator, "unit").matches(key) &&
      reader.number("stages", 0, kMostStages, choice.stages) &&
      reader.number("lanes", 1, kMostLanes, choice.lanes) &&
      reader.number("words", 0, kMostBeatWords, choice.words) &&
      reader.number("system", 0, 1, isSystem) &&
      reader.number("units", 1, kMostUnits, choice.units) &&
      reader.number("nodes", 1, kMostKernelNodes, choice.nodes) &&
      reader.list("borders", choice.borders) && reader.sums(choice.sums);
  choice.isSystem = isSystem;
  return isGood;
}

bool kernelcommands::readResidents(const OptionKey &key,
                                   std::vector<int64_t> &numbers) {
  return KeyReader(key).list("resident", numbers);
}

bool kernelcommands::readCopies(const OptionKey &key,
                                std::vector<int64_t> &copies) {
  return KeyReader(key).list("copies", copies) &&
         !llvm::is_contained(copies, 0);
}

rhizome::Result<UnitChoice>
kernelcommands::unitIn(ModuleOp module, ArrayRef<PlannedTensor> inputs,
                       size_t nests) {
  UnitChoice choice;
  bool good = true, hasUnit = false;
  size_t found = 0;
  flow::PlanOp plan = *module.getOps<flow::PlanOp>().begin();
  plan.walk([&](flow::ChoiceOp op) {
    auto key = OptionKey::parse(op.getKey());
    if (!key) {
      good = false;
      return;
    }
    KeyReader reader(*key);
    if (OptionKey(kGenerator, "unit").matches(*key)) {
      hasUnit = true;
      std::vector<int64_t> residents;
      good &= readUnitKey(*key, choice) && choice.words > 0 &&
              readResidents(*key, residents);
      for (int64_t input : residents)
        if (size_t(input) < inputs.size())
          choice.residents.push_back(inputs[size_t(input)].name);
        else
          good = false;
    } else if (OptionKey(kGenerator, "nest").matches(*key)) {
      ++found;
      ChosenNest nest;
      nest.name = op.getNode().str();
      if (!key->value("datapath")) // none has copies
        return;
      good &= readCopies(*key, nest.copies) &&
              reader.list("order", nest.order) &&
              reader.number("datapath", 0, INT32_MAX, nest.datapath);
      choice.nests.push_back(std::move(nest));
    } else {
      good = false;
    }
  });
  const char *remedy = "compile from a phase before 'explore'";
  if (!good || !hasUnit)
    return Failure(Failure::Kind::Input,
                   "the plan of the kernel in this module has an option that "
                   "is none of 'loops'",
                   remedy);
  if (found != nests || (!choice.nests.empty() && choice.nests.size() != nests))
    return Failure(Failure::Kind::Input,
                   "the plan in this module has options of 'loops' for " +
                       std::to_string(found) + " nests, " +
                       std::to_string(choice.nests.size()) +
                       " of them with a datapath; the kernel has " +
                       std::to_string(nests) +
                       " nests, and all have one or none",
                   remedy);
  return choice;
}
