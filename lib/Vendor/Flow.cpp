// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flows: reading flow.json, filling in templates, writing a node's files. The
// values come from Values.cpp; the template language is Mustache.
#include "rhizome/Support/Quoting.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Vendor/Vendor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Mustache.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <algorithm>
#include <set>

using namespace llvm;
using namespace rhizome;

namespace rhizome::vendor {
// Readers, found by argument-dependent lookup from llvm::json.
static bool fromJSON(const json::Value &value, FlowReport &report,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("file", report.file) &&
         map.map("values", report.values) &&
         map.mapOptional("required", report.required) &&
         map.mapOptional("scale", report.scale);
}

static bool fromJSON(const json::Value &value, FlowRun &run, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("command", run.command) ||
      !map.mapOptional("scripts", run.scripts) ||
      !map.mapOptional("results", run.results) ||
      !map.mapOptional("roots", run.roots) ||
      !map.mapOptional("needs_platform", run.needsPlatform) ||
      !map.map("reports", run.reports))
    return false;
  if (run.command.empty())
    path.field("command").report("names no program");
  return !run.command.empty();
}

static bool fromJSON(const json::Value &value, Flow &flow, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("tool", flow.tool) &&
         map.map("programs", flow.programs) &&
         map.map("families", flow.families) &&
         map.mapOptional("shell", flow.shell) &&
         map.mapOptional("max_streams", flow.maxStreams) &&
         map.mapOptional("memory_ports", flow.memoryPorts) &&
         map.mapOptional("one_width", flow.oneWidth) &&
         map.mapOptional("dies", flow.dies) &&
         map.mapOptional("board_files", flow.boardFiles) &&
         map.mapOptional("system_files", flow.systemFiles) &&
         map.mapOptional("run", flow.run) && map.map("files", flow.files);
}
} // namespace rhizome::vendor

bool vendor::Flow::serves(const Device &device) const {
  return families.count(device.family) &&
         (shell.empty() || shell == device.shell) &&
         (!dies || !device.dies.dies.empty());
}

static Expected<vendor::Flow> readFlow(const std::string &folder) {
  std::string path = folder + "/flow.json";
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.takeError();
  vendor::Flow flow;
  flow.folder = folder;
  flow.name = sys::path::filename(folder).str();
  if (Error error = json::parse<vendor::Flow>(*text, "flow").moveInto(flow))
    return createStringError("%s: %s", path.c_str(),
                             toString(std::move(error)).c_str());
  flow.folder = folder;
  flow.name = sys::path::filename(folder).str();
  return flow;
}

Expected<std::vector<vendor::Flow>> vendor::listFlows() {
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  std::vector<Flow> flows;
  std::error_code error;
  for (sys::fs::directory_iterator it(*data + "/flows", error), end;
       it != end && !error; it.increment(error)) {
    if (!sys::fs::is_directory(it->path()))
      continue;
    Expected<Flow> flow = readFlow(it->path());
    if (!flow)
      return flow.takeError();
    flows.push_back(std::move(*flow));
  }
  if (error)
    return createStringError(error, "cannot list '%s/flows': %s", data->c_str(),
                             error.message().c_str());
  llvm::sort(flows,
             [](const Flow &a, const Flow &b) { return a.name < b.name; });
  return flows;
}

/// The names of all members, at any depth.
static void collectNames(const json::Value &value,
                         std::set<std::string, std::less<>> &names) {
  if (const json::Object *object = value.getAsObject())
    for (const auto &[key, member] : *object) {
      names.insert(key.str());
      collectNames(member, names);
    }
  if (const json::Array *array = value.getAsArray())
    for (const json::Value &element : *array)
      collectNames(element, names);
}

/// How values are escaped in a file of this name.
static mustache::EscapeMap escapesFor(StringRef path) {
  mustache::EscapeMap escapes;
  StringRef ending = sys::path::extension(path);
  if (ending == ".tcl" || ending == ".xdc" || ending == ".sdc")
    for (int code = 1; code < 128; ++code) {
      const char c = char(code);
      if (std::string word = tclWord(StringRef(&c, 1)); word[0] != c)
        escapes[c] = word;
    }
  if (ending == ".xml")
    escapes = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  return escapes;
}

/// Mustache replaces unknown names by nothing: refuses them first. Tells the
/// partials that a text uses.
static Error checkTags(StringRef path, StringRef text,
                       const std::set<std::string, std::less<>> &names,
                       std::set<std::string> &partials) {
  const Regex tag("\\{\\{([#^/&{>]?)[ ]*([A-Za-z0-9_.+]+)");
  SmallVector<StringRef> match;
  for (StringRef rest = text; tag.match(rest, &match);) {
    const std::string name = match[2].str();
    rest = rest.substr(size_t(match[0].end() - rest.data()));
    if (match[1] == ">")
      partials.insert(name);
    else if (!names.count(name))
      return createStringError(
          "%s:%zu: the template names '%s', which is not a value",
          path.str().c_str(),
          text.take_front(size_t(match[0].data() - text.data())).count('\n') +
              1,
          name.c_str());
  }
  return Error::success();
}

