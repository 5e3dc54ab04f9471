// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of osa.unary, in any arithmetic of Numeric/Functions.h.
#pragma once

#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Numeric/Functions.h"

namespace rhizome::osa {
template <typename A, typename V>
V applyUnary(A &&a, UnaryKind kind, const V &x) {
  switch (kind) {
  case UnaryKind::Abs:
    return a.abs(x);
  case UnaryKind::Erf:
    return a.erf(x);
  case UnaryKind::Exp:
    return a.exp(x);
  case UnaryKind::Gelu:
    return numeric::gelu(a, x);
  case UnaryKind::HardSwish:
    return numeric::hardSwish(a, x);
  case UnaryKind::Log:
    return a.log(x);
  case UnaryKind::Mish:
    return numeric::mish(a, x);
  case UnaryKind::Neg:
    return a.neg(x);
  case UnaryKind::Reciprocal:
    return a.div(a.real(1), x);
  case UnaryKind::Sigmoid:
    return numeric::sigmoid(a, x);
  case UnaryKind::Softplus:
    return numeric::softplus(a, x);
  case UnaryKind::Softsign:
    return numeric::softsign(a, x);
  case UnaryKind::Sqrt:
    return a.sqrt(x);
  case UnaryKind::Tanh:
    return a.tanh(x);
  }
  llvm_unreachable("every kind is handled");
}
} // namespace rhizome::osa
