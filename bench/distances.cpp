// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome-bench-distances EXPONENT-BITS MANTISSA-BITS: how close e^x and log x
// of all numbers of an IEEE format come to what rounding decides on (numbers of
// the format, and halves between two), as -log2 of the least distance for
// results scaled into 1 ... 2, with the argument. In long double, which must
// have 64 bits; results closer than 2^-60 are to be computed again by other
// means (single's e^x next to 0). Single takes a minute or two.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

static_assert(LDBL_MANT_DIG >= 64, "long double is too short");

namespace {
struct Least {
  long double distance = 1, argument = 0;
};

void look(Least &least, long double x, long double result, int mantissaBits) {
  int exponent;
  const long double scaled =
      std::ldexp(std::frexp(std::fabs(result), &exponent), mantissaBits + 2);
  long double rest = scaled - std::floor(scaled);
  rest = std::ldexp(std::fmin(rest, 1 - rest), -mantissaBits - 1);
  if (rest < least.distance)
    least = {rest, x};
}

void print(const char *name, const Least &least) {
  std::printf("%s: 2^%.3Lf at %La\n", name, std::log2(least.distance),
              least.argument);
}
} // namespace

int main(int argc, char **argv) {
  const int e = argc == 3 ? std::atoi(argv[1]) : 0;
  const int m = argc == 3 ? std::atoi(argv[2]) : 0;
  if (e < 2 || e > 8 || m < 1 || m > 23) {
    std::fprintf(stderr,
                 "usage: rhizome-bench-distances E M, E <= 8, M <= 23\n");
    return 2;
  }
  const int bias = (1 << (e - 1)) - 1;
  const long first = 1L << m;
  // Below 2^-(M + 3) e^x is next to 1; above 2^(E + 1) it overflows.
  Least exp, log;
  for (int power = -(m + 3); power <= e + 1; ++power)
    for (long digits = first; digits < 2 * first; ++digits)
      for (int sign : {1, -1}) {
        const long double x = sign * std::ldexp((long double)digits, power - m);
        look(exp, x, std::exp(x), m);
      }
  for (int power = 1 - bias - m; power <= bias; ++power)
    for (long digits = first; digits < 2 * first; ++digits) {
      // Subnormal numbers have fewer digits.
      const int missing = 1 - bias - power;
      if (missing > 0 && (digits & ((1L << missing) - 1)))
        continue;
      const long double x = std::ldexp((long double)digits, power - m);
      if (x != 1)
        look(log, x, std::log(x), m);
    }
  print("exp", exp);
  print("log", log);
  return 0;
}
