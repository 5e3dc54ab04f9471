// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sweep over formats, the cost of a multiply-add, and the Pareto front.
#include "rhizome/KernelCommands/ExploreFormats.h"
#include "KernelFile.h"
#include "mlir/IR/Diagnostics.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Generator/Loops/KernelUnit.h"
#include "rhizome/Generator/UnitModel.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/PlanBuild/DeviceContext.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Support/Failures.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::planbuild;
using numeric::Format;

namespace {
/// A kernel's module and its errors.
class Kernel {
public:
  KernelFile file;
  std::string error;

  explicit Kernel(const ExploreFormatsRequest &request) {
    auto read = readKernel(request.kernel, request.options);
    if (!read) {
      error = llvm::toString(read.takeError());
      return;
    }
    file = std::move(*read);
    handler = std::make_unique<ScopedDiagnosticHandler>(
        file.inContext(), [this](Diagnostic &d) {
          if (!error.empty() || d.getSeverity() != DiagnosticSeverity::Error)
            return success();
          llvm::raw_string_ostream text(error);
          if (auto at = d.getLocation()->findInstanceOf<FileLineColLoc>())
            text << at.getFilename().getValue() << ":" << at.getLine() << ":"
                 << at.getColumn() << ": ";
          text << d;
          return success();
        });
  }
  static func::FuncOp kernelOf(ModuleOp module) {
    for (auto func : module.getOps<func::FuncOp>())
      if (!func.isExternal())
        return func;
    return {};
  }
  /// A copy in a format; null with `error` set if the kernel has none.
  OwningOpRef<ModuleOp> in(const FormatChoice &choice) {
    OwningOpRef<ModuleOp> copy = file.module->clone();
    if (failed(applyFormats(kernelOf(*copy), choice)))
      return {};
    return copy;
  }
  static std::string nameOf(func::FuncOp func, unsigned argument) {
    if (auto name = func.getArgAttrOfType<StringAttr>(argument, marks::kName))
      return name.getValue().str();
    if (auto name = dyn_cast<NameLoc>(func.getArgument(argument).getLoc()))
      return name.getName().str();
    return "arg" + std::to_string(argument);
  }

private:
  std::unique_ptr<ScopedDiagnosticHandler> handler;
};

using Inputs = std::vector<Tensor>;

/// The arguments of one run from a file, by name or by position.
llvm::Expected<Inputs> readInputs(func::FuncOp func, const std::string &path) {
  auto arrays = readArrays(path);
  if (!arrays)
    return arrays.takeError();
  Inputs inputs;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    std::string name = Kernel::nameOf(func, i);
    auto type = dyn_cast<ShapedType>(func.getArgument(i).getType());
    const NamedTensor *found = nullptr;
    for (const NamedTensor &array : *arrays)
      if (array.name == name)
        found = &array;
    if (!found && arrays->size() == func.getNumArguments())
      found = &(*arrays)[i];
    if (!found || !type ||
        ArrayRef<int64_t>(found->tensor.shape) != type.getShape())
      return llvm::createStringError(
          "'" + path + "' holds no array '" + name + "' of the shape of " +
          "the kernel's argument " + std::to_string(i));
    std::vector<double> values = found->doubles;
    if (values.empty()) {
      llvm::append_range(values, found->tensor.floats);
      llvm::append_range(values, found->tensor.ints);
    }
    inputs.push_back(
        numbersOf(type.getShape().vec(), values, *num::formatOf(type)));
  }
  return inputs;
}

Inputs randomInputs(func::FuncOp func, std::mt19937_64 &random, double lo,
                    double hi) {
  std::uniform_real_distribution<double> uniform(lo, hi);
  Inputs inputs;
  for (Type type : func.getArgumentTypes()) {
    auto shaped = dyn_cast<ShapedType>(type);
    std::vector<double> values(shaped ? shaped.getNumElements() : 1);
    for (double &v : values)
      v = uniform(random);
    inputs.push_back(
        numbersOf(shaped ? shaped.getShape().vec() : std::vector<int64_t>(),
                  values, *num::formatOf(type)));
  }
  return inputs;
}

/// The cost of arithmetic on a device: LUTs of full adders, of a product's
/// carry chains and of its rows next to them, of a 2:1 multiplexer, the
/// number of shifter levels in a LUT; and the device, whose DSP blocks products
/// take as in hardware units.
struct Prices {
  double adder = 1, product = 1, row = 0, choice = 1;
  int levelsInLut = 1;
  gen::CostContext device;

