// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process ends with everything that it started.
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>
#include <thread>

using namespace llvm;
using namespace rhizome;

namespace {
class Processes : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("rhizome-processes", folder));
  }
  void TearDown() override { sys::fs::remove_directories(folder); }
  std::string path(StringRef name) { return (folder + "/" + name).str(); }
  Process shell(StringRef script) {
    return {"/bin/sh", {"-c", script.str()}, folder.str().str(), path("log")};
  }
  /// The heap address of a program, in several runs.
  std::set<std::string> heaps(Addresses addresses, int runs) {
    std::set<std::string> maps;
    for (int run = 0; run < runs; ++run) {
      Process process = shell("exec sed -n '/heap/s/ .*//p' /proc/self/maps");
      process.addresses = addresses;
      ProcessRunner runner(1);
      EXPECT_FALSE(bool(runner.start(process)));
      EXPECT_EQ(runner.wait()->status, 0);
      maps.insert(cantFail(readFile(path("log"))));
    }
    return maps;
  }
  SmallString<128> folder;
};

TEST_F(Processes, StatusAndOutput) {
  Process process = shell("echo out; echo err >&2; exit 3");
  ProcessRunner runner(1);
  ASSERT_FALSE(bool(runner.start(process)));
  EXPECT_TRUE(runner.isFull());
  EXPECT_EQ(runner.wait(), &process);
  EXPECT_EQ(process.status, 3);
  EXPECT_EQ(cantFail(readFile(path("log"))), "out\nerr\n");
}

TEST_F(Processes, AWaitMayEndBeforeTheProcess) {
  Process process = shell("exec sleep 60");
  ProcessRunner runner(1);
  ASSERT_FALSE(bool(runner.start(process)));
  EXPECT_EQ(runner.wait(std::chrono::milliseconds(20)), nullptr);
  EXPECT_TRUE(runner.isFull());
}

TEST_F(Processes, TheirEnvironmentReplacesOurs) {
  ::setenv("RHIZOME_TEST_OURS", "a", 1);
  ::setenv("RHIZOME_TEST_KEPT", "b", 1);
  Process process =
      shell("echo $RHIZOME_TEST_OURS$RHIZOME_TEST_KEPT$RHIZOME_TEST_NEW");
  process.environment = {"RHIZOME_TEST_OURS=c", "RHIZOME_TEST_NEW=d"};
  ProcessRunner runner(1);
  ASSERT_FALSE(bool(runner.start(process)));
  runner.wait();
  EXPECT_EQ(cantFail(readFile(path("log"))), "cbd\n");
}

TEST_F(Processes, AFailureQuotesItsLogOrSaysThatItIsGone) {
  cantFail(writeBytes(path("log"), "first\nlast\n"));
  EXPECT_EQ(toString(toolError("/bin/tool", 3, path("log"))),
            "tool failed (status 3, log in '" + path("log") +
                "'): first\nlast");
  EXPECT_EQ(toString(toolError("/bin/tool", 3, path("gone"))),
            "tool failed (status 3), and its log '" + path("gone") +
                "' is gone: was what lies there removed or compiled again "
                "meanwhile?");
}

TEST_F(Processes, AddressesAreTheSameInEveryRunIfAsked) {
  if (std::system("setarch -R true 2>/dev/null") != 0)
    GTEST_SKIP() << "addresses cannot be fixed here";
  std::set<std::string> maps = heaps(Addresses::Same, 3);
  EXPECT_EQ(maps.size(), 1u);
  EXPECT_FALSE(maps.begin()->empty());
}

TEST_F(Processes, AddressesAreRandomOtherwise) {
  EXPECT_EQ(Process().addresses, Addresses::Random);
  if (std::system("grep -qx 2 /proc/sys/kernel/randomize_va_space && "
                  "grep -qx 00000000 /proc/self/personality") != 0)
    GTEST_SKIP() << "this system does not randomize addresses";
  EXPECT_GT(heaps(Addresses::Random, 4).size(), 1u);
}

TEST_F(Processes, ChildrenOfChildrenEnd) {
  Process process = shell("sleep 1000 & echo $! > child; sleep 1000");
  {
    ProcessRunner runner(2);
    ASSERT_FALSE(bool(runner.start(process)));
    while (!sys::fs::exists(path("child")) ||
           !StringRef(cantFail(readFile(path("child")))).ends_with("\n"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  int child = std::stoi(cantFail(readFile(path("child"))));
  // Gone, or a zombie that nobody has waited for yet.
  for (int tries = 0; tries < 400 && kill(child, 0) == 0; ++tries) {
    auto state = readFile("/proc/" + std::to_string(child) + "/stat");
    if (!state) {
      consumeError(state.takeError());
      return;
    }
    if (StringRef(*state).contains(") Z"))
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_NE(kill(child, 0), 0) << "process " << child << " still runs";
}

TEST_F(Processes, AFailureQuotesTheLog) {
  Error error = runTool("sh", {"-c", "echo so it goes; exit 2"}, folder.str(),
                        path("log"));
  std::string text = toString(std::move(error));
  EXPECT_NE(text.find("so it goes"), std::string::npos) << text;
  EXPECT_NE(text.find("status 2"), std::string::npos) << text;
}
} // namespace
