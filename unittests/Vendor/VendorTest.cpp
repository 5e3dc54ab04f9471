// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flows: the files of a small node (goldens in
// test/vendor/golden, rewritten with RHIZOME_UPDATE_GOLDENS=1), which flow
// serves which device, and how malformed flows and templates are refused.
// test/e2e/vendorflows.py tests that the files are valid for the tools.
#include "rhizome/Vendor/Vendor.h"
#include "../TestFolder.h"
#include "llvm/Support/FileSystem.h"
#include <map>

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
PlannedNode toyNode(unsigned inputs, unsigned dataWidth) {
  PlannedNode node;
  node.name = "node0";
  node.rtl = {"rhz_cell.sv", "rhz_top.sv"};
  PlannedActor actor;
  actor.name = "conv1_matvec";
  actor.kind = "matvec";
  actor.config = llvm::json::Object{
      {"Pe", 4}, {"WeightFile", "conv1_matvec_weights.hex"}, {"BiasFile", ""}};
  PlannedActor border;
  border.name = "s_axis_0";
  border.kind = "axis_in";
  node.actors = {actor, actor, border};
  for (unsigned i = 0; i < inputs; ++i)
    node.inputs.push_back({"s_axis_" + std::to_string(i),
                           "in " + std::to_string(i),
                           {1, 28, 28, 1},
                           {true, 8, -128, 127},
                           dataWidth});
  node.outputs = {{"m_axis_0", "y", {1, 10}, {false, 5, 0, 31}, dataWidth}};
  return node;
}

Device device(const std::string &name) {
  auto found = loadDevice(name);
  EXPECT_TRUE(bool(found)) << llvm::toString(found.takeError());
  return *found;
}

/// Relative names and contents of all files of a folder.
std::map<std::string, std::string> readTree(const std::string &root) {
  std::map<std::string, std::string> files;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(root, code), end;
       it != end && !code; it.increment(code))
    if (llvm::sys::fs::is_regular_file(it->path())) {
      std::ifstream file(it->path(), std::ios::binary);
      std::stringstream text;
      text << file.rdbuf();
      files[it->path().substr(root.size() + 1)] = text.str();
    }
  return files;
}

struct Written {
  std::map<std::string, std::string> files; ///< below nodes/node0
  std::vector<std::string> notes;
  std::string error;
};

Written write(const PlannedNode &node, const Device &device, double clockMhz,
              const vendor::BoardProject *board = nullptr) {
  TestFolder folder;
  Written result;
  auto writer = PackageWriter::create(folder.path("p.rhz"));
  if (!writer) {
    result.error = llvm::toString(writer.takeError());
    return result;
  }
  if (auto error = vendor::writeFlows(**writer, node, device, clockMhz,
                                      result.notes, {}, board))
    result.error = llvm::toString(std::move(error));
  result.files = readTree((*writer)->dir() + "/nodes/node0");
  return result;
}

void compareWithGolden(const std::string &name, const Written &written) {
  ASSERT_EQ(written.error, "");
  EXPECT_FALSE(written.files.empty());
  std::string root =
      std::string(RHIZOME_SOURCE_DIR) + "/test/vendor/golden/" + name;
  if (std::getenv("RHIZOME_UPDATE_GOLDENS")) {
    llvm::sys::fs::remove_directories(root);
    for (auto &[file, text] : written.files) {
      std::string path = root + "/" + file;
      llvm::sys::fs::create_directories(path.substr(0, path.find_last_of('/')));
      std::ofstream(path, std::ios::binary) << text;
    }
    return;
  }
  std::map<std::string, std::string> golden = readTree(root);
  for (auto &[file, text] : golden)
    EXPECT_TRUE(written.files.count(file)) << file << " is not written";
  for (auto &[file, text] : written.files)
    EXPECT_EQ(text, golden[file])
        << file << ": with RHIZOME_UPDATE_GOLDENS=1 goldens are written anew";
}

TEST(Flows, AlveoGolden) {
  compareWithGolden("xcu280", write(toyNode(2, 512), device("xcu280"), 300));
}

TEST(Flows, RoleGolden) {
  Written written = write(toyNode(1, 64), device("xcku060-role"), 156.25);
  EXPECT_TRUE(written.notes.empty());
  compareWithGolden("xcku060-role", written);
}

TEST(Flows, IntelGolden) {
  compareWithGolden("10ax115", write(toyNode(2, 64), device("10ax115"), 200));
}

TEST(Flows, NoneForLattice) {
  EXPECT_TRUE(write(toyNode(1, 64), device("lfe5u-85f"), 80).files.empty());
}

TEST(Flows, ADeviceOfMyOwnIsServedByFamilyAndShell) {
  Device mine = device("xczu3eg");
  mine.name = "mine";
  EXPECT_TRUE(write(toyNode(1, 64), mine, 200).files.count("vitis/link.cfg"));
  mine.family = "ultrascale";
  Written written = write(toyNode(1, 64), mine, 200);
  EXPECT_TRUE(written.files.count("vivado/build.tcl"));
  EXPECT_FALSE(written.files.count("vitis/link.cfg"));
  EXPECT_FALSE(written.files.count("cloudfpga/role.xdc"));
  mine.shell = "themisto";
  EXPECT_TRUE(
      write(toyNode(1, 64), mine, 200).files.count("cloudfpga/role.xdc"));
}

