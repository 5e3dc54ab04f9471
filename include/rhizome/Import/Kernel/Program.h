// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A checked kernel in the common form of all notations: each statement
// defines a tensor's elements as a scalar expression over index variables.
// Names are resolved, ranges are known, CFDlang's tensor operators are gone.
#pragma once

#include "rhizome/Import/Kernel/Diagnostic.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rhizome::kernel {
/// The role of a variable for the kernel's caller.
enum class Role { Local, Input, Output, InOut };
/// The position of the element dimension of an `elem` variable.
enum class ElementDim { None, First, Last };

struct Variable {
  std::string name;
  Place at;
  std::vector<int64_t> extents; ///< without halo and element dimension
  /// Margins below and above each dimension that may be read; zeros if none.
  std::vector<std::pair<int64_t, int64_t>> halo;
  Role role = Role::Local;
  bool columnMajor = false;
  unsigned bits = 64;  ///< of the IEEE number that holds an element
  std::string format;  ///< a number format, e.g. "fixed<8,24>", "" for none
  double accuracy = 0; ///< largest relative error allowed, 0 for none
  ElementDim element = ElementDim::None;

  bool isInput() const { return role == Role::Input || role == Role::InOut; }
  bool isOutput() const { return role == Role::Output || role == Role::InOut; }
  bool hasHalo() const;
};

enum class Operator {
  Add,
  Subtract,
  Multiply,
  Divide,
  Negate,
  Minimum,
  Maximum,
  Sqrt,
  Exp,
  Log,
  Abs,
  Sin,
  Cos,
  Tanh
};

/// An index variable of the statement times a factor.
struct IndexTerm {
  int index;
  int64_t factor = 1;
};

/// One subscript: a sum of index variables, plus an offset.
struct Subscript {
  /// By rising index, each once, factors not 0; empty: a number.
  std::vector<IndexTerm> terms;
  int64_t offset = 0;

  static Subscript number(int64_t number) { return {{}, number}; }
  static Subscript ofIndex(int index) { return {{{index}}, 0}; }
  bool isNumber() const { return terms.empty(); }
  /// The only index of a subscript on the left side; -1 for a number.
  int index() const { return terms.empty() ? -1 : terms[0].index; }
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;
struct Expr {
  enum class Kind { Literal, Access, Apply, Reduce } kind;
  Place at;
  double literal = 0;                ///< Literal
  int variable = -1;                 ///< Access
  std::vector<Subscript> subscripts; ///< Access
  Operator op = Operator::Add;       ///< Apply; Reduce: Add, Multiply, Minimum
                                     ///< or Maximum
  std::vector<int> reduced;          ///< Reduce: index variables
  std::vector<ExprPtr> operands;
};

struct Statement {
  Place at;
  int target = -1;
  std::vector<Subscript> subscripts; ///< of the target: an index or a number
  std::vector<int64_t> extents;      ///< of each index variable
  ExprPtr value;
};

struct Program {
  std::string name; ///< of the kernel: an identifier
  std::string file;
  std::vector<Variable> variables;
  std::vector<Statement> statements;
  int64_t elements = 0; ///< of an `elem` loop, 0 without one

  /// Variables that the caller passes: inputs, then outputs that are not
  /// inputs.
  std::vector<int> arguments() const;
};

struct ParseOptions {
  std::string name = "kernel"; ///< the kernel's name
  /// Right-associative binary operators, and `.` with the precedence of `*`, as
  /// in the reference implementation of CFDlang.
  bool cfdlangCompat = false;
};

/// Parses and checks a kernel in any of the notations. nullopt with at least
/// one error in `diagnostics`; never crashes on any text.
std::optional<Program> parseProgram(const Source &source,
                                    const ParseOptions &options,
                                    Diagnostics &diagnostics);
} // namespace rhizome::kernel
