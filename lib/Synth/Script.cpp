// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sources of one actor's module, Yosys' script for them, and its version.
#include "Yosys.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;
using namespace rhizome;

namespace {
struct Family {
  const char *name, *script, *withDsp, *withoutDsp;
};

// Without wide multiplexers, multipliers and multiplexers are a third smaller
// and nothing is larger; modules have no pads and no clock buffer of their own.
constexpr Family kFamilies[] = {
    {"7series",
     "synth_xilinx -top actor -family xc7 -flatten -noiopad -noclkbuf "
     "-nowidelut",
     "", " -nodsp"},
    {"ultrascale",
     "synth_xilinx -top actor -family xcu -flatten -noiopad -noclkbuf "
     "-nowidelut",
     "", " -nodsp"},
    {"ultrascale+",
     "synth_xilinx -top actor -family xcup -flatten -noiopad -noclkbuf "
     "-nowidelut",
     "", " -nodsp"},
    {"ecp5", "synth_ecp5 -top actor -nowidelut", "", " -nodsp"},
    {"ice40", "synth_ice40 -top actor", " -dsp", ""},
    {"nexus", "synth_nexus -top actor -noiopad", "", " -nodsp"},
    {"gowin", "synth_gowin -top actor -noiopads", "", ""},
    {"cyclonev",
     "synth_intel_alm -top actor -family cyclonev -noiopad -noclkbuf", "",
     " -nodsp"},
};

/// A parameter's value in SystemVerilog.
std::string literal(int64_t value) {
  if (isInt<32>(value))
    return std::to_string(value);
  return "64'h" + utohexstr(static_cast<uint64_t>(value), /*LowerCase=*/true);
}
} // namespace

/// Yosys 0.23 merges the register of a product into the MAC16 that computes it
/// and also into one that adds it, whose addend is then undefined. Products
/// that keep their register are not folded.
static constexpr const char *kKeepProducts =
    "hierarchy -top {0}; setattr -set keep 1 *rhz_mul*/w:*product_q; ";

std::string synth::familyScript(StringRef family, bool hasDsp, StringRef top) {
  for (const Family &f : kFamilies)
    if (family == f.name) {
      auto [command, options] = StringRef(f.script).split(" -top actor");
      std::string before;
      if (family == "ice40" && hasDsp)
        before = formatv(kKeepProducts, top);
      return (before + command + " -top " + top + options +
              (hasDsp ? f.withDsp : f.withoutDsp))
          .str();
    }
  return "";
}

std::vector<std::string> synth::knownFamilies() {
  std::vector<std::string> names;
  for (const Family &f : kFamilies)
    names.push_back(f.name);
  return names;
}

Expected<synth::Sources> synth::sourcesOf(const Package &package,
                                          const PlannedNode &node,
                                          const PlannedActor &actor,
                                          StringRef script) {
  const std::string folder = package.rtlPath(node) + "/";
  Sources sources;
  auto files = node.modules.find(actor.module);
  if (files == node.modules.end())
    return createStringError("the package '%s' is damaged: its plan does not "
                             "say what the module '%s' of the actor '%s' is "
                             "made of",
                             package.dir().c_str(), actor.module.c_str(),
                             actor.name.c_str());
  std::map<std::string, std::string> texts;
  for (const std::string &file : files->second) {
    if (!llvm::is_contained(node.rtl, file))
      return createStringError("the package '%s' is damaged: its plan names "
                               "the actor '%s' but no '%s'",
                               package.dir().c_str(), actor.name.c_str(),
                               file.c_str());
    Expected<std::string> text = readFile(folder + file);
    if (!text)
      return text.takeError();
    texts[file] = std::move(*text);
  }

  std::string parameters, reads, closing;
  for (const std::string &name : actor.parameters) {
    const json::Value *value = actor.config.get(name);
    if (!value)
      return createStringError("the package '%s' is damaged: the actor '%s' "
                               "has no value for its parameter '%s'",
                               package.dir().c_str(), actor.name.c_str(),
                               name.c_str());
    parameters += (parameters.empty() ? "" : ", ");
    parameters += "." + name + "(";
    if (std::optional<int64_t> number = value->getAsInteger()) {
      parameters += literal(*number);
    } else if (std::optional<StringRef> given = value->getAsString()) {
      // Images are named by their parameters, so that equal contents give
      // equal modules.
      std::string text = given->str();
      if (given->ends_with(".hex")) {
        Expected<std::string> image = readFile(folder + text);
        if (!image)
          return image.takeError();
        text = name + ".hex";
        sources.design.insert(text);
        sources.files.push_back({text, std::move(*image)});
      }
      parameters += "\"" + text + "\"";
    }
    parameters += ")";
  }
  for (const std::string &file : node.rtl) {
    auto found = texts.find(file);
    if (found == texts.end())
      continue;
    reads += "read_verilog -defer -sv " + file + "\n";
    if (StringRef(found->second).contains("keep_hierarchy"))
      closing = kTakeIn;
    sources.design.insert(file);
    sources.files.push_back(std::move(*found));
  }
  // The parameters in Verilog syntax; once they are set, the outer module
  // is removed and the cell is the top.
  sources.files.push_back(
      {kOuter, "module outer;\n  " + actor.module +
                   (actor.parameters.empty() ? "" : " #(" + parameters + ")") +
                   " actor ();\nendmodule\n"});
  sources.files.push_back({kScript, reads +
                                        "read_verilog -sv outer.sv\n"
                                        "hierarchy -top outer\n"
                                        "delete outer\n"
                                        "hierarchy -auto-top\n"
                                        "rename -top actor\n" +
                                        script.str() + "\n" + closing +
                                        "json -o " + kNetlistFile +
                                        " actor\n"});
  llvm::sort(sources.files);
  return sources;
}

Expected<std::string> synth::versionOf(StringRef tool) {
  Expected<std::string> folder = makeTemporaryFolder("rhizome-synth");
  if (!folder)
    return folder.takeError();
  const std::string file = *folder + "/version.txt";
  Error failed = runTool(tool, {"-V"}, ".", file);
  Expected<std::string> text = readFile(file);
  if (Error error = removeTree(*folder))
    failed = joinErrors(std::move(failed), std::move(error));
  if (failed) {
    consumeError(text.takeError());
    return std::move(failed);
  }
  if (!text)
    return text.takeError();
  // Some print that they are preparing themselves first.
  SmallVector<StringRef> lines;
  StringRef(*text).split(lines, '\n');
  auto line = llvm::find_if(
      lines, [](StringRef line) { return line.starts_with("Yosys"); });
  if (line == lines.end())
    return createStringError("'%s' is not Yosys: it calls itself '%s'",
                             tool.str().c_str(),
                             lines.front().trim().str().c_str());
  // Newer ones append how they were compiled.
  auto [version, compiler] = line->trim().split(", ");
  return compiler.empty() ? version.str() : (version + ")").str();
}
