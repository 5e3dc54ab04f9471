// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements and expressions. After an error the rest of the item is skipped;
// the next line that begins with a word begins the next item.
#include "Parser.h"
#include "llvm/ADT/StringSwitch.h"

using namespace rhizome::kernel;
using namespace rhizome::kernel::syntax;

static constexpr unsigned kDeepest = 200;
/// Trees are walked by recursion, later as well; a sum of n terms is n - 1
/// high.
static constexpr unsigned kHighest = 1000;

static std::string shown(const Token &token) {
  return token.kind == Token::Kind::End ? "the end"
                                        : "'" + token.text.str() + "'";
}

void Parser::fail(const Token &token, const llvm::Twine &expected,
                  const llvm::Twine &remedy) {
  // What is missing at the end of a line is missing there, not where the text
  // goes on.
  const bool isMissing = token.firstOfLine && position > itemStart &&
                         token.text.data() == peek().text.data();
  if (!failed && token.kind != Token::Kind::Bad && isMissing) {
    const Token &before = tokens[position - 1];
    Place at = before.at;
    at.column += unsigned(before.text.size());
    diagnostics.error(
        at,
        expected + ", not the end" +
            (token.kind == Token::Kind::End ? "" : " of the line"),
        remedy);
  } else if (!failed && token.kind != Token::Kind::Bad) {
    diagnostics.error(token.at, expected + ", not " + shown(token), remedy);
  }
  failed = true;
}

/// How to write what was written with a parenthesis after a name.
std::string Parser::insteadOfParenthesis(llvm::StringRef target) const {
  const Token &before = tokens[position - 1];
  if (before.text == target || declared.contains(before.text))
    return ("indices are in brackets: " + before.text + "[i]").str();
  if (llvm::StringSwitch<bool>(before.text)
          .Cases({"sum", "prod", "min", "max", "sqrt", "exp", "log", "abs",
                  "sin", "cos", "tanh"},
                 true)
          .Default(false))
    return ("'" + before.text + "' needs indices on the left: " + target +
            "[i] = ..., or " + target + "[] = ... for a scalar")
        .str();
  return "";
}

bool Parser::expect(llvm::StringRef symbol, const llvm::Twine &where) {
  if (accept(symbol))
    return true;
  fail(peek(), "expected '" + symbol + "' " + where);
  return false;
}

std::optional<int64_t> Parser::integer(const llvm::Twine &what, int64_t most) {
  Token token = peek();
  int64_t value;
  if (token.kind != Token::Kind::Integer) {
    fail(token, "expected " + what);
    return std::nullopt;
  }
  take();
  if (token.text.getAsInteger(10, value) || value > most) {
    diagnostics.error(token.at, token.text + " is too large for " + what);
    failed = true;
    return std::nullopt;
  }
  return value;
}

llvm::StringRef Parser::name(const llvm::Twine &what) {
  if (peek().isName())
    return take().text;
  fail(peek(), "expected " + what);
  return "";
}

void Parser::skipToItem() {
  while (peek().kind != Token::Kind::End &&
         !(peek().firstOfLine && peek().isName()))
    take();
}

File Parser::run() {
  while (peek().kind != Token::Kind::End) {
    failed = false;
    depth = 0;
    itemStart = position;
    item();
    if (failed) {
      if (position == itemStart)
        take();
      skipToItem();
      noteUnread();
    }
  }
  file.end = peek().at;
  return std::move(file);
}

void Parser::item() {
  if (atName("var") && peek(1).isName())
    return varDeclaration();
  if (atName("type") && peek(1).isName())
    return typeDeclaration();
  if (atName("elem") && peek(1).is("["))
    return elements();
  if (atFortran())
    return fortranDeclaration();
  if (!peek().isName())
    return fail(peek(), "expected a declaration or a statement",
                "begin with var, type, elem, REAL or the name of a variable");
  assignment();
}

void Parser::elements() {
  Elements out;
  out.at = take().at;
  expect("[", "before the names");
  while (!failed && !accept("]")) {
    Place place = peek().at;
    llvm::StringRef variable = name("the name of a variable");
    if (!variable.empty())
      out.names.emplace_back(place, variable);
  }
  if (failed)
    return;
  std::optional<int64_t> count = integer("the number of elements");
  if (!count)
    return;
  out.count = *count;
  if (atName("last"))
    out.where = ElementDim::Last;
  else if (!atName("first"))
    return fail(peek(), "expected 'first' or 'last' after the number of "
                        "elements");
  take();
  if (file.elements) {
    Diagnostic &d = diagnostics.error(out.at, "a second 'elem'",
                                      "name all variables in one");
    d.other = file.elements->at, d.note = "the first is here";
    return;
  }
  file.elements = std::move(out);
}

