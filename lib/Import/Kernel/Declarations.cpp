// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations: CFDlang's `var` and `type` with halo and annotations, and the
// subset of Fortran's that declares real arrays.
#include "Parser.h"
#include "llvm/ADT/StringSwitch.h"

using namespace rhizome::kernel;
using namespace rhizome::kernel::syntax;

void Parser::add(Declaration declaration) {
  declared.insert(declaration.name);
  if (declaration.isFortran)
    declared.insert(declaration.name.lower());
  file.declarations.push_back(std::move(declaration));
}

void Parser::noteUnread() {
  const size_t end = position;
  position = itemStart;
  const bool isFortran = atFortran();
  Declaration one;
  one.isUnread = true;
  one.isFortran = isFortran;
  auto addName = [&](const Token &token) {
    one.at = token.at;
    one.name = token.text;
    if (token.isName() &&
        !declared.contains(isFortran ? one.name.lower() : one.name.str()))
      add(one);
  };
  if (isFortran) {
    size_t first = itemStart;
    while (first < end && !tokens[first].is("::"))
      ++first;
    int depth = 0;
    for (size_t i = first + 1; i < end; ++i) {
      depth += int(tokens[i].is("(")) - int(tokens[i].is(")"));
      if (depth == 0)
        addName(tokens[i]);
    }
  } else if (atName("var") && peek(1).isName()) {
    take();
    while ((atName("input") || atName("output")) && !peek(1).is(":"))
      take();
    addName(peek());
  } else if (atName("type") && peek(1).isName()) {
    file.types.push_back({peek(1).at, peek(1).text, Type(), true});
  } else if (peek().isName()) {
    file.unreadTargets.push_back(peek().text);
  }
  position = end;
}

Type Parser::type() {
  Type out;
  out.at = peek().at;
  if (peek().isName()) {
    out.name = take().text;
    return out;
  }
  if (!expect("[", "before the extents"))
    return out;
  while (!failed && !accept("]"))
    if (std::optional<int64_t> extent = integer("an extent or ']'"))
      out.extents.push_back(*extent);
  return out;
}

void Parser::typeDeclaration() {
  TypeName out;
  take();
  out.at = peek().at;
  out.name = name("the name of a type");
  if (failed || !expect(":", "after the type's name"))
    return;
  out.type = type();
  if (!failed)
    file.types.push_back(std::move(out));
}

void Parser::varDeclaration() {
  Declaration out;
  take();
  // `input` and `output` may also be variables' names: before ':' they are.
  while ((atName("input") || atName("output")) && !peek(1).is(":"))
    (take().text == "input" ? out.isInput : out.isOutput) = true;
  out.at = peek().at;
  out.name = name("the name of a variable");
  if (failed || !expect(":", "after '" + out.name + "'"))
    return;
  out.type = type();
  if (!failed && atName("halo") && peek(1).is("["))
    halo(out);
  if (!failed)
    annotations(out);
  if (!failed)
    add(std::move(out));
}

/// halo [1 2:0]: a margin on both sides, or below and above.
void Parser::halo(Declaration &declaration) {
  declaration.haloAt = take().at;
  take();
  while (!failed && !accept("]")) {
    std::optional<int64_t> below = integer("the width of a halo or ']'");
    std::optional<int64_t> above = below;
    if (below && accept(":"))
      above = integer("the width of a halo");
    if (below && above)
      declaration.halo.emplace_back(*below, *above);
  }
}

/// @fixed(8,24) @f32 @accuracy(1e-9)
void Parser::annotations(Declaration &declaration) {
  while (!failed && at("@")) {
    take();
    Annotation one;
    one.at = peek().at;
    one.name = name("an annotation's name");
    if (accept("(")) {
      do {
        size_t first = position;
        while (!at(",") && !at(")") && peek().kind != Token::Kind::End &&
               !peek().firstOfLine)
          take();
        if (position == first) {
          fail(peek(), "expected an argument of '@" + one.name + "'");
          return;
        }
        const Token &last = tokens[position - 1];
        llvm::StringRef from = tokens[first].text;
        one.arguments.push_back(llvm::StringRef(
            from.data(), last.text.data() + last.text.size() - from.data()));
      } while (accept(","));
      expect(")", "after the arguments of '@" + one.name + "'");
    }
    declaration.annotations.push_back(std::move(one));
  }
}

