// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a model, or a part of one, is refused: at the user's node, with the
// reason and what would work. All refusals of a model are collected before
// anything is built.
#pragma once

#include <string>
#include <vector>

namespace rhizome {
struct Refusal {
  /// What is at fault: what the model says, or a file that cannot be read, or
  /// that is none of its kind.
  enum class Fault { Model, File };
  std::string node;   ///< the model's node (or tensor) name, "" for the file
  std::string op;     ///< the model's operation, e.g. "Conv", "" for the file
  std::string reason; ///< what is wrong, with both values
  std::string remedy; ///< what would work, "" if nothing is known
  Fault fault = Fault::Model;
  unsigned line = 0; ///< of a steering file, from 1; 0: there is none
};
using Refusals = std::vector<Refusal>;
} // namespace rhizome
