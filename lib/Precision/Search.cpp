// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which width becomes narrower first: noise added at the output per share of
// the device that is saved. Both are measured for each width alone, the noise
// on calibration frames, the share by exploring. Bisection along this order
// finds how far the accuracy holds; from there on each width is tried alone.
#include "rhizome/Evaluate/Evaluate.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Model/Model.h"
#include "rhizome/Precision/Precision.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace rhizome;
using namespace rhizome::precision;
using llvm::formatv;

namespace {
/// The narrowest width.
constexpr unsigned kLeast = 2;
/// Where no width is given, the first of these that keeps the accuracy.
constexpr unsigned kBegin[] = {8, 10, 12, 16};
/// Points along the order that are looked at, besides those of the bisection.
constexpr size_t kSamples = 4;
/// Frames on which ranges are observed for the price of a width.
constexpr int64_t kPriceFrames = 20;
/// A width that saves nothing measurable is lowered after all others.
constexpr double kLeastSaving = 1e-7;

struct Move {
  std::string layer;
  bool weights;
  unsigned to;
  double price; ///< noise added per share of the device saved
};

class Search {
public:
  Search(const Request &request, Found &found)
      : request(request), found(found), goal(goalOf(request)) {}
  Status run();

private:
  static explore::Goal goalOf(const Request &request) {
    auto goal = explore::parseGoal(request.compile.goal);
    if (goal && !request.compile.goal.empty())
      return *goal;
    explore::Goal fastest;
    fastest.kind = explore::Goal::Kind::MaxThroughput;
    return fastest;
  }
  void say(const std::string &what) {
    if (request.progress)
      request.progress(what);
  }
  const model::Calibration &calibration() const {
    return *request.compile.model.calibration;
  }
  model::ModelRequest modelWith(const Widths &widths);
  Widths uniform(calibrate::Bits bits) const;
  Status countFloat();
  Result<int64_t> correctWith(const Widths &widths);
  Result<pipeline::CompileResult>
  planWith(const Widths &widths, const std::string &text, int64_t frames = 0);
  Result<size_t> lookAt(const Widths &widths,
                        std::optional<calibrate::Bits> uniform = {});
  Status begin();
  Status price();
  std::string pricingGoal() const;
  Widths after(size_t moves) const;
  Result<size_t> bisect();
  Status refine(size_t at);
  bool isBetter(const Point &a, const Point &b) const;
  void findFront();
  Status choose();
  double percent(int64_t correct) const {
    return 100 * double(correct) / double(found.frames);
  }

  const Request &request;
  Found &found;
  const explore::Goal goal;
  /// Fixed by the user, by layer.
  Widths fixed;
  std::vector<calibrate::Narrowing> narrowings;
  std::vector<Move> moves;
  std::map<std::string, int64_t> known; ///< right answers, by widths
  /// The quantized model with the widths that were looked at last.
  std::string keptOf;
  std::shared_ptr<std::string> kept;
};
} // namespace

static unsigned &widthOf(Widths &widths, const std::string &layer,
                         bool weights) {
  calibrate::Bits &bits = widths[layer];
  return weights ? bits.weights : bits.activations;
}

static std::string textOf(const Widths &widths) {
  std::string text;
  for (const auto &[name, bits] : widths)
    text += formatv("{0}={1},{2};", name, bits.weights, bits.activations).str();
  return text;
}

model::ModelRequest Search::modelWith(const Widths &widths) {
  model::ModelRequest model = request.compile.model;
  for (const auto &[name, bits] : widths)
    model.calibration->options.layers[name] = bits;
  // What evaluates and explores the same widths quantizes them once.
  if (std::string text = textOf(widths); text != keptOf) {
    keptOf = std::move(text);
    kept = std::make_shared<std::string>();
  }
  model.calibration->kept = kept;
  // Of this run alone.
  model.calibration->report = std::make_shared<calibrate::Report>();
  return model;
}

