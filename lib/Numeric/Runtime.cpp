// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls from compiled kernels.
#include "rhizome/Numeric/Runtime.h"

using namespace rhizome::numeric;

// From the lowest bit: kind 1, rounding 3, overflow 2; then for fixed point
// sign 1, integer bits 10, fraction bits 10 (both + 512); for floats subnormals
// 1, finite 1, exponent bits 4, mantissa bits 6, bias 18 (+ 2^17).
namespace {
class Word {
public:
  explicit Word(uint64_t word = 0) : word(word) {}
  void put(uint64_t value, int bits) {
    word |= value << at;
    at += bits;
  }
  int take(int bits) {
    int value = int(word >> at & ((uint64_t(1) << bits) - 1));
    at += bits;
    return value;
  }
  uint64_t word;

private:
  int at = 0;
};
constexpr int countBias = 512, biasBias = 1 << 17;
} // namespace

uint64_t rhizome::numeric::pack(const Arithmetic &n) {
  const Format &f = n.format();
  Word w;
  w.put(f.isFloat(), 1);
  w.put(uint64_t(n.rounding()), 3);
  w.put(uint64_t(n.overflow()), 2);
  if (f.isFixed()) {
    w.put(f.isSigned, 1);
    w.put(uint64_t(f.integerBits + countBias), 10);
    w.put(uint64_t(f.fractionBits + countBias), 10);
  } else {
    w.put(f.subnormals, 1);
    w.put(f.finite, 1);
    w.put(uint64_t(f.exponentBits), 4);
    w.put(uint64_t(f.mantissaBits), 6);
    w.put(uint64_t(f.bias + biasBias), 18);
  }
  return w.word;
}

Arithmetic rhizome::numeric::unpack(uint64_t word) {
  Word w(word);
  bool isFloat = w.take(1);
  auto rounding = Rounding(w.take(3));
  auto overflow = Overflow(w.take(2));
  if (!isFloat) {
    bool isSigned = w.take(1);
    int integerBits = w.take(10) - countBias;
    int fractionBits = w.take(10) - countBias;
    return Arithmetic(Format::fixed(integerBits, fractionBits, isSigned),
                      rounding, overflow);
  }
  bool subnormals = w.take(1), finite = w.take(1);
  int exponentBits = w.take(4), mantissaBits = w.take(6);
  int bias = w.take(18) - biasBias;
  return Arithmetic(
      Format::floating(exponentBits, mantissaBits, bias, subnormals, finite),
      rounding, overflow);
}

static Bits call(const Arithmetic &n, Function function, Bits a, Bits b,
                 Bits c) {
  switch (function) {
  case Function::Add:
    return n.add(a, b);
  case Function::Sub:
    return n.sub(a, b);
  case Function::Mul:
    return n.mul(a, b);
  case Function::Div:
    return n.div(a, b);
  case Function::Min:
    return n.min(a, b);
  case Function::Max:
    return n.max(a, b);
  case Function::Fma:
    return n.fma(a, b, c);
  case Function::Sqrt:
    return n.sqrt(a);
  case Function::Exp:
    return n.exp(a);
  case Function::Log:
    return n.log(a);
  case Function::Neg:
    return n.neg(a);
  case Function::Abs:
    return n.abs(a);
  }
  return 0;
}

uint64_t rhizome_num_float(uint64_t arithmetic, uint32_t function, uint64_t a,
                           uint64_t b, uint64_t c) {
  return uint64_t(call(unpack(arithmetic), Function(function), a, b, c));
}

unsigned __int128 rhizome_num_fixed(uint64_t arithmetic, uint32_t function,
                                    unsigned __int128 a) {
  Arithmetic n = unpack(arithmetic);
  return call(n, Function(function), a & n.format().mask(), 0, 0);
}

uint64_t rhizome_num_quotient(uint64_t arithmetic, uint64_t a, uint64_t b) {
  Arithmetic n = unpack(arithmetic);
  const Bits mask = n.format().mask();
  return uint64_t(n.div(a & mask, b & mask));
}

unsigned __int128 rhizome_num_convert(uint64_t arithmetic, uint64_t from,
                                      unsigned __int128 a) {
  Format f = unpack(from).format();
  return unpack(arithmetic).convert(f, a & f.mask());
}
