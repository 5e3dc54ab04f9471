// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network of integers as a file: with the host's parts beside it, as a
// package holds it, or alone; then whole numbers enter and leave it.
#include "Raise.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

/// The function of integers, @network if there are several.
static func::FuncOp findIntegers(ModuleOp module, Refusals &refusals) {
  SmallVector<func::FuncOp> all(module.getOps<func::FuncOp>());
  if (auto network = module.lookupSymbol<func::FuncOp>("network"))
    return network;
  if (all.size() == 1)
    return all[0];
  refusals.push_back({"", "",
                      formatv("the module holds {0} functions, none of them "
                              "@network",
                              all.size()),
                      "name the network's function @network"});
  return {};
}

/// One quantiser of scale 1: whole numbers as reals, and back.
static Value converted(OpBuilder &b, Location loc, Value v, Type to) {
  ElementsAttr scale =
      DenseElementsAttr::get(RankedTensorType::get({1}, b.getF32Type()), 1.0f);
  ElementsAttr zero = DenseElementsAttr::get(
      RankedTensorType::get({1}, b.getI64Type()), int64_t(0));
  if (num::elementInt(to))
    return osa::QuantizeOp::create(b, loc, to, v, scale, zero);
  return osa::DequantizeOp::create(b, loc, to, v, scale, zero);
}

static Type realOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(Float32Type::get(type.getContext()));
}

/// Whether float32 holds every value at the border.
static bool fitsFloats(TypeRange types, const char *what, Refusals &refusals) {
  for (auto [i, type] : llvm::enumerate(types)) {
    num::IntType integer = num::elementInt(type);
    if (!integer) {
      refusals.push_back(
          {"network", "func.func",
           formatv("its {0} {1} is no tensor of !num.int", what, i),
           "give the host's part as @prologue and @epilogue"});
      return false;
    }
    if (integer.getWidth() > 24) {
      refusals.push_back({"network", "func.func",
                          formatv("its {0} {1} has integers of {2} bits, "
                                  "float32 holds 24",
                                  what, i, integer.getWidth()),
                          "end the network with a requantizer"});
      return false;
    }
  }
  return true;
}

/// A function that takes and gives these and converts one by one.
static void addConversion(ModuleOp module, StringRef name, TypeRange from,
                          TypeRange to, func::FuncOp network) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(b, network.getLoc(), name,
                                       b.getFunctionType(from, to));
  b.setInsertionPointToEnd(function.addEntryBlock());
  SmallVector<Value> results;
  for (auto [argument, type] : llvm::zip_equal(function.getArguments(), to))
    results.push_back(converted(b, network.getLoc(), argument, type));
  func::ReturnOp::create(b, network.getLoc(), results);
  const bool before = name == "prologue";
  for (unsigned i = 0; i < from.size(); ++i) {
    StringAttr given =
        before ? network.getArgAttrOfType<StringAttr>(i, "rhizome.name")
               : network.getResultAttrOfType<StringAttr>(i, "rhizome.name");
    if (!given)
      given = b.getStringAttr((before ? "input" : "output") + llvm::Twine(i));
    if (!before) {
      network.setResultAttr(i, "rhizome.name", given);
      function.setResultAttr(i, "rhizome.name", given);
      continue;
    }
    network.setArgAttr(i, "rhizome.name", given);
    function.setArgAttr(i, "rhizome.name", given);
    function.setArgAttr(i, "rhizome.whole", b.getUnitAttr());
    num::IntType integer = num::elementInt(to[i]);
    function.setArgAttr(
        i, "rhizome.range",
        b.getDenseI64ArrayAttr({integer.getLo(), integer.getHi()}));
  }
}

/// Whether @prologue gives what @network takes, and @epilogue takes the rest.
static bool follow(ModuleOp module, func::FuncOp network, Refusals &refusals) {
  auto prologue = module.lookupSymbol<func::FuncOp>("prologue"),
       epilogue = module.lookupSymbol<func::FuncOp>("epilogue");
  auto fits = [&] {
    if (!prologue || !epilogue ||
        prologue.getNumResults() < network.getNumArguments())
      return false;
    auto given = prologue.getResultTypes();
    SmallVector<Type> taken(network.getResultTypes());
    taken.append(given.begin() + network.getNumArguments(), given.end());
    return llvm::equal(given.take_front(network.getNumArguments()),
                       network.getArgumentTypes()) &&
           llvm::equal(taken, epilogue.getArgumentTypes());
  };
  if (fits())
    return true;
  refusals.push_back({"network", "func.func",
                      "@prologue, @network and @epilogue do not follow each "
                      "other",
                      "give the three as a package's model/network.mlir does, "
                      "or @network alone"});
  return false;
}

bool importer::completeIntegers(ModuleOp module, Refusals &refusals) {
  func::FuncOp network = findIntegers(module, refusals);
  if (!network)
    return false;
  if (network.isExternal() || !network.getBody().hasOneBlock()) {
    refusals.push_back({"network", "func.func",
                        "the network is not one block of operations", ""});
    return false;
  }
  network.setSymName("network");
  for (Operation &op : network.getBody().front())
    if (!isa_and_nonnull<osa::OsaDialect>(op.getDialect()) &&
        !isa<func::ReturnOp>(op))
      refusals.push_back(
          {placeOf(op.getLoc()), op.getName().getStringRef().str(),
           "a network of integers holds osa operations only", ""});
  if (!refusals.empty())
    return false;
  if (module.lookupSymbol("prologue") || module.lookupSymbol("epilogue"))
    return follow(module, network, refusals);
  if (!fitsFloats(network.getArgumentTypes(), "input", refusals) ||
      !fitsFloats(network.getResultTypes(), "output", refusals))
    return false;
  auto reals = [](TypeRange types) {
    return SmallVector<Type>(llvm::map_range(types, realOf));
  };
  addConversion(module, "prologue", reals(network.getArgumentTypes()),
                network.getArgumentTypes(), network);
  addConversion(module, "epilogue", network.getResultTypes(),
                reals(network.getResultTypes()), network);
  return true;
}
