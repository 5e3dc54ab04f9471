// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shared library with the interface of data/sim/rhz_model.h, and the design
// that it holds.
#pragma once

#include "rhz_model.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace rhizome::clustersim {
class Library {
public:
  /// Loads the library, checks its number of ports and parts of a
  /// configuration, and resets the design.
  static llvm::Expected<std::unique_ptr<Library>>
  open(const std::string &path, const std::string &images, uint64_t seed,
       uint16_t address, const std::vector<uint16_t> &configuration,
       size_t inputs, size_t outputs);
  ~Library();
  /// One clock cycle with the values in `inputs` and `outputs`.
  void cycle() { clock(model, inputs.data(), outputs.data()); }

  std::vector<rhz_stream> inputs, outputs;

private:
  Library() = default;
  void *model = nullptr;
  decltype(&rhz_model_cycle) clock = nullptr;
  decltype(&rhz_model_close) close = nullptr;
};
} // namespace rhizome::clustersim