static bool isWord(const Token &token, llvm::StringRef word) {
  return token.isName() && token.text.equals_insensitive(word);
}

bool Parser::atFortran() const {
  if (isWord(peek(), "double") && isWord(peek(1), "precision"))
    return true;
  return isWord(peek(), "real") && (peek(1).is("::") || peek(1).is(",") ||
                                    peek(1).is("(") || peek(1).is("*"));
}

/// Bits from (8), (KIND=8), *8, (real64) or nothing; "REAL" is consumed.
std::optional<unsigned> Parser::fortranKind() {
  bool star = at("*");
  if (!star && !at("("))
    return 32;
  take();
  if (!star && isWord(peek(), "kind") && peek(1).is("=")) {
    take();
    take();
  }
  Token kind = take();
  auto bits = llvm::StringSwitch<std::optional<unsigned>>(kind.text.lower())
                  .Cases({"4", "real32", "c_float"}, 32u)
                  .Cases({"8", "real64", "c_double"}, 64u)
                  .Default(std::nullopt);
  if (!bits) {
    fail(kind, "expected the kind 4 or 8",
         "REAL(4), REAL(8), real32, real64, c_float and c_double are known");
    return std::nullopt;
  }
  if (!star && !expect(")", "after the kind"))
    return std::nullopt;
  return bits;
}

/// From after '(' to after ')'.
std::vector<int64_t> Parser::fortranShape() {
  std::vector<int64_t> out;
  do {
    if (at(":")) {
      fail(peek(), "expected an extent",
           "a kernel's arrays have fixed extents: S(11,11)");
      return out;
    }
    std::optional<int64_t> extent = integer("an extent");
    if (!extent)
      return out;
    if (at(":")) {
      fail(peek(), "expected ',' or ')' after an extent",
           "give extents, not bounds: S(11) instead of S(0:10)");
      return out;
    }
    out.push_back(*extent);
  } while (accept(","));
  expect(")", "after the extents");
  return out;
}

void Parser::fortranDeclaration() {
  Declaration common;
  common.isFortran = true;
  common.bits = 64;
  if (isWord(take(), "double")) {
    take();
  } else {
    std::optional<unsigned> bits = fortranKind();
    if (!bits)
      return;
    common.bits = *bits;
  }
  while (!failed && accept(",")) {
    Token attribute = take();
    if (isWord(attribute, "dimension") && accept("(")) {
      common.type.extents = fortranShape();
    } else if (isWord(attribute, "intent") && accept("(")) {
      common.hasIntent = true;
      Token way = take();
      std::string lower = way.text.lower();
      common.isInput = lower == "in" || lower == "inout";
      common.isOutput = lower == "out" || lower == "inout";
      if (!common.isInput && !common.isOutput)
        return fail(way, "expected IN, OUT or INOUT");
      // INTENT(IN OUT) is the standard's other spelling.
      if (lower == "in" && isWord(peek(), "out")) {
        take();
        common.isOutput = true;
      }
      expect(")", "after the intent");
    } else {
      return fail(attribute, "expected DIMENSION(…) or INTENT(…)",
                  "a kernel's declarations know no other attribute");
    }
  }
  if (failed || !expect("::", "before the names"))
    return;
  do {
    Declaration one = common;
    one.at = one.type.at = peek().at;
    one.name = name("the name of a variable");
    if (!failed && accept("("))
      one.type.extents = fortranShape();
    if (!failed)
      annotations(one);
    if (!failed)
      add(std::move(one));
  } while (!failed && accept(","));
}
