// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Widths for every layer of a float network, such that it keeps an accuracy on
// labeled data and serves a goal on a device. Each candidate is quantized,
// evaluated and explored as `compile` would do it with the same widths.
#pragma once

#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::precision {
/// Widths by layer, as --bits takes them.
using Widths = std::map<std::string, calibrate::Bits>;

struct Request {
  /// Model, target and goal. The model has a calibration, whose widths, if
  /// `hasWidths`, are those to begin with; layers with widths of their own keep
  /// them.
  pipeline::CompileRequest compile;
  /// Labeled frames; the calibration's if there is no path.
  model::DataRequest data;
  std::string labels; ///< as for evaluate
  int64_t frames = 0; ///< 0: all
  /// The bound: percent of the frames that must be right, or percentage points
  /// that may be lost against the float network.
  std::optional<double> accuracy;
  double loss = 1;
  model::Progress progress;
};

/// One choice of widths, and what it gives.
struct Point {
  Widths widths;
  std::optional<calibrate::Bits> uniform; ///< if all layers have the same
  int64_t correct = 0;
  bool keepsAccuracy = false;
  bool meetsGoal = false; ///< false: the figures are those of the nearest plan
  Prediction predicted;
  double share = 0; ///< of the device, the sum over its resources
  bool isPareto = false;
};

struct Found {
  std::string model, target, goal;
  int64_t frames = 0, floatCorrect = 0;
  int64_t needed = 0;    ///< frames that must be right
  calibrate::Bits begin; ///< of all layers
  /// The layers in order. Their widths are 0 where they have no weights, or no
  /// tensor of their own.
  std::vector<calibrate::Layer> layers;
  std::vector<Point> points; ///< without those that equal earlier ones
  size_t chosen = 0;
  /// The best of those with the same widths in all layers; none if none keeps
  /// the bound.
  std::optional<size_t> uniform;
};

/// Fails if no widths keep the accuracy, or none of those that do meet the
/// goal. Deterministic.
Result<Found> findWidths(const Request &request);

/// "8 bits everywhere", or of each layer NAME=WEIGHTS,ACTIVATIONS, with a dash
/// for what it does not have.
std::string widthsText(const Found &found, const Point &point);

/// Accuracy over the share of the device, rate and latency: a self-contained
/// SVG.
std::string draw(const Found &found);

/// For machines.
llvm::json::Object toJson(const Found &found);
} // namespace rhizome::precision
