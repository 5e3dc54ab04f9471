// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that compiled kernels call for arithmetic that is not inline:
// custom floats, and functions beyond the four operations. A call passes its
// format, rounding and overflow in one word. C linkage, no LLVM: a kernel's
// object file links with libRhizomeNumeric.a, a JIT uses the addresses.
#pragma once

#include "rhizome/Numeric/Arithmetic.h"

namespace rhizome::numeric {
enum class Function : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Min,
  Max,
  Fma,
  Sqrt,
  Exp,
  Log,
  Neg,
  Abs
};

/// A format, a rounding and an overflow in 64 bits.
uint64_t pack(const Arithmetic &arithmetic);
Arithmetic unpack(uint64_t word);
} // namespace rhizome::numeric

extern "C" {
/// A function on patterns of a float format; unused operands
/// are ignored.
uint64_t rhizome_num_float(uint64_t arithmetic, uint32_t function, uint64_t a,
                           uint64_t b, uint64_t c);
/// A function of one operand on fixed-point patterns.
unsigned __int128 rhizome_num_fixed(uint64_t arithmetic, uint32_t function,
                                    unsigned __int128 a);
/// A quotient of fixed-point patterns of at most 64 bits; bits above the
/// format's are ignored.
uint64_t rhizome_num_quotient(uint64_t arithmetic, uint64_t a, uint64_t b);
/// Converts a pattern of the format in `from` (its rounding and overflow are
/// ignored) into the format of `arithmetic`.
unsigned __int128 rhizome_num_convert(uint64_t arithmetic, uint64_t from,
                                      unsigned __int128 a);
}
