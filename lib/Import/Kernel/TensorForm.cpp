// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CFDlang's operators: first the shape of every node, with all
// errors; then, for indices of the result, the equivalent scalar expression.
#include "Checker.h"

using namespace rhizome::kernel;
using namespace rhizome::kernel::syntax;
using Kind = Node::Kind;

static bool isScalar(const Shape &shape) { return shape.empty(); }

std::optional<Shape> Checker::binaryShape(const Node &node) {
  auto left = tensorShape(*node.operands[0]);
  auto right = tensorShape(*node.operands[1]);
  if (!left || !right)
    return std::nullopt;
  if (*left == *right)
    return left;
  if (node.op == Operator::Multiply && isScalar(*left))
    return right;
  if (node.op == Operator::Divide && isScalar(*right))
    return left;
  const char *sign = node.op == Operator::Add        ? "+"
                     : node.op == Operator::Subtract ? "-"
                     : node.op == Operator::Multiply ? "*"
                                                     : "/";
  std::string remedy = "both sides need the same shape";
  if (node.op == Operator::Multiply)
    remedy += "; a scalar may stand on the left; '#' is the outer product";
  if (node.op == Operator::Divide)
    remedy += "; a scalar may stand on the right";
  diagnostics.error(node.at,
                    llvm::Twine("'") + sign + "' between " + shown(*left) +
                        " and " + shown(*right),
                    remedy);
  return std::nullopt;
}

bool Checker::checkGroups(const Node &node, const Shape &shape) {
  std::set<int64_t> seen;
  for (auto [group, at] : llvm::zip(node.groups, node.groupPlaces)) {
    if (group.empty() || (node.kind == Kind::Transpose && group.size() != 2)) {
      diagnostics.error(at, node.kind == Kind::Transpose
                                ? "'^' swaps two indices, not " +
                                      llvm::Twine(group.size())
                                : llvm::Twine("an empty group of indices"));
      return false;
    }
    for (int64_t i : group) {
      if (i < 0 || i >= int64_t(shape.size())) {
        diagnostics.error(at, "there is no index " + llvm::Twine(i) + ": " +
                                  shown(shape) + " has the indices 0 to " +
                                  llvm::Twine(int64_t(shape.size()) - 1));
        return false;
      }
      if (node.kind == Kind::Contract && !seen.insert(i).second) {
        diagnostics.error(at,
                          "index " + llvm::Twine(i) + " is contracted twice");
        return false;
      }
      if (node.kind == Kind::Contract && shape[i] != shape[group[0]]) {
        diagnostics.error(at,
                          "index " + llvm::Twine(group[0]) + " has extent " +
                              llvm::Twine(shape[group[0]]) + ", index " +
                              llvm::Twine(i) + " has " + llvm::Twine(shape[i]),
                          "indices are counted from 0 over all factors of the "
                          "product: " +
                              shown(shape));
        return false;
      }
    }
  }
  return true;
}

std::optional<Shape> Checker::contractShape(const Node &node) {
  auto shape = tensorShape(*node.operands[0]);
  if (!shape || !checkGroups(node, *shape))
    return std::nullopt;
  std::set<int64_t> gone;
  for (const auto &group : node.groups)
    gone.insert(group.begin(), group.end());
  Shape out;
  for (size_t i = 0; i < shape->size(); ++i)
    if (!gone.count(i))
      out.push_back((*shape)[i]);
  return out;
}

std::optional<Shape> Checker::transposeShape(const Node &node) {
  auto shape = tensorShape(*node.operands[0]);
  if (!shape || !checkGroups(node, *shape))
    return std::nullopt;
  for (const auto &group : node.groups)
    std::swap((*shape)[group[0]], (*shape)[group[1]]);
  return shape;
}

