// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plan may contain, whoever wrote it: names that stay inside the package
// and are inert in every script, numbers within limits.
#pragma once

#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace rhizome {
/// Keeps the first error. `at` is the field's path, "plan.nodes[0].name".
class Bounds {
public:
  llvm::Error take() const;
  bool isKept() const { return problem.empty(); }

  void name(const llvm::Twine &at, llvm::StringRef text,
            bool mayBeEmpty = false);
  void identifier(const llvm::Twine &at, llvm::StringRef text,
                  bool mayBeEmpty = false);
  void path(const llvm::Twine &at, llvm::StringRef text);
  /// A path with one of these endings: tools choose by a name's ending what to
  /// do with a file.
  void file(const llvm::Twine &at, llvm::StringRef text,
            llvm::ArrayRef<llvm::StringRef> endings);
  void source(const llvm::Twine &at, llvm::StringRef text);
  void number(const llvm::Twine &at, int64_t value, int64_t least,
              int64_t most);
  void number(const llvm::Twine &at, double value, double most);
  void refuse(const llvm::Twine &at, const llvm::Twine &why);

private:
  std::string problem;
};

/// "name[3]"
std::string item(const llvm::Twine &list, size_t i);
} // namespace rhizome
