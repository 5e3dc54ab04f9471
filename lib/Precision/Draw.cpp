// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The points as a picture: accuracy over the share of the device, rate and
// latency, side by side. Points that do not meet the goal are left out.
#include "rhizome/Precision/Precision.h"
#include "rhizome/Support/Quoting.h"
#include "rhizome/Support/Units.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::precision;

namespace {
constexpr double kPanel = 330, kHeight = 360, kLeft = 58, kTop = 56,
                 kBottom = 84, kGap = 22;
/// From this ratio of the ends on, an axis is logarithmic.
constexpr double kLogRatio = 10;

/// A quantity of a point, with the text of a value for its axis.
struct Quantity {
  const char *name;
  double (*of)(const Point &);
  std::string (*text)(double);
};

std::string percentText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", value);
  return text;
}

/// "2,500,000" as "2.5M".
std::string shortNumber(double value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (value >= 1e6)
    os << llvm::format("%.4gM", value / 1e6);
  else if (value >= 1e3)
    os << llvm::format("%.4gk", value / 1e3);
  else
    os << llvm::format("%.4g", value);
  return text;
}

constexpr Quantity kQuantities[] = {
    {"% of the device, its resources added up",
     [](const Point &p) { return 100 * p.share; }, percentText},
    {"frames per second",
     [](const Point &p) { return p.predicted.throughputPerS; }, shortNumber},
    {"latency", [](const Point &p) { return p.predicted.latencyUs; },
     [](double us) { return durationText(us * 1e-6); }}};

/// Values from `low` to `high` on a stretch of the picture.
class Axis {
public:
  Axis(double low, double high, double begin, double end)
      : low(low), high(high), begin(begin), end(end),
        isLog(low > 0 && high / low >= kLogRatio) {
    const double room = std::max((scaled(high) - scaled(low)) * 0.06, 1e-9);
    first = scaled(low) - room;
    last = scaled(high) + room;
  }
  double at(double value) const {
    return begin + (scaled(value) - first) / (last - first) * (end - begin);
  }
  /// Round values, or the only one.
  std::vector<double> ticks() const;

private:
  double scaled(double value) const {
    return isLog ? std::log10(value) : value;
  }
  double low, high, begin, end;
  bool isLog;
  double first = 0, last = 0;
};
} // namespace

std::vector<double> Axis::ticks() const {
  if (high <= low)
    return {low};
  std::vector<double> found;
  if (isLog) {
    const bool isWide = high / low > 1e3;
    for (double decade = std::pow(10, std::floor(std::log10(low)));
         decade <= high; decade *= 10)
      for (double digit : {1., 2., 5.})
        if (double value = decade * digit;
            value >= low && value <= high && (digit == 1 || !isWide))
          found.push_back(value);
    return found;
  }
  const double rough = (high - low) / 6;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  double step = decade;
  for (double digit : {2., 5., 10.})
    if (step < rough)
      step = decade * digit;
  for (double k = std::ceil(low / step); k * step <= high; ++k)
    found.push_back(k * step);
  return found;
}

static double percentOf(const Found &found, int64_t correct) {
  return 100 * double(correct) / double(found.frames);
}

static std::string titleOf(const Found &found, const Point &point) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.2f %%, ", percentOf(found, point.correct))
     << point.predicted.lut << " LUT, " << point.predicted.dsp << " DSP, "
     << rateText(point.predicted.throughputPerS) << " per second, "
     << durationText(point.predicted.latencyUs * 1e-6) << "; "
     << widthsText(found, point);
  return text;
}

static auto number(double v) { return llvm::format("%.1f", v); }

static Axis axisOf(const std::vector<double> &values, double begin,
                   double end) {
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  return Axis(*low, *high, begin, end);
}

