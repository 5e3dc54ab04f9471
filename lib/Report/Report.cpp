// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects a package's files and inserts them into the page.
#include "rhizome/Report/Report.h"
#include "rhizome/Support/LayersFile.h"
#include "rhizome/Support/Quoting.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Support/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace rhizome;

namespace {
/// Larger results (place and route of every cell) are not included.
constexpr size_t kMostBytes = 200000;

Expected<json::Value> readJson(const std::string &path) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.takeError();
  Expected<json::Value> value = parseJson(*text);
  if (!value)
    return createStringError("%s: %s", path.c_str(),
                             toString(value.takeError()).c_str());
  return value;
}

/// The names of a folder's files that end in `extension`, ascending; none
/// if there is no folder.
std::vector<std::string> filesOf(const std::string &folder,
                                 StringRef extension) {
  std::vector<std::string> names;
  std::error_code error;
  for (sys::fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error))
    if (sys::path::extension(it->path()) == extension)
      names.push_back(sys::path::filename(it->path()).str());
  llvm::sort(names);
  return names;
}

/// The drawing library.
Expected<std::string> readLibrary() {
  std::vector<std::string> places;
  if (auto set = sys::Process::GetEnv("RHIZOME_D3"))
    places.push_back(*set);
  // Tarballs and wheels bring it along.
  if (Expected<std::string> data = dataDir())
    places.push_back(*data + "/report/d3.min.js");
  else
    consumeError(data.takeError());
  places.push_back("/usr/share/nodejs/d3/dist/d3.min.js");
  places.push_back("/usr/share/javascript/d3/d3.min.js");
  for (const std::string &place : places)
    if (sys::fs::exists(place))
      return readFile(place);
  return createStringError("the report is drawn with D3, which is not there: "
                           "install the package node-d3, or let RHIZOME_D3 "
                           "name d3.min.js");
}

/// Replaces {{name}} in the page by values. Values are not expanded.
std::string fill(StringRef page,
                 const std::map<std::string, std::string> &values) {
  std::string out;
  while (true) {
    auto [before, rest] = page.split("{{");
    out += before;
    if (rest.empty())
      return out;
    auto [name, tail] = rest.split("}}");
    auto value = values.find(name.str());
    assert(value != values.end() && "the page has a place of no value");
    out += value->second;
    page = tail;
  }
}

/// Escapes text for a script element: no "</" and no "<!--".
std::string scriptSafe(StringRef text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}
} // namespace

Expected<json::Object> report::dataOf(const Package &package) {
  json::Object data;
  data["version"] = version();
  Expected<json::Value> plan = readJson(package.path("plan.json"));
  if (!plan)
    return plan.takeError();
  data["energy"] = nullptr;
  data["analysis"] = nullptr;
  std::string analysisPath = package.path("model/analysis.json");
  if (sys::fs::exists(analysisPath)) {
    Expected<json::Value> analysis = readJson(analysisPath);
    if (!analysis)
      return analysis.takeError();
    if (plan->getAsObject() && analysis->getAsObject()) {
      auto energy = energyOf(*plan->getAsObject(), *analysis->getAsObject());
      if (!energy)
        return energy.takeError();
      data["energy"] = std::move(*energy);
    }
    data["analysis"] = std::move(*analysis);
  }
  data["quantization"] = nullptr;
  if (std::string path = package.path("model/quantization.json");
      sys::fs::exists(path)) {
    Expected<json::Value> quantization = readJson(path);
    if (!quantization)
      return quantization.takeError();
    data["quantization"] = std::move(*quantization);
  }
  data["plan"] = std::move(*plan);
  json::Object timelines, results;
  json::Array engines;
  for (const PlannedNode &node : package.plan().nodes) {
    const std::string folder = package.path("nodes/" + node.name);
    for (const std::string &name : filesOf(folder, ".json")) {
      if (!isLayersFile(name))
        continue;
      Expected<json::Value> engine = readJson(folder + "/" + name);
      if (!engine)
        return engine.takeError();
      // The page shows layers, not individual instructions.
      if (json::Object *object = engine->getAsObject()) {
        object->erase("instructions");
        (*object)["node"] = node.name;
        engines.push_back(std::move(*engine));
      }
    }
    std::string path = folder + "/timeline.json";
    if (!sys::fs::exists(path))
      continue;
    Expected<json::Value> timeline = readJson(path);
    if (!timeline)
      return timeline.takeError();
    timelines[node.name] = std::move(*timeline);
  }
  // Measurements by a user who cannot write the package come first.
  std::map<std::string, std::string> files;
  for (const std::string &folder : {package.results(), package.path("results")})
    for (const std::string &name : filesOf(folder, ".json"))
      files.try_emplace(name, folder + "/" + name);
  for (const auto &[name, path] : files) {
    Expected<json::Value> value = readJson(path);
    if (!value)
      return value.takeError();
    // The page shows designs, not individual modules.
    if (json::Object *object = value->getAsObject())
      object->erase("modules");
    std::string shown;
    raw_string_ostream(shown) << *value;
    if (shown.size() <= kMostBytes)
      results[sys::path::stem(name).str()] = std::move(*value);
  }
  data["timelines"] = std::move(timelines);
  data["engines"] = std::move(engines);
  data["results"] = std::move(results);
  return data;
}

