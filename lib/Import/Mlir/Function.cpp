// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function of a network: selects it in a module, and determines its
// border and the names of its operations.
#include "Raise.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

/// @main, or the only public function.
static func::FuncOp findMain(ModuleOp module, Refusals &refusals) {
  SmallVector<func::FuncOp> all;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && function.isPublic())
      all.push_back(function);
  auto main = llvm::find_if(
      all, [](func::FuncOp f) { return f.getSymName() == "main"; });
  if (main != all.end())
    return *main;
  if (all.size() == 1)
    return all[0];
  std::string names;
  for (func::FuncOp function : all)
    names += (names.empty() ? "@" : ", @") + function.getSymName().str();
  refusals.push_back(
      {"", "",
       all.empty() ? "the module holds no public function with a body"
                   : "the module holds several public functions: " + names,
       "name the network's function @main, or make the others private"});
  return {};
}

func::FuncOp importer::isolateMain(ModuleOp module, Refusals &refusals) {
  func::FuncOp main = findMain(module, refusals);
  if (!main)
    return {};
  if (auto taken = module.lookupSymbol("main"); taken && taken != main)
    taken->erase();
  main.setSymName("main");
  for (auto function : module.getOps<func::FuncOp>())
    if (function != main)
      function.setPrivate();
  PassManager pm(module.getContext());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  if (failed(pm.run(module)))
    return {}; // with a diagnostic
  auto alone = llvm::hasSingleElement(module.getOps<func::FuncOp>());
  if (!alone || !main.getBody().hasOneBlock()) {
    refusals.push_back({placeOf(main.getLoc()), "func.func",
                        "the network's function calls what cannot be "
                        "inlined, or has branches",
                        "export the network as one block"});
    return {};
  }
  return main;
}

//===----------------------------------------------------------------------===//
// The border
//===----------------------------------------------------------------------===//

static std::string nameOf(StringAttr given, Location location,
                          std::string other) {
  if (given && !given.getValue().empty())
    return given.str();
  auto named = dyn_cast<NameLoc>(location);
  return named ? named.getName().str() : other;
}

/// Refuses arguments and results of unsupported types.
static void checkType(Type type, const std::string &name, StringRef what,
                      Refusals &refusals) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto refuse = [&](StringRef remedy) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "this " << what << " of the network has the type " << type;
    refusals.push_back({name, what.str(), text, remedy.str()});
  };
  if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() == 0)
    refuse("export it with tensors of known size");
  else if (!tensor.getElementType().isF32() &&
           !tensor.getElementType().isSignlessInteger(64))
    refuse("export the network in float32; indices are i64");
}

/// The argument contains whole numbers: adds a quantizer of scale 1.
static void makeWhole(func::FuncOp function, BlockArgument argument,
                      std::pair<bool, unsigned> type) {
  MLIRContext *context = function.getContext();
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  auto integer = num::IntType::getFull(context, type.first, type.second);
  auto tensor = cast<RankedTensorType>(argument.getType());
  auto one = RankedTensorType::get({1}, b.getF32Type());
  auto zero = RankedTensorType::get({1}, b.getI64Type());
  ElementsAttr scale = DenseElementsAttr::get(one, 1.0f),
               point = DenseElementsAttr::get(zero, int64_t(0));
  Location loc = argument.getLoc();
  auto q = osa::QuantizeOp::create(
      b, loc, RankedTensorType::get(tensor.getShape(), integer), argument,
      scale, point);
  auto d = osa::DequantizeOp::create(b, loc, tensor, q, scale, point);
  argument.replaceAllUsesExcept(d, q);
  unsigned i = argument.getArgNumber();
  function.setArgAttr(i, marks::kWhole, b.getUnitAttr());
  function.setArgAttr(
      i, marks::kRange,
      b.getDenseI64ArrayAttr({integer.getLo(), integer.getHi()}));
}

