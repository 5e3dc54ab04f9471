// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json as C++ values: what was built, where, with which prediction, and
// how its borders look. Every step after a compile reads this and nothing of
// the compiler. The schema's number is kPlanSchema (Support/Version.h).
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rhizome {
/// What a compile promises for the whole design.
struct Prediction {
  int64_t intervalCycles = 0;
  int64_t latencyCycles = 0;
  double clockMhz = 0;
  double throughputPerS = 0;
  int64_t lut = 0, ff = 0, dsp = 0, bram = 0;
  /// How far LUTs and FFs may be off, by the family's characterisation; nine
  /// of ten designs lie within.
  int64_t lutError = 0, ffError = 0;
  bool operator==(const Prediction &) const = default;
};

/// The integers that one element of a stream can hold.
struct ElementFormat {
  bool isSigned = false;
  unsigned width = 8;
  int64_t lo = 0, hi = 255;
  bool operator==(const ElementFormat &) const = default;
};

/// One AXI4-Stream port of a node's top module: signals "<port>_tdata",
/// "_tvalid", "_tready", "_tlast". Elements are bit-packed little-endian in
/// channels-last order, a frame is padded to whole beats.
struct BorderPort {
  std::string port;           ///< "s_axis_0", "m_axis_0", …
  std::string name;           ///< the model's tensor
  std::vector<int64_t> shape; ///< channels-last
  ElementFormat element;
  unsigned dataWidth = 64; ///< bits of tdata, whole bytes
  int64_t elements() const;
  int64_t beats() const; ///< beats of one frame
  bool operator==(const BorderPort &) const = default;
};

/// One actor of the design and the model's node it came from.
struct PlannedActor {
  std::string name, kind, node;
  int64_t intervalCycles = 0;
  /// What it should take, by resource name; halves of block RAMs occur.
  std::map<std::string, double> resources;
  llvm::json::Object config; ///< the option taken: integers and texts
};

/// One device's share.
struct PlannedNode {
  std::string name;   ///< "node0"
  std::string device; ///< a device's name
  std::string family; ///< the device's family
  /// What a design may use of the device, by resource name.
  std::map<std::string, int64_t> budget;
  std::string top = "rhz_top";  ///< the top module
  std::vector<std::string> rtl; ///< .sv files below nodes/<name>/rtl, in order
  /// Models of vendor primitives, in the same folder, for simulators only.
  std::vector<std::string> simulationModels;
  std::vector<PlannedActor> actors;
  std::vector<BorderPort> inputs, outputs;
};

struct Plan {
  std::string model; ///< the model's name
  std::string device;
  std::string board; ///< "" if the design was not compiled for one
  double clockMhz = 0;
  std::string goal; ///< as the user wrote it
  Prediction predicted;
  std::map<std::string, double> utilisation; ///< share of the budget, 1 = all
  /// Products of weights and activations a cycle, by what computes them:
  /// dsp_paired (two in one DSP block), dsp_single, lut. A rate per DSP block
  /// that hides the last would not be honest.
  std::map<std::string, int64_t> multipliers;
  std::string bottleneck; ///< the node that bounds the rate
  std::vector<PlannedNode> nodes;
};

/// {"interval_cycles":…,"latency_cycles":…,…}: the form that plan.json and
/// every command's --json use.
llvm::json::Object toJson(const Prediction &predicted);

/// The text of plan.json: keys in the schema's order, two spaces, the same
/// plan gives the same bytes.
std::string printPlan(const Plan &plan);

/// Reads plan.json's text. Refuses, naming the place: no JSON, another schema,
/// a missing or mistyped member, a border that cannot be (no elements, a width
/// outside 1..64, a data width that is not whole bytes).
llvm::Expected<Plan> parsePlan(llvm::StringRef text);
} // namespace rhizome