/// A node that reads two segments from one bank of a memory, one from another.
PlannedNode readingNode(const char *memory) {
  PlannedNode node = toyNode(1, 512);
  node.memories = {{memory, 32, 460000000000, 123, 14, 3900, 260}};
  std::string port = std::string("m_axi_") + memory + "_";
  node.memoryPorts = {{port + "3", memory, 3, 256, 8192},
                      {port + "17", memory, 17, 512, 4096}};
  node.segments = {{"segments/node0/conv1_weights", memory, 3, 0, 2304},
                   {"segments/node0/load", memory, 17, 0, 4096},
                   {"segments/node0/conv2_weights", memory, 3, 4096, 4608}};
  return node;
}

TEST(Flows, MemoryPortsGolden) {
  Written written = write(readingNode("hbm2"), device("xcu55c"), 300);
  EXPECT_TRUE(written.notes.empty());
  compareWithGolden("xcu55c", written);
}

TEST(Flows, MemoryPortsThatAToolHasNoProjectForAreNoted) {
  Written written = write(readingNode("ddr4"), device("10ax115"), 200);
  EXPECT_TRUE(written.files.empty());
  ASSERT_FALSE(written.notes.empty());
  EXPECT_NE(written.notes[0].find("the design reads a memory outside the chip, "
                                  "'ddr4', to which its projects have no port"),
            std::string::npos);
}

TEST(Flows, DiesHaveTheirBlocks) {
  PlannedNode node = toyNode(1, 512);
  for (const char *name : {"SLR0", "SLR1"})
    node.dies.emplace_back().name = name;
  node.actors[0].die = "SLR0";
  node.actors[1].name = "cross";
  node.actors[1].die = "SLR1";
  node.actors[1].fromDie = "SLR0";
  Written written = write(node, device("xcu280"), 300);
  const std::string &text = written.files["floorplan/rhz_dies.xdc"];
  EXPECT_NE(text.find("create_pblock rhz_SLR0\n"
                      "resize_pblock rhz_SLR0 -add SLR0\n"
                      "add_cells_to_pblock rhz_SLR0 [get_cells [list \\\n"
                      "  u_conv1_matvec \\\n"
                      "  u_cross/u_from \\\n"
                      "]]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  u_cross/u_to \\\n"), std::string::npos) << text;
  EXPECT_NE(written.files["vivado/implement.tcl"].find("rhz_dies.xdc"),
            std::string::npos);
  // Also where weights are read from a memory.
  node.memoryPorts = {{"m_axi_hbm2_0", "hbm2", 0, 256, 4096}};
  written = write(node, device("xcu280"), 300);
  EXPECT_TRUE(written.files.count("vivado/rhz_kernel.v"));
  EXPECT_TRUE(written.files.count("floorplan/rhz_dies.xdc"));
}

/// Boards at a serial line and with processors have more files.
TEST(Flows, BoardsGolden) {
  for (const char *name : {"arty-a7-35t", "kv260"}) {
    auto board = loadBoard(name);
    ASSERT_TRUE(bool(board)) << llvm::toString(board.takeError());
    vendor::BoardProject project{*board, {}};
    if (board->host() == Board::Host::Serial)
      project.rtl = {{"rhz_board.sv", "// the top module\n"}};
    Written all = write(readingNode("ddr4"), device(board->device),
                        board->clockMhz, &project);
    Written own;
    for (const char *file : {"board/rhz_board.sv", "vivado/board.tcl",
                             "vivado/board.xdc", "vivado/overlay.tcl"})
      if (all.files.count(file))
        own.files[file] = all.files[file];
    compareWithGolden(name, own);
  }
}

TEST(Flows, WhatAShellCannotDoIsNoted) {
  Written written = write(toyNode(2, 64), device("xcku060-role"), 156.25);
  EXPECT_FALSE(written.files.count("cloudfpga/role.xdc"));
  EXPECT_EQ(written.notes, (std::vector<std::string>{
                               "no files for cloudFPGA (shell Themisto): it "
                               "takes at most 1 input and 1 output, this "
                               "network has 2 and 1"}));
  written = write(toyNode(1, 64), device("xcku060-role"), 100);
  EXPECT_EQ(written.notes,
            (std::vector<std::string>{"the shell 'themisto' drives the design "
                                      "with 156.25 MHz, not with 100.00 MHz"}));
}

/// A period is truncated, never rounded up: a constraint is as tight as the
/// plan.
TEST(Flows, Periods) {
  auto period = [](double mhz) {
    llvm::json::Object values =
        vendor::valuesOf(toyNode(1, 64), device("xczu3eg"), mhz);
    return values.getString("period_ns")->str() + " " +
           values.getString("clock_hz")->str();
  };
  EXPECT_EQ(period(156.25), "6.4 156250000");
  EXPECT_EQ(period(200), "5 200000000");
  EXPECT_EQ(period(300), "3.333 300000000");
  EXPECT_EQ(period(450), "2.222 450000000");
  EXPECT_EQ(period(999), "1.001 999000000");
  EXPECT_EQ(period(0.001), "1000000 1000");
}

