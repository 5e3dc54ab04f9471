// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The recursive-descent parser's state, shared by its parts: Parser.cpp reads
// files and expressions, Declarations.cpp declarations of both kinds.
#pragma once

#include "Syntax.h"
#include "llvm/ADT/StringSet.h"

namespace rhizome::kernel::syntax {
class Parser {
public:
  Parser(const Source &source, bool compat, Diagnostics &diagnostics)
      : compat(compat), diagnostics(diagnostics),
        tokens(tokenize(source, diagnostics)) {}
  File run();

private:
  bool compat;
  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t position = 0;
  size_t itemStart = 0; ///< position of the item's first token
  unsigned depth = 0;
  bool failed = false; ///< the current item; its rest is skipped
  bool indexForm = false;
  llvm::StringSet<> declared;
  File file;

  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(position + ahead, tokens.size() - 1)];
  }
  Token take() {
    Token token = peek();
    if (position + 1 < tokens.size())
      ++position;
    return token;
  }
  bool at(llvm::StringRef symbol) const { return peek().is(symbol); }
  bool atName(llvm::StringRef word) const {
    return peek().isName() && peek().text == word;
  }
  bool accept(llvm::StringRef symbol) {
    if (!at(symbol))
      return false;
    take();
    return true;
  }
  /// Reports once per item: what was expected, and what was found.
  void fail(const Token &token, const llvm::Twine &expected,
            const llvm::Twine &remedy = "");
  std::string insteadOfParenthesis(llvm::StringRef target) const;
  bool expect(llvm::StringRef symbol, const llvm::Twine &where);
  std::optional<int64_t> integer(const llvm::Twine &what,
                                 int64_t most = int64_t(1) << 40);
  llvm::StringRef name(const llvm::Twine &what);
  void skipToItem();

  void item();
  /// Names of an item that failed, whose tokens end at the position, so that
  /// its one mistake is reported once.
  void noteUnread();
  void elements();
  void assignment();
  std::vector<Index> indexList(const llvm::Twine &what);
  std::optional<Index> index();
  bool indexTerm(Index &to, bool isNegative);
  Index reducedIndex();

  void typeDeclaration();
  void varDeclaration();
  bool atFortran() const;
  void fortranDeclaration();
  std::optional<unsigned> fortranKind();
  std::vector<int64_t> fortranShape();
  void add(Declaration declaration);
  Type type();
  void halo(Declaration &declaration);
  void annotations(Declaration &declaration);

  NodePtr make(Node::Kind kind, Place place);
  /// Appends an operand; a tree that gets too high is an error.
  void adopt(Node &node, NodePtr operand);
  NodePtr binary(const Token &op, NodePtr left, NodePtr right);
  NodePtr expression();
  NodePtr term();
  NodePtr contraction();
  NodePtr dotted(NodePtr left);
  NodePtr factor();
  NodePtr transposed();
  NodePtr atom();
  NodePtr nameOrAccess();
  NodePtr call(Operator op);
  bool reductionFollows() const;
  bool pairsFollow() const;
  void pairs(Node &node);
};
} // namespace rhizome::kernel::syntax
