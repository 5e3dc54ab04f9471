// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Faces of the engine: what carries programs out. The checked one looks at
// every access and can let units overtake each other as a core does; the native
// one is fast; a third is text for a device (OpenCl.h). All take what each
// instruction does from its description.
#pragma once

#include "rhizome/Engine/Program.h"
#include <optional>

namespace rhizome::engine {
/// What a program reads and writes. A word is `in` bytes.
struct State {
  std::array<std::vector<int8_t>, 4> memories; ///< behind each port
  std::vector<int8_t> scratch;
  std::vector<int32_t> sums;    ///< [bank, entry, column]
  std::vector<int8_t> received; ///< the words of the stream to the core
  std::vector<int8_t> sent;     ///< of the one from it, appended

  /// With a scratchpad and accumulators that are zero.
  explicit State(const Parameters &core)
      : scratch(size_t(core.words * core.in)),
        sums(size_t(2 * core.entries * core.out)) {}
  bool operator==(const State &) const = default;
};

/// Carries a program out, one instruction after the other. It has passed the
/// verifier with these memories and streams.
void runNative(const Program &program, const Core &core, State &state);

/// The same with every access checked: words that are not there, or that an
/// instruction does not name as its accesses, are an error. With a seed, units
/// overtake each other as far as tokens, the queue of weights and fetch let
/// them; a program that stands still is an error, too.
llvm::Error runChecked(const Program &program, const Core &core, State &state,
                       std::optional<uint64_t> seed = std::nullopt);
} // namespace rhizome::engine