/// A term of a sum: a name, a number, or both with '*'; false after an error.
bool Parser::indexTerm(Index &to, bool isNegative) {
  constexpr int64_t kMostFactor = int64_t(1) << 20;
  const int64_t sign = isNegative ? -1 : 1;
  Token first = peek();
  int64_t factor = 1;
  llvm::StringRef named;
  if (first.isName()) {
    named = take().text;
    if (accept("*")) {
      std::optional<int64_t> number = integer("a factor", kMostFactor);
      if (!number)
        return false;
      factor = *number, to.isSum = true;
    }
  } else {
    const bool isFactor = peek(1).is("*");
    std::optional<int64_t> number = isFactor ? integer("a factor", kMostFactor)
                                             : integer("an index or a number");
    if (!number)
      return false;
    if (!isFactor) {
      to.offset += sign * *number;
      return true;
    }
    take();
    named = name("the name of an index after '*'");
    if (failed)
      return false;
    factor = *number, to.isSum = true;
  }
  auto same = llvm::find_if(
      to.terms, [&](const Index::Term &term) { return term.name == named; });
  if (same == to.terms.end())
    same = to.terms.insert(same, {named, 0});
  same->factor += sign * factor;
  if (std::abs(same->factor) > kMostFactor) {
    diagnostics.error(first.at,
                      "the factors of '" + named + "' are together " +
                          llvm::Twine(same->factor),
                      "at most 1048576 are taken");
    failed = true;
  }
  return !failed;
}

std::optional<Index> Parser::index() {
  Index out;
  out.at = peek().at;
  bool isNegative = accept("-");
  out.isSum = isNegative && peek().isName();
  size_t count = 0;
  do {
    if (count++)
      isNegative = take().text == "-", out.isSum = true;
    if (!indexTerm(out, isNegative))
      return std::nullopt;
  } while (at("+") || at("-"));
  if (out.terms.empty())
    out.isSum = false;
  llvm::erase_if(out.terms,
                 [](const Index::Term &term) { return term.factor == 0; });
  return out;
}

/// A name that a reduction introduces, perhaps with its range: a : 3.
Index Parser::reducedIndex() {
  Index out;
  out.at = peek().at;
  out.terms.push_back({name("the name of an index")});
  if (!failed && accept(":"))
    out.range =
        integer("the range of '" + out.terms[0].name + "'", int64_t(1) << 32);
  return out;
}

/// From after '[' to after ']'.
std::vector<Index> Parser::indexList(const llvm::Twine &what) {
  std::vector<Index> out;
  if (accept("]"))
    return out;
  do {
    std::optional<Index> one = index();
    if (!one)
      return out;
    out.push_back(*one);
  } while (accept(","));
  if (!accept("]"))
    fail(peek(), "expected ',' or ']' in the indices of " + what);
  return out;
}

void Parser::assignment() {
  Assignment out;
  out.at = peek().at;
  out.target = take().text;
  indexForm = out.isIndexForm = accept("[");
  if (indexForm)
    out.indices = indexList("'" + out.target + "'");
  if (!failed && !indexForm && at("("))
    return fail(peek(), "expected '=' after '" + out.target + "'",
                insteadOfParenthesis(out.target));
  if (failed || !expect("=", "after '" + out.target + "'"))
    return;
  out.value = expression();
  if (failed)
    return;
  // A statement ends where the next item may begin.
  if (peek().kind != Token::Kind::End && !peek().isName()) {
    std::string remedy;
    if (at("^"))
      remedy = "'^' binds tighter than '.': put the contraction into "
               "parentheses";
    else if (at("("))
      remedy = insteadOfParenthesis(out.target);
    fail(peek(), "expected an operator or the next statement", remedy);
    return;
  }
  file.assignments.push_back(std::move(out));
}

NodePtr Parser::make(Node::Kind kind, Place place) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->at = place;
  return node;
}

void Parser::adopt(Node &node, NodePtr operand) {
  node.height = std::max(node.height, operand->height + 1);
  node.operands.push_back(std::move(operand));
  if (node.height <= kHighest || failed)
    return;
  diagnostics.error(node.at,
                    "this expression has more than " + llvm::Twine(kHighest) +
                        " operations one after the other",
                    "give its parts names");
  failed = true;
}

