// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the attributes of the dialect `rhizome` may stand, and what they may
// hold.
#include "rhizome/Dialect/Marks/Marks.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace rhizome::marks;

MLIR_DEFINE_EXPLICIT_TYPE_ID(rhizome::marks::MarksDialect)

MarksDialect::MarksDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<MarksDialect>()) {}

namespace {
/// Where an attribute stands.
enum Where : unsigned {
  kModule = 1,
  kFunction = 2,
  kArgument = 4,
  kResult = 8,
  kOperation = 16,
};

/// What an attribute holds, with its words for messages.
struct Contents {
  bool (*holds)(Attribute);
  StringRef what;
};
} // namespace

static bool isInteger(Attribute attribute) {
  auto value = dyn_cast_if_present<IntegerAttr>(attribute);
  return value && value.getType().isSignlessInteger(64);
}
static bool isAtLeast(Attribute attribute, int64_t least) {
  return isInteger(attribute) && cast<IntegerAttr>(attribute).getInt() >= least;
}

namespace contents {
constexpr Contents Anything = {[](Attribute) { return true; }, ""};
constexpr Contents Unit = {[](Attribute a) { return isa<UnitAttr>(a); },
                           "nothing"};
constexpr Contents String = {[](Attribute a) { return isa<StringAttr>(a); },
                             "a string"};
constexpr Contents Integer = {isInteger, "an i64"};
constexpr Contents Index = {[](Attribute a) { return isAtLeast(a, 0); },
                            "an i64 that is not negative"};
constexpr Contents Float = {[](Attribute a) { return isa<FloatAttr>(a); },
                            "a float"};
constexpr Contents Integers = {
    [](Attribute a) { return isa<DenseI64ArrayAttr>(a); }, "an array of i64"};
constexpr Contents TwoIntegers = {[](Attribute a) {
                                    auto both = dyn_cast<DenseI64ArrayAttr>(a);
                                    return both && both.size() == 2;
                                  },
                                  "two i64"};
constexpr Contents Range = {[](Attribute a) {
                              auto ends = dyn_cast<DenseI64ArrayAttr>(a);
                              return ends && ends.size() == 2 &&
                                     ends[0] <= ends[1];
                            },
                            "two i64, the least and the greatest"};
constexpr Contents TwoBools = {[](Attribute a) {
                                 auto both = dyn_cast<DenseBoolArrayAttr>(a);
                                 return both && both.size() == 2;
                               },
                               "two booleans"};
constexpr Contents Elements = {[](Attribute a) { return isa<ElementsAttr>(a); },
                               "the values of a tensor"};
constexpr Contents TypeOf = {[](Attribute a) { return isa<TypeAttr>(a); },
                             "a type"};
constexpr Contents Dictionaries = {
    [](Attribute a) {
      auto list = dyn_cast<ArrayAttr>(a);
      return list && llvm::all_of(list, [](Attribute each) {
               return isa<DictionaryAttr>(each);
             });
    },
    "an array of dictionaries"};
constexpr Contents Trips = {[](Attribute a) {
                              auto trips = dyn_cast<DictionaryAttr>(a);
                              return trips && trips.size() == 4 &&
                                     isa_and_present<StringAttr>(
                                         trips.get("in")) &&
                                     isAtLeast(trips.get("first"), 0) &&
                                     isAtLeast(trips.get("stride"), 1) &&
                                     isAtLeast(trips.get("trips"), 2);
                            },
                            "in, first, stride and two or more trips"};
} // namespace contents

namespace {
struct Mark {
  StringRef text;
  unsigned where;
  const Contents &contents;
};
} // namespace

static constexpr Mark kMarks[] = {
#define MARK(name, text, where, type) {text, where, contents::type},
#include "rhizome/Dialect/Marks/Marks.def"
};

/// "an argument or a result".
static std::string namesOf(unsigned where) {
  constexpr std::pair<Where, StringLiteral> kNames[] = {
      {kModule, "a module"},
      {kFunction, "a function"},
      {kArgument, "an argument"},
      {kResult, "a result"},
      {kOperation, "an operation"}};
  std::string names;
  for (const auto &[one, name] : kNames)
    if (where & one)
      names += (names.empty() ? "" : " or ") + name.str();
  return names;
}

static LogicalResult verify(Operation *op, NamedAttribute attribute,
                            Where where) {
  const StringRef name = attribute.getName();
  const Mark *mark = llvm::find_if(
      kMarks, [&](const Mark &each) { return each.text == name; });
  if (mark == std::end(kMarks)) {
    const Mark &nearest =
        *llvm::min_element(kMarks, [&](const Mark &a, const Mark &b) {
          return name.edit_distance(a.text) < name.edit_distance(b.text);
        });
    return op->emitError("C1: there is no attribute '")
           << name << "'; '" << nearest.text << "' is the nearest";
  }
  if (!(mark->where & where))
    return op->emitError("C2: '")
           << name << "' may not stand on " << namesOf(where) << ", only on "
           << namesOf(mark->where);
  if (!mark->contents.holds(attribute.getValue()))
    return op->emitError("C3: '") << name << "' holds " << mark->contents.what
                                  << ", not " << attribute.getValue();
  return success();
}

LogicalResult MarksDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  return verify(op, attribute,
                isa<ModuleOp>(op)              ? kModule
                : isa<FunctionOpInterface>(op) ? kFunction
                                               : kOperation);
}

LogicalResult MarksDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned,
                                                     NamedAttribute attribute) {
  return verify(op, attribute, kArgument);
}

LogicalResult
MarksDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                          NamedAttribute attribute) {
  return verify(op, attribute, kResult);
}
