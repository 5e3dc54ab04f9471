// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The signature of a kernel, from its function's types and attributes.
#include "rhizome/Import/Kernel/Signature.h"
#include "rhizome/Import/Kernel/Ir.h"

using namespace mlir;
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

llvm::Expected<Signature> rhizome::kernel::signatureOf(func::FuncOp kernel) {
  Signature out;
  out.name = kernel.getSymName().str();
  if (auto count = kernel->getAttrOfType<IntegerAttr>(kElementsAttr))
    out.elements = count.getInt();
  auto make = [&](Type type, DictionaryAttr attrs,
                  StringRef fallback) -> llvm::Expected<Argument> {
    Argument one;
    auto text = [&](StringRef key) -> StringRef {
      auto attr = attrs ? attrs.getAs<StringAttr>(key) : StringAttr();
      return attr ? attr.getValue() : "";
    };
    one.name = text(kNameAttr).empty() ? fallback.str() : text(kNameAttr).str();
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
    one.bits = tensor.getElementTypeBitWidth();
    one.columnMajor = attrs && attrs.contains(kColumnMajorAttr);
    if (attrs && attrs.contains(kElementFirstAttr))
      one.element = ElementDim::First;
    else if (attrs && attrs.contains(kElementLastAttr))
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
    out.arguments.push_back(std::move(*one));
  }
  for (auto [i, type] : llvm::enumerate(kernel.getResultTypes())) {
    auto one = make(type, kernel.getResultAttrDict(i), "y" + std::to_string(i));
    if (!one)
      return one.takeError();
    one->isOutput = true;
    auto both = llvm::find_if(out.arguments, [&](const Argument &argument) {
      return argument.name == one->name;
    });
    if (both != out.arguments.end())
      both->isOutput = true;
    else
      out.arguments.push_back(std::move(*one));
  }
  return out;
}
