// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Systems in several formats as a picture: a self-contained SVG. Both axes are
// logarithmic; formats without error are on the lower edge.
#include "rhizome/KernelCommands/Systems.h"
#include "rhizome/Support/Quoting.h"
#include "rhizome/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::kernelcommands;

namespace {
/// A logarithmic axis in whole decades.
struct Axis {
  double low = INFINITY, high = -INFINITY;
  double begin, end; ///< where they are in the picture

  Axis(double begin, double end) : begin(begin), end(end) {}
  void add(double value) {
    if (value <= 0 || !std::isfinite(value))
      return;
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  }
  void close() {
    if (low > high)
      low = high = 0;
    if (low == high)
      high += 1;
  }
  double decade(double l) const {
    return begin + (l - low) / (high - low) * (end - begin);
  }
  double at(double value) const {
    return decade(value > 0 ? std::clamp(std::log10(value), low, high) : low);
  }
};
} // namespace

std::string kernelcommands::drawSystems(const SystemResult &result,
                                        llvm::StringRef title) {
  constexpr double width = 860, height = 560, left = 80, right = 170, top = 50,
                   bottom = 60;
  // Of each lane, as often as it fits.
  std::vector<const SystemPoint *> points;
  Axis x(left, width - right), y(height - bottom, top);
  auto errorOf = [&](const SystemPoint &p) {
    return result.formats.empty() ? 0 : result.formats[p.format].relative;
  };
  for (const SystemPoint &p : result.points)
    if (!p.bound.empty()) {
      points.push_back(&p);
      x.add(p.elementsPerS);
      y.add(errorOf(p));
    }
  x.close();
  y.close();
  std::string text;
  llvm::raw_string_ostream os(text);
  auto number = [](double v) { return llvm::format("%.1f", v); };
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width
     << " " << height << "\" font-family=\"sans-serif\" font-size=\"11\">\n"
     << "<title>" << markupText(title) << "</title>\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
     << "<text x=\"" << left << "\" y=\"24\" font-size=\"15\">"
     << markupText(title) << "</text>\n";
  for (double l = x.low; l <= x.high; ++l)
    os << "<path d=\"M" << number(x.decade(l)) << " " << top << "V"
       << height - bottom << "\" stroke=\"#ddd\"/><text x=\""
       << number(x.decade(l)) << "\" y=\"" << height - bottom + 16
       << "\" text-anchor=\"middle\">1e" << int(l) << "</text>\n";
  const double step = std::max(1.0, std::ceil((y.high - y.low) / 12));
  for (double l = y.low; l <= y.high; l += step)
    os << "<path d=\"M" << left << " " << number(y.decade(l)) << "H"
       << width - right << "\" stroke=\"#ddd\"/><text x=\"" << left - 6
       << "\" y=\"" << number(y.decade(l) + 4) << "\" text-anchor=\"end\">1e"
       << int(l) << "</text>\n";
  os << "<text x=\"" << (left + width - right) / 2 << "\" y=\"" << height - 18
     << "\" text-anchor=\"middle\">elements per second</text>\n"
     << "<text transform=\"translate(20 " << height / 2
     << ") rotate(-90)\" text-anchor=\"middle\">largest error over the "
        "largest result</text>\n";
  // The fastest at each error.
  std::string front;
  double least = INFINITY;
  for (const SystemPoint *p : llvm::reverse(points))
    if (const double error = errorOf(*p);
        error < least &&
        !(result.formats.empty() ? 0 : result.formats[p->format].overflows)) {
      least = error;
      llvm::raw_string_ostream(front)
          << (front.empty() ? "M" : "L") << number(x.at(p->elementsPerS)) << " "
          << number(y.at(error));
    }
  os << "<path d=\"" << front
     << "\" fill=\"none\" stroke=\"#1764ab\" stroke-width=\"1.5\"/>\n";
  std::vector<bool> isNamed(std::max<size_t>(result.formats.size(), 1));
  for (const SystemPoint *p : llvm::reverse(points)) {
    const SystemFormat *format =
        result.formats.empty() ? nullptr : &result.formats[p->format];
    const std::string name = format ? format->format.str() : "";
    const char *color = format && format->overflows          ? "#c22"
                        : format && format->format.isFloat() ? "#2a8a3e"
                                                             : "#1764ab";
    os << "<circle cx=\"" << number(x.at(p->elementsPerS)) << "\" cy=\""
       << number(y.at(errorOf(*p))) << "\" r=\"" << (p->isPareto ? 5 : 3)
       << "\" fill=\"" << color << "\"><title>"
       << markupText(name + " " + std::to_string(p->lanes) + " lanes, " +
                     rateText(p->elementsPerS) + " per second; " + p->bound)
       << "</title></circle>\n";
    // On the left side where the legend is near.
    const double at = x.at(p->elementsPerS);
    const bool isLeft = at > width - right - 70;
    if (!isNamed[p->format])
      os << "<text x=\"" << number(at + (isLeft ? -7 : 7)) << "\" y=\""
         << number(y.at(errorOf(*p)) + (isLeft ? 14 : -5))
         << (isLeft ? "\" text-anchor=\"end\">" : "\">") << markupText(name)
         << "</text>\n";
    isNamed[p->format] = true;
  }
  int row = 0;
  for (auto [color, label] : {std::pair{"#1764ab", "fixed point"},
                              {"#2a8a3e", "floating point"},
                              {"#c22", "overflowed"}})
    os << "<circle cx=\"" << width - right + 24 << "\" cy=\"" << top + 18 * row
       << "\" r=\"4\" fill=\"" << color << "\"/><text x=\""
       << width - right + 34 << "\" y=\"" << top + 4 + 18 * row++ << "\">"
       << label << "</text>\n";
  os << "</svg>\n";
  return text;
}