std::optional<Shape> Checker::tensorShape(const Node &node) {
  std::optional<Shape> out;
  switch (node.kind) {
  case Kind::Number:
    out = Shape();
    break;
  case Kind::Name: {
    int variable = read(node.name, node.at);
    if (variable >= 0) {
      if (program.variables[variable].hasHalo())
        diagnostics.error(
            node.at, "'" + node.name + "' has a halo and is used as a whole",
            "use the index form for a stencil: " + node.name + "[i - 1]");
      out = program.variables[variable].extents;
    }
    break;
  }
  case Kind::Product: {
    auto left = tensorShape(*node.operands[0]);
    auto right = tensorShape(*node.operands[1]);
    if (!left || !right)
      break;
    if (isScalar(*left) || isScalar(*right)) {
      diagnostics.error(node.at, "'#' with a scalar",
                        "the factors of an outer product are tensors; write "
                        "scalar * tensor");
      break;
    }
    out = *left;
    out->insert(out->end(), right->begin(), right->end());
    if (out->size() > 64) {
      diagnostics.error(node.at, "this product has more than 64 indices");
      out.reset();
    }
    break;
  }
  case Kind::Dot: {
    auto left = tensorShape(*node.operands[0]);
    auto right = tensorShape(*node.operands[1]);
    if (!left || !right)
      break;
    if (isScalar(*left) || isScalar(*right)) {
      diagnostics.error(node.at, "'.' with a scalar",
                        "it contracts the last index of the left tensor with "
                        "the first of the right one; write scalar * tensor");
      break;
    }
    if (left->back() != right->front()) {
      diagnostics.error(
          node.at, "'.' between " + shown(*left) + " and " + shown(*right) +
                       ": the last extent, " + llvm::Twine(left->back()) +
                       ", is not the first, " + llvm::Twine(right->front()));
      break;
    }
    out = Shape(left->begin(), left->end() - 1);
    out->insert(out->end(), right->begin() + 1, right->end());
    break;
  }
  case Kind::Contract:
    out = contractShape(node);
    break;
  case Kind::Transpose:
    out = transposeShape(node);
    break;
  case Kind::Binary:
    out = binaryShape(node);
    break;
  case Kind::Negate:
    out = tensorShape(*node.operands[0]);
    break;
  case Kind::Stack: {
    if (node.operands.empty()) {
      diagnostics.error(node.at, "an empty stack");
      break;
    }
    bool good = true;
    for (const NodePtr &part : node.operands) {
      auto shape = tensorShape(*part);
      if (!shape) {
        good = false;
      } else if (!out) {
        out = shape;
      } else if (good && *out != *shape) {
        Diagnostic &d = diagnostics.error(
            part->at, "a stack of " + shown(*out) + " and " + shown(*shape),
            "all parts of a stack have one shape");
        d.other = node.operands[0]->at, d.note = "the first part";
        good = false;
      }
    }
    if (good)
      out->insert(out->begin(), node.operands.size());
    else
      out.reset();
    break;
  }
  default:
    assert(false && "a node of the index form");
  }
  if (out)
    shapes[&node] = *out;
  return out;
}

void Checker::tensorAssignment(int target, const Assignment &assignment) {
  auto shape = tensorShape(*assignment.value);
  if (!shape)
    return;
  const Variable &variable = program.variables[target];
  if (*shape != variable.extents) {
    Diagnostic &d = diagnostics.error(
        assignment.at, "'" + variable.name + "' is " + shown(variable.extents) +
                           ", its value is " + shown(*shape));
    d.other = variable.at, d.note = "it is declared here";
    return;
  }
  assignTensor(target, {}, *assignment.value, assignment.at);
  markAssigned(target,
               std::vector<Subscript>(shape->size(), Subscript::ofIndex(0)),
               assignment.at);
}

/// Assigns `node` to the part of `target` selected by the numbers `prefix`; a
/// stack becomes one assignment for each of its parts.
void Checker::assignTensor(int target, Indices prefix, const Node &node,
                           Place at) {
  if (node.kind == Kind::Stack) {
    for (auto [i, part] : llvm::enumerate(node.operands)) {
      Indices longer = prefix;
      longer.push_back(Subscript::number(int64_t(i)));
      assignTensor(target, longer, *part, at);
    }
    return;
  }
  Statement out;
  out.at = at;
  out.target = target;
  out.subscripts = prefix;
  Indices indices;
  for (int64_t extent : shapes[&node]) {
    indices.push_back(Subscript::ofIndex(int(out.extents.size())));
    out.extents.push_back(extent);
  }
  out.subscripts.insert(out.subscripts.end(), indices.begin(), indices.end());
  Statement *outer = std::exchange(statement, &out);
  out.value = tensorExpr(node, indices);
  statement = outer;
  program.statements.push_back(std::move(out));
}

