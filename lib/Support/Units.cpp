// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Units.h"
#include <cmath>
#include <cstdio>
#include <iterator>

std::string rhizome::durationText(double seconds) {
  struct Unit {
    const char *name;
    double seconds;
  };
  constexpr Unit kUnits[] = {
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const Unit *unit = kUnits;
  // Values that three digits would round to 1000 use the next unit.
  while (unit != std::prev(std::end(kUnits)) &&
         seconds / unit->seconds >= 999.5)
    ++unit;
  const double value = seconds / unit->seconds;
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %s", value == 0 ? 0 : digits, value,
                unit->name);
  return text;
}

std::string rhizome::rateText(double perSecond) {
  if (!std::isfinite(perSecond))
    return "?";
  int digits = 0;
  double scale = 1;
  while (perSecond > 0 && perSecond * scale < 100 && digits < 9) {
    scale *= 10;
    ++digits;
  }
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits,
                std::floor(perSecond * scale + 0.5) / scale);
  std::string rate = text;
  if (rate.find('.') != std::string::npos)
    rate.erase(rate.find_last_not_of('0') + 1);
  if (rate.back() == '.')
    rate.pop_back();
  for (size_t at = std::min(rate.find('.'), rate.size()); at > 3; at -= 3)
    rate.insert(at - 3, ",");
  return rate;
}
