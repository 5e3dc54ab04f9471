// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's inputs: from files, or drawn at random.
#include "KernelFile.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/Numeric/Arithmetic.h"
#include "rhizome/Support/Data.h"
#include <cmath>
#include <random>

using namespace rhizome;
using namespace rhizome::kernel;
using namespace rhizome::kernelcommands;

static llvm::Error textError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// The values of one argument from an array of a file.
static llvm::Expected<Values>
valuesOf(const NamedTensor &array, const Argument &argument, int64_t &frames) {
  Values out;
  const Tensor &tensor = array.tensor;
  if (!array.doubles.empty())
    out.data = array.doubles;
  else if (tensor.isFloat)
    out.data.assign(tensor.floats.begin(), tensor.floats.end());
  else
    out.data.assign(tensor.ints.begin(), tensor.ints.end());
  std::vector<int64_t> shape = tensor.shape;
  if (shape == argument.shape) {
    out.shared = true;
    return out;
  }
  int64_t count = shape.empty() ? 0 : shape.front();
  if (!shape.empty())
    shape.erase(shape.begin());
  auto text = [](llvm::ArrayRef<int64_t> sizes) {
    std::string t;
    for (int64_t size : sizes)
      t += (t.empty() ? "" : " ") + std::to_string(size);
    return "[" + t + "]";
  };
  if (shape != argument.shape)
    return textError(
        "'" + argument.name + "' is " + text(argument.shape) +
        ", the data are " + text(tensor.shape) +
        "; remedy: give the kernel's shape, or that with a leading "
        "dimension that counts elements");
  if (frames >= 0 && frames != count)
    return textError("'" + argument.name + "' has " + llvm::Twine(count) +
                     " elements, another input has " + llvm::Twine(frames));
  frames = count;
  return out;
}

static llvm::Error readInputs(const KernelRunRequest &request,
                              const Signature &signature, InputValues &values,
                              int64_t &frames) {
  std::vector<const Argument *> wanted;
  for (const Argument &argument : signature.arguments)
    if (argument.isInput)
      wanted.push_back(&argument);
  size_t next = 0;
  for (const std::string &path : request.inputs) {
    auto arrays = readArrays(path);
    if (!arrays)
      return arrays.takeError();
    for (const NamedTensor &array : *arrays) {
      const Argument *argument = nullptr;
      for (const Argument *one : wanted)
        if (one->name == array.name)
          argument = one;
      if (!argument && array.name.empty() && next < wanted.size())
        argument = wanted[next++];
      if (!argument)
        return textError(path + ": '" + array.name +
                         "' is not an input of the kernel '" + signature.name +
                         "'");
      auto read = valuesOf(array, *argument, frames);
      if (!read)
        return textError(path + ": " + llvm::toString(read.takeError()));
      values[argument->name] = std::move(*read);
    }
  }
  if (!request.inputs.empty())
    for (const Argument *one : wanted)
      if (!values.count(one->name))
        return textError("no values for the input '" + one->name +
                         "'; remedy: a .npz that names it");
  return llvm::Error::success();
}

static std::vector<std::string> namesOf(const Signature &signature,
                                        bool Argument::*isWanted) {
  std::vector<std::string> names;
  for (const Argument &argument : signature.arguments)
    if (argument.*isWanted)
      names.push_back(argument.name);
  return names;
}
std::vector<std::string>
kernelcommands::inputNames(const Signature &signature) {
  return namesOf(signature, &Argument::isInput);
}
std::vector<std::string>
kernelcommands::outputNames(const Signature &signature) {
  return namesOf(signature, &Argument::isOutput);
}

bool kernelcommands::areSingle(const KernelRunRequest &request,
                               const InputValues &values) {
  return !request.inputs.empty() && !request.frames &&
         llvm::all_of(values,
                      [](const auto &one) { return one.second.shared; });
}

std::vector<std::optional<numeric::Format>>
kernelcommands::formatsOfInputs(mlir::func::FuncOp inFormats) {
  std::vector<std::optional<numeric::Format>> formats;
  for (mlir::BlockArgument argument : inFormats.getArguments()) {
    std::optional<numeric::Format> &format = formats.emplace_back();
    for (mlir::Operation *user : argument.getUsers())
      if (auto cast = mlir::dyn_cast<mlir::linalg::GenericOp>(user);
          cast && cast.getNumDpsInputs() == 1 && cast->getNumResults() == 1)
        if (auto to = num::formatOf(
                mlir::getElementTypeOrSelf(cast->getResult(0).getType())))
          format = to;
  }
  return formats;
}

/// Refuses numbers that fixed point does not have.
static llvm::Error checkFinite(const std::string &name, const Values &values,
                               const numeric::Format &format) {
  if (format.isFloat())
    return llvm::Error::success();
  for (auto [i, value] : llvm::enumerate(values.data))
    if (!std::isfinite(value))
      return textError("the input '" + name + "' holds " +
                       (std::isnan(value) ? "NaN" : "an infinity") +
                       " at element " + llvm::Twine(i) + ", for which " +
                       format.str() +
                       " has no number\n  remedy: give finite numbers, or "
                       "compute in a float format");
  return llvm::Error::success();
}

/// Where random numbers of a format are: all of it if few of its numbers are
/// within 1, as of integers.
static std::pair<double, double>
rangeOf(const std::optional<numeric::Format> &format) {
  constexpr int kFewBits = 4;
  if (!format || format->isFloat() || format->fractionBits >= kFewBits)
    return {-1, 1};
  const numeric::Arithmetic numbers(*format, numeric::Rounding::NearestEven,
                                    numeric::Overflow::Saturate);
  return {numbers.toDouble(format->least()),
          numbers.toDouble(format->greatest())};
}

llvm::Expected<InputValues> kernelcommands::inputsOf(
    const KernelRunRequest &request, const Signature &signature,
    const std::vector<std::optional<numeric::Format>> &formats,
    int64_t &frames) {
  InputValues values;
  frames = -1;
  if (llvm::Error error = readInputs(request, signature, values, frames))
    return std::move(error);
  for (auto [argument, format] : llvm::zip(signature.arguments, formats))
    if (format && values.count(argument.name))
      if (llvm::Error error =
              checkFinite(argument.name, values[argument.name], *format))
        return std::move(error);
  if (frames < 0)
    frames = request.frames ? request.frames : 1;
  if (request.frames)
    frames = std::min(frames, request.frames);
  std::mt19937_64 random(request.seed);
  if (request.inputs.empty())
    for (auto &&[a, argument] : llvm::enumerate(signature.arguments)) {
      if (!argument.isInput)
        continue;
      const auto [low, high] = rangeOf(
          a < formats.size() ? formats[a] : std::optional<numeric::Format>());
      std::uniform_real_distribution<double> uniform(low, high);
      std::vector<double> &data = values[argument.name].data;
      data.resize(argument.size() * frames);
      for (double &value : data)
        value = argument.bits == 32 ? float(uniform(random)) : uniform(random);
    }
  return values;
}

std::vector<Tensor> kernelcommands::argumentsOf(const Signature &signature,
                                                const InputValues &values,
                                                int64_t frame) {
  std::vector<Tensor> arguments;
  for (const Argument &argument : signature.arguments) {
    if (!argument.isInput)
      continue;
    const Values &one = values.at(argument.name);
    const int64_t size = argument.size(), first = one.shared ? 0 : frame * size;
    arguments.push_back(
        numbersOf(argument.shape, llvm::ArrayRef(one.data).slice(first, size),
                  argument.bits == 32 ? numeric::Format::binary32()
                                      : numeric::Format::binary64()));
  }
  return arguments;
}
