// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Library.h"
#include <dlfcn.h>

using namespace llvm;
using namespace rhizome::clustersim;

// The library stays loaded: a design's static data may be in use until exit.
Library::~Library() {
  if (model)
    close(model);
}

Expected<std::unique_ptr<Library>>
Library::open(const std::string &path, const std::string &images, uint64_t seed,
              uint16_t address, const std::vector<uint16_t> &configuration,
              size_t inputs, size_t outputs) {
  std::unique_ptr<Library> library(new Library);
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return createStringError("cannot load a simulated design: %s", dlerror());
  auto symbol = [&](auto &function, const char *name) {
    function =
        reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  decltype(&rhz_model_describe) describe = nullptr;
  decltype(&rhz_model_open) make = nullptr;
  if (!symbol(describe, "rhz_model_describe") ||
      !symbol(make, "rhz_model_open") ||
      !symbol(library->clock, "rhz_model_cycle") ||
      !symbol(library->close, "rhz_model_close"))
    return createStringError("'%s' is not a simulated design", path.c_str());
  rhz_model_info info = describe();
  if (info.abi != RHZ_MODEL_ABI || size_t(info.inputs) != inputs ||
      size_t(info.outputs) != outputs ||
      size_t(info.parts) != configuration.size())
    return createStringError("'%s' was built for another plan", path.c_str());
  library->model = make(images.c_str(), seed, address, configuration.data());
  if (!library->model)
    return createStringError("the folder '%s' of the memory images cannot be "
                             "entered",
                             images.c_str());
  library->inputs.resize(inputs);
  library->outputs.resize(outputs);
  return std::move(library);
}
