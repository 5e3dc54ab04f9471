// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FunctionParts.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace rhizome::deploy;

/// The arguments of the function on which a value depends.
static llvm::SmallVector<unsigned> argumentsOf(Value value, Block &body) {
  llvm::SmallVector<unsigned> arguments;
  llvm::SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next);
        argument && argument.getOwner() == &body)
      arguments.push_back(argument.getArgNumber());
    // What is inside of an operation belongs to it.
    Operation *op = next.getDefiningOp();
    op = op ? body.findAncestorOpInBlock(*op) : nullptr;
    if (op)
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (seen.insert(operand).second)
            open.push_back(operand);
      });
  }
  return arguments;
}

/// `function` with nothing but these arguments and results.
static OwningOpRef<func::FuncOp> cut(func::FuncOp function,
                                     const FunctionPart &part) {
  OwningOpRef<func::FuncOp> copy = cast<func::FuncOp>(function->clone());
  Block &body = copy->getBody().front();
  Operation *end = body.getTerminator();
  llvm::BitVector results(copy->getNumResults(), true),
      arguments(copy->getNumArguments(), true);
  for (size_t output : part.outputs)
    results.reset(unsigned(output));
  for (size_t input : part.inputs)
    arguments.reset(unsigned(input));
  end->eraseOperands(results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (&op != end && op.use_empty())
      op.erase();
  [[maybe_unused]] bool good = succeeded(copy->eraseArguments(arguments)) &&
                               succeeded(copy->eraseResults(results));
  assert(good && "an argument that is left out has no use");
  return copy;
}

std::vector<FunctionPart> rhizome::deploy::partsOf(func::FuncOp function) {
  Block &body = function.getBody().front();
  const unsigned arguments = function.getNumArguments();
  OperandRange results = body.getTerminator()->getOperands();
  // Arguments first, then results.
  llvm::IntEqClasses classes(arguments + unsigned(results.size()));
  std::vector<bool> isUsed(arguments);
  for (auto [k, result] : llvm::enumerate(results)) {
    const unsigned node = arguments + unsigned(k);
    llvm::SmallVector<unsigned> on = argumentsOf(result, body);
    for (unsigned argument : on) {
      classes.join(argument, node);
      isUsed[argument] = true;
    }
    if (on.empty())
      classes.join(0, node);
  }
  for (unsigned argument = 0; argument < arguments; ++argument)
    if (!isUsed[argument])
      classes.join(0, argument);
  classes.compress();
  std::vector<FunctionPart> parts(classes.getNumClasses());
  for (unsigned node = 0; node < arguments + results.size(); ++node)
    if (node < arguments)
      parts[classes[node]].inputs.push_back(node);
    else
      parts[classes[node]].outputs.push_back(node - arguments);
  for (FunctionPart &part : parts)
    part.function = cut(function, part);
  return parts;
}
