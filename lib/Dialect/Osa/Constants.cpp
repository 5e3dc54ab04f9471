// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Access to constants: element attributes to plain vectors and back, as
// resource blobs, so that weights never become attribute text.
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Support/Sizes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include <mutex>

using namespace mlir;
using namespace rhizome;

bool osa::isTensorOf(Type type, function_ref<bool(Type)> isElement) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         isElement(tensor.getElementType());
}

/// Bytes of one element in memory; 0 for anything other than a float or an
/// integer of whole bytes. Booleans take a byte.
static int64_t bytesOf(Type element) {
  if (!element.isIntOrFloat())
    return 0;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits == 1 ? 1 : bits % 8 ? 0 : bits / 8;
}

/// The bytes of a resource; none if the file elided it.
static ArrayRef<char> bytesOf(DenseResourceElementsAttr attr) {
  AsmResourceBlob *blob = attr.getRawHandle().getBlob();
  return blob ? blob->getData() : ArrayRef<char>();
}

LogicalResult osa::verifyValues(ElementsAttr attr, StringRef what,
                                function_ref<InFlightDiagnostic()> emitError) {
  int64_t each = bytesOf(attr.getElementType());
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  if ((!resource && !isa<DenseIntOrFPElementsAttr>(attr)) || each == 0)
    return emitError() << what << " is " << attr.getType()
                       << ", which is not dense or has elements other than "
                          "floats and integers of whole bytes";
  if (!resource)
    return success();
  int64_t needed = attr.getNumElements() * each;
  auto held = int64_t(bytesOf(resource).size());
  if (held == needed)
    return success();
  StringRef key = resource.getRawHandle().getKey();
  InFlightDiagnostic diag = emitError();
  diag << what << " needs " << needed << " bytes for " << attr.getType()
       << ", but its resource '" << key << "' holds " << held;
  if (held)
    diag << "; the file is damaged: write it again";
  else
    diag << "; the file was written without it: write it again, with no option "
            "that elides large constants";
  return diag;
}

/// Extents that are known, multiplied.
static bool isCountable(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return true;
  auto known = llvm::make_filter_range(shaped.getShape(), [](int64_t extent) {
    return !ShapedType::isDynamic(extent);
  });
  return elementsOf(llvm::to_vector(known)).has_value();
}

/// No tensor has more than kMostElements: products of extents, which nobody
/// checks later, do not overflow. Of an operation's results, of the arguments of
/// its regions, of functions and of constants.
static LogicalResult verifyShapes(Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    if (isCountable(type))
      return success();
    return op->emitOpError("has ")
           << type << ", which has more elements than the " << kMostElements
           << " that are supported";
  };
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (failed(check(type)))
          return failure();
  for (NamedAttribute named : op->getAttrs()) {
    if (auto typed = dyn_cast<TypedAttr>(named.getValue());
        typed && failed(check(typed.getType())))
      return failure();
    auto holder = dyn_cast<TypeAttr>(named.getValue());
    if (!holder)
      continue;
    auto function = dyn_cast<FunctionType>(holder.getValue());
    if (!function) {
      if (failed(check(holder.getValue())))
        return failure();
      continue;
    }
    for (TypeRange types : {function.getInputs(), function.getResults()})
      for (Type type : types)
        if (failed(check(type)))
          return failure();
  }
  return success();
}

