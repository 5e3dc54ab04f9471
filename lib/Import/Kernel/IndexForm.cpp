// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index form: ranges follow from the extents that an index subscripts
// alone, or are said; two for one index are an error. What a sum of indices
// reads must be inside its dimension and the halo.
#include "Checker.h"
#include "llvm/ADT/StringMap.h"

using namespace rhizome::kernel;
using namespace rhizome::kernel::syntax;
using Kind = Node::Kind;

bool Checker::bindExtent(llvm::StringRef name, Place at, int64_t extent,
                         const std::string &source) {
  IndexName &bound = scope.find(name.str())->second;
  if (!bound.extent) {
    bound.extent = extent, bound.from = at, bound.source = source;
    statement->extents[bound.id] = extent;
    return true;
  }
  if (*bound.extent == extent)
    return true;
  Diagnostic &d = diagnostics.error(
      at,
      "the index '" + name + "' runs to " + llvm::Twine(extent) + " in " +
          source + " and to " + llvm::Twine(*bound.extent) + " in " +
          bound.source,
      extent > *bound.extent
          ? "write " + name + " + 0 to read a part of the dimension"
          : llvm::Twine());
  d.other = bound.from, d.note = "the other range comes from here";
  return false;
}

/// Adds the ranges of the indices that subscript a dimension of these extents
/// alone.
static void addRanges(llvm::ArrayRef<Index> indices, const Variable *variable,
                      llvm::StringMap<int64_t> &ranges) {
  for (auto [d, index] : llvm::enumerate(indices)) {
    if (index.range)
      ranges.try_emplace(index.name(), *index.range);
    else if (variable && d < variable->extents.size() && !index.name().empty())
      ranges.try_emplace(index.name(), variable->extents[d]);
  }
}

std::string Checker::extentsOf(const std::vector<Index> &indices) const {
  if (!current || !current->isIndexForm)
    return "";
  llvm::StringMap<int64_t> ranges;
  auto variableOf = [&](llvm::StringRef name) -> const Variable * {
    int v = find(name);
    return v < 0 ? nullptr : &program.variables[v];
  };
  addRanges(current->indices, variableOf(current->target), ranges);
  std::vector<const Node *> work{current->value.get()};
  while (!work.empty()) {
    const Node *node = work.back();
    work.pop_back();
    addRanges(node->indices,
              node->kind == Kind::Access ? variableOf(node->name) : nullptr,
              ranges);
    for (const NodePtr &operand : node->operands)
      work.push_back(operand.get());
  }
  std::string out;
  for (const Index &index : indices) {
    auto found = ranges.find(index.name());
    if (index.name().empty() || found == ranges.end())
      return "";
    out += (out.empty() ? "" : " ") + std::to_string(found->second);
  }
  return "[" + out + "]";
}

static std::string dimensionOf(const Variable &variable, size_t dimension) {
  return "dimension " + std::to_string(dimension) + " of '" + variable.name +
         "'";
}

/// A subscript as it is written: "2*i + a - 1".
static std::string textOf(const Index &index) {
  std::string out;
  for (const Index::Term &term : index.terms) {
    int64_t factor = term.factor;
    out += out.empty() ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ";
    if (std::abs(factor) != 1)
      out += std::to_string(std::abs(factor)) + "*";
    out += term.name;
  }
  if (index.offset)
    out += (index.offset < 0 ? " - " : " + ") +
           std::to_string(std::abs(index.offset));
  return out;
}

