// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The signature of a kernel, from its function's types and attributes. Here,
// names and sizes of a module that anybody may have written are checked.
#include "rhizome/Import/Kernel/Signature.h"
#include "Limits.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Support/Sizes.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;

int64_t Argument::size() const {
  int64_t out = 1;
  for (int64_t extent : shape)
    out *= extent;
  return out;
}

static llvm::Error signatureError(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

/// Names become those of parameters, ports and files.
static llvm::Error checkName(StringRef name) {
  if (rhizome::isIdentifier(name))
    return llvm::Error::success();
  return signatureError("the name '" + rhizome::printable(name) +
                        "' in the attribute " + marks::kName +
                        " is not made of letters, digits and '_' after a "
                        "letter or '_'; remedy: rename it");
}

/// A result of an argument's name lies in the argument's array.
static llvm::Error joinResult(Argument one, std::vector<Argument> &arguments,
                              llvm::StringSet<> &results) {
  if (!results.insert(one.name).second)
    return signatureError("two results are called '" + one.name +
                          "'; remedy: rename one of them");
  auto both = llvm::find_if(arguments, [&](const Argument &argument) {
    return argument.name == one.name;
  });
  if (both == arguments.end()) {
    arguments.push_back(std::move(one));
    return llvm::Error::success();
  }
  if (both->shape != one.shape || both->bits != one.bits)
    return signatureError("the result '" + one.name +
                          "' has another type than the argument of its name, "
                          "in which it would lie; remedy: rename one of them");
  both->isOutput = true;
  return llvm::Error::success();
}

llvm::Expected<Signature> rhizome::kernel::signatureOf(func::FuncOp kernel) {
  Signature out;
  if (size_t count = kernel.getNumArguments() + kernel.getNumResults();
      count > kMostArguments)
    return signatureError("the kernel has " + llvm::Twine(count) +
                          " arguments and results, more than the " +
                          llvm::Twine(kMostArguments) +
                          " that are supported; remedy: stack those of one "
                          "shape in one array");
  out.name = kernel.getSymName().str();
  if (auto count = kernel->getAttrOfType<IntegerAttr>(marks::kElements)) {
    if (!count.getType().isSignlessInteger(64) || count.getInt() < 0 ||
        count.getInt() > kMostElements)
      return signatureError("the attribute " + marks::kElements +
                            " is not a count of elements");
    out.elements = count.getInt();
  }
  auto make = [&](Type type, DictionaryAttr attrs,
                  StringRef fallback) -> llvm::Expected<Argument> {
    Argument one;
    auto text = [&](StringRef key) -> StringRef {
      auto attr = attrs ? attrs.getAs<StringAttr>(key) : StringAttr();
      return attr ? attr.getValue() : "";
    };
    one.name =
        text(marks::kName).empty() ? fallback.str() : text(marks::kName).str();
    if (llvm::Error error = checkName(one.name))
      return std::move(error);
    auto tensor = dyn_cast<ShapedType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !isa<Float32Type, Float64Type>(tensor.getElementType()) ||
        tensor.getRank() > 8)
      return signatureError(
          "the argument '" + one.name +
          "' is not an array of f32 or f64 with fixed extents "
          "and at most eight dimensions");
    if (auto buffer = dyn_cast<MemRefType>(type);
        isa<UnrankedMemRefType>(type) ||
        (buffer &&
         (!buffer.getLayout().isIdentity() || buffer.getMemorySpace())))
      return signatureError("the argument '" + one.name +
                            "' has a layout or a memory of its own; remedy: a "
                            "memref without them");
    one.shape = tensor.getShape().vec();
    if (!elementsOf(one.shape))
      return signatureError("the argument '" + one.name +
                            "' has more elements than the " +
                            llvm::Twine(kMostElements) + " that are supported");
    one.bits = tensor.getElementTypeBitWidth();
    one.columnMajor = attrs && attrs.contains(marks::kColumnMajor);
    if (attrs && attrs.contains(marks::kElementFirst))
      one.element = ElementDim::First;
    else if (attrs && attrs.contains(marks::kElementLast))
      one.element = ElementDim::Last;
    one.strides.resize(one.shape.size());
    int64_t stride = 1;
    for (size_t i = 0; i < one.shape.size(); ++i) {
      size_t d = one.columnMajor ? i : one.shape.size() - 1 - i;
      one.strides[d] = stride;
      stride *= one.shape[d];
    }
    return one;
  };
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto one = make(type, kernel.getArgAttrDict(i), "x" + std::to_string(i));
    if (!one)
      return one.takeError();
    // A buffer may be written; there is no information on whether it is.
    one->isInput = true;
    one->isOutput = isa<MemRefType>(type);
    if (llvm::any_of(out.arguments, [&](const Argument &other) {
          return other.name == one->name;
        }))
      return signatureError("two arguments are called '" + one->name +
                            "'; remedy: rename one of them");
    out.arguments.push_back(std::move(*one));
  }
  llvm::StringSet<> results;
  for (auto [i, type] : llvm::enumerate(kernel.getResultTypes())) {
    auto one = make(type, kernel.getResultAttrDict(i), "y" + std::to_string(i));
    if (!one)
      return one.takeError();
    one->isOutput = true;
    if (llvm::Error error = joinResult(std::move(*one), out.arguments, results))
      return std::move(error);
  }
  // Temporaries become memories.
  StringAttr wrong;
  kernel.walk([&](Operation *op) {
    if (auto name = op->getAttrOfType<StringAttr>(marks::kName);
        op != kernel.getOperation() && name &&
        !rhizome::isIdentifier(name.getValue()))
      wrong = name;
  });
  if (wrong)
    return checkName(wrong.getValue());
  return out;
}
