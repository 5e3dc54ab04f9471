// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folder stays within its bound, and used files are kept, even if another
// process uses them.
#include "rhizome/Support/KeptFiles.h"
#include "../TestFolder.h"
#include "rhizome/Support/Tools.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

namespace {
class Kept : public testing::Test {
protected:
  test::TestFolder folder;
  KeptFiles files{folder.path(), 1000};

  KeptFiles::Held put(const std::string &name, size_t bytes) {
    return cantFail(files.put(name, [&](const std::string &path) {
      return writeBytes(path, std::string(bytes, 'x'));
    }));
  }
  /// Sets the last use of the file to this many seconds ago.
  void age(const std::string &name, long seconds) {
    timespec times[2] = {{time(nullptr) - seconds, 0},
                         {time(nullptr) - seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, folder.path(name).c_str(), times, 0), 0);
  }
  bool has(const std::string &name) {
    return sys::fs::exists(folder.path(name));
  }
};

TEST_F(Kept, WhatWasUsedLongestAgoGoesFirst) {
  put("a", 400);
  put("b", 400);
  age("a", 20);
  age("b", 10);
  EXPECT_TRUE(bool(files.take("a"))); // used now
  put("c", 400);
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(has("b"));
  EXPECT_TRUE(has("c"));
  EXPECT_FALSE(bool(files.take("b")));
}

TEST_F(Kept, WhatIsHeldStaysThoughTheBoundIsBroken) {
  KeptFiles::Held a = put("a", 800);
  age("a", 20);
  put("b", 800);
  EXPECT_TRUE(has("a"));
  a = nullptr;
  files.trim();
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(has("b"));
}

TEST_F(Kept, WhatAnotherProcessHoldsStays) {
  put("a", 800);
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  char byte = 0;
  pid_t child = fork();
  if (child == 0) {
    KeptFiles::Held held = files.take("a");
    (void)!write(ready[1], "x", 1);
    (void)!read(done[0], &byte, 1);
    _exit(held ? 0 : 1);
  }
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  age("a", 20);
  put("b", 800);
  EXPECT_TRUE(has("a"));
  ASSERT_EQ(write(done[1], "x", 1), 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  age("a", 20);
  files.trim();
  EXPECT_FALSE(has("a"));
}

/// Two processes put, take and remove at the same time: a file that either has
/// taken is complete for as long as it is held.
TEST_F(Kept, TwoProcessesShareIt) {
  auto work = [&](unsigned seed) {
    for (int i = 0; i < 400; ++i) {
      std::string name = "f" + std::to_string((seed = seed * 7 + 3) % 5);
      KeptFiles::Held held = files.take(name);
      if (!held)
        held = put(name, 350);
      struct stat status;
      if (stat(folder.path(name).c_str(), &status) != 0 ||
          status.st_size != 350)
        return 1;
    }
    return 0;
  };
  pid_t child = fork();
  if (child == 0)
    _exit(work(1));
  EXPECT_EQ(work(2), 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  files.trim();
  uint64_t left = 0;
  for (int k = 0; k < 5; ++k)
    left += has("f" + std::to_string(k)) ? 350 : 0;
  EXPECT_LE(left, 1000u);
}

TEST_F(Kept, WhatIsBeingWrittenIsLeftAlone) {
  folder.write("c.tmp-1", std::string(5000, 'x'));
  put("a", 100);
  EXPECT_TRUE(has("c.tmp-1"));
}

TEST_F(Kept, WhatADeadProcessLeftGoes) {
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  std::string left = "c.tmp-" + std::to_string(child) + "-0";
  folder.write(left, std::string(5000, 'x'));
  put("a", 100);
  EXPECT_FALSE(has(left));
  EXPECT_TRUE(has("a"));
}
} // namespace
