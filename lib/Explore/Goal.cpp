// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goals as users write them, and the part of devices that they leave.
#include "rhizome/Explore/Explore.h"
#include "rhizome/Support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace rhizome::explore {
namespace {
/// Reads a goal clause by clause; `fault` says what is wrong with the first one
/// that is.
class GoalReader {
public:
  bool read(StringRef text);

  Goal goal;
  std::string fault;

private:
  std::string objective; ///< as written, "" if there is none yet

  bool refuse(const Twine &why) {
    fault = why.str();
    return false;
  }
  bool read(StringRef clause, StringRef name, StringRef value);
  bool number(StringRef clause, StringRef text, double &value);
  bool rate(StringRef clause, StringRef text);
  bool time(StringRef clause, StringRef text);
  bool nodes(StringRef clause, StringRef text);
  bool part(StringRef clause, StringRef name, StringRef text);
  bool unknown(StringRef clause);
};
} // namespace

static constexpr std::pair<StringLiteral, Goal::Kind> kObjectives[] = {
    {"max-throughput", Goal::Kind::MaxThroughput},
    {"min-latency", Goal::Kind::MinLatency},
    {"min-resources", Goal::Kind::MinResources},
    {"min-nodes", Goal::Kind::MinNodes}};

/// The number at the beginning of a text, and what follows it.
static std::pair<StringRef, StringRef> splitNumber(StringRef text) {
  size_t end = text.find_first_not_of("+-.0123456789");
  // An exponent has digits.
  if (end != StringRef::npos && end > 0 &&
      (text[end] == 'e' || text[end] == 'E'))
    if (size_t rest = text.find_first_not_of("+-0123456789", end + 1);
        text.slice(end + 1, rest).find_first_of("0123456789") !=
        StringRef::npos)
      end = rest;
  return {text.take_front(end),
          end == StringRef::npos ? StringRef() : text.drop_front(end)};
}

bool GoalReader::number(StringRef clause, StringRef text, double &value) {
  if (text.empty())
    return refuse("'" + clause + "' has no number");
  if (text.getAsDouble(value) || std::isnan(value) || std::isinf(value))
    return refuse("'" + clause + "': '" + text + "' is not a number");
  return true;
}

bool GoalReader::rate(StringRef clause, StringRef text) {
  auto [digits, unit] = splitNumber(text);
  if (!digits.empty() && !unit.empty() && unit != "/s")
    return refuse("'" + clause + "': '" + unit +
                  "' is no unit of a rate; write throughput=" + digits + "/s");
  text.consume_back("/s");
  double value = 0;
  if (!number(clause, text, value))
    return false;
  if (value <= 0)
    return refuse("'" + clause + "': a rate is above 0");
  if (goal.throughput > 0)
    return refuse("it has throughput= twice");
  goal.throughput = value;
  return true;
}

bool GoalReader::time(StringRef clause, StringRef text) {
  auto [digits, unit] = splitNumber(text);
  double scale = 0;
  for (auto [name, seconds] :
       {std::pair("ns", 1e-9), {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}})
    if (unit == name)
      scale = seconds;
  if (!digits.empty() && scale == 0)
    return refuse("'" + clause + "': " +
                  (unit.empty() ? Twine("the time has no unit")
                                : "'" + unit + "' is no unit of time") +
                  "; units are ns, us, ms and s");
  double value = 0;
  if (!number(clause, digits.empty() ? text : digits, value))
    return false;
  if (value <= 0)
    return refuse("'" + clause + "': a time is above 0");
  if (goal.latency > 0)
    return refuse("it has latency= twice");
  goal.latency = value * scale;
  return true;
}

bool GoalReader::nodes(StringRef clause, StringRef text) {
  int64_t count = 0;
  if (text.getAsInteger(10, count) || count <= 0)
    return refuse("'" + clause + "': nodes are a whole number above 0");
  if (goal.maxNodes != INT64_MAX)
    return refuse("it has nodes= twice");
  goal.maxNodes = count;
  return true;
}

bool GoalReader::part(StringRef clause, StringRef name, StringRef text) {
  Goal::Part part;
  part.isShare = text.consume_back("%");
  if (!number(clause, text, part.amount))
    return false;
  if (part.amount < 0)
    return refuse("'" + clause + "': it is below 0");
  if (part.isShare && part.amount > 100)
    return refuse("'" + clause + "': a share is at most 100%");
  if (part.isShare)
    part.amount /= 100;
  if (!goal.parts.try_emplace(name.str(), part).second)
    return refuse("it has " + name + "= twice");
  return true;
}

