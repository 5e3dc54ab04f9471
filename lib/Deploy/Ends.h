// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Outputs of the FPGA that are the least or the largest that their quantizer
// gives, where it cuts off what is beyond: they may be saturated.
#pragma once

#include "rhizome/Model/HostModel.h"

namespace rhizome::deploy {
class Ends {
public:
  explicit Ends(const model::HostModel &model);
  /// Looks at a frame's `networkOutputs`.
  void count(llvm::ArrayRef<Tensor> outputs);
  /// What is worth a note: outputs of which 1 % or more are at an end.
  std::vector<std::string> notes() const;

private:
  struct Output {
    std::string name;
    size_t number = 0; ///< of the network's
    /// An end at which values are cut off.
    std::optional<int64_t> low, high;
    int64_t values = 0, atEnds = 0;
  };
  std::vector<Output> watched;
};
} // namespace rhizome::deploy
