// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forward ranges over the unrolled kernel; then, for each operation that may
// overflow, a search for an input that proves it. In each argument alone, most
// kernels are linear, so the gradient's signs give that argument's best corner
// of its box; the search improves one argument after the other from random
// corners.
#include "rhizome/Interp/Ranges.h"
#include "Affine.h"
#include "Tape.h"
#include "rhizome/Interp/Numbers.h"
#include <random>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

namespace {
/// The result of the forward pass for one operation.
struct Suspect {
  Interval range{infinite, -infinite};
  std::vector<int> nodes; ///< those that may exceed the format
};

class Analysis {
public:
  Analysis(func::FuncOp func, const Tape &tape, const RangeOptions &options)
      : func(func), tape(tape), options(options) {
    for (const Site &site : tape.sites) {
      numeric::Arithmetic n(site.format, numeric::Rounding::NearestEven,
                            numeric::defaultOverflow(site.format));
      limits.push_back({n.toDouble(site.format.least()),
                        n.toDouble(site.format.greatest())});
    }
    suspects.resize(tape.sites.size());
  }

  /// The largest magnitude found by the forward pass.
  double greatest() {
    forward();
    return most;
  }

  RangeReport run() {
    forward();
    RangeReport report;
    report.scalars = tape.nodes.size();
    for (size_t s = 0; s < tape.sites.size(); ++s) {
      if (suspects[s].nodes.empty())
        continue;
      OverflowWarning warning{tape.sites[s].op, placeOf(tape.sites[s].op)};
      warning.format = tape.sites[s].format;
      warning.range = suspects[s].range;
      warning.limits = limits[s];
      if (options.search)
        search(int(s), warning);
      report.warnings.push_back(std::move(warning));
    }
    return report;
  }

private:
  func::FuncOp func;
  const Tape &tape;
  const RangeOptions &options;
  std::vector<Interval> limits; ///< per site
  std::vector<Suspect> suspects;
  double most = 0;
  /// Affine forms are dropped above this many terms in total, or in one form.
  static constexpr size_t mostWork = size_t(100) << 20, mostTerms = 4096;

  static Location placeOf(Operation *op) {
    for (Operation *at = op; at; at = at->getParentOp())
      if (at->getLoc()->findInstanceOf<FileLineColLoc>())
        return at->getLoc()->findInstanceOf<FileLineColLoc>();
    return op->getLoc();
  }

  Interval inputRange(size_t argument) const {
    return argument < options.inputs.size() ? options.inputs[argument]
                                            : Interval();
  }

  /// The error of one rounding of values in `range`.
  static double roundingError(const Site &site, Code code,
                              const Interval &range) {
    const numeric::Format &f = site.format;
    if (!site.isFormat)
      return 0; // f64: far below the errors that matter here
    bool exact = code != Code::Mul && code != Code::Div && code != Code::Fma &&
                 code != Code::Sqrt && code != Code::Cast &&
                 code != Code::Exp && code != Code::Log;
    if (f.isFixed())
      return exact ? 0 : std::ldexp(1.0, -f.fractionBits);
    double most = std::max(std::fabs(range.lo), std::fabs(range.hi));
    return std::ldexp(most, -f.mantissaBits) +
           std::ldexp(1.0, std::max(f.minExponent(), -1000));
  }

  static Interval interval(const Node &n, const Interval &a, const Interval &b,
                           const Interval &c) {
    auto monotone = [](double (*fn)(double), Interval r) {
      // The library's functions are accurate to two ulps.
      Interval w = widened(fn(r.lo), fn(r.hi));
      return widened(w.lo - std::fabs(w.lo) * 1e-15,
                     w.hi + std::fabs(w.hi) * 1e-15);
    };
    switch (n.code) {
    case Code::Add:
      return widened(a.lo + b.lo, a.hi + b.hi);
    case Code::Sub:
      return widened(a.lo - b.hi, a.hi - b.lo);
    case Code::Mul:
    case Code::Fma: {
      Interval r = product(a, b);
      if (n.a == n.b)
        r.lo = std::max(r.lo, 0.0);
      return n.code == Code::Mul ? r : widened(r.lo + c.lo, r.hi + c.hi);
    }
    case Code::Div:
      return quotient(a, b);
    case Code::Min:
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Code::Max:
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case Code::Sqrt:
      return monotone(std::sqrt, {std::max(a.lo, 0.0), std::max(a.hi, 0.0)});
    case Code::Exp:
      return monotone(std::exp, a);
    case Code::Log:
      return a.hi <= 0 ? Interval{-infinite, infinite}
                       : monotone(std::log, {std::max(a.lo, 0.0), a.hi});
    case Code::Neg:
      return {-a.hi, -a.lo};
    case Code::Abs:
      return {a.lo <= 0 && a.hi >= 0
                  ? 0
                  : std::min(std::fabs(a.lo), std::fabs(a.hi)),
              std::max(std::fabs(a.lo), std::fabs(a.hi))};
    default:
      return a;
    }
  }