/// A page that these scripts of the folder draw, all if there are none.
static Expected<std::string> renderPage(StringRef title, json::Object data,
                                        ArrayRef<StringRef> scripts) {
  Expected<std::string> library = readLibrary();
  if (!library)
    return library.takeError();
  Expected<std::string> folder = dataDir();
  if (!folder)
    return folder.takeError();
  std::string page = *folder + "/report";
  Expected<std::string> text = readFile(page + "/page.html");
  if (!text)
    return text.takeError();
  Expected<std::string> style = readFile(page + "/page.css");
  if (!style)
    return style.takeError();
  std::string script;
  for (const std::string &name : filesOf(page, ".js")) {
    if (!scripts.empty() && !is_contained(scripts, name))
      continue;
    Expected<std::string> part = readFile(page + "/" + name);
    if (!part)
      return part.takeError();
    script += *part;
  }
  std::string json;
  raw_string_ostream(json) << json::Value(std::move(data));
  return fill(*text, {{"title", markupText(title)},
                      {"style", *style},
                      {"data", scriptSafe(json)},
                      {"library", *library},
                      {"script", script}});
}

Expected<std::string> report::render(const Package &package) {
  Expected<json::Object> data = dataOf(package);
  if (!data)
    return data.takeError();
  return renderPage(package.plan().model, std::move(*data), {});
}

Expected<std::string> report::renderTrace(StringRef title, json::Object trace) {
  return renderPage(
      title,
      json::Object{{"version", version()},
                   {"results", json::Object{{"trace", std::move(trace)}}}},
      {"10-basics.js", "54-trace.js", "99-end.js"});
}

std::string report::pageOf(const Package &package) {
  bool isElsewhere = package.results() != package.path("results");
  return isElsewhere ? package.results("report.html")
                     : package.path("report.html");
}

Error report::write(const Package &package) {
  Expected<std::string> page = render(package);
  if (!page)
    return page.takeError();
  // In the package, whose files are no links, or in the folder of its results.
  if (Error error = package.makeResults())
    return error;
  return writeAtomically(pageOf(package), *page);
}

Error report::measureBaseline(const Package &package, StringRef model) {
  if (Error error = checkIsFile(model))
    return error;
  std::string python =
      sys::Process::GetEnv("RHIZOME_PYTHON").value_or("python3");
  Expected<std::string> folder = dataDir();
  if (!folder)
    return folder.takeError();
  if (Error error = package.makeResults())
    return error;
  std::string results = package.results();
  SmallString<256> absolute(model), target(results + "/baseline.json"),
      log(results + "/baseline.log");
  for (SmallString<256> *path : {&absolute, &target, &log})
    if (std::error_code error = sys::fs::make_absolute(*path))
      return createStringError(error, "no current folder: %s",
                               error.message().c_str());
  if (Error error = runTool(python,
                            {*folder + "/report/baseline.py",
                             absolute.str().str(), target.str().str()},
                            results, log))
    return error;
  return removeTree(log);
}

Error report::writeInto(PackageWriter &writer,
                        std::vector<std::string> &notes) {
  Expected<Package> package = Package::open(writer.dir(), Changes::Ignore);
  if (!package)
    return package.takeError();
  Expected<std::string> page = render(*package);
  if (page)
    return writer.writeFile("report.html", *page);
  notes.push_back("report.html is not written: " + toString(page.takeError()));
  return Error::success();
}
