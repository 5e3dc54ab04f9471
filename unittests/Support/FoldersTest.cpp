// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No link is followed, nothing is written through another name of a file, and
// what is removed lies below its folder.
#include "rhizome/Support/Folders.h"
#include "../TestFolder.h"
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
/// A folder with a link to another one that holds a file, and to that file.
class FoldersTest : public ::testing::Test {
protected:
  FoldersTest() {
    std::filesystem::create_directories(folder.path("outside/sub"));
    std::filesystem::create_directories(folder.path("inside"));
    folder.write("outside/sub/file", "precious");
    link("outside", "inside/folder");
    link("outside/sub/file", "inside/file");
  }
  void link(const std::string &to, const std::string &name) {
    std::filesystem::create_symlink(folder.path(to), folder.path(name));
  }
  void expectUntouched() {
    EXPECT_EQ(folder.read("outside/sub/file"), "precious");
    EXPECT_EQ(std::distance(std::filesystem::recursive_directory_iterator(
                                folder.path("outside")),
                            {}),
              2);
  }
  static std::string text(llvm::Error error) {
    return error ? llvm::toString(std::move(error)) : "good";
  }
  TestFolder folder;
};

TEST_F(FoldersTest, LinksAreRefusedByName) {
  EXPECT_NE(text(checkPlainTree(folder.path("inside")))
                .find("inside/file' is a symbolic link"),
            std::string::npos);
  EXPECT_EQ(text(checkPlainTree(
                folder.path("inside"),
                [](llvm::StringRef name) { return name != "other"; })),
            "good");
  EXPECT_EQ(text(checkPlainTree(folder.path("outside"))), "good");
  for (const char *path : {"folder", "folder/sub", "folder/new"}) {
    EXPECT_NE(text(makeFolders(folder.path("inside"), path))
                  .find("inside/folder' is a symbolic link"),
              std::string::npos);
    EXPECT_NE(
        text(readFileBelow(folder.path("inside"), std::string(path) + "/file")
                 .takeError())
            .find("is a symbolic link"),
        std::string::npos);
  }
  EXPECT_NE(text(readFileBelow(folder.path("inside"), "file").takeError())
                .find("is a symbolic link"),
            std::string::npos);
  EXPECT_NE(
      text(makeFolders(folder.path("inside"), "../out")).find("leads out of"),
      std::string::npos);
  EXPECT_NE(text(copyFile(folder.path("inside/file"), folder.path("copy")))
                .find("is a symbolic link"),
            std::string::npos);
  expectUntouched();
}

TEST_F(FoldersTest, SpecialFilesAndDeepFoldersAreRefused) {
  ASSERT_EQ(mkfifo(folder.path("outside/pipe").c_str(), 0666), 0);
  EXPECT_NE(text(checkPlainTree(folder.path("outside")))
                .find("outside/pipe': it is no file"),
            std::string::npos);
  EXPECT_NE(text(readFileBelow(folder.path("outside"), "pipe").takeError())
                .find("it is no file"),
            std::string::npos);
  EXPECT_NE(
      text(writeBytes(folder.path("outside/pipe"), "x")).find("cannot write"),
      std::string::npos);
  std::string deep = "deep";
  for (int k = 0; k < 70; ++k)
    deep += "/d";
  ASSERT_EQ(text(makeFolders(folder.path(), deep)), "good");
  EXPECT_NE(text(checkPlainTree(folder.path("deep"))).find("nested deeper"),
            std::string::npos);
  EXPECT_NE(text(removeTree(folder.path("deep"))).find("nested deeper"),
            std::string::npos);
}

TEST_F(FoldersTest, WritingReplacesLinksAndOtherNames) {
  EXPECT_EQ(text(writeBytes(folder.path("inside/file"), "new")), "good");
  EXPECT_FALSE(isLink(folder.path("inside/file")));
  EXPECT_EQ(folder.read("inside/file"), "new");
  expectUntouched();
  std::filesystem::create_hard_link(folder.path("outside/sub/file"),
                                    folder.path("inside/hard"));
  EXPECT_EQ(text(writeBytes(folder.path("inside/hard"), "new")), "good");
  EXPECT_EQ(folder.read("outside/sub/file"), "precious");
  link("outside/sub/file", "inside/atomic");
  EXPECT_EQ(text(writeAtomically(folder.path("inside/atomic"), "new")), "good");
  EXPECT_FALSE(isLink(folder.path("inside/atomic")));
  link("outside/sub/file", "inside/copied");
  EXPECT_EQ(
      text(copyFile(folder.path("inside/hard"), folder.path("inside/copied"))),
      "good");
  EXPECT_EQ(folder.read("inside/copied"), "new");
  EXPECT_NE(
      text(writeBytes(folder.path("outside"), "new")).find("cannot write"),
      std::string::npos);
  EXPECT_EQ(folder.read("outside/sub/file"), "precious");
}

TEST_F(FoldersTest, RemovingTakesALinkAlone) {
  EXPECT_EQ(text(removeTree(folder.path("inside/folder"))), "good");
  expectUntouched();
  link("outside", "inside/folder");
  EXPECT_NE(text(removeTree(folder.path("inside"), "folder/sub"))
                .find("is a symbolic link"),
            std::string::npos);
  EXPECT_EQ(text(removeTree(folder.path("inside"), "nothing/here")), "good");
  EXPECT_EQ(text(removeTree(folder.path("inside/nothing"))), "good");
  EXPECT_EQ(text(removeTree(folder.path("inside"))), "good");
  EXPECT_FALSE(std::filesystem::exists(folder.path("inside")));
  expectUntouched();
}

TEST_F(FoldersTest, FoldersAreMadeBelowWhatIsThere) {
  EXPECT_EQ(text(makeFolders(folder.path("a/b/c"))), "good");
  EXPECT_TRUE(std::filesystem::is_directory(folder.path("a/b/c")));
  EXPECT_EQ(text(makeFolders(folder.path("a/b/c/"))), "good");
  // The user's own way there may have links; its end may not.
  EXPECT_EQ(text(makeFolders(folder.path("inside/folder/sub/new"))), "good");
  EXPECT_TRUE(std::filesystem::is_directory(folder.path("outside/sub/new")));
  EXPECT_NE(text(makeFolders(folder.path("inside/folder"))).find("symbolic"),
            std::string::npos);
  EXPECT_NE(text(makeNewFolder(folder.path("a"))).find("cannot make"),
            std::string::npos);
  EXPECT_EQ(namesIn(folder.path("inside")),
            (std::vector<std::string>{"file", "folder"}));
  EXPECT_TRUE(namesIn(folder.path("inside/folder")).empty());
  auto made = makeTemporaryFolder("rhizome-test");
  ASSERT_TRUE(bool(made));
  EXPECT_TRUE(std::filesystem::is_directory(*made));
  EXPECT_EQ(text(removeTree(*made)), "good");
  setenv("TMPDIR", folder.path("nowhere").c_str(), 1);
  EXPECT_NE(
      text(makeTemporaryFolder("x").takeError()).find("TMPDIR says where"),
      std::string::npos);
  unsetenv("TMPDIR");
}
} // namespace