  void forward() {
    const size_t size = tape.nodes.size();
    std::vector<int> lastUse(size, -1);
    for (size_t i = 0; i < size; ++i)
      for (int operand : {tape.nodes[i].a, tape.nodes[i].b, tape.nodes[i].c})
        if (operand >= 0)
          lastUse[operand] = int(i);
    std::vector<Interval> ranges(size);
    std::vector<std::unique_ptr<AffineForm>> forms(size);
    size_t work = 0;
    auto form = [&](int i) -> AffineForm {
      return i >= 0 && forms[i]
                 ? *forms[i]
                 : AffineForm::of(i < 0 ? Interval{0, 0} : ranges[i]);
    };
    for (auto [argument, span] : llvm::enumerate(tape.inputs))
      for (int i = span.first; i < span.first + span.second; ++i) {
        ranges[i] = inputRange(argument);
        forms[i] =
            std::make_unique<AffineForm>(AffineForm::input(i, ranges[i]));
      }
    for (size_t i = 0; i < size; ++i) {
      const Node &n = tape.nodes[i];
      if (n.code == Code::Input)
        continue;
      if (n.code == Code::Constant) {
        ranges[i] = {n.constant, n.constant};
        continue;
      }
      const Interval none{0, 0};
      Interval r = interval(n, ranges[n.a], n.b < 0 ? none : ranges[n.b],
                            n.c < 0 ? none : ranges[n.c]);
      std::unique_ptr<AffineForm> f;
      if (work < mostWork && std::isfinite(r.lo) && std::isfinite(r.hi)) {
        f = affine(n, form);
        if (f && f->terms.size() > mostTerms)
          f = nullptr;
      }
      if (f) {
        work += f->terms.size() + 1;
        Interval g = f->range();
        r = {std::max(r.lo, g.lo), std::min(r.hi, g.hi)};
      }
      const Site &site = tape.sites[n.site];
      if (double error = roundingError(site, n.code, r); error > 0) {
        r = {r.lo - error, r.hi + error};
        if (f)
          f->error += error;
      }
      const Interval &limit = limits[n.site];
      if (site.isFormat && (r.lo < limit.lo || r.hi > limit.hi)) {
        Suspect &suspect = suspects[n.site];
        // Half a quantum beyond a bound still rounds to it.
        double slack = roundingError(site, Code::Mul, limit);
        if (r.lo < limit.lo - slack || r.hi > limit.hi + slack) {
          suspect.nodes.push_back(int(i));
          suspect.range.lo = std::min(suspect.range.lo, r.lo);
          suspect.range.hi = std::max(suspect.range.hi, r.hi);
        }
        // After it, the operation's result is treated as if it did not
        // overflow.
        r = {std::max(r.lo, limit.lo), std::min(r.hi, limit.hi)};
        if (r.lo > r.hi)
          r = limit;
      }
      most = std::max({most, std::fabs(r.lo), std::fabs(r.hi)});
      ranges[i] = r;
      forms[i] = std::move(f);
      for (int operand : {n.a, n.b, n.c})
        if (operand >= 0 && lastUse[operand] == int(i))
          forms[operand] = nullptr;
    }
  }

  template <typename Form>
  static std::unique_ptr<AffineForm> affine(const Node &n, Form form) {
    auto keep = [](AffineForm f) {
      return std::make_unique<AffineForm>(std::move(f));
    };
    switch (n.code) {
    case Code::Cast:
      return keep(form(n.a));
    case Code::Add:
      return keep(AffineForm::combine(form(n.a), 1, form(n.b), 1));
    case Code::Sub:
      return keep(AffineForm::combine(form(n.a), 1, form(n.b), -1));
    case Code::Mul:
      return keep(AffineForm::multiply(form(n.a), form(n.b)));
    case Code::Fma:
      return keep(AffineForm::combine(
          AffineForm::multiply(form(n.a), form(n.b)), 1, form(n.c), 1));
    case Code::Neg:
      return keep(form(n.a).scaled(-1));
    case Code::Div: {
      AffineForm d = form(n.b);
      if (d.terms.empty() && d.error == 0 && d.center != 0)
        return keep(form(n.a).scaled(1 / d.center));
      return nullptr;
    }
    default:
      return nullptr;
    }
  }

