// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client of a live cluster at rank 0: frames on standard
// input, results on the original standard output (see rhizome/runtime/drivers.h
// for the format).
#pragma once

#include "rhizome/ClusterSim/Parties.h"
#include "rhizome/runtime/drivers.h"

namespace rhizome::clustersim {
class PipeClient : public LiveHostParty::Client {
public:
  PipeClient(const Plan &plan, int answers);
  llvm::Error ready() override;
  llvm::Expected<Asked> next(bool waits, LiveHostParty::Job &job) override;
  llvm::Error answer(const LiveHostParty::Frame &frame) override;

private:
  /// Reads until the inbox holds `size` bytes; false if they have not arrived
  /// yet or never will.
  llvm::Expected<bool> fill(size_t size, bool waits);
  const int answers;
  std::vector<size_t> sizes; ///< of all inputs
  std::vector<runtime::Region> regions;
  std::vector<uint8_t> inbox; ///< the part of the next job that has arrived
  bool isEnded = false;
};
} // namespace rhizome::clustersim