Widths Search::uniform(calibrate::Bits bits) const {
  Widths widths;
  for (const calibrate::Layer &layer : found.layers)
    if (!fixed.count(layer.name))
      widths[layer.name] = bits;
  return widths;
}

Status Search::countFloat() {
  evaluate::EvaluateRequest evaluation;
  evaluation.model = request.compile.model;
  evaluation.data = request.data;
  evaluation.labels = request.labels;
  evaluation.frames = request.frames;
  evaluation.level = evaluate::Level::Float;
  say("float");
  auto counted = evaluate::evaluateModel(evaluation);
  if (!counted)
    return counted.failure();
  if (request.labels.empty() && counted->confusion.empty())
    return Failure(Failure::Kind::Usage,
                   "the accuracy is to be kept, but of which frames?",
                   "--labels names the classes of --data");
  found.frames = counted->forms.front().frames;
  found.floatCorrect = counted->forms.front().correct;
  const double wanted =
      request.accuracy.value_or(percent(found.floatCorrect) - request.loss);
  // Not one more because of the last digit.
  found.needed = int64_t(std::ceil(wanted / 100 * double(found.frames) - 1e-6));
  if (request.accuracy && found.needed > found.floatCorrect)
    return Failure(
        Failure::Kind::Infeasible,
        formatv("--accuracy {0:f2} asks for more than the network has without "
                "rounding: {1} of {2} frames, {3:f2} %",
                *request.accuracy, found.floatCorrect, found.frames,
                percent(found.floatCorrect)),
        formatv("--accuracy {0:f2} or less",
                std::floor(percent(found.floatCorrect) * 100) / 100));
  return Done();
}

Result<int64_t> Search::correctWith(const Widths &widths) {
  auto [at, isNew] = known.try_emplace(textOf(widths), 0);
  if (!isNew)
    return at->second;
  evaluate::EvaluateRequest evaluation;
  evaluation.model = modelWith(widths);
  evaluation.data = request.data;
  evaluation.labels = request.labels;
  evaluation.frames = request.frames;
  evaluation.floatFrames = evaluation.layerFrames = 0;
  auto counted = evaluate::evaluateModel(evaluation);
  if (!counted)
    return counted.failure();
  at->second = counted->forms.front().correct;
  return at->second;
}

/// The plan, or the nearest one, with these widths, of which the ranges are
/// observed on so many frames if this is not 0.
Result<pipeline::CompileResult> Search::planWith(const Widths &widths,
                                                 const std::string &text,
                                                 int64_t frames) {
  pipeline::CompileRequest compile = request.compile;
  compile.model = modelWith(widths);
  if (frames && frames < calibration().frames) {
    compile.model.calibration->frames = frames;
    compile.model.calibration->kept = nullptr;
  }
  compile.goal = text;
  compile.progress = nullptr;
  compile.describesNearest = true;
  auto explored = pipeline::exploreModel(compile);
  if (explored)
    return explored;
  if (const auto *nearest = pipeline::nearestOf(explored.failure()))
    return *nearest;
  return explored.failure();
}

static double shareOf(const Plan &plan) {
  double sum = 0;
  for (const auto &[kind, share] : plan.utilization)
    sum += share;
  return sum;
}

/// The index of the point with these widths.
Result<size_t> Search::lookAt(const Widths &widths,
                              std::optional<calibrate::Bits> uniform) {
  for (size_t i = 0; i < found.points.size(); ++i)
    if (found.points[i].widths == widths)
      return i;
  say(formatv("{0} choices of widths", found.points.size() + 1).str());
  auto correct = correctWith(widths);
  if (!correct)
    return correct.failure();
  auto planned = planWith(widths, request.compile.goal);
  if (!planned)
    return planned.failure();
  Point point;
  point.widths = widths;
  point.uniform = uniform;
  point.correct = *correct;
  point.keepsAccuracy = *correct >= found.needed;
  point.meetsGoal = planned->meetsGoal;
  point.predicted = planned->plan.predicted;
  point.share = shareOf(planned->plan);
  if (found.model.empty()) {
    const Plan &plan = planned->plan;
    found.model = plan.model;
    found.goal = plan.goal;
    found.target = !plan.cluster.empty() ? plan.cluster
                   : !plan.board.empty() ? plan.board
                                         : plan.device;
  }
  found.points.push_back(std::move(point));
  return found.points.size() - 1;
}

