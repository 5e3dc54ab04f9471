// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parser's result, before names and shapes are checked: declarations and
// statements as written, CFDlang's tensor operators and the index form
// together. Used only by the parser and the checker.
#pragma once

#include "Lexer.h"
#include "rhizome/Import/Kernel/Program.h"

namespace rhizome::kernel::syntax {
struct Node;
using NodePtr = std::unique_ptr<Node>;

/// A subscript as written: names times factors and an offset. As the name of a
/// reduction, one term and perhaps its range.
struct Index {
  struct Term {
    llvm::StringRef name;
    int64_t factor = 1;
  };
  Place at;
  std::vector<Term> terms; ///< each name once; empty: a number
  int64_t offset = 0;
  bool isSum = false;           ///< more than a name or a number was written
  std::optional<int64_t> range; ///< sum(a : 3)

  /// The name, if there is one alone; otherwise "".
  llvm::StringRef name() const {
    return isSum || terms.empty() ? "" : terms[0].name;
  }
};

struct Node {
  enum class Kind {
    Number,
    Name,      ///< a whole tensor
    Stack,     ///< [a b c]
    Product,   ///< a # b
    Dot,       ///< a . b
    Contract,  ///< a . [[i j] …]
    Transpose, ///< a ^ [[i j] …]
    Binary,    ///< a + b, a - b, a * b, a / b
    Negate,
    Access, ///< a[i, j + 1]
    Reduce, ///< sum(k, l) a
    Call    ///< sqrt(a), min(a, b)
  } kind;
  Place at;
  double number = 0;
  llvm::StringRef name;        ///< Name, Access
  Operator op = Operator::Add; ///< Binary, Reduce, Call
  std::vector<NodePtr> operands;
  unsigned height = 0;        ///< of the tree below; a long sum is a high one
  std::vector<Index> indices; ///< Access; Reduce: names
  /// Contract, Transpose: the groups with their locations.
  std::vector<std::vector<int64_t>> groups;
  std::vector<Place> groupPlaces;
};

struct Annotation {
  Place at;
  llvm::StringRef name;
  std::vector<llvm::StringRef> arguments; ///< as written, without blanks
};

/// A type: extents, or the name of one.
struct Type {
  Place at;
  llvm::StringRef name; ///< empty: `extents`
  std::vector<int64_t> extents;
};

struct Declaration {
  Place at;
  llvm::StringRef name;
  Type type;
  bool isInput = false, isOutput = false;
  bool isFortran = false, hasIntent = false;
  unsigned bits = 64;
  std::vector<std::pair<int64_t, int64_t>> halo; ///< empty: none declared
  Place haloAt;
  std::vector<Annotation> annotations;
  /// It could not be read, which is reported: nothing more of its name is.
  bool isUnread = false;
};

struct TypeName {
  Place at;
  llvm::StringRef name;
  Type type;
  bool isUnread = false; ///< as of a declaration
};

struct Assignment {
  Place at;
  llvm::StringRef target;
  bool isIndexForm = false;
  std::vector<Index> indices;
  NodePtr value;
};

struct Elements {
  Place at;
  std::vector<std::pair<Place, llvm::StringRef>> names;
  int64_t count = 0;
  ElementDim where = ElementDim::First;
};

struct File {
  std::vector<TypeName> types;
  std::vector<Declaration> declarations;
  std::optional<Elements> elements;
  std::vector<Assignment> assignments;
  std::vector<llvm::StringRef> unreadTargets; ///< of assignments
  Place end;
};

/// Reads a whole text; parts that cannot be read are omitted and reported.
File parse(const Source &source, bool cfdlangCompat, Diagnostics &diagnostics);
} // namespace rhizome::kernel::syntax
