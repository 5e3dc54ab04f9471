// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's inputs: from files, or drawn at random.
#include "KernelFile.h"
#include "rhizome/Support/Data.h"
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

llvm::Expected<InputValues>
kernelcommands::inputsOf(const KernelRunRequest &request,
                         const Signature &signature, int64_t &frames) {
  InputValues values;
  frames = -1;
  if (llvm::Error error = readInputs(request, signature, values, frames))
    return std::move(error);
  if (frames < 0)
    frames = request.frames ? request.frames : 1;
  if (request.frames)
    frames = std::min(frames, request.frames);
  std::mt19937_64 random(request.seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  if (request.inputs.empty())
    for (const Argument &argument : signature.arguments) {
      if (!argument.isInput)
        continue;
      std::vector<double> &data = values[argument.name].data;
      data.resize(argument.size() * frames);
      for (double &value : data)
        value = argument.bits == 32 ? float(uniform(random)) : uniform(random);
    }
  return values;
}
