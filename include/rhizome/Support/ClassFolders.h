// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of images: all in one folder, or in one folder for each class.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace rhizome {
struct ClassFolder {
  std::string name;                ///< "" for images that have no class
  std::vector<std::string> images; ///< paths, in ascending order
};

/// The images of a folder, without a class; if it has none, those of its
/// folders, which are classes in ascending order of their names, as PyTorch and
/// Keras number them. Hidden folders are skipped. Empty if there is no image;
/// an error if a folder cannot be read.
llvm::Expected<std::vector<ClassFolder>> classFolders(llvm::StringRef folder);
} // namespace rhizome