/// A stack inside an expression gets its own name.
ExprPtr Checker::stacked(const Node &node, const Indices &indices) {
  int target = program.variables.size();
  Variable variable;
  variable.name = freshName("stack");
  variable.at = node.at;
  variable.extents = shapes[&node];
  variable.halo.assign(variable.extents.size(), {0, 0});
  names[variable.name] = target;
  program.variables.push_back(variable);
  State state;
  state.complete = true;
  states.push_back(state);
  assignTensor(target, {}, node, node.at);
  auto out = std::make_shared<Expr>();
  out->kind = Expr::Kind::Access;
  out->at = node.at;
  out->variable = target;
  out->subscripts = indices;
  return out;
}

ExprPtr Checker::tensorExpr(const Node &node, const Indices &indices) {
  auto access = [&](int variable) {
    auto out = std::make_shared<Expr>();
    out->kind = Expr::Kind::Access;
    out->at = node.at;
    out->variable = variable;
    out->subscripts = indices;
    return out;
  };
  auto fresh = [&](int64_t extent) {
    statement->extents.push_back(extent);
    return int(statement->extents.size() - 1);
  };
  auto reduce = [&](std::vector<int> over, ExprPtr value) -> ExprPtr {
    if (over.empty())
      return value;
    auto out = std::make_shared<Expr>();
    out->kind = Expr::Kind::Reduce;
    out->at = node.at;
    out->op = Operator::Add;
    out->reduced = std::move(over);
    out->operands.push_back(std::move(value));
    return out;
  };
  switch (node.kind) {
  case Kind::Number:
    return literal(node.number, node.at);
  case Kind::Name:
    return access(find(node.name));
  case Kind::Product: {
    auto split = indices.begin() + shapes[node.operands[0].get()].size();
    return apply(Operator::Multiply,
                 {tensorExpr(*node.operands[0], {indices.begin(), split}),
                  tensorExpr(*node.operands[1], {split, indices.end()})},
                 node.at);
  }
  case Kind::Dot: {
    const Shape &left = shapes[node.operands[0].get()];
    int k = fresh(left.back());
    auto split = indices.begin() + (left.size() - 1);
    Indices first(indices.begin(), split), second{Subscript::ofIndex(k)};
    first.push_back(Subscript::ofIndex(k));
    second.insert(second.end(), split, indices.end());
    return reduce({k}, apply(Operator::Multiply,
                             {tensorExpr(*node.operands[0], first),
                              tensorExpr(*node.operands[1], second)},
                             node.at));
  }
  case Kind::Contract: {
    const Shape &inner = shapes[node.operands[0].get()];
    Indices all(inner.size());
    std::vector<bool> set(inner.size());
    std::vector<int> over;
    for (const auto &group : node.groups) {
      int k = fresh(inner[group[0]]);
      over.push_back(k);
      for (int64_t i : group)
        all[i] = Subscript::ofIndex(k), set[i] = true;
    }
    auto next = indices.begin();
    for (size_t i = 0; i < all.size(); ++i)
      if (!set[i])
        all[i] = *next++;
    return reduce(over, tensorExpr(*node.operands[0], all));
  }
  case Kind::Transpose: {
    Indices all = indices;
    // The result's indices are those of the operand after the swaps in order.
    for (const auto &group : llvm::reverse(node.groups))
      std::swap(all[group[0]], all[group[1]]);
    return tensorExpr(*node.operands[0], all);
  }
  case Kind::Binary: {
    auto of = [&](const NodePtr &operand) {
      return tensorExpr(*operand,
                        shapes[operand.get()].empty() ? Indices() : indices);
    };
    ExprPtr left = of(node.operands[0]), right = of(node.operands[1]);
    return apply(node.op, {left, right}, node.at);
  }
  case Kind::Negate:
    return apply(Operator::Negate, {tensorExpr(*node.operands[0], indices)},
                 node.at);
  case Kind::Stack:
    return stacked(node, indices);
  default:
    break;
  }
  assert(false && "a node of the index form");
  return literal(0, node.at);
}