/// What is none of the bounds and objectives, and what may be meant.
bool GoalReader::unknown(StringRef clause) {
  if (clause.empty())
    return refuse("nothing is between two commas, or at an end");
  auto [digits, unit] = splitNumber(clause);
  if (!digits.empty() && unit == "/s")
    return refuse("'" + clause + "' has no name: a rate is throughput=N/s");
  if (!digits.empty())
    return refuse("'" + clause +
                  "' has no name: a time is latency=T, a rate throughput=N/s, "
                  "resources are lut=N or lut=P% and the like");
  const bool isBound = clause.contains('=');
  StringRef name = clause.split('=').first;
  std::vector<std::string> known;
  if (isBound || is_contained(gen::kResourceNames, clause)) {
    known = {"throughput", "latency", "nodes"};
    llvm::append_range(known, gen::kResourceNames);
  } else {
    for (const auto &[text, kind] : kObjectives)
      known.push_back(text.str());
  }
  // What others call it.
  static constexpr std::pair<StringLiteral, StringLiteral> kWords[] = {
      {"area", "resources"},   {"size", "resources"},
      {"power", "resources"},  {"utilization", "resources"},
      {"speed", "throughput"}, {"rate", "throughput"},
      {"fps", "throughput"},   {"performance", "throughput"},
      {"delay", "latency"},    {"time", "latency"},
      {"devices", "nodes"},    {"fpgas", "nodes"},
      {"slices", "lut"},       {"luts", "lut"},
      {"dsps", "dsp"},         {"brams", "bram"},
      {"registers", "ff"},     {"regs", "ff"}};
  std::string hint = meant(name, known);
  for (const auto &[word, ours] : kWords)
    if (name.lower() == word ||
        (name.contains('-') && name.rsplit('-').second.lower() == word))
      for (const std::string &one : known)
        if (one == ours || StringRef(one).ends_with(("-" + ours).str()))
          hint = "; did you mean '" + one + (isBound ? "=" : "") + "'?";
  if (!isBound && is_contained(gen::kResourceNames, clause))
    return refuse("'" + clause + "' has no amount: " + clause + "=N or " +
                  clause + "=P%");
  if (hint.empty())
    hint = (isBound ? "; bounds are " : "; objectives are ") +
           llvm::join(known, ", ");
  return refuse("'" + clause + "' is no " + (isBound ? "bound" : "objective") +
                hint);
}

bool GoalReader::read(StringRef text) {
  SmallVector<StringRef> clauses;
  text.split(clauses, ',');
  for (StringRef clause : clauses) {
    auto [name, value] = clause.split('=');
    if (!read(clause, name, value))
      return false;
  }
  return true;
}

bool GoalReader::read(StringRef clause, StringRef name, StringRef value) {
  if (clause.contains('=')) {
    if (name == "throughput")
      return rate(clause, value);
    if (name == "latency")
      return time(clause, value);
    if (name == "nodes")
      return nodes(clause, value);
    if (is_contained(gen::kResourceNames, name))
      return part(clause, name, value);
    return unknown(clause);
  }
  auto found = find_if(kObjectives,
                       [&](const auto &one) { return one.first == clause; });
  if (found == std::end(kObjectives))
    return unknown(clause);
  if (!objective.empty())
    return refuse("it has two objectives, '" + objective + "' and '" + clause +
                  "'");
  objective = clause.str();
  goal.kind = found->second;
  return true;
}

std::optional<Goal> parseGoal(StringRef text, std::string *fault) {
  GoalReader reader;
  if (reader.read(text))
    return reader.goal;
  if (fault)
    *fault = std::move(reader.fault);
  return std::nullopt;
}

Goal Goal::withoutDsp() const {
  Goal goal = *this;
  goal.parts["dsp"] = {};
  return goal;
}

Cluster withinParts(Cluster cluster, const Goal &goal) {
  for (ClusterPlace &place : cluster.places) {
    gen::Budget &budget = place.context.budget;
    for (size_t k = 0; k < gen::kResourceNames.size(); ++k) {
      const std::string name = gen::kResourceNames[k];
      const double all = gen::available(place.capacity, k);
      auto routable = place.routable.find(name);
      double share = routable == place.routable.end() ? 1 : routable->second;
      double most = std::min(gen::available(budget, k), all * share);
      auto part = goal.parts.find(name);
      if (part != goal.parts.end()) {
        double asked = part->second.amount * (part->second.isShare ? all : 1);
        most = std::min(gen::available(budget, k), asked);
        // Whoever wants more than routes wants it of every die.
        if (all > 0)
          share = std::min(1.0, std::max(share, asked / all));
      } else if (share == 1) {
        continue;
      }
      budget[name] = int64_t(std::floor(most));
      for (size_t d = 0; d < place.dies.count(); ++d) {
        double &left = place.dies.budgets[d].amount[k];
        left =
            std::min(left, std::floor(place.dieCapacity[d].amount[k] * share));
      }
    }
    // Without DSP blocks, all products are built from LUTs.
    if (auto dsp = budget.find("dsp"); dsp != budget.end() && !dsp->second) {
      place.context.hasDsp = false;
      place.context.cost.dspWide = place.context.cost.dspNarrow = 0;
    }
  }
  return cluster;
}
} // namespace rhizome::explore
