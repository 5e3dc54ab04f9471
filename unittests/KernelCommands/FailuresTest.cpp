// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of which kind a kernel command's failure is: the user's files, or what the
// machine does not allow.
#include "../TestFolder.h"
#include "rhizome/KernelCommands/ExploreFormats.h"
#include "rhizome/KernelCommands/Kernel.h"
#include <gtest/gtest.h>

using namespace rhizome;
using namespace rhizome::kernelcommands;
using Kind = Failure::Kind;

namespace {
const std::string kKernels =
    std::string(RHIZOME_SOURCE_DIR) + "/examples/kernels/";

template <typename T> Kind kindOf(rhizome::Result<T> result) {
  EXPECT_FALSE(bool(result));
  return result ? Kind::Internal : result.failure().kind;
}
} // namespace

TEST(KernelFailures, OfFilesThatCannotBeReadAreInput) {
  test::TestFolder folder;
  const std::string missing = folder.path("missing.cfd");
  folder.write("broken.cfd", "var input");
  EXPECT_EQ(kindOf(compileKernel({missing, {}, folder.path("out")})),
            Kind::Input);
  EXPECT_EQ(kindOf(compileKernel(
                {folder.path("broken.cfd"), {}, folder.path("out")})),
            Kind::Input);
  EXPECT_EQ(kindOf(coverKernel(missing, {})), Kind::Input);
  EXPECT_EQ(kindOf(embedKernels(
                {folder.path("missing.f90"), folder.path("out"), {}})),
            Kind::Input);
  ExploreFormatsRequest explore;
  explore.kernel = missing;
  EXPECT_EQ(kindOf(exploreFormats(explore)), Kind::Input);
  KernelRunRequest run;
  run.path = missing;
  EXPECT_EQ(kindOf(runKernel(run)), Kind::Input);
  run.path = kKernels + "heat.cfd";
  run.inputs = {folder.path("missing.npz")};
  EXPECT_EQ(kindOf(runKernel(run)), Kind::Input);
}

TEST(KernelFailures, OfWhatTheMachineLacksAreEnvironment) {
  test::TestFolder folder;
  folder.write("file", "");
  EXPECT_EQ(
      kindOf(compileKernel({kKernels + "heat.cfd", {}, folder.path("file/x")})),
      Kind::Environment);
  // Under root every folder can be written; below a file nothing can.
  EXPECT_EQ(kindOf(embedKernels(
                {kKernels + "fortran/solver.f90", folder.path("file/x"), {}})),
            Kind::Environment);
}
