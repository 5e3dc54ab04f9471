// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FuzzTests: what each fuzz target has kept, run through it in every build.
#include "FuzzTarget.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace rhizome::fuzz;

namespace {
struct Finding {};

class Corpus : public testing::Test {
public:
  Corpus(const char *name, Target target) : name(name), target(target) {}
  void TestBody() override {
    int files = 0;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator
             file(std::string(RHIZOME_FUZZ_REPLAY "/corpus-") + name, error),
         end;
         file != end && !error; file.increment(error), ++files) {
      auto bytes = llvm::MemoryBuffer::getFile(file->path());
      ASSERT_TRUE(bytes) << file->path();
      try {
        target((*bytes)->getBuffer());
      } catch (const Finding &) {
        ADD_FAILURE() << "a finding: " << file->path();
      }
    }
    EXPECT_GT(files, 4);
  }

private:
  const char *name;
  Target target;
};
} // namespace

void rhizome::fuzz::found() { throw Finding(); }

Registered::Registered(const char *name, Target target) {
  testing::RegisterTest(
      "Fuzz", name, nullptr, nullptr, __FILE__, __LINE__,
      [=]() -> testing::Test * { return new Corpus(name, target); });
}
