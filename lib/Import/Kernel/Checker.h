// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checker's state, shared by its parts: Checker.cpp checks declarations
// and assignments, TensorForm.cpp and IndexForm.cpp turn the two notations of
// expressions into that of Program.h.
#pragma once

#include "Syntax.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <set>

namespace rhizome::kernel {
using Shape = std::vector<int64_t>;

/// "[11 11]", "a scalar" for [].
std::string shown(llvm::ArrayRef<int64_t> shape);

class Checker {
public:
  Checker(syntax::File file, const Source &source, Diagnostics &diagnostics)
      : file(std::move(file)), diagnostics(diagnostics) {
    program.file = source.file;
  }
  Program run();

private:
  struct State {
    bool known = true; ///< false: wrong declaration; report no more
    bool read = false;
    bool complete = false;                     ///< every element has a value
    std::vector<std::vector<Subscript>> parts; ///< assigned by numbers
    Place assigned;
    bool isAssigned = false, inferred = false;
  };

  syntax::File file;
  Diagnostics &diagnostics;
  Program program;
  std::vector<State> states; ///< of program.variables
  llvm::StringMap<int> names;
  /// Without a shape where the type is refused.
  llvm::StringMap<std::pair<std::optional<Shape>, Place>> types;
  bool ignoreCase = false;
  Statement *statement = nullptr;
  const syntax::Assignment *current = nullptr;

  // Declarations.
  void declareTypes();
  void declare(const syntax::Declaration &declaration);
  std::optional<Shape> shapeOf(const syntax::Type &type);
  void annotate(Variable &variable, const syntax::Annotation &annotation);
  void applyElements();
  void inferRoles();
  void finish();

  // Names.
  int find(llvm::StringRef name) const;
  /// The variable, -1 with an error; marks it as read.
  int read(llvm::StringRef name, Place at,
           const std::vector<syntax::Index> &indices = {});
  std::string nearest(llvm::StringRef name) const;
  std::string freshName(llvm::StringRef base);
  /// "[4 4]" of what is subscripted so in the assignment that is checked, if
  /// other accesses tell; otherwise "".
  std::string extentsOf(const std::vector<syntax::Index> &indices) const;
  std::string declarationOf(llvm::StringRef name, bool isRead,
                            const std::vector<syntax::Index> &indices) const;

  // Assignments.
  void assign(const syntax::Assignment &assignment);
  bool checkTarget(int variable, const syntax::Assignment &assignment);
  void markAssigned(int variable, const std::vector<Subscript> &subscripts,
                    Place at);
  static ExprPtr literal(double value, Place at);
  static ExprPtr apply(Operator op, std::vector<ExprPtr> operands, Place at);

  // CFDlang's operators.
  using Indices = std::vector<Subscript>;
  std::optional<Shape> tensorShape(const syntax::Node &node);
  std::optional<Shape> binaryShape(const syntax::Node &node);
  std::optional<Shape> contractShape(const syntax::Node &node);
  std::optional<Shape> transposeShape(const syntax::Node &node);
  bool checkGroups(const syntax::Node &node, const Shape &shape);
  void tensorAssignment(int target, const syntax::Assignment &assignment);
  void assignTensor(int target, Indices prefix, const syntax::Node &node,
                    Place at);
  ExprPtr tensorExpr(const syntax::Node &node, const Indices &indices);
  ExprPtr stacked(const syntax::Node &node, const Indices &indices);
  std::map<const syntax::Node *, Shape> shapes;

  // The index form.
  struct IndexName {
    int id;
    std::optional<int64_t> extent;
    Place from; ///< where the extent was found
    std::string source;
  };
  std::map<std::string, IndexName> scope;
  /// A subscript that is a sum; it is checked when all ranges are known.
  struct Sum {
    const syntax::Index *index;
    int variable;
    size_t dimension;
    Subscript subscript;
  };
  std::vector<Sum> sums; ///< of the statement
  void indexAssignment(int target, const syntax::Assignment &assignment);
  ExprPtr indexExpr(const syntax::Node &node);
  ExprPtr accessExpr(const syntax::Node &node);
  ExprPtr reduceExpr(const syntax::Node &node);
  std::optional<std::vector<Subscript>>
  subscripts(int variable, const std::vector<syntax::Index> &indices, Place at,
             bool isTarget);
  bool subscript(const Variable &variable, size_t dimension,
                 const syntax::Index &index, bool isTarget, Subscript &out);
  bool bindExtent(llvm::StringRef name, Place at, int64_t extent,
                  const std::string &source);
  bool bindByOffset(const std::string &name);
  bool checkSum(const Sum &sum);
};
} // namespace rhizome::kernel
