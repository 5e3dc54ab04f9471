// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HardwareParts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;

std::string kernelcommands::nameOf(Operation &op) {
  if (auto name = op.getAttrOfType<StringAttr>(marks::kName))
    return name.str();
  if (auto at = op.getLoc()->findInstanceOf<FileLineColLoc>())
    return "line " + std::to_string(at.getLine());
  return "";
}

std::vector<std::string>
kernelcommands::namesOf(llvm::ArrayRef<linalg::GenericOp> nests) {
  std::map<std::string, int> count, left;
  for (linalg::GenericOp nest : nests)
    ++left[nameOf(*nest)];
  std::vector<std::string> names;
  for (linalg::GenericOp nest : nests) {
    std::string name = nameOf(*nest);
    const int number = ++count[name];
    names.push_back(number == left[name] ? name
                                         : name + "." + std::to_string(number));
  }
  return names;
}

std::string kernelcommands::placeOf(Location loc) {
  auto at = loc->findInstanceOf<FileLineColLoc>();
  if (!at)
    return "";
  return llvm::sys::path::filename(at.getFilename().getValue()).str() + ":" +
         std::to_string(at.getLine()) + ":" + std::to_string(at.getColumn());
}

llvm::DenseMap<Operation *, Operation *>
kernelcommands::matchingFormats(const NumberedKernel &kernel) {
  llvm::DenseMap<Operation *, Operation *> matching;
  func::FuncOp integers = kernel.integers, formats = kernel.formats.func;
  for (auto [on, in] :
       llvm::zip_equal(integers.getBody().front(), formats.getBody().front()))
    matching[&on] = &in;
  return matching;
}

/// The argument of the kernel that a tensor is or was converted from, or the
/// result that it is or is converted to.
static std::string borderName(const NumberedKernel &kernel, Value v) {
  func::FuncOp func = kernel.integers;
  auto nameAt = [](DictionaryAttr attrs) {
    auto name = attrs ? attrs.getAs<StringAttr>(marks::kName) : StringAttr();
    return name ? name.str() : std::string();
  };
  auto resultName = [&](OpOperand &use) {
    return use.getOwner()->hasTrait<OpTrait::IsTerminator>()
               ? nameAt(func.getResultAttrDict(use.getOperandNumber()))
               : std::string();
  };
  if (auto argument = dyn_cast<BlockArgument>(v))
    return nameAt(func.getArgAttrDict(argument.getArgNumber()));
  for (OpOperand &use : v.getUses())
    if (std::string name = resultName(use); !name.empty())
      return name;
  if (Operation *made = v.getDefiningOp())
    for (Value from : made->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(from))
        if (argument.getOwner() == &func.getBody().front()) {
          // What comes in several formats has several names.
          const auto before =
              llvm::count_if(argument.getUsers(), [&](Operation *user) {
                return user->isBeforeInBlock(made) &&
                       gen::loops::isOutside(*user);
              });
          std::string name =
              nameAt(func.getArgAttrDict(argument.getArgNumber()));
          if (before > 0)
            name += "_" + std::to_string(before + 1);
          auto isTaken = [&] {
            return llvm::any_of(
                kernel.signature.arguments,
                [&](const auto &other) { return other.name == name; });
          };
          while (before > 0 && isTaken())
            name += "_";
          return name;
        }
  for (Operation *user : v.getUsers())
    for (Value to : user->getResults())
      for (OpOperand &use : to.getUses())
        if (std::string name = resultName(use); !name.empty())
          return name;
  return "";
}

std::vector<PlannedTensor>
kernelcommands::tensorsOf(const NumberedKernel &kernel,
                          llvm::ArrayRef<Value> values) {
  auto matching = matchingFormats(kernel);
  std::vector<PlannedTensor> out;
  for (Value v : values) {
    PlannedTensor tensor;
    tensor.name = borderName(kernel, v);
    tensor.shape = cast<RankedTensorType>(v.getType()).getShape().vec();
    Value in = v;
    if (auto result = dyn_cast<OpResult>(v))
      in = matching.at(result.getOwner())->getResult(result.getResultNumber());
    else
      in = func::FuncOp(kernel.formats.func)
               .getArgument(cast<BlockArgument>(v).getArgNumber());
    if (auto format = num::formatOf(getElementTypeOrSelf(in)))
      tensor.format = *format;
    out.push_back(std::move(tensor));
  }
  return out;
}

Refusals kernelcommands::whyNoHardware(const NumberedKernel &kernel) {
  Refusals refusals;
  gen::loops::KernelParts parts = gen::loops::partsOf(kernel.integers);
  for (const gen::loops::Obstacle &obstacle : parts.obstacles)
    refusals.push_back({placeOf(obstacle.where),
                        isa<func::FuncOp>(obstacle.op)
                            ? ""
                            : obstacle.op->getName().getStringRef().str(),
                        obstacle.reason, obstacle.remedy});
  if (!refusals.empty())
    return refusals;
  std::vector<Value> border = parts.inputs;
  border.insert(border.end(), parts.outputs.begin(), parts.outputs.end());
  for (const PlannedTensor &tensor : tensorsOf(kernel, border))
    if (unsigned(tensor.format.width()) > kMostWordBits)
      refusals.push_back({tensor.name, "",
                          "its numbers, " + tensor.format.str() + ", have " +
                              std::to_string(tensor.format.width()) +
                              " bits; a word of a stream has at most " +
                              std::to_string(kMostWordBits),
                          "choose a narrower format"});
  return refusals;
}
