// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats as a picture: a self-contained SVG. Both axes are
// logarithmic; points without error are on the lower edge.
#include "rhizome/KernelCommands/ExploreFormats.h"
#include "rhizome/Support/Quoting.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace rhizome;
using namespace rhizome::kernelcommands;

std::string kernelcommands::drawFormats(const ExploreFormatsResult &result,
                                        llvm::StringRef title) {
  constexpr double width = 860, height = 560, left = 80, right = 170, top = 50,
                   bottom = 60;
  double x0 = 1e300, x1 = 0, y0 = 1e300, y1 = 0;
  for (const FormatPoint &p : result.points) {
    x0 = std::min(x0, p.luts), x1 = std::max(x1, p.luts);
    if (p.meanSquare > 0 && std::isfinite(p.meanSquare))
      y0 = std::min(y0, p.meanSquare), y1 = std::max(y1, p.meanSquare);
  }
  if (x0 > x1)
    x0 = 1, x1 = 10;
  if (y0 > y1)
    y0 = 1e-3, y1 = 1;
  double lx0 = std::floor(std::log10(std::max(x0, 1.0))),
         lx1 = std::ceil(std::log10(x1 + 1)), ly0 = std::floor(std::log10(y0)),
         ly1 = std::ceil(std::log10(y1)) + 0.01;
  auto x = [&](double v) {
    return left + (std::log10(std::max(v, 1.0)) - lx0) / (lx1 - lx0) *
                      (width - left - right);
  };
  auto y = [&](double v) {
    double l = v > 0 ? std::log10(v) : ly0;
    l = std::min(std::max(l, ly0), ly1);
    return height - bottom - (l - ly0) / (ly1 - ly0) * (height - top - bottom);
  };
  std::string text;
  llvm::raw_string_ostream os(text);
  auto number = [](double v) { return llvm::format("%.1f", v); };
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width
     << " " << height << "\" font-family=\"sans-serif\" font-size=\"11\">\n"
     << "<title>" << markupText(title) << "</title>\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
     << "<text x=\"" << left << "\" y=\"24\" font-size=\"15\">"
     << markupText(title) << "</text>\n";
  for (double l = lx0; l <= lx1; ++l)
    os << "<path d=\"M" << number(x(std::pow(10, l))) << " " << top << "V"
       << height - bottom << "\" stroke=\"#ddd\"/><text x=\""
       << number(x(std::pow(10, l))) << "\" y=\"" << height - bottom + 16
       << "\" text-anchor=\"middle\">" << std::llround(std::pow(10, l))
       << "</text>\n";
  double step = std::max(1.0, std::ceil((ly1 - ly0) / 12));
  for (double l = ly0; l <= ly1; l += step)
    os << "<path d=\"M" << left << " " << number(y(std::pow(10, l))) << "H"
       << width - right << "\" stroke=\"#ddd\"/><text x=\"" << left - 6
       << "\" y=\"" << number(y(std::pow(10, l)) + 4)
       << "\" text-anchor=\"end\">1e" << int(l) << "</text>\n";
  os << "<text x=\"" << (left + width - right) / 2 << "\" y=\"" << height - 18
     << "\" text-anchor=\"middle\">LUTs of one multiply-add</text>\n"
     << "<text transform=\"translate(20 " << height / 2
     << ") rotate(-90)\" text-anchor=\"middle\">mean square error</text>\n";
  std::string front;
  for (const FormatPoint &p : result.points)
    if (p.isPareto) {
      llvm::raw_string_ostream line(front);
      line << (front.empty() ? "M" : "L") << number(x(p.luts)) << " "
           << number(y(p.meanSquare));
    }
  os << "<path d=\"" << front
     << "\" fill=\"none\" stroke=\"#1764ab\" stroke-width=\"1.5\"/>\n";
  for (const FormatPoint &p : result.points) {
    const char *color = p.overflows          ? "#c22"
                        : p.format.isFixed() ? "#1764ab"
                                             : "#2a8a3e";
    os << "<circle cx=\"" << number(x(p.luts)) << "\" cy=\""
       << number(y(p.meanSquare)) << "\" r=\"" << (p.isPareto ? 5 : 3)
       << "\" fill=\"" << color << "\"><title>" << markupText(p.format.str())
       << ": " << llvm::format("%.3g", p.meanSquare) << "</title></circle>\n";
    if (p.isPareto)
      os << "<text x=\"" << number(x(p.luts) + 7) << "\" y=\""
         << number(y(p.meanSquare) - 5) << "\">" << markupText(p.format.str())
         << "</text>\n";
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
