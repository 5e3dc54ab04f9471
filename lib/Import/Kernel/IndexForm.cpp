// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index form: ranges follow from the extents that an index subscripts;
// two extents for one index are an error, offsets need a halo.
#include "Checker.h"

using namespace rhizome::kernel;
using namespace rhizome::kernel::syntax;
using Kind = Node::Kind;

bool Checker::bindExtent(const Index &index, int64_t extent,
                         const Variable &variable, size_t dimension) {
  IndexName &bound = scope.find(index.name.str())->second;
  std::string source =
      "dimension " + std::to_string(dimension) + " of '" + variable.name + "'";
  if (!bound.extent) {
    bound.extent = extent, bound.from = index.at, bound.source = source;
    statement->extents[bound.id] = extent;
    return true;
  }
  if (*bound.extent == extent)
    return true;
  Diagnostic &d = diagnostics.error(
      index.at, "the index '" + index.name + "' runs to " +
                    llvm::Twine(extent) + " in " + source + " and to " +
                    llvm::Twine(*bound.extent) + " in " + bound.source);
  d.other = bound.from, d.note = "the other range comes from here";
  return false;
}

std::optional<std::vector<Subscript>>
Checker::subscripts(int v, const std::vector<Index> &indices, Place at,
                    bool isTarget) {
  const Variable variable = program.variables[v];
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
  std::vector<Subscript> out;
  bool good = true;
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    int64_t extent = variable.extents[dimension];
    auto [below, above] = variable.halo[dimension];
    if (index.name.empty()) {
      if (index.offset < -below || index.offset >= extent + above) {
        diagnostics.error(index.at,
                          llvm::Twine(index.offset) + " is outside dimension " +
                              llvm::Twine(dimension) + " of '" + variable.name +
                              "', 0 to " + llvm::Twine(extent - 1));
        good = false;
      }
      out.push_back({-1, index.offset});
      continue;
    }
    if (isTarget && index.offset) {
      diagnostics.error(index.at, "an offset on the left side",
                        "shift the right side instead");
      good = false;
      continue;
    }
    auto found = scope.find(index.name.str());
    if (found == scope.end()) {
      if (!isTarget) {
        diagnostics.error(index.at,
                          "the index '" + index.name +
                              "' is neither on the left side nor reduced",
                          "write sum(" + index.name +
                              ") before the product, or put it on the left");
        // Report only once.
        scope.insert(
            {index.name.str(),
             {int(statement->extents.size()), std::nullopt, index.at, ""}});
        statement->extents.push_back(0);
        return std::nullopt;
      }
      IndexName fresh{int(statement->extents.size()), std::nullopt, index.at,
                      ""};
      found = scope.insert({index.name.str(), fresh}).first;
      statement->extents.push_back(0);
      indexNames.push_back(index.name.str());
    } else if (isTarget) {
      diagnostics.error(index.at, "the index '" + index.name +
                                      "' occurs twice on the left side");
      good = false;
      continue;
    }
    if (-index.offset > below || index.offset > above) {
      Diagnostic &d = diagnostics.error(
          index.at,
          "the offset " + llvm::Twine(index.offset) +
              " reaches outside dimension " + llvm::Twine(dimension) + " of '" +
              variable.name + "'",
          "declare a halo: var input " + variable.name + " : " +
              shown(variable.extents) + " halo [… " +
              llvm::Twine(std::abs(index.offset)) + " …]");
      d.other = variable.at;
      d.note = "its halo there is " + std::to_string(below) + " below and " +
               std::to_string(above) + " above";
      good = false;
    }
    if (!bindExtent(index, extent, variable, dimension))
      good = false;
    out.push_back({found->second.id, index.offset});
  }
  if (!good)
    return std::nullopt;
  return out;
}

void Checker::indexAssignment(int target, const Assignment &assignment) {
  Statement out;
  out.at = assignment.at;
  out.target = target;
  statement = &out;
  scope.clear();
  indexNames.clear();
  auto left = subscripts(target, assignment.indices, assignment.at, true);
  if (left) {
    out.subscripts = *left;
    out.value = indexExpr(*assignment.value);
  }
  statement = nullptr;
  if (!left || !out.value)
    return;
  program.statements.push_back(std::move(out));
  markAssigned(target, *left, assignment.at);
}

ExprPtr Checker::accessExpr(const Node &node) {
  int variable = read(node.name, node.at);
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
    if (scope.count(index.name.str())) {
      diagnostics.error(index.at,
                        "the index '" + index.name + "' is used already",
                        "reduce over a name of its own");
      good = false;
      continue;
    }
    int id = statement->extents.size();
    statement->extents.push_back(0);
    indexNames.push_back(index.name.str());
    scope.insert({index.name.str(), {id, std::nullopt, index.at, ""}});
    opened.push_back(index.name.str());
    out->reduced.push_back(id);
  }
  ExprPtr value = good ? indexExpr(*node.operands[0]) : nullptr;
  for (const std::string &name : opened) {
    const IndexName &bound = scope.find(name)->second;
    if (value && !bound.extent) {
      diagnostics.error(bound.from,
                        "nothing is subscripted by the index '" + name + "'",
                        "its range follows from a subscript");
      value = nullptr;
    }
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