LogicalResult osa::verifyResources(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    bool good = succeeded(verifyShapes(op));
    for (NamedAttribute named : op->getAttrs())
      if (auto attr = dyn_cast<DenseResourceElementsAttr>(named.getValue()))
        good &= succeeded(verifyValues(attr, named.getName(),
                                       [&] { return op->emitOpError(); }));
    return good ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

ArrayRef<char> osa::rawValues(ElementsAttr attr) {
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    return dense.getRawData();
  return bytesOf(cast<DenseResourceElementsAttr>(attr));
}

template <typename T> static T load(const char *p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Calls `use` with `n` values of an integer attribute, from `first` on, and
/// their numbers from 0 on.
template <typename Use>
static void forInts(ElementsAttr attr, bool isSigned, size_t first, size_t n,
                    Use use) {
  unsigned width = attr.getElementType().getIntOrFloatBitWidth();
  bool splat = attr.isSplat();
  ArrayRef<char> raw = osa::rawValues(attr);
  unsigned bytes = (width + 7) / 8;
  assert((n == 0 || raw.size() >= (splat ? 1 : first + n) * bytes) &&
         "values are verified when they are read");
  // A loop for each width: layers have millions of values.
  auto forWords = [&]<class Word>(Word) {
    const char *from = raw.data() + (splat ? 0 : first * sizeof(Word));
    for (size_t i = 0; i < n; ++i)
      use(i, int64_t(load<Word>(from + (splat ? 0 : i * sizeof(Word)))));
  };
  switch (bytes) {
  case 1:
    return isSigned ? forWords(int8_t()) : forWords(uint8_t());
  case 2:
    return isSigned ? forWords(int16_t()) : forWords(uint16_t());
  case 4:
    return isSigned ? forWords(int32_t()) : forWords(uint32_t());
  default:
    return forWords(int64_t());
  }
}

std::vector<int64_t> osa::intValues(ElementsAttr attr, bool isSigned) {
  std::vector<int64_t> out(attr.getNumElements());
  forInts(attr, isSigned, 0, out.size(),
          [&](size_t i, int64_t value) { out[i] = value; });
  return out;
}

std::vector<float> osa::floatValues(ElementsAttr attr) {
  bool splat = attr.isSplat();
  ArrayRef<char> raw = rawValues(attr);
  size_t n = attr.getNumElements();
  std::vector<float> out(n);
  assert((n == 0 || raw.size() >= (splat ? 1 : n) * sizeof(float)) &&
         "values are verified when they are read");
  for (size_t i = 0; i < n; ++i)
    out[i] = load<float>(raw.data() + (splat ? 0 : i * sizeof(float)));
  return out;
}

bool osa::isConstantInts(Value value) {
  return value.getDefiningOp<ConstantOp>() && num::elementInt(value.getType());
}

std::optional<std::vector<int64_t>> osa::constantInts(Value value) {
  if (!isConstantInts(value))
    return std::nullopt;
  return intValues(value.getDefiningOp<ConstantOp>().getValue(),
                   num::elementInt(value.getType()).getIsSigned());
}

std::vector<int64_t> osa::constantInts(Value value, size_t first,
                                       size_t count) {
  std::vector<int64_t> out(count);
  forInts(value.getDefiningOp<ConstantOp>().getValue(),
          num::elementInt(value.getType()).getIsSigned(), first, count,
          [&](size_t i, int64_t one) { out[i] = one; });
  return out;
}

void osa::forConstantInts(Value value, function_ref<void(int64_t)> use) {
  forInts(value.getDefiningOp<ConstantOp>().getValue(),
          num::elementInt(value.getType()).getIsSigned(), 0,
          size_t(cast<RankedTensorType>(value.getType()).getNumElements()),
          [&](size_t, int64_t one) { use(one); });
}

/// A resource whose key is the name and a hash of the contents, so that it does
/// not depend on other resources; equal ones are merged.
template <typename T>
static ElementsAttr makeResource(RankedTensorType type, StringRef name,
                                 ArrayRef<T> values) {
  static std::mutex mutex; // between looking up and inserting
  std::lock_guard<std::mutex> guard(mutex);
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(type.getContext());
  ArrayRef<char> bytes(reinterpret_cast<const char *>(values.data()),
                       values.size() * sizeof(T));
  uint64_t hash = llvm::xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  // The same bytes with another alignment are another resource.
  std::string key = (name + "_" + llvm::utohexstr(hash, /*LowerCase=*/true) +
                     (sizeof(T) > 1 ? "x" + std::to_string(sizeof(T)) : ""))
                        .str();
  if (auto *known = manager.getBlobManager().lookup(key);
      known && known->getBlob() && known->getBlob()->getData() == bytes)
    return DenseResourceElementsAttr::get(
        type, DenseResourceElementsHandle(
                  known, cast<BuiltinDialect>(manager.getDialect())));
  return DenseResourceElementsAttr::get(
      type, key, HeapAsmResourceBlob::allocateAndCopyInferAlign<T>(values));
}

ElementsAttr osa::makeFloatAttr(MLIRContext *context, StringRef name,
                                ArrayRef<int64_t> shape,
                                ArrayRef<float> values) {
  auto type = RankedTensorType::get(shape, Float32Type::get(context));
  if (values.size() <= 1)
    return DenseElementsAttr::get(type, values);
  return makeResource<float>(type, name, values);
}

template <typename T>
static ElementsAttr makeInts(RankedTensorType type, StringRef name,
                             ArrayRef<int64_t> values,
                             function_ref<size_t()> next) {
  std::vector<T> narrow(values.size());
  for (size_t i = 0; i < narrow.size(); ++i)
    narrow[i] = T(values[next ? next() : i]);
  if (values.size() <= 1)
    return DenseElementsAttr::get(type, ArrayRef<T>(narrow));
  return makeResource<T>(type, name, narrow);
}

ElementsAttr osa::makeIntAttr(MLIRContext *context, StringRef name,
                              ArrayRef<int64_t> shape, num::IntType type,
                              ArrayRef<int64_t> values,
                              function_ref<size_t()> next) {
  unsigned storage = type.getWidth() <= 8    ? 8
                     : type.getWidth() <= 16 ? 16
                     : type.getWidth() <= 32 ? 32
                                             : 64;
  auto tensor =
      RankedTensorType::get(shape, IntegerType::get(context, storage));
  switch (storage) {
  case 8:
    return makeInts<int8_t>(tensor, name, values, next);
  case 16:
    return makeInts<int16_t>(tensor, name, values, next);
  case 32:
    return makeInts<int32_t>(tensor, name, values, next);
  default:
    return makeInts<int64_t>(tensor, name, values, next);
  }
}

std::string osa::nodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location child : fused.getLocations())
      if (std::string name = nodeName(child); !name.empty())
        return name;
  return "";
}