NodePtr Parser::binary(const Token &op, NodePtr left, NodePtr right) {
  NodePtr node = make(Node::Kind::Binary, op.at);
  node->op = llvm::StringSwitch<Operator>(op.text)
                 .Case("+", Operator::Add)
                 .Case("-", Operator::Subtract)
                 .Case("*", Operator::Multiply)
                 .Default(Operator::Divide);
  adopt(*node, std::move(left));
  adopt(*node, std::move(right));
  return node;
}

NodePtr Parser::expression() {
  if (++depth > kDeepest) {
    if (!failed)
      diagnostics.error(peek().at, "this expression is nested too deeply",
                        "give its parts names");
    failed = true;
    return make(Node::Kind::Number, peek().at);
  }
  bool rightward = compat && !indexForm;
  NodePtr left = term();
  while (!failed && (at("+") || at("-"))) {
    Token op = take();
    left = binary(op, std::move(left), rightward ? expression() : term());
    if (rightward)
      break;
  }
  --depth;
  return left;
}

NodePtr Parser::term() {
  if (compat && !indexForm) {
    // The reference grammar: '*', '/' and '.' have equal precedence and are
    // right-associative, except that the pairs after a '.' end its operand.
    if (++depth > kDeepest) {
      if (!failed)
        diagnostics.error(peek().at, "this expression is nested too deeply",
                          "give its parts names");
      failed = true;
      return make(Node::Kind::Number, peek().at);
    }
    NodePtr left = factor();
    while (!failed && (at("*") || at("/") || at("."))) {
      if (at(".")) {
        left = dotted(std::move(left));
        continue;
      }
      Token op = take();
      left = binary(op, std::move(left), term());
    }
    --depth;
    return left;
  }
  NodePtr left = contraction();
  while (!failed && (at("*") || at("/"))) {
    Token op = take();
    left = binary(op, std::move(left), contraction());
  }
  return left;
}

NodePtr Parser::contraction() {
  NodePtr left = factor();
  while (!failed && !indexForm && at("."))
    left = dotted(std::move(left));
  return left;
}

NodePtr Parser::dotted(NodePtr left) {
  Token dot = take();
  NodePtr node = make(Node::Kind::Dot, dot.at);
  adopt(*node, std::move(left));
  if (pairsFollow()) {
    node->kind = Node::Kind::Contract;
    pairs(*node);
  } else {
    adopt(*node, compat ? term() : factor());
  }
  return node;
}

NodePtr Parser::factor() {
  NodePtr left = transposed();
  while (!failed && !indexForm && at("#")) {
    Token op = take();
    NodePtr node = make(Node::Kind::Product, op.at);
    adopt(*node, std::move(left));
    adopt(*node, transposed());
    left = std::move(node);
  }
  return left;
}

NodePtr Parser::transposed() {
  NodePtr left = atom();
  while (!failed && !indexForm && at("^")) {
    NodePtr node = make(Node::Kind::Transpose, take().at);
    adopt(*node, std::move(left));
    if (!pairsFollow()) {
      fail(peek(), "expected pairs of indices after '^'",
           "for example ^[[0 1]]");
      return node;
    }
    pairs(*node);
    left = std::move(node);
  }
  return left;
}

bool Parser::pairsFollow() const {
  return at("[") &&
         (peek(1).is("]") ||
          (peek(1).is("[") &&
           (peek(2).is("]") || peek(2).kind == Token::Kind::Integer)));
}

void Parser::pairs(Node &node) {
  take();
  while (!failed && !accept("]")) {
    Place place = peek().at;
    if (!expect("[", "before a group of indices"))
      return;
    std::vector<int64_t> group;
    while (!failed && !accept("]"))
      if (std::optional<int64_t> i = integer("an index"))
        group.push_back(*i);
    node.groups.push_back(std::move(group));
    node.groupPlaces.push_back(place);
  }
}

/// Whether "(" names "," … ")" follows, none of them a variable: then `min` and
/// `max` reduce.
bool Parser::reductionFollows() const {
  for (size_t ahead = 2;; ahead += 2) {
    if (!peek(ahead).isName() || declared.contains(peek(ahead).text))
      return false;
    if (peek(ahead + 1).is(":"))
      return true;
    if (peek(ahead + 1).is(")"))
      return true;
    if (!peek(ahead + 1).is(","))
      return false;
  }
}