  static llvm::Expected<Prices> of(const std::string &name) {
    auto device = loadDevice(name);
    if (!device)
      return device.takeError();
    Prices prices;
    auto context = planbuild::contextOf(*device, device->clockMhz);
    if (!context)
      return context.takeError();
    prices.device = context->cost;
    auto price = [&](const char *unit, gen::Term term) {
      assert(llvm::is_contained(gen::characterizedUnits(),
                                llvm::StringRef(unit)) &&
             "no unit is characterized under that name");
      return prices.device.model->of(unit).lut[size_t(term)];
    };
    constexpr const char *matvec = "matvec_lut";
    prices.adder = price(matvec, gen::Term::Adder);
    prices.product = price(matvec, gen::Term::Product);
    const bool isWide = device->lutInputs >= 6;
    if (!isWide)
      prices.row = price(matvec, gen::Term::ProductRow);
    // For the unit that shifts by any number of bits.
    constexpr const char *rotate = "gearbox_rotate";
    prices.choice = price(rotate, gen::Term::Mux);
    prices.levelsInLut = isWide ? 2 : 1;
    return prices;
  }
  /// A product of two unsigned or signed numbers of `bits` bits.
  double productLuts(int bits) const {
    const double digits = std::ceil(bits / 2.0), wide = bits + 1;
    return product * digits * wide + row * (wide + (digits - 1) * 2 * bits);
  }
  /// A 2:1 multiplexer for every bit and level. Two levels are a 4:1
  /// multiplexer: six inputs, one LUT of a device with six-input LUTs.
  double shifterLuts(int bits) const {
    const double levels = std::ceil(std::log2(std::max(bits, 2)));
    return choice * bits * std::ceil(levels / levelsInLut);
  }
  void charge(FormatPoint &point, bool saturate) const {
    const Format &f = point.format;
    point.dsps = int(gen::loops::blocksOfProduct(f, saturate, device));
    if (f.isFixed()) {
      int w = f.width();
      point.luts = productLuts(w) + adder * w + // the sum
                   adder * w +                  // rounding
                   (saturate ? 1.0 * w : 0);    // a selection
      return;
    }
    // Both operations normalize and round; a sum aligns first.
    int m = f.mantissaBits + 1, e = f.exponentBits;
    point.luts = productLuts(m) + adder * (m + 2 * e) + // product
                 2 * shifterLuts(m + 3) +               // align, normalize
                 adder * (2 * (m + 3) + 3 * e);         // sum, rounding
    if (f.subnormals)
      point.luts += 2 * shifterLuts(m); // of the product's operand and result
  }
};

/// Integer bits that magnitudes up to `most` need, including the sign.
int integerBits(double most) {
  int exponent;
  std::frexp(std::max(most, 1e-300), &exponent);
  return std::max(exponent, -60) + 1;
}

/// The sweep: fixed point with as many integer bits as the data need, and as
/// the analysis cannot exclude, in common widths; common floats.
std::vector<Format> sweep(double onData, double possible) {
  std::vector<Format> formats;
  auto add = [&](const Format &f) {
    if (f.check().empty() && !llvm::is_contained(formats, f))
      formats.push_back(f);
  };
  for (int width : {8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64})
    for (double most : {onData, possible})
      if (std::isfinite(most) && integerBits(most) < width)
        add(Format::fixed(integerBits(most), width - integerBits(most)));
  for (auto [e, m] : {std::pair{4, 3},
                      {5, 2},
                      {5, 10},
                      {8, 7},
                      {6, 9},
                      {6, 12},
                      {7, 16},
                      {8, 10},
                      {8, 14},
                      {8, 18},
                      {8, 23},
                      {9, 30},
                      {10, 40},
                      {11, 52}})
    add(Format::floating(e, m));
  return formats;
}
} // namespace

