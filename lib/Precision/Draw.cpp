// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The points as a picture: accuracy over LUTs, rate and latency, side by side,
// the last two on logarithmic axes. Points that do not meet the goal are left
// out.
#include "rhizome/Precision/Precision.h"
#include "rhizome/Support/Units.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::precision;

namespace {
constexpr double kPanel = 330, kHeight = 360, kLeft = 58, kTop = 56,
                 kBottom = 66, kGap = 22;

struct Axis {
  const char *name;
  bool isLog;
  double (*of)(const Point &);
};
constexpr Axis kAxes[] = {
    {"LUT", false, [](const Point &p) { return double(p.predicted.lut); }},
    {"frames per second", true,
     [](const Point &p) { return p.predicted.throughputPerS; }},
    {"latency in us", true,
     [](const Point &p) { return p.predicted.latencyUs; }}};
} // namespace

static std::string escaped(llvm::StringRef text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
                      : std::string(1, c);
  return out;
}

/// "2,500,000" as "2.5M".
static std::string shortNumber(double value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (value >= 1e6)
    os << llvm::format("%.3gM", value / 1e6);
  else if (value >= 1e3)
    os << llvm::format("%.3gk", value / 1e3);
  else
    os << llvm::format("%.3g", value);
  return text;
}

static std::string titleOf(const Found &found, const Point &point) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.2f %%, ",
                     100 * double(point.correct) / double(found.frames))
     << point.predicted.lut << " LUT, " << point.predicted.dsp << " DSP, "
     << rateText(point.predicted.throughputPerS) << " per second, "
     << durationText(point.predicted.latencyUs * 1e-6) << "; "
     << widthsText(found, point);
  return text;
}

std::string precision::draw(const Found &found) {
  std::vector<const Point *> shown;
  for (const Point &point : found.points)
    if (point.meetsGoal)
      shown.push_back(&point);
  auto percent = [&](int64_t correct) {
    return 100 * double(correct) / double(found.frames);
  };
  double y0 = percent(found.needed), y1 = percent(found.floatCorrect);
  for (const Point *point : shown) {
    y0 = std::min(y0, percent(point->correct));
    y1 = std::max(y1, percent(point->correct));
  }
  const double edge = std::max((y1 - y0) * 0.06, 0.5);
  y0 -= edge, y1 += edge;
  const double width = std::size(kAxes) * (kPanel + kGap);
  auto y = [&](double v) {
    return kHeight - kBottom -
           (v - y0) / (y1 - y0) * (kHeight - kTop - kBottom);
  };
  auto number = [](double v) { return llvm::format("%.1f", v); };
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width
     << " " << kHeight << "\" font-family=\"sans-serif\" font-size=\"11\">\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
     << "<text x=\"" << kLeft << "\" y=\"22\" font-size=\"14\">"
     << escaped(found.model) << " on " << escaped(found.target) << ", "
     << escaped(found.goal) << "</text>\n";
  for (size_t panel = 0; panel < std::size(kAxes); ++panel) {
    const Axis &axis = kAxes[panel];
    auto scaled = [&](double v) {
      return axis.isLog ? std::log10(std::max(v, 1e-9)) : v;
    };
    double x0 = 1e300, x1 = -1e300;
    for (const Point *point : shown) {
      x0 = std::min(x0, scaled(axis.of(*point)));
      x1 = std::max(x1, scaled(axis.of(*point)));
    }
    const double room = std::max((x1 - x0) * 0.06, 1e-3);
    x0 -= room, x1 += room;
    const double begin = double(panel) * (kPanel + kGap) + kLeft,
                 end = double(panel + 1) * (kPanel + kGap) - kGap;
    auto x = [&](double v) {
      return begin + (scaled(v) - x0) / (x1 - x0) * (end - begin);
    };
    for (int i = 0; i <= 4; ++i) {
      const double v = y0 + (y1 - y0) * i / 4,
                   s = x0 + (x1 - x0) * (i + 0.5) / 5,
                   at = axis.isLog ? std::pow(10, s) : s;
      os << "<path d=\"M" << number(begin) << " " << number(y(v)) << "H"
         << number(end) << "\" stroke=\"#ddd\"/><text x=\"" << number(begin - 6)
         << "\" y=\"" << number(y(v) + 4) << "\" text-anchor=\"end\">"
         << number(v) << "</text>\n"
         << "<text x=\"" << number(x(at)) << "\" y=\"" << kHeight - kBottom + 16
         << "\" text-anchor=\"middle\">" << shortNumber(at) << "</text>\n";
    }
    os << "<path d=\"M" << number(begin) << " "
       << number(y(percent(found.needed))) << "H" << number(end)
       << "\" stroke=\"#c22\" stroke-dasharray=\"5 3\"><title>the bound: "
       << found.needed << " of " << found.frames << " right</title></path>\n"
       << "<text x=\"" << number((begin + end) / 2) << "\" y=\""
       << kHeight - kBottom + 32 << "\" text-anchor=\"middle\">" << axis.name
       << "</text>\n";
    for (const Point *point : shown) {
      const bool isChosen = point == &found.points[found.chosen];
      os << "<circle cx=\"" << number(x(axis.of(*point))) << "\" cy=\""
         << number(y(percent(point->correct))) << "\" r=\""
         << (point->isPareto ? 4.5 : 3) << "\" fill=\""
         << (point->uniform ? "#888" : "#1764ab") << "\""
         << (isChosen ? " stroke=\"#e08a00\" stroke-width=\"3\"" : "")
         << "><title>" << escaped(titleOf(found, *point))
         << "</title></circle>\n";
    }
  }
  os << "<text transform=\"translate(14 " << kHeight / 2
     << ") rotate(-90)\" text-anchor=\"middle\">% right</text>\n";
  double at = kLeft;
  for (auto [color, stroke, label] :
       {std::tuple("#888", "none", "one width for all"),
        {"#1764ab", "none", "a width for each layer"},
        {"#1764ab", "#e08a00", "the choice"}}) {
    os << "<circle cx=\"" << at << "\" cy=\"" << kHeight - 16
       << "\" r=\"4\" fill=\"" << color << "\" stroke=\"" << stroke
       << "\" stroke-width=\"3\"/><text x=\"" << at + 10 << "\" y=\""
       << kHeight - 12 << "\">" << label << "</text>\n";
    at += 160;
  }
  os << "<path d=\"M" << at << " " << kHeight - 16
     << "h24\" stroke=\"#c22\" stroke-dasharray=\"5 3\"/><text x=\"" << at + 30
     << "\" y=\"" << kHeight - 12 << "\">the accuracy to keep; large points: "
     << "no other is better in all</text>\n</svg>\n";
  return text;
}