  /// How far a value is beyond the site's limits: above 1 is an overflow.
  double excess(int site, double value) const {
    const Interval &limit = limits[site];
    if (std::isnan(value))
      return 0;
    if (value >= 0)
      return limit.hi > 0 ? value / limit.hi : value > 0 ? infinite : 0;
    return limit.lo < 0 ? value / limit.lo : infinite;
  }

  void search(int site, OverflowWarning &warning) {
    const std::vector<int> &nodes = suspects[site].nodes;
    const size_t end = size_t(nodes.back()) + 1;
    std::mt19937_64 random(options.seed);
    std::vector<double> values, gradient;
    double best = 0;
    for (int start = 0; start < options.starts; ++start) {
      // The first starts are corners: all high, all low; then random ones.
      std::vector<double> x(tape.inputCount());
      for (auto [argument, span] : llvm::enumerate(tape.inputs)) {
        Interval r = inputRange(argument);
        for (int i = span.first; i < span.first + span.second; ++i)
          x[i] = start == 0 ? r.hi : (start + random()) % 2 ? r.hi : r.lo;
      }
      tape.evaluate(x, values, end);
      int target = nodes[0];
      for (int n : nodes)
        if (excess(site, values[n]) > excess(site, values[target]))
          target = n;
      double now = excess(site, values[target]);
      bool climbed = true;
      for (int round = 0; round < 20 && climbed && now < infinite; ++round) {
        climbed = false;
        for (auto [argument, span] : llvm::enumerate(tape.inputs)) {
          Interval r = inputRange(argument);
          tape.differentiate(values, target, gradient);
          // Away from zero; a value of zero may go either way.
          double sign = values[target] < 0 ? -1 : 1;
          std::vector<double> next = x;
          for (int i = span.first; i < span.first + span.second; ++i)
            if (gradient[i] != 0)
              next[i] = sign * gradient[i] > 0 ? r.hi : r.lo;
          std::vector<double> nextValues;
          tape.evaluate(next, nextValues, end);
          double then = excess(site, nextValues[target]);
          if (!(then > now * (1 + 1e-12)))
            continue;
          x = std::move(next);
          values = std::move(nextValues);
          now = then;
          climbed = true;
        }
      }
      if (now > best) {
        best = now;
        warning.reached = values[target];
      }
      if (now > 1 && proves(x, warning))
        return;
    }
  }

  /// Runs the kernel in its formats on an input.
  bool proves(const std::vector<double> &x, OverflowWarning &warning) {
    std::vector<Tensor> inputs;
    std::vector<std::vector<double>> input;
    for (auto [argument, span] : llvm::enumerate(tape.inputs)) {
      Type type = func.getArgument(argument).getType();
      auto shape = shapeOf(type);
      input.emplace_back(x.begin() + span.first,
                         x.begin() + span.first + span.second);
      inputs.push_back(
          numbersOf(std::vector<int64_t>(shape.begin(), shape.end()),
                    input.back(), *realFormat(type)));
    }
    OverflowEvent event;
    if (failed(interpret(func, inputs, nullptr, &event)) ||
        !llvm::is_contained(event.ops, warning.op))
      return false;
    warning.isCertain = true;
    warning.input = std::move(input);
    return true;
  }
};
} // namespace

FailureOr<RangeReport> rhizome::analyzeRanges(func::FuncOp func,
                                              const RangeOptions &options) {
  auto tape = Tape::of(func);
  if (failed(tape))
    return failure();
  return Analysis(func, *tape, options).run();
}

FailureOr<Magnitudes>
rhizome::magnitudes(func::FuncOp func,
                    ArrayRef<std::vector<Tensor>> applications,
                    const RangeOptions &options) {
  auto tape = Tape::of(func);
  if (failed(tape))
    return failure();
  Magnitudes result;
  result.possible = Analysis(func, *tape, options).greatest();
  for (const Node &node : tape->nodes) {
    result.multiplications += node.code == Code::Mul || node.code == Code::Fma;
    result.additions += node.code == Code::Add || node.code == Code::Sub ||
                        node.code == Code::Fma;
  }
  std::vector<double> values;
  for (const std::vector<Tensor> &inputs : applications) {
    std::vector<double> flat;
    for (const Tensor &input : inputs)
      llvm::append_range(flat, doublesOf(input));
    tape->evaluate(flat, values);
    for (double v : values)
      result.onData = std::max(result.onData, std::fabs(v));
  }
  return result;
}
