// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The oracle of kernels: direct evaluation of a program's formulas, one element
// after the other.
#include "Oracle.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace rhizome::kernel;

namespace {
class Evaluator {
public:
  Evaluator(const Program &program) : program(program) {
    for (const Variable &variable : program.variables) {
      std::vector<int64_t> steps(variable.extents.size());
      int64_t step = 1;
      for (size_t d = steps.size(); d-- > 0;) {
        steps[d] = step;
        auto [below, above] = variable.halo[d];
        step *= below + variable.extents[d] + above;
      }
      strides.push_back(steps);
      sizes.push_back(step);
    }
    tensors.resize(program.variables.size());
  }
  void run(std::map<std::string, std::vector<double>> &values);

private:
  const Program &program;
  std::vector<std::vector<int64_t>> strides;
  std::vector<int64_t> sizes;
  std::vector<std::vector<double>> tensors;
  std::vector<int64_t> index; ///< of the statement's index variables

  int64_t placeOf(int variable, const std::vector<Subscript> &subscripts) const;
  double value(const Expr &expr, const Statement &statement);
  /// Calls fn for all values of these index variables.
  template <typename Fn>
  void forAll(const std::vector<int> &over, const Statement &statement, Fn fn);
};
} // namespace

int64_t Evaluator::placeOf(int variable,
                           const std::vector<Subscript> &subscripts) const {
  int64_t place = 0;
  for (size_t d = 0; d < subscripts.size(); ++d) {
    int64_t at =
        subscripts[d].offset + program.variables[variable].halo[d].first;
    for (const IndexTerm &term : subscripts[d].terms)
      at += term.factor * index[term.index];
    place += at * strides[variable][d];
  }
  return place;
}

template <typename Fn>
void Evaluator::forAll(const std::vector<int> &over, const Statement &statement,
                       Fn fn) {
  for (int i : over)
    index[i] = 0;
  while (true) {
    fn();
    size_t d = over.size();
    while (d-- > 0) {
      if (++index[over[d]] < statement.extents[over[d]])
        break;
      index[over[d]] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

static double combine(Operator op, double a, double b) {
  switch (op) {
  case Operator::Add:
    return a + b;
  case Operator::Subtract:
    return a - b;
  case Operator::Multiply:
    return a * b;
  case Operator::Divide:
    return a / b;
  case Operator::Minimum:
    return std::fmin(a, b);
  case Operator::Maximum:
    return std::fmax(a, b);
  case Operator::Negate:
    return -a;
  case Operator::Sqrt:
    return std::sqrt(a);
  case Operator::Exp:
    return std::exp(a);
  case Operator::Log:
    return std::log(a);
  case Operator::Abs:
    return std::fabs(a);
  case Operator::Sin:
    return std::sin(a);
  case Operator::Cos:
    return std::cos(a);
  case Operator::Tanh:
    return std::tanh(a);
  }
  llvm_unreachable("all operators are named");
}

double Evaluator::value(const Expr &expr, const Statement &statement) {
  switch (expr.kind) {
  case Expr::Kind::Literal:
    return expr.literal;
  case Expr::Kind::Access:
    return tensors[expr.variable][placeOf(expr.variable, expr.subscripts)];
  case Expr::Kind::Apply: {
    double first = value(*expr.operands[0], statement);
    double second =
        expr.operands.size() > 1 ? value(*expr.operands[1], statement) : 0;
    return combine(expr.op, first, second);
  }
  case Expr::Kind::Reduce: {
    double out = expr.op == Operator::Add        ? 0
                 : expr.op == Operator::Multiply ? 1
                 : expr.op == Operator::Minimum  ? INFINITY
                                                 : -INFINITY;
    forAll(expr.reduced, statement, [&] {
      out = combine(expr.op, out, value(*expr.operands[0], statement));
    });
    return out;
  }
  }
  llvm_unreachable("all kinds are named");
}

void Evaluator::run(std::map<std::string, std::vector<double>> &values) {
  for (auto [variable, tensor, size] :
       llvm::zip(program.variables, tensors, sizes)) {
    if (variable.isInput())
      tensor = values[variable.name];
    tensor.resize(size);
  }
  for (const Statement &statement : program.statements) {
    index.assign(statement.extents.size(), 0);
    std::vector<int> over;
    for (const Subscript &subscript : statement.subscripts)
      if (!subscript.isNumber())
        over.push_back(subscript.index());
    // A statement may read what it assigns.
    std::vector<double> fresh = tensors[statement.target];
    bool narrow = program.variables[statement.target].bits == 32;
    forAll(over, statement, [&] {
      double result = value(*statement.value, statement);
      fresh[placeOf(statement.target, statement.subscripts)] =
          narrow ? float(result) : result;
    });
    tensors[statement.target] = std::move(fresh);
  }
  for (auto [variable, tensor] : llvm::zip(program.variables, tensors))
    values[variable.name] = std::move(tensor);
}

void rhizome::kernel::evaluate(
    const Program &program,
    std::map<std::string, std::vector<double>> &values) {
  Evaluator(program).run(values);
}
