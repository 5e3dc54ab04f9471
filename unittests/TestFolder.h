// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder that lives as long as a test, and shell commands in it.
#pragma once

#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace rhizome::test {
class TestFolder {
public:
  TestFolder() {
    llvm::SmallString<128> made;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("rhizome-test", made));
    root = made.str().str();
  }
  ~TestFolder() { llvm::sys::fs::remove_directories(root); }
  std::string path(const std::string &relative = "") const {
    return relative.empty() ? root : root + "/" + relative;
  }
  void write(const std::string &relative, const std::string &text) const {
    std::ofstream(path(relative), std::ios::binary) << text;
  }
  std::string read(const std::string &relative) const {
    std::ifstream file(path(relative), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// The exit status of a command in this folder; its output is in "log.txt".
  int run(const std::string &command) const {
    return std::system(
        ("cd '" + root + "' && (" + command + ") > log.txt 2>&1").c_str());
  }

private:
  std::string root;
};

/// True if a program is installed; prints a note if it is not.
inline bool haveTool(const std::string &name) {
  bool have =
      std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;
  if (!have)
    std::fprintf(stderr, "SKIPPED: '%s' is not installed\n", name.c_str());
  return have;
}
} // namespace rhizome::test
