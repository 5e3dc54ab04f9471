// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The choice of plan.json's kernel, written and read; PlanBounds checks it.
#include "rhizome/Package/UnitChoice.h"

using namespace llvm;

namespace rhizome {
static json::Value toJSON(const ChosenNest &nest) {
  return json::Object{{"name", nest.name},
                      {"order", json::Array(nest.order)},
                      {"copies", json::Array(nest.copies)},
                      {"datapath", nest.datapath}};
}

static json::Value toJSON(const ChosenSum &sum) {
  return json::Object{
      {"sum", sum.sum}, {"loop", sum.loop}, {"terms", sum.terms}};
}

json::Value toJSON(const UnitChoice &choice) {
  return json::Object{{"stages", choice.stages},
                      {"residents", json::Array(choice.residents)},
                      {"lanes", choice.lanes},
                      {"words", choice.words},
                      {"system", choice.isSystem},
                      {"units", choice.units},
                      {"borders", json::Array(choice.borders)},
                      {"nests", json::Array(choice.nests)},
                      {"sums", json::Array(choice.sums)}};
}

static bool fromJSON(const json::Value &value, ChosenNest &nest,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", nest.name) && map.map("order", nest.order) &&
         map.map("copies", nest.copies) && map.map("datapath", nest.datapath);
}

static bool fromJSON(const json::Value &value, ChosenSum &sum,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("sum", sum.sum) && map.map("loop", sum.loop) &&
         map.map("terms", sum.terms);
}

bool fromJSON(const json::Value &value, UnitChoice &choice, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("stages", choice.stages) &&
         map.map("residents", choice.residents) &&
         map.map("lanes", choice.lanes) && map.map("words", choice.words) &&
         map.map("system", choice.isSystem) && map.map("units", choice.units) &&
         map.map("borders", choice.borders) &&
         map.map("nests", choice.nests) && map.map("sums", choice.sums);
}
} // namespace rhizome
