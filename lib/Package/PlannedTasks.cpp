// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tasks of plan.json, written and read.
#include "rhizome/Package/PlannedTasks.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;

static json::Array namesOf(const std::vector<std::string> &names) {
  return json::Array(names);
}

const PlannedState *PlannedTasks::keptByHost() const {
  for (const PlannedState &state : states)
    if (!state.onFpga)
      return &state;
  return nullptr;
}

bool PlannedTasks::isKeptByFpga() const {
  return any_of(states, [](const PlannedState &s) { return s.onFpga; });
}

double PlannedTasks::outsideUs() const {
  double us = 0;
  for (const PlannedTask &task : tasks)
    us += task.hostUs;
  for (const PlannedCopy &copy : copies)
    us += copy.us;
  return us;
}

json::Value rhizome::toJSON(const PlannedTasks &planned) {
  json::Array tasks, copies;
  for (const PlannedTask &task : planned.tasks)
    tasks.push_back(json::Object{{"name", task.name},
                                 {"place", task.onFpga ? "fpga" : "host"},
                                 {"takes", namesOf(task.takes)},
                                 {"gives", namesOf(task.gives)},
                                 {"operations", task.operations},
                                 {"host_us", task.hostUs}});
  for (const PlannedCopy &copy : planned.copies)
    copies.push_back(json::Object{{"task", copy.task},
                                  {"to", copy.toFpga ? "fpga" : "host"},
                                  {"tensors", namesOf(copy.tensors)},
                                  {"bytes", copy.bytes},
                                  {"us", copy.us}});
  json::Object object{{"host", planned.host},
                      {"link", planned.link},
                      {"list", std::move(tasks)},
                      {"copies", std::move(copies)}};
  json::Array states;
  for (const PlannedState &state : planned.states)
    states.push_back(json::Object{{"name", state.name},
                                  {"next", state.next},
                                  {"bytes", state.bytes},
                                  {"home", state.onFpga ? "fpga" : "host"},
                                  {"why", state.why}});
  if (!states.empty())
    object["states"] = std::move(states);
  return object;
}

/// "host" or "fpga".
static bool readPlace(json::ObjectMapper &map, StringLiteral key,
                      json::Path path, bool &isFpga) {
  std::string place;
  if (!map.map(key, place))
    return false;
  isFpga = place == "fpga";
  if (isFpga || place == "host")
    return true;
  path.field(key).report("expected \"host\" or \"fpga\"");
  return false;
}

namespace rhizome {
static bool fromJSON(const json::Value &value, PlannedTask &task,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", task.name) &&
         readPlace(map, "place", path, task.onFpga) &&
         map.map("takes", task.takes) && map.map("gives", task.gives) &&
         map.map("operations", task.operations) &&
         map.map("host_us", task.hostUs);
}

static bool fromJSON(const json::Value &value, PlannedCopy &copy,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("task", copy.task) &&
         readPlace(map, "to", path, copy.toFpga) &&
         map.map("tensors", copy.tensors) && map.map("bytes", copy.bytes) &&
         map.map("us", copy.us);
}

static bool fromJSON(const json::Value &value, PlannedState &state,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  // Packages of earlier versions keep everything on the host.
  const json::Object *fields = value.getAsObject();
  return map && map.map("name", state.name) && map.map("next", state.next) &&
         map.map("bytes", state.bytes) &&
         (!fields->get("home") || readPlace(map, "home", path, state.onFpga)) &&
         map.mapOptional("why", state.why);
}
} // namespace rhizome

bool rhizome::fromJSON(const json::Value &value, PlannedTasks &planned,
                       json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("host", planned.host) &&
         map.map("link", planned.link) && map.map("list", planned.tasks) &&
         map.map("copies", planned.copies) &&
         map.mapOptional("states", planned.states);
}