NodePtr Parser::call(Operator op) {
  Token function = take();
  take();
  NodePtr node = make(Node::Kind::Call, function.at);
  node->name = function.text;
  node->op = op;
  do
    adopt(*node, expression());
  while (!failed && accept(","));
  if (!failed)
    expect(")", "after the arguments of '" + function.text + "'");
  bool two = op == Operator::Minimum || op == Operator::Maximum;
  if (!failed && node->operands.size() != (two ? 2 : 1)) {
    diagnostics.error(function.at,
                      "'" + function.text + "' takes " +
                          (two ? "two arguments" : "one argument") + ", not " +
                          llvm::Twine(node->operands.size()));
    failed = true;
  }
  return node;
}

NodePtr Parser::nameOrAccess() {
  Token token = peek();
  std::optional<Operator> reduction, function;
  if (indexForm && peek(1).is("(") && !declared.contains(token.text)) {
    reduction = llvm::StringSwitch<std::optional<Operator>>(token.text)
                    .Case("sum", Operator::Add)
                    .Case("prod", Operator::Multiply)
                    .Case("min", Operator::Minimum)
                    .Case("max", Operator::Maximum)
                    .Default(std::nullopt);
    function = llvm::StringSwitch<std::optional<Operator>>(token.text)
                   .Case("min", Operator::Minimum)
                   .Case("max", Operator::Maximum)
                   .Case("sqrt", Operator::Sqrt)
                   .Case("exp", Operator::Exp)
                   .Case("log", Operator::Log)
                   .Case("abs", Operator::Abs)
                   .Case("sin", Operator::Sin)
                   .Case("cos", Operator::Cos)
                   .Case("tanh", Operator::Tanh)
                   .Default(std::nullopt);
    if (function && (!reduction || !reductionFollows()))
      return call(*function);
    if (!reduction) {
      if (!failed)
        diagnostics.error(
            token.at,
            "expected a reduction or a function before '(', not " +
                shown(token),
            "there are sum, prod, min, max, sqrt, exp, log, abs, sin, cos, "
            "tanh");
      failed = true;
      return make(Node::Kind::Number, token.at);
    }
  }
  take();
  if (reduction) {
    NodePtr node = make(Node::Kind::Reduce, token.at);
    node->op = *reduction;
    node->name = token.text;
    take();
    do {
      node->indices.push_back(reducedIndex());
    } while (!failed && accept(","));
    if (!failed && expect(")", "after the indices of '" + token.text + "'")) {
      // Over the whole product that follows.
      if (++depth > kDeepest)
        fail(peek(), "expected less nesting");
      else
        adopt(*node, term());
      --depth;
    }
    return node;
  }
  NodePtr node = make(Node::Kind::Name, token.at);
  node->name = token.text;
  if (indexForm && accept("[")) {
    node->kind = Node::Kind::Access;
    node->indices = indexList("'" + token.text + "'");
  }
  return node;
}

NodePtr Parser::atom() {
  Token token = peek();
  if (token.isName())
    return nameOrAccess();
  if (token.kind == Token::Kind::Integer || token.kind == Token::Kind::Real) {
    take();
    NodePtr node = make(Node::Kind::Number, token.at);
    std::string text = token.text.lower();
    std::replace(text.begin(), text.end(), 'd', 'e');
    if (llvm::StringRef(text).getAsDouble(node->number)) {
      diagnostics.error(token.at, token.text + " is outside double precision");
      failed = true;
    }
    return node;
  }
  if (accept("(")) {
    NodePtr inner = expression();
    if (!failed)
      expect(")", "to close the parenthesis");
    return inner;
  }
  if (at("-")) {
    NodePtr node = make(Node::Kind::Negate, take().at);
    if (++depth > kDeepest)
      fail(peek(), "expected less nesting");
    else
      adopt(*node, transposed());
    --depth;
    return node;
  }
  if (!indexForm && accept("[")) {
    NodePtr node = make(Node::Kind::Stack, token.at);
    while (!failed && !accept("]")) {
      if (peek().kind == Token::Kind::End) {
        fail(peek(), "expected ']' to close the stack");
        break;
      }
      adopt(*node, expression());
    }
    return node;
  }
  llvm::StringRef remedy;
  if (indexForm && at("["))
    remedy = "stacks belong to CFDlang; in the index form assign to "
             "name[0, i] and name[1, i]";
  fail(token, "expected a variable, a number or '('", remedy);
  return make(Node::Kind::Number, token.at);
}

File rhizome::kernel::syntax::parse(const Source &source, bool cfdlangCompat,
                                    Diagnostics &diagnostics) {
  return Parser(source, cfdlangCompat, diagnostics).run();
}
