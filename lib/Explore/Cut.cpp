// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Cut.h"
#include "Menu.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace rhizome::explore {
/// The name of a value at a border: the model's tensor, or its node.
static StringAttr nameOf(func::FuncOp network, Value v) {
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    if (auto name = network.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                         marks::kName))
      return name;
    return StringAttr::get(network.getContext(), "input");
  }
  auto ret = network.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(ret->getOperands()))
    if (rootOf(result) == v)
      if (auto name = network.getResultAttrOfType<StringAttr>(unsigned(i),
                                                              marks::kName))
        return name;
  return StringAttr::get(network.getContext(),
                         osa::nodeName(v.getDefiningOp()));
}

/// Whether a value is read outside of `inside`, also through reshapes.
static bool leaves(Value v, const llvm::SmallPtrSetImpl<Operation *> &inside) {
  return llvm::any_of(v.getUsers(), [&](Operation *user) {
    return isa<osa::ReshapeOp>(user) ? leaves(user->getResult(0), inside)
                                     : !inside.contains(user);
  });
}

static int64_t numberOf(Value v, SmallVectorImpl<Value> &values) {
  auto it = llvm::find(values, v);
  if (it == values.end()) {
    values.push_back(v);
    return int64_t(values.size()) - 1;
  }
  return it - values.begin();
}

func::FuncOp cutFunction(func::FuncOp network, ArrayRef<Operation *> ops,
                         ArrayRef<Value> passing, bool whole, StringRef name,
                         Operation *after, SmallVectorImpl<Value> &values,
                         std::vector<Operation *> &copies) {
  llvm::SmallPtrSet<Operation *, 32> inside(ops.begin(), ops.end());
  llvm::SetVector<Value> arguments, leaving;
  if (whole)
    arguments.insert(network.getArguments().begin(),
                     network.getArguments().end());
  for (Operation *op : ops) {
    for (Value v : op->getOperands()) {
      Value root = rootOf(v);
      Operation *producer = root.getDefiningOp();
      if (!producer ||
          (!isa<osa::ConstantOp>(producer) && !inside.contains(producer)))
        arguments.insert(root);
    }
    if (leaves(op->getResult(0), inside))
      leaving.insert(op->getResult(0));
  }
  arguments.insert(passing.begin(), passing.end());
  leaving.insert(passing.begin(), passing.end());
  Operation *end = network.getBody().front().getTerminator();
  SmallVector<Value> results = leaving.takeVector();
  if (whole)
    results.assign(end->operand_begin(), end->operand_end());
  OpBuilder b(network.getContext());
  b.setInsertionPointAfter(after);
  auto function = func::FuncOp::create(
      b, network.getLoc(), name,
      b.getFunctionType(ValueRange(arguments.getArrayRef()).getTypes(),
                        ValueRange(results).getTypes()));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (auto [i, v] : llvm::enumerate(arguments)) {
    mapping.map(v, body->getArgument(unsigned(i)));
    function.setArgAttr(unsigned(i), marks::kName, nameOf(network, v));
    function.setArgAttr(unsigned(i), marks::kValue,
                        b.getI64IntegerAttr(numberOf(v, values)));
    if (auto input = dyn_cast<BlockArgument>(v))
      function.setArgAttr(unsigned(i), marks::kInput,
                          b.getI64IntegerAttr(input.getArgNumber()));
  }
  // Constants and reshapes move with their first reader.
  std::function<void(Value)> bring = [&](Value v) {
    Operation *producer = v.getDefiningOp();
    if (mapping.contains(v) || !producer)
      return;
    for (Value operand : producer->getOperands())
      bring(operand);
    b.clone(*producer, mapping);
  };
  for (Operation *op : ops) {
    for (Value v : op->getOperands())
      bring(v);
    copies.push_back(b.clone(*op, mapping));
  }
  for (Value v : results)
    bring(v);
  auto mapped =
      llvm::map_to_vector(results, [&](Value v) { return mapping.lookup(v); });
  func::ReturnOp::create(b, network.getLoc(), mapped);
  for (auto [i, v] : llvm::enumerate(results)) {
    StringAttr own;
    if (whole)
      own = network.getResultAttrOfType<StringAttr>(unsigned(i), marks::kName);
    function.setResultAttr(unsigned(i), marks::kName,
                           own ? own : nameOf(network, rootOf(v)));
    function.setResultAttr(unsigned(i), marks::kValue,
                           b.getI64IntegerAttr(numberOf(rootOf(v), values)));
    SmallVector<int64_t> outputs;
    for (auto [o, result] : llvm::enumerate(end->getOperands()))
      if (whole ? o == i
                : rootOf(result) == v && !llvm::is_contained(passing, v))
        outputs.push_back(int64_t(o));
    function.setResultAttr(unsigned(i), marks::kOutputs,
                           b.getDenseI64ArrayAttr(outputs));
  }
  return function;
}
} // namespace rhizome::explore