rhizome::Result<ExploreFormatsResult>
kernelcommands::exploreFormats(const ExploreFormatsRequest &request) {
  ExploreFormatsResult result;
  auto fail = [&](std::string why, Failure::Kind kind = Failure::Kind::Input) {
    return Failure(kind, std::move(why));
  };
  auto show = [&](const std::string &what) {
    if (request.progress)
      request.progress(what);
  };
  Kernel kernel(request);
  if (!kernel.error.empty())
    return fail(kernel.error);
  func::FuncOp exact = Kernel::kernelOf(*kernel.file.module);
  if (!exact)
    return fail("'" + request.kernel + "' holds no function");
  for (Type type : exact.getArgumentTypes())
    if (!num::formatOf(type))
      return fail("the kernel's arguments are not all f64 or f32",
                  Failure::Kind::Unsupported);
  auto prices = Prices::of(request.device);
  if (!prices)
    return failureOf(prices.takeError(), Failure::Kind::Input);

  std::vector<Inputs> inputs;
  if (!request.input.empty()) {
    auto given = readInputs(exact, request.input);
    if (!given)
      return fail(llvm::toString(given.takeError()));
    inputs.push_back(std::move(*given));
  } else {
    std::mt19937_64 random(request.seed);
    for (int i = 0; i < request.elements; ++i)
      inputs.push_back(randomInputs(exact, random, request.lo, request.hi));
  }
  std::vector<std::vector<Tensor>> references;
  for (const Inputs &input : inputs) {
    auto reference = interpret(exact, input);
    if (failed(reference))
      return fail(kernel.error);
    references.push_back(std::move(*reference));
  }

  RangeOptions ranges;
  ranges.search = false;
  ranges.inputs.assign(exact.getNumArguments(), {request.lo, request.hi});
  std::vector<Format> formats;
  if (request.formats.empty()) {
    show("ranges");
    // In a format in which everything fits, ranges are those of the reals.
    auto span = magnitudes(exact, inputs, ranges);
    if (failed(span))
      return fail(kernel.error);
    result.multiplications = span->multiplications;
    result.additions = span->additions;
    formats = sweep(span->onData, span->possible);
  }
  for (const std::string &text : request.formats) {
    std::string error;
    auto format = Format::parse(text, error);
    if (!format)
      return fail(error);
    formats.push_back(*format);
  }

  for (const Format &format : formats) {
    show(format.str());
    FormatPoint point;
    point.format = format;
    FormatChoice choice = request.choice;
    choice.format = format;
    auto module = kernel.in(choice);
    if (!module)
      return fail(kernel.error);
    func::FuncOp func = Kernel::kernelOf(*module);
    size_t count = 0;
    double greatest = 0;
    for (auto [input, reference] : llvm::zip(inputs, references)) {
      OverflowEvent overflow;
      auto got = interpret(func, input, nullptr, &overflow);
      if (failed(got))
        return fail(kernel.error);
      point.overflows += overflow.count;
      for (auto [a, b] : llvm::zip(*got, reference)) {
        auto x = doublesOf(a), y = doublesOf(b);
        for (size_t i = 0; i < x.size(); ++i) {
          double error = std::fabs(x[i] - y[i]);
          if (std::isnan(error))
            error = std::numeric_limits<double>::infinity();
          point.meanSquare += error * error;
          point.signal += y[i] * y[i];
          point.maximum = std::max(point.maximum, error);
          greatest = std::max(greatest, std::fabs(y[i]));
        }
        count += x.size();
      }
    }
    point.meanSquare /= double(std::max<size_t>(count, 1));
    point.signal /= double(std::max<size_t>(count, 1));
    point.relative = greatest > 0 ? point.maximum / greatest : point.maximum;
    if (auto report = analyzeRanges(func, ranges); succeeded(report))
      point.canOverflow = !report->warnings.empty();
    prices->charge(point, choice.saturate);
    result.points.push_back(point);
  }
  llvm::sort(result.points, [](auto &a, auto &b) {
    return std::tuple(a.luts, a.meanSquare, a.format.str()) <
           std::tuple(b.luts, b.meanSquare, b.format.str());
  });
  double best = std::numeric_limits<double>::infinity();
  for (FormatPoint &point : result.points)
    if (point.meanSquare < best && point.overflows == 0) {
      point.isPareto = true;
      best = point.meanSquare;
    }
  return result;
}

rhizome::Result<std::vector<OverflowPlace>>
kernelcommands::checkRanges(const ExploreFormatsRequest &request) {
  std::vector<OverflowPlace> places;
  Kernel kernel(request);
  FormatChoice choice = request.choice;
  if (kernel.error.empty() && request.formats.size() == 1)
    choice.format = Format::parse(request.formats[0], kernel.error);
  if (!kernel.error.empty())
    return Failure(Failure::Kind::Input, kernel.error);
  auto module = kernel.in(choice);
  if (!module)
    return Failure(Failure::Kind::Unsupported, kernel.error);
  func::FuncOp func = Kernel::kernelOf(*module);
  RangeOptions options;
  options.seed = request.seed;
  options.inputs.assign(func.getNumArguments(), {request.lo, request.hi});
  auto report = analyzeRanges(func, options);
  if (failed(report))
    return Failure(Failure::Kind::Unsupported, kernel.error);
  for (OverflowWarning &warning : report->warnings) {
    OverflowPlace place;
    if (auto at = warning.place->findInstanceOf<FileLineColLoc>())
      place.place = at.getFilename().str() + ":" +
                    std::to_string(at.getLine()) + ":" +
                    std::to_string(at.getColumn());
    else
      place.place = request.kernel;
    place.what = warning.op->getName().stripDialect().str();
    place.range = warning.range;
    place.limits = warning.limits;
    place.isCertain = warning.isCertain;
    place.reached = warning.reached;
    for (auto [i, values] : llvm::enumerate(warning.input))
      place.input.push_back({Kernel::nameOf(func, unsigned(i)), values});
    places.push_back(std::move(place));
  }
  return places;
}