bool Checker::subscript(const Variable &variable, size_t dimension,
                        const Index &index, bool isTarget, Subscript &out) {
  const int64_t extent = variable.extents[dimension];
  auto [below, above] = variable.halo[dimension];
  out.offset = index.offset;
  if (index.terms.empty()) {
    if (index.offset >= -below && index.offset < extent + above)
      return true;
    diagnostics.error(index.at, llvm::Twine(index.offset) + " is outside " +
                                    dimensionOf(variable, dimension) +
                                    ", 0 to " + llvm::Twine(extent - 1));
    return false;
  }
  if (isTarget && index.isSum) {
    diagnostics.error(index.at, "an offset or a sum on the left side",
                      "shift the right side instead");
    return false;
  }
  for (const Index::Term &term : index.terms) {
    auto found = scope.find(term.name.str());
    if (found == scope.end()) {
      IndexName fresh{int(statement->extents.size()), std::nullopt, index.at,
                      ""};
      // Once introduced, it is reported only once.
      found = scope.insert({term.name.str(), fresh}).first;
      statement->extents.push_back(0);
      if (!isTarget) {
        diagnostics.error(index.at,
                          "the index '" + term.name +
                              "' is neither on the left side nor reduced",
                          "write sum(" + term.name +
                              ") before the product, or put it on the left");
        return false;
      }
    } else if (isTarget) {
      diagnostics.error(index.at, "the index '" + term.name +
                                      "' occurs twice on the left side");
      return false;
    }
    out.terms.push_back({found->second.id, term.factor});
  }
  llvm::sort(out.terms, [](const IndexTerm &a, const IndexTerm &b) {
    return a.index < b.index;
  });
  if (!index.isSum)
    return bindExtent(index.name(), index.at, extent,
                      dimensionOf(variable, dimension));
  sums.push_back(
      {&index, int(&variable - program.variables.data()), dimension, out});
  return true;
}

std::optional<std::vector<Subscript>>
Checker::subscripts(int v, const std::vector<Index> &indices, Place at,
                    bool isTarget) {
  const Variable &variable = program.variables[v];
  if (indices.size() != variable.extents.size()) {
    Diagnostic &d =
        diagnostics.error(at, "'" + variable.name + "' has " +
                                  llvm::Twine(variable.extents.size()) +
                                  " dimensions, here it "
                                  "gets " +
                                  llvm::Twine(indices.size()) + " indices");
    d.other = variable.at, d.note = "it is declared here";
    return std::nullopt;
  }
  std::vector<Subscript> out(indices.size());
  bool good = true;
  for (auto [dimension, index] : llvm::enumerate(indices))
    if (!subscript(variable, dimension, index, isTarget, out[dimension]))
      good = false;
  if (!good)
    return std::nullopt;
  return out;
}

/// The range of an index that subscripts nothing alone: that of a dimension
/// which it subscripts with an offset.
bool Checker::bindByOffset(const std::string &name) {
  const int id = scope.find(name)->second.id;
  bool isInSum = false, good = true;
  for (const Sum &sum : sums) {
    const std::vector<IndexTerm> &terms = sum.subscript.terms;
    isInSum |= llvm::any_of(
        terms, [&](const IndexTerm &term) { return term.index == id; });
    if (terms.size() != 1 || terms[0].index != id || terms[0].factor != 1)
      continue;
    const Variable &variable = program.variables[sum.variable];
    good &= bindExtent(name, sum.index->at, variable.extents[sum.dimension],
                       dimensionOf(variable, sum.dimension));
  }
  const IndexName &bound = scope.find(name)->second;
  if (bound.extent)
    return good;
  if (isInSum)
    diagnostics.error(bound.from,
                      "the range of the index '" + name +
                          "' does not follow from any subscript",
                      "say it where the index is introduced: " + name + " : 3");
  else
    diagnostics.error(bound.from,
                      "nothing is subscripted by the index '" + name + "'",
                      "its range follows from a subscript");
  return false;
}

/// Whether all that a sum reads is inside its dimension and the halo.
bool Checker::checkSum(const Sum &sum) {
  const Variable &variable = program.variables[sum.variable];
  const int64_t extent = variable.extents[sum.dimension];
  auto [below, above] = variable.halo[sum.dimension];
  int64_t first = sum.subscript.offset, last = first;
  for (const IndexTerm &term : sum.subscript.terms)
    (term.factor < 0 ? first : last) +=
        term.factor * (statement->extents[term.index] - 1);
  if (first >= -below && last < extent + above)
    return true;
  const Index &index = *sum.index;
  std::string what =
      index.terms.size() == 1 && index.terms[0].factor == 1
          ? "the offset " + std::to_string(index.offset) + " reaches outside " +
                dimensionOf(variable, sum.dimension)
          : "'" + textOf(index) + "' reaches outside " +
                dimensionOf(variable, sum.dimension) + ": it runs from " +
                std::to_string(first) + " to " + std::to_string(last);
  std::string remedy = "shorten its indices' ranges, or make it longer";
  if (variable.role == Role::Input) {
    remedy = "declare a halo: var input " + variable.name + " : " +
             shown(variable.extents) + " halo [";
    for (auto [d, margin] : llvm::enumerate(variable.halo)) {
      auto [low, high] = margin;
      if (d == sum.dimension)
        low = std::max(low, -first), high = std::max(high, last - extent + 1);
      remedy += (d ? " " : "") + std::to_string(low);
      if (low != high)
        remedy += ":" + std::to_string(high);
    }
    remedy += "]";
  }
  Diagnostic &d = diagnostics.error(index.at, what, remedy);
  d.other = variable.at;
  d.note = "it has 0 to " + std::to_string(extent - 1) + " there, and a halo " +
           "of " + std::to_string(below) + " below and " +
           std::to_string(above) + " above";
  return false;
}