TEST(Templates, NamesThatNoValueHasAreRefused) {
  llvm::json::Object values{{"a", "1 < 2"}, {"list", llvm::json::Array{"x"}}};
  auto text = [&](const char *source) {
    auto filled = vendor::fillTemplate("t.tcl", source, values, "");
    return filled ? *filled : llvm::toString(filled.takeError());
  };
  EXPECT_EQ(text("{{! a comment }}\n{{a}} & {1} {{#list}}[{{.}}]{{/list}}\n"),
            "1\\ <\\ 2 & {1} [x]\n");
  EXPECT_EQ(text("{{a}}\n{{#list}}\n{{b}}\n{{/list}}\n"),
            "t.tcl:3: the template names 'b', which is not a value");
  EXPECT_EQ(text("\n{{^ clok }}{{/clok}}"),
            "t.tcl:2: the template names 'clok', which is not a value");
}

TEST(Templates, PartialsAreFilledInLikeTheRest) {
  TestFolder folder;
  folder.write("port.tcl",
               "{{! a comment }}\nport {{name}}\n{{#wide}}\nwide\n{{/wide}}\n");
  folder.write("nested.tcl", "{{> port}}\n");
  folder.write("wrong.tcl", "\n{{nothing}}\n");
  llvm::json::Object values{
      {"ports",
       llvm::json::Array{llvm::json::Object{{"name", "a b"}, {"wide", true}},
                         llvm::json::Object{{"name", "c"}, {"wide", false}}}}};
  auto text = [&](const char *source) {
    auto filled = vendor::fillTemplate("t.tcl", source, values, folder.path());
    return filled ? *filled : llvm::toString(filled.takeError());
  };
  EXPECT_EQ(text("{{#ports}}\n{{> port}}\n.\n{{/ports}}\n"),
            "port a\\ b\nwide\n.\nport c\n.\n");
  EXPECT_EQ(text("{{> wrong}}"),
            folder.path() +
                "/wrong.tcl:2: the template names 'nothing', which is "
                "not a value");
  EXPECT_EQ(text("{{> nested}}"),
            folder.path() + "/nested.tcl: a partial in a partial, 'port'");
  EXPECT_NE(text("{{> missing}}").find("/missing.tcl': No such file"),
            std::string::npos);
}

TEST(Templates, ValuesStayOneWord) {
  llvm::json::Object values{{"part", "x [exec id]; \"$a\"\n}"}, {"a", "<&>"}};
  auto text = [&](const char *name, const char *source) {
    auto filled = vendor::fillTemplate(name, source, values, "");
    return filled ? *filled : llvm::toString(filled.takeError());
  };
  for (const char *name : {"p.tcl", "rhz.xdc", "rhz.sdc"})
    EXPECT_EQ(text(name, "set part {{part}}\n"),
              "set part x\\ \\[exec\\ id\\]\\;\\ \\\"\\$a\\\"\\u000a\\}\n");
  EXPECT_EQ(text("kernel.xml", "<a>{{a}}</a>"), "<a>&lt;&amp;&gt;</a>");
  EXPECT_EQ(text("p.tcl", "{{{a}}}"), "<&>");
}

TEST(Flows, MalformedOnesAreRefusedByPlace) {
  auto message = [](const std::string &manifest, const std::string &text) {
    TestFolder data;
    llvm::sys::fs::create_directories(data.path("devices"));
    llvm::sys::fs::create_directories(data.path("flows/mine"));
    Device target = device("xczu3eg");
    data.write("flows/mine/flow.json", manifest);
    if (!text.empty())
      data.write("flows/mine/go.tcl", text);
    setenv("RHIZOME_DATA", data.path().c_str(), 1);
    Written written = write(toyNode(1, 64), target, 200);
    unsetenv("RHIZOME_DATA");
    if (!written.error.empty())
      return written.error.substr(written.error.find("flows/"));
    std::string all;
    for (auto &[file, content] : written.files)
      all += file + "=" + content;
    return all;
  };
  const std::string good = R"({"tool": "Mine", "programs": [],
      "families": {"ultrascale+": "U+"}, "files": {"go.tcl": "goes"}})";
  EXPECT_EQ(message(good, "go {{family_name}}\n"), "mine/go.tcl=go U+\n");
  EXPECT_EQ(message(good, "{{nothing}}"),
            "flows/mine/go.tcl:1: the template names 'nothing', which is not a "
            "value");
  EXPECT_NE(message(good, "").find("flows/mine/go.tcl': No such file"),
            std::string::npos);
  EXPECT_NE(message("{", "x").find("flows/mine/flow.json: "),
            std::string::npos);
  EXPECT_EQ(message(R"({"tool": "Mine", "programs": []})", "x"),
            "flows/mine/flow.json: missing value at flow.families");
}
} // namespace