/// The layers, and the width to begin with.
Status Search::begin() {
  const calibrate::Options &options = calibration().options;
  fixed = options.layers;
  std::vector<calibrate::Bits> tries;
  if (calibration().hasWidths)
    tries = {options.bits};
  else
    for (unsigned bits : kBegin)
      tries.push_back({bits, bits});
  for (calibrate::Bits bits : tries) {
    model::ModelRequest model = request.compile.model;
    model.calibration->report = std::make_shared<calibrate::Report>();
    model.calibration->options.bits = bits;
    model.calibration->options.measuresNarrowings = true;
    mlir::MLIRContext context;
    Refusals refused;
    if (!model::importReal(context, model, request.progress, refused))
      return Failure::refused(std::move(refused));
    const calibrate::Report &report = *model.calibration->report;
    found.layers = report.layers;
    found.begin = bits;
    narrowings = report.narrowings;
    auto correct = correctWith(uniform(bits));
    if (!correct)
      return correct.failure();
    if (*correct >= found.needed)
      return Done();
  }
  const int64_t best = known[textOf(uniform(found.begin))];
  return Failure(
      Failure::Kind::Infeasible,
      formatv("the accuracy cannot be kept: with {0} bits for all weights and "
              "{1} for all activations {2} of {3} frames are right ({4:f2} %), "
              "and {5} ({6:f2} %) are asked for",
              found.begin.weights, found.begin.activations, best, found.frames,
              percent(best), found.needed, percent(found.needed)),
      formatv("{0}--accuracy {1:f2} or less; 'rhizome trace' shows the layer "
              "that loses most",
              std::min(found.begin.weights, found.begin.activations) < 16
                  ? "--bits 16, or "
                  : "",
              std::floor(percent(best) * 100) / 100));
}

/// The goal under which widths are priced: the least resources for the rate,
/// or the latency, that the network has at the beginning.
std::string Search::pricingGoal() const {
  std::string text;
  llvm::SmallVector<llvm::StringRef> clauses;
  llvm::StringRef(request.compile.goal).split(clauses, ',', -1, false);
  bool isBounded = false;
  for (llvm::StringRef clause : clauses) {
    if (!clause.contains('='))
      continue; // the objective
    isBounded |=
        clause.starts_with("throughput=") || clause.starts_with("latency=");
    text += clause.str() + ",";
  }
  const Prediction &now = found.points.front().predicted;
  if (!isBounded && now.throughputPerS > 0)
    text +=
        goal.kind == explore::Goal::Kind::MinLatency
            ? formatv("latency={0:f6}us,", now.latencyUs * 1.001).str()
            : formatv("throughput={0:f3}/s,", now.throughputPerS * 0.999).str();
  return text + "min-resources";
}

/// The order in which widths become narrower.
Status Search::price() {
  const std::string text = pricingGoal();
  const Widths begin = uniform(found.begin);
  auto all = planWith(begin, text, kPriceFrames);
  if (!all)
    return all.failure();
  const double full = shareOf(all->plan);
  std::map<std::pair<std::string, bool>, double> saved;
  for (const calibrate::Narrowing &step : narrowings) {
    auto [at, isNew] = saved.try_emplace({step.layer, step.weights}, 0);
    if (isNew) {
      say(formatv("what the {0} of {1} take",
                  step.weights ? "weights" : "results", step.layer)
              .str());
      Widths narrow = begin;
      unsigned &width = widthOf(narrow, step.layer, step.weights);
      const unsigned whole = width;
      width = std::max(kLeast, width / 2);
      const unsigned fewer = whole - width;
      auto less = planWith(narrow, text, kPriceFrames);
      if (!less)
        return less.failure();
      at->second = std::max((full - shareOf(less->plan)) / fewer, kLeastSaving);
    }
    double price = step.noise / at->second;
    // Prices of one width only rise, so its moves stay in order.
    if (!moves.empty() && moves.back().layer == step.layer &&
        moves.back().weights == step.weights)
      price = std::max(price, moves.back().price);
    moves.push_back({step.layer, step.weights, step.to, price});
  }
  llvm::sort(moves, [](const Move &a, const Move &b) {
    return std::tuple(a.price, a.layer, a.weights, -int(a.to)) <
           std::tuple(b.price, b.layer, b.weights, -int(b.to));
  });
  return Done();
}