void Checker::indexAssignment(int target, const Assignment &assignment) {
  Statement out;
  out.at = assignment.at;
  out.target = target;
  statement = &out;
  scope.clear();
  sums.clear();
  auto left = subscripts(target, assignment.indices, assignment.at, true);
  if (left) {
    out.subscripts = *left;
    out.value = indexExpr(*assignment.value);
    for (const Sum &sum : sums)
      if (out.value && !checkSum(sum))
        left.reset();
  }
  statement = nullptr;
  if (!left || !out.value)
    return;
  program.statements.push_back(std::move(out));
  markAssigned(target, *left, assignment.at);
}

ExprPtr Checker::accessExpr(const Node &node) {
  int variable = read(node.name, node.at, node.indices);
  if (variable < 0)
    return nullptr;
  if (node.kind == Kind::Name && !program.variables[variable].extents.empty()) {
    diagnostics.error(node.at,
                      "'" + node.name + "' is " +
                          shown(program.variables[variable].extents) +
                          ", not a scalar",
                      "give it indices: " + node.name + "[i]");
    return nullptr;
  }
  auto all = subscripts(variable, node.indices, node.at, false);
  if (!all)
    return nullptr;
  auto out = std::make_shared<Expr>();
  out->kind = Expr::Kind::Access;
  out->at = node.at;
  out->variable = variable;
  out->subscripts = std::move(*all);
  return out;
}

ExprPtr Checker::reduceExpr(const Node &node) {
  auto out = std::make_shared<Expr>();
  out->kind = Expr::Kind::Reduce;
  out->at = node.at;
  out->op = node.op;
  std::vector<std::string> opened;
  bool good = true;
  for (const Index &index : node.indices) {
    std::string name = index.name().str();
    if (scope.count(name)) {
      diagnostics.error(index.at, "the index '" + name + "' is used already",
                        "reduce over a name of its own");
      good = false;
      continue;
    }
    int id = statement->extents.size();
    statement->extents.push_back(0);
    scope.insert({name, {id, std::nullopt, index.at, ""}});
    opened.push_back(name);
    out->reduced.push_back(id);
    if (!index.range)
      continue;
    if (*index.range < 1) {
      diagnostics.error(index.at, "the index '" + name + "' has no values",
                        "its range is at least 1");
      good = false;
    }
    bindExtent(name, index.at, *index.range, "its range");
  }
  ExprPtr value = good ? indexExpr(*node.operands[0]) : nullptr;
  for (const std::string &name : opened) {
    if (value && !scope.find(name)->second.extent && !bindByOffset(name))
      value = nullptr;
    scope.erase(name);
  }
  if (!value)
    return nullptr;
  out->operands.push_back(std::move(value));
  return out;
}

ExprPtr Checker::indexExpr(const Node &node) {
  switch (node.kind) {
  case Kind::Number:
    return literal(node.number, node.at);
  case Kind::Name:
  case Kind::Access:
    return accessExpr(node);
  case Kind::Reduce:
    return reduceExpr(node);
  case Kind::Binary:
  case Kind::Call:
  case Kind::Negate: {
    std::vector<ExprPtr> operands;
    bool good = true;
    for (const NodePtr &operand : node.operands) {
      operands.push_back(indexExpr(*operand));
      good = good && operands.back();
    }
    if (!good)
      return nullptr;
    Operator op = node.kind == Kind::Negate ? Operator::Negate : node.op;
    return apply(op, std::move(operands), node.at);
  }
  default:
    break;
  }
  assert(false && "a node of CFDlang's form");
  return nullptr;
}
