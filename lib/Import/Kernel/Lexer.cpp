// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text to tokens, each with its place in the user's file.
#include "Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace rhizome::kernel;

namespace {
class Lexer {
public:
  Lexer(const Source &source, Diagnostics &diagnostics)
      : rest(source.text), diagnostics(diagnostics) {
    at.line = source.firstLine, at.column = 1;
  }

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (skipBlanks()) {
      Token token = next();
      token.firstOfLine =
          tokens.empty() || tokens.back().at.line < token.at.line;
      tokens.push_back(token);
    }
    Token end;
    end.at = at;
    end.firstOfLine = true;
    tokens.push_back(end);
    return tokens;
  }

private:
  llvm::StringRef rest;
  Place at;
  Diagnostics &diagnostics;

  llvm::StringRef take(size_t count) {
    llvm::StringRef text = rest.take_front(count);
    for (char c : text)
      c == '\n' ? (++at.line, at.column = 1) : ++at.column;
    rest = rest.drop_front(text.size());
    return text;
  }

  /// False at the end.
  bool skipBlanks() {
    while (!rest.empty()) {
      if (llvm::isSpace(rest.front()) || rest.front() == '&') {
        take(1);
      } else if (rest.starts_with("//") || rest.front() == '!') {
        take(rest.find('\n'));
      } else if (rest.starts_with("/*")) {
        size_t end = rest.find("*/", 2);
        if (end == llvm::StringRef::npos)
          diagnostics.error(at, "this comment does not end", "close it by */");
        take(end == llvm::StringRef::npos ? end : end + 2);
      } else {
        return true;
      }
    }
    return false;
  }

  static bool isNameChar(char c) { return llvm::isAlnum(c) || c == '_'; }

  size_t digits(size_t from) const {
    while (from < rest.size() && llvm::isDigit(rest[from]))
      ++from;
    return from;
  }

  /// 12, 1.5, 2e-3, and Fortran's 1d0.
  Token number() {
    Token token{Token::Kind::Integer, at, {}, false};
    size_t end = digits(0);
    if (end + 1 < rest.size() && rest[end] == '.' &&
        llvm::isDigit(rest[end + 1])) {
      token.kind = Token::Kind::Real;
      end = digits(end + 1);
    }
    if (end < rest.size() && llvm::StringRef("eEdD").contains(rest[end])) {
      size_t exponent = end + 1;
      if (exponent < rest.size() &&
          (rest[exponent] == '+' || rest[exponent] == '-'))
        ++exponent;
      if (exponent < rest.size() && llvm::isDigit(rest[exponent])) {
        token.kind = Token::Kind::Real;
        end = digits(exponent);
      }
    }
    token.text = take(end);
    return token;
  }

  Token next() {
    char c = rest.front();
    if (llvm::isDigit(c))
      return number();
    Token token{Token::Kind::Symbol, at, {}, false};
    if (llvm::isAlpha(c) || c == '_') {
      token.kind = Token::Kind::Name;
      token.text = take(rest.take_while(isNameChar).size());
      return token;
    }
    if (rest.starts_with("::")) {
      token.text = take(2);
      return token;
    }
    if (llvm::StringRef("[]():,=+-*/.#^@").contains(c)) {
      token.text = take(1);
      return token;
    }
    std::string shown = llvm::isPrint(c)
                            ? std::string(1, c)
                            : "\\x" + llvm::toHex(llvm::StringRef(&c, 1), true);
    diagnostics.error(at, "'" + shown + "' means nothing in a kernel");
    // One error for a run of such bytes.
    llvm::StringRef before = rest;
    take(1);
    while (!rest.empty() && !llvm::isPrint(rest.front()) &&
           !llvm::isSpace(rest.front()))
      take(1);
    token.kind = Token::Kind::Bad;
    token.text = before.drop_back(rest.size());
    return token;
  }
};
} // namespace

std::vector<Token> rhizome::kernel::tokenize(const Source &source,
                                             Diagnostics &diagnostics) {
  return Lexer(source, diagnostics).run();
}