Widths Search::after(size_t count) const {
  Widths widths = uniform(found.begin);
  for (size_t i = 0; i < count; ++i)
    widthOf(widths, moves[i].layer, moves[i].weights) = moves[i].to;
  return widths;
}

/// The point of the most moves that keep the accuracy.
Result<size_t> Search::bisect() {
  size_t good = 0, bad = moves.size() + 1, at = 0;
  while (bad - good > 1) {
    const size_t middle = (good + bad) / 2;
    auto point = lookAt(after(middle));
    if (!point)
      return point.failure();
    if (found.points[*point].keepsAccuracy) {
      good = middle;
      at = *point;
    } else {
      bad = middle;
    }
  }
  return at;
}

/// From there, one bit less of one width, again and again, the cheapest first,
/// as long as the accuracy holds; a width of which it doesn't is left alone.
Status Search::refine(size_t at) {
  Widths widths = found.points[at].widths;
  std::set<std::pair<std::string, bool>> closed;
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    for (const Move &move : moves) {
      unsigned &width = widthOf(widths, move.layer, move.weights);
      if (move.to + 1 != width || closed.count({move.layer, move.weights}))
        continue;
      width = move.to;
      say(formatv("{0} bits for the {1} of {2}", width,
                  move.weights ? "weights" : "results", move.layer)
              .str());
      auto correct = correctWith(widths);
      if (!correct)
        return correct.failure();
      if (*correct < found.needed) {
        width = move.to + 1;
        closed.insert({move.layer, move.weights});
        continue;
      }
      goesOn = true;
      if (auto point = lookAt(widths); !point)
        return point.failure();
    }
  }
  return Done();
}

/// By the goal's objective, then by what is taken of the device.
bool Search::isBetter(const Point &a, const Point &b) const {
  auto key = [&](const Point &p) {
    double first = 0;
    if (goal.kind == explore::Goal::Kind::MaxThroughput)
      first = -p.predicted.throughputPerS;
    else if (goal.kind == explore::Goal::Kind::MinLatency)
      first = p.predicted.latencyUs;
    return std::tuple(first, p.share, -p.correct);
  };
  return key(a) < key(b);
}

/// Points of which no other is at least as good in accuracy, rate, latency and
/// resources.
void Search::findFront() {
  auto isNoWorse = [](const Point &a, const Point &b) {
    return a.correct >= b.correct &&
           a.predicted.throughputPerS >= b.predicted.throughputPerS &&
           a.predicted.latencyUs <= b.predicted.latencyUs && a.share <= b.share;
  };
  for (Point &point : found.points)
    point.isPareto =
        point.meetsGoal && llvm::none_of(found.points, [&](const Point &other) {
          return &other != &point && other.meetsGoal &&
                 isNoWorse(other, point) &&
                 (!isNoWorse(point, other) || &other < &point);
        });
}