/// Refuses options for unknown inputs, and with other sizes.
static void checkOptions(func::FuncOp function, const MlirOptions &options,
                         ArrayRef<std::string> names, Refusals &refusals) {
  auto refuse = [&](const std::string &name, const char *what) {
    refusals.push_back(
        {name, "input",
         formatv("a {0} is given for this name, but the model has no such "
                 "input",
                 what),
         "its inputs are '" + llvm::join(names, "', '") + "'"});
  };
  for (const auto &[name, shape] : options.shapes) {
    auto it = llvm::find(names, name);
    if (it == names.end()) {
      refuse(name, "shape");
      continue;
    }
    Shape have = shapeOf(function.getArgument(it - names.begin()));
    if (llvm::any_of(shape, [](int64_t size) { return size < 0; })) {
      refusals.push_back({name, "input", "MLIR files have no bounded sizes",
                          "give its largest size, and pad shorter inputs"});
      continue;
    }
    if (ArrayRef(shape) != ArrayRef<int64_t>(have))
      refusals.push_back(
          {name, "input",
           formatv("the shape [{0:$[, ]}] is given for this "
                   "input, the file has [{1:$[, ]}]",
                   llvm::iterator_range(shape), llvm::iterator_range(have)),
           "an MLIR file says its shapes itself: export the "
           "network with the other one"});
  }
  for (const auto &[name, type] : options.inputTypes)
    if (!llvm::is_contained(names, name))
      refuse(name, "type");
}

void importer::settleBorder(func::FuncOp function, const MlirOptions &options,
                            Refusals &refusals) {
  MLIRContext *context = function.getContext();
  std::vector<std::string> names;
  const size_t before = refusals.size();
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    names.push_back(
        nameOf(function.getArgAttrOfType<StringAttr>(i, marks::kName),
               argument.getLoc(), "input" + std::to_string(i)));
    function.setArgAttr(i, marks::kName,
                        StringAttr::get(context, names.back()));
    checkType(argument.getType(), names.back(), "input", refusals);
  }
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto given = function.getResultAttrOfType<StringAttr>(i, marks::kName);
    std::string name =
        nameOf(given, end->getLoc(), "output" + std::to_string(i));
    if (!given && llvm::is_contained(names, name))
      name = "output" + std::to_string(i);
    function.setResultAttr(i, marks::kName, StringAttr::get(context, name));
    checkType(type, name, "output", refusals);
  }
  if (refusals.size() != before)
    return;
  checkOptions(function, options, names, refusals);
  if (refusals.size() != before)
    return;
  for (auto [argument, name] : llvm::zip_equal(function.getArguments(), names))
    if (auto it = options.inputTypes.find(name);
        it != options.inputTypes.end() &&
        tensorOf(argument).getElementType().isF32())
      makeWhole(function, argument, it->second);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void importer::rememberOperations(func::FuncOp function) {
  for (Operation &op : function.getBody().front())
    op.setLoc(NameLoc::get(
        StringAttr::get(op.getContext(), op.getName().getStringRef()),
        op.getLoc()));
}

/// The name in the file at this location, below the operation's.
static StringAttr nameInFile(Location location) {
  auto kind = dyn_cast<NameLoc>(location);
  StringAttr name;
  if (kind)
    kind.getChildLoc()->walk([&](Location inner) {
      auto named = dyn_cast<NameLoc>(inner);
      if (!named)
        return WalkResult::advance();
      name = named.getName();
      return WalkResult::interrupt();
    });
  return name;
}

void importer::nameOperations(func::FuncOp function) {
  llvm::StringMap<int> counts;
  for (Operation &op : function.getBody().front()) {
    if (isa<func::ReturnOp>(op))
      continue;
    StringAttr name = nameInFile(op.getLoc());
    if (!name) {
      StringRef kind = isa<osa::OsaDialect>(op.getDialect())
                           ? op.getName().stripDialect()
                           : StringRef(op.getName().getStringRef());
      if (auto unary = dyn_cast<osa::UnaryOp>(op))
        kind = osa::stringifyUnaryKind(unary.getKind());
      if (isa<linalg::GenericOp>(op))
        kind = "loop";
      name = StringAttr::get(op.getContext(), llvm::Twine(kind) + "_" +
                                                  llvm::Twine(++counts[kind]));
    }
    op.setLoc(NameLoc::get(name, op.getLoc()));
  }
}
