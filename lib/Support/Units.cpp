// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Units.h"
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