std::string precision::draw(const Found &found) {
  std::vector<const Point *> shown;
  std::vector<double> accuracies = {percentOf(found, found.needed),
                                    percentOf(found, found.floatCorrect)};
  for (const Point &point : found.points)
    if (point.meetsGoal) {
      shown.push_back(&point);
      accuracies.push_back(percentOf(found, point.correct));
    }
  const Axis y = axisOf(accuracies, kHeight - kBottom, kTop);
  std::string text;
  llvm::raw_string_ostream os(text);
  auto write = [&](double x, double y, llvm::StringRef words,
                   llvm::StringRef more) {
    os << "<text x=\"" << number(x) << "\" y=\"" << number(y) << "\"" << more
       << ">" << markupText(words) << "</text>\n";
  };
  const llvm::StringRef kMiddle = " text-anchor=\"middle\"";
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
     << number(std::size(kQuantities) * (kPanel + kGap)) << " "
     << number(kHeight) << "\" font-family=\"sans-serif\" font-size=\"11\">\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  write(kLeft, 22, found.model + " on " + found.target + ", " + found.goal,
        " font-size=\"14\"");
  for (size_t panel = 0; panel < std::size(kQuantities); ++panel) {
    const Quantity &quantity = kQuantities[panel];
    const double begin = double(panel) * (kPanel + kGap) + kLeft,
                 end = double(panel + 1) * (kPanel + kGap) - kGap;
    std::vector<double> values;
    for (const Point *point : shown)
      values.push_back(quantity.of(*point));
    const Axis x = axisOf(values, begin, end);
    auto line = [&](double y, llvm::StringRef more) {
      os << "<path d=\"M" << number(begin) << " " << number(y) << "H"
         << number(end) << "\" " << more;
    };
    for (double value : y.ticks()) {
      line(y.at(value), "stroke=\"#ddd\"/>\n");
      write(begin - 6, y.at(value) + 4, percentText(value),
            " text-anchor=\"end\"");
    }
    for (double value : x.ticks())
      write(x.at(value), kHeight - kBottom + 16, quantity.text(value), kMiddle);
    line(y.at(percentOf(found, found.needed)),
         "stroke=\"#c22\" stroke-dasharray=\"5 3\">");
    os << "<title>the bound: " << found.needed << " of " << found.frames
       << " right</title></path>\n";
    write((begin + end) / 2, kHeight - kBottom + 34, quantity.name, kMiddle);
    for (const Point *point : shown)
      os << "<circle cx=\"" << number(x.at(quantity.of(*point))) << "\" cy=\""
         << number(y.at(percentOf(found, point->correct))) << "\" r=\""
         << number(point->isPareto ? 4.5 : 3) << "\" fill=\""
         << (point->uniform ? "#888" : "#1764ab") << "\""
         << (point == &found.points[found.chosen]
                 ? " stroke=\"#e08a00\" stroke-width=\"3\""
                 : "")
         << "><title>" << markupText(titleOf(found, *point))
         << "</title></circle>\n";
  }
  os << "<text transform=\"translate(14 " << number(kHeight / 2)
     << ") rotate(-90)\" text-anchor=\"middle\">% right</text>\n";
  double at = kLeft;
  for (auto [color, stroke, label] :
       {std::tuple("#888", "none", "the same widths in all layers"),
        {"#1764ab", "none", "widths by layer"},
        {"#1764ab", "#e08a00", "the choice"}}) {
    os << "<circle cx=\"" << number(at) << "\" cy=\"" << number(kHeight - 20)
       << "\" r=\"4\" fill=\"" << color << "\" stroke=\"" << stroke
       << "\" stroke-width=\"3\"/>\n";
    write(at + 10, kHeight - 16, label, "");
    at += 200;
  }
  os << "<path d=\"M" << number(at) << " " << number(kHeight - 20)
     << "h24\" stroke=\"#c22\" stroke-dasharray=\"5 3\"/>\n";
  write(at + 30, kHeight - 16,
        "the accuracy to keep; large points: no other is better in everything",
        "");
  os << "</svg>\n";
  return text;
}
