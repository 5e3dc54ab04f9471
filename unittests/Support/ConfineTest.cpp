// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What confined programs may do and what they may not, with a shell in the
// place of a tool.
#include "rhizome/Support/Confine.h"
#include "../TestFolder.h"
#include "rhizome/Support/Tools.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/socket.h>
#include <unistd.h>

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
class ConfineTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (wallHere() == Wall::None)
      GTEST_SKIP() << "nothing confines programs here";
    for (const char *name : {"own", "given", "home"})
      std::filesystem::create_directories(folder.path(name));
    folder.write("given/data", "given\n");
    folder.write("home/secret", "secret\n");
    confinement.writable = {folder.path("own")};
    confinement.readable = {folder.path("given")};
  }
  /// What a shell says that runs this, confined, in its own folder.
  std::string said(const std::string &script) {
    llvm::Error error =
        runTool("sh", {"-c", script}, folder.path("own"), folder.path("log"),
                /*showErrors=*/false, Addresses::Random, confinement);
    status = error ? llvm::toString(std::move(error)) : "good";
    return folder.read("log");
  }
  /// True if a shell command succeeds.
  bool may(const std::string &command) {
    said(command);
    return status == "good";
  }
  std::string home(const std::string &name) {
    return folder.path("home/" + name);
  }

  TestFolder folder;
  Confinement confinement;
  std::string status;
};

TEST_F(ConfineTest, ItWorksInItsOwnFolder) {
  EXPECT_EQ(said("echo hello; cat '" + folder.path("given/data") + "'"),
            "hello\ngiven\n");
  EXPECT_TRUE(may("echo x > a && mkdir b && mv a b/c && ln -s b d && cat b/c "
                  "&& rm -r b d"))
      << status;
  EXPECT_TRUE(may("echo x > \"$TMPDIR/y\" && test \"$TMPDIR\" = \"$HOME\""))
      << status;
  EXPECT_TRUE(may("echo x > /dev/null && head -c 1 /dev/zero > z")) << status;
  EXPECT_TRUE(may("echo x > z && chmod 755 z && touch z")) << status;
}

TEST_F(ConfineTest, NothingElseIsWrittenOrRead) {
  for (const std::string &command : std::vector<std::string>{
           "echo x > '" + home("new") + "'",
           "echo x >> '" + home("secret") + "'", "rm '" + home("secret") + "'",
           "mkdir '" + home("d") + "'", "ln -s x '" + home("l") + "'",
           "mkfifo '" + home("f") + "'", "cat '" + home("secret") + "'",
           "ls '" + home("") + "'", "mv '" + home("secret") + "' x",
           "ln '" + home("secret") + "' x && cat x",
           "ln -s '" + home("secret") + "' y; cat y", "cat ../home/secret",
           "cat /etc/shadow", "echo x > '" + folder.path("given/data") + "'",
           "cd '" + folder.path("home") + "' && cat secret"})
    EXPECT_FALSE(may(command)) << command;
  // These seem to succeed, without effect.
  const auto before = std::filesystem::status(home("secret")).permissions();
  const auto time = std::filesystem::last_write_time(home("secret"));
  said("chmod 777 '" + home("secret") + "'; touch -d 2001-01-01 '" +
       home("secret") + "'; truncate -s 0 '" + home("secret") + "'");
  EXPECT_EQ(std::filesystem::status(home("secret")).permissions(), before);
  EXPECT_EQ(std::filesystem::last_write_time(home("secret")), time);
  EXPECT_EQ(folder.read("home/secret"), "secret\n");
  EXPECT_EQ(std::distance(
                std::filesystem::directory_iterator(folder.path("home")), {}),
            1);
}

TEST_F(ConfineTest, ItReachesNoNetwork) {
  if (!test::haveTool("python3"))
    GTEST_SKIP();
  // A place where somebody listens.
  int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr *>(&at), size), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  getsockname(listening, reinterpret_cast<sockaddr *>(&at), &size);
  const std::string connect =
      "python3 -c \"import socket; socket.create_connection(('127.0.0.1', " +
      std::to_string(ntohs(at.sin_port)) + "), 1)\"";
  EXPECT_FALSE(may(connect));
  EXPECT_FALSE(may("python3 -c \"import socket; "
                   "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto("
                   "b'x', ('127.0.0.1', 9))\"") &&
               wallHere() == Wall::Landlock);
  // What it starts has one of its own.
  confinement.hasNetwork = true;
  EXPECT_TRUE(may("python3 -c \"import socket; "
                  "own = socket.create_server(('127.0.0.1', 0)); "
                  "socket.create_connection(own.getsockname(), 1)\""))
      << status << folder.read("log");
  close(listening);
}

TEST_F(ConfineTest, ProgramsAreThoseThatItMayStart) {
  folder.write("own/theirs", "#!/bin/sh\necho ran\n");
  std::filesystem::permissions(folder.path("own/theirs"),
                               std::filesystem::perms::all);
  if (wallHere() != Wall::Landlock)
    GTEST_SKIP() << "bubblewrap does not choose programs";
  EXPECT_FALSE(may("./theirs"));
  confinement.programs = Confinement::Programs::Any;
  EXPECT_TRUE(may("./theirs")) << status;
  confinement.programs = Confinement::Programs::None;
  EXPECT_TRUE(may("echo hello")) << status; // the shell's own
  EXPECT_FALSE(may("/bin/ls"));
  EXPECT_FALSE(may("./theirs"));
}

TEST_F(ConfineTest, ItSharesNothingWithOtherPrograms) {
  if (wallHere() != Wall::Landlock || !test::haveTool("python3"))
    GTEST_SKIP();
  for (const char *call : {"shmget(1719, 4096, 0o1666)", "msgget(1719, 0o1666)",
                           "semget(1719, 1, 0o1666)"})
    EXPECT_FALSE(may("python3 -c 'import ctypes, sys; "
                     "sys.exit(ctypes.CDLL(None)." +
                     std::string(call) + " < 0)'"))
        << call;
  const std::string us = std::to_string(getpid());
  EXPECT_FALSE(may("python3 -c 'import resource; resource.prlimit(" + us +
                   ", resource.RLIMIT_CORE, (0, 0))'"));
  EXPECT_TRUE(may("ulimit -n 100")) << status;
}

TEST_F(ConfineTest, LargeOnesReadEverything) {
  confinement.isLarge = true;
  EXPECT_EQ(said("cat '" + home("secret") + "'"), "secret\n");
  EXPECT_FALSE(may("echo x > '" + home("secret") + "'"));
  EXPECT_TRUE(may("test \"$HOME\" = '" +
                  std::string(std::getenv("HOME") ? std::getenv("HOME") : "") +
                  "'"));
}

TEST_F(ConfineTest, OurOpenFilesAreNotAtHand) {
  int secret = open(home("secret").c_str(), O_RDONLY); // not O_CLOEXEC
  ASSERT_GE(secret, 0);
  EXPECT_FALSE(may("cat <&" + std::to_string(secret)));
  close(secret);
}

TEST_F(ConfineTest, AFolderThatIsMissingIsNamed) {
  confinement.writable.push_back(folder.path("nowhere"));
  said("true");
  EXPECT_NE(status.find("nowhere' is missing"), std::string::npos) << status;
}

} // namespace