Status Search::choose() {
  std::optional<size_t> best;
  for (auto [i, point] : llvm::enumerate(found.points)) {
    if (!point.keepsAccuracy || !point.meetsGoal)
      continue;
    if (!best || isBetter(point, found.points[*best]))
      best = i;
    if (point.uniform &&
        (!found.uniform || isBetter(point, found.points[*found.uniform])))
      found.uniform = i;
  }
  if (best) {
    found.chosen = *best;
    return Done();
  }
  // The least of those that keep the accuracy says what is missing.
  const Point *least = nullptr;
  for (const Point &point : found.points)
    if (point.keepsAccuracy && (!least || point.share < least->share))
      least = &point;
  auto planned = planWith(least->widths, request.compile.goal);
  if (!planned)
    return planned.failure();
  return Failure(
      Failure::Kind::Infeasible,
      formatv("none of the {0} choices of widths that keep {1} of {2} frames "
              "right meets the goal '{3}' on {4}; the smallest: {5}",
              llvm::count_if(found.points,
                             [](const Point &p) { return p.keepsAccuracy; }),
              found.needed, found.frames, found.goal, found.target,
              planned->limit),
      "a larger device, a lower goal, or less accuracy");
}

Status Search::run() {
  if (Status done = countFloat(); !done)
    return done;
  if (Status done = begin(); !done)
    return done;
  const auto [weights, activations] = found.begin;
  for (unsigned bits = std::max(weights, activations); bits >= kLeast; --bits) {
    const calibrate::Bits all{std::min(weights, bits),
                              std::min(activations, bits)};
    if (auto point = lookAt(uniform(all), all); !point)
      return point.failure();
  }
  if (Status done = price(); !done)
    return done;
  auto at = bisect();
  if (!at)
    return at.failure();
  for (size_t i = 1; i <= kSamples; ++i)
    if (auto point = lookAt(after(moves.size() * i / (kSamples + 1))); !point)
      return point.failure();
  if (Status done = refine(*at); !done)
    return done;
  findFront();
  return choose();
}

Result<Found> precision::findWidths(const Request &request) {
  Found found;
  if (Status done = Search(request, found).run(); !done)
    return done.failure();
  return found;
}

std::string precision::widthsText(const Found &found, const Point &point) {
  if (point.uniform && point.uniform->weights == point.uniform->activations)
    return std::to_string(point.uniform->weights) + " bits everywhere";
  if (point.uniform)
    return formatv("{0},{1} bits everywhere", point.uniform->weights,
                   point.uniform->activations);
  auto orDash = [](bool is, unsigned bits) {
    return is ? std::to_string(bits) : "-";
  };
  std::string text;
  for (const calibrate::Layer &layer : found.layers)
    if (auto at = point.widths.find(layer.name); at != point.widths.end())
      text += (text.empty() ? "" : " ") + layer.name + "=" +
              orDash(layer.weightBits, at->second.weights) + "," +
              orDash(layer.activationBits, at->second.activations);
  return text;
}

static llvm::json::Array pairOf(calibrate::Bits bits) {
  return llvm::json::Array{bits.weights, bits.activations};
}

llvm::json::Object precision::toJson(const Found &found) {
  llvm::json::Array points;
  for (const Point &point : found.points) {
    llvm::json::Object widths;
    for (const auto &[name, bits] : point.widths)
      widths[llvm::json::fixUTF8(name)] = pairOf(bits);
    points.push_back(llvm::json::Object{
        {"widths", std::move(widths)},
        {"uniform", point.uniform ? llvm::json::Value(pairOf(*point.uniform))
                                  : llvm::json::Value(nullptr)},
        {"correct", point.correct},
        {"accuracy", double(point.correct) / double(found.frames)},
        {"keeps_accuracy", point.keepsAccuracy},
        {"meets_goal", point.meetsGoal},
        {"predicted", toJSON(point.predicted)},
        {"share", point.share},
        {"pareto", point.isPareto}});
  }
  return llvm::json::Object{
      {"model", llvm::json::fixUTF8(found.model)},
      {"target", found.target},
      {"goal", found.goal},
      {"frames", found.frames},
      {"float_correct", found.floatCorrect},
      {"needed", found.needed},
      {"begin", pairOf(found.begin)},
      {"chosen", int64_t(found.chosen)},
      {"uniform", found.uniform ? llvm::json::Value(int64_t(*found.uniform))
                                : llvm::json::Value(nullptr)},
      {"points", std::move(points)}};
}