Expected<std::string> vendor::fillTemplate(StringRef path, StringRef text,
                                           const json::Object &values,
                                           StringRef partials) {
  std::set<std::string, std::less<>> names = {"."};
  collectNames(json::Object(values), names);
  std::set<std::string> used, nested;
  if (Error error = checkTags(path, text, names, used))
    return error;
  std::map<std::string, std::string> texts;
  for (const std::string &name : used) {
    const std::string own =
        (partials + "/" + name + sys::path::extension(path)).str();
    if (Error error = readFile(own).moveInto(texts[name]))
      return error;
    if (Error error = checkTags(own, texts[name], names, nested))
      return error;
    // In a section of a partial, Mustache's library loses the values.
    if (!nested.empty())
      return createStringError("%s: a partial in a partial, '%s'", own.c_str(),
                               nested.begin()->c_str());
  }
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  mustache::MustacheContext context(allocator, saver);
  mustache::Template filled(text, context);
  for (const auto &[name, partial] : texts)
    filled.registerPartial(name, partial);
  filled.overrideEscapeCharacters(escapesFor(path));
  std::string result;
  raw_string_ostream os(result);
  filled.render(json::Object(values), os);
  return result;
}

Expected<std::vector<vendor::FlowFile>>
vendor::filesOf(const PlannedNode &node, const Device &device, double clockMhz,
                std::vector<std::string> &notes,
                const std::vector<uint16_t> &configuration,
                const BoardProject *board, const PlannedSystem *system) {
  std::vector<FlowFile> written;
  Expected<std::vector<Flow>> flows = listFlows();
  if (!flows)
    return flows.takeError();
  json::Object values =
      valuesOf(node, device, clockMhz, configuration, board, system);
  if (board)
    for (const auto &[name, text] : board->rtl)
      written.push_back({"board/" + name, text});
  for (const Flow &flow : *flows) {
    if (!flow.serves(device) || (flow.dies && node.dies.empty()))
      continue;
    if (!node.memoryPorts.empty() && !flow.memoryPorts) {
      notes.push_back(formatv("no files for {0}: the design reads a memory "
                              "outside the chip, '{1}', to which its projects "
                              "have no port",
                              flow.tool, node.memoryPorts[0].memory));
      continue;
    }
    if (system && flow.systemFiles.empty()) {
      notes.push_back(
          formatv("no files for {0}: it does not know the system of "
                  "a kernel",
                  flow.tool));
      continue;
    }
    auto streams = int64_t(std::max(node.inputs.size(), node.outputs.size()));
    // A link's endpoint has one stream each, for any network.
    if (flow.maxStreams && streams > flow.maxStreams && node.nodeTop.empty()) {
      notes.push_back(formatv(
          "no files for {0}: it takes at most {1} input and {1} output, this "
          "network has {2} and {3}",
          flow.tool, flow.maxStreams, node.inputs.size(), node.outputs.size()));
      continue;
    }
    // Only ports as wide as a frame differ, or have any number of bytes.
    if (flow.oneWidth && node.nodeTop.empty() && !system &&
        any_of(concat<const BorderPort>(node.inputs, node.outputs),
               [&](const BorderPort &port) {
                 return port.dataWidth != node.outputs.front().dataWidth ||
                        !isPowerOf2_64(uint64_t(port.dataWidth));
               })) {
      notes.push_back(
          formatv("no files for {0}: its streams have one width, a "
                  "power of two, those of --border wide have others",
                  flow.tool));
      continue;
    }
    if (!flow.shell.empty() && clockMhz != device.clockMhz)
      notes.push_back(formatv("the shell '{0}' drives the design with {1} MHz, "
                              "not with {2} MHz",
                              flow.shell, device.clockMhz, clockMhz));
    values["family_name"] = flow.families.at(device.family);
    std::map<std::string, std::string> files = flow.files;
    if (board)
      if (auto more = flow.boardFiles.find(nameOf(board->board.host()).str());
          more != flow.boardFiles.end())
        files.insert(more->second.begin(), more->second.end());
    for (const auto &[name, purpose] : files) {
      std::string path = flow.folder + "/" + name;
      if (system) {
        if (!is_contained(flow.systemFiles, name))
          continue;
        if (std::string own = flow.folder + "/system/" + name;
            sys::fs::exists(own))
          path = own;
      }
      Expected<std::string> text = readFile(path);
      if (!text)
        return text.takeError();
      Expected<std::string> filled =
          fillTemplate(path, *text, values, flow.folder + "/partials");
      if (!filled)
        return filled.takeError();
      written.push_back({flow.name + "/" + name, std::move(*filled)});
    }
  }
  return written;
}

Error vendor::writeFlows(PackageWriter &writer, const PlannedNode &node,
                         const Device &device, double clockMhz,
                         std::vector<std::string> &notes,
                         const std::vector<uint16_t> &configuration,
                         const BoardProject *board,
                         const PlannedSystem *system) {
  auto files =
      filesOf(node, device, clockMhz, notes, configuration, board, system);
  if (!files)
    return files.takeError();
  for (const FlowFile &file : *files)
    if (Error error =
            writer.writeFile("nodes/" + node.name + "/" + file.path, file.text))
      return error;
  return Error::success();
}
