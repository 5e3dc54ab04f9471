// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Places.h"
#include "rhizome/Support/Files.h"
#include "rhizome/Support/Quoting.h"
#include "llvm/Support/FileSystem.h"
#include <yaml-cpp/yaml.h>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::model;

/// The port that boards and rhizome-node listen on unless told otherwise.
static constexpr unsigned kPort = 2718;

static Error checkPlace(StringRef place) {
  auto [address, port] = place.rsplit(':');
  unsigned number = 0;
  if (address.empty() || port.getAsInteger(10, number) || number > 65535)
    return createStringError("'%s' is not ADDRESS:PORT", place.str().c_str());
  return Error::success();
}

static Error checkName(const Plan &plan, StringRef name) {
  if (name == kHost || plan.node(name))
    return Error::success();
  std::string names = kHost;
  for (const PlannedNode &node : plan.nodes)
    names += ", " + node.name;
  return createStringError("the package has no node '%s'; there are %s",
                           name.str().c_str(), names.c_str());
}

Expected<std::map<std::string, std::string>>
deploy::readManifest(const std::string &path, const Plan &plan) {
  std::map<std::string, std::string> places;
  Expected<std::string> text = readText(path);
  if (!text)
    return text.takeError();
  auto at = [&](const YAML::Mark &mark, const std::string &what) {
    return createStringError("%s:%d: %s", path.c_str(), mark.line + 1,
                             what.c_str());
  };
  try {
    YAML::Node root = YAML::Load(*text);
    auto take = [&](const YAML::Node &entry, const std::string &name,
                    const char *key) -> Error {
      YAML::Node place = entry[key];
      if (!place || place.as<std::string>().empty())
        return Error::success();
      if (Error error = checkName(plan, name))
        return at(entry.Mark(), toString(std::move(error)));
      if (Error error = checkPlace(place.as<std::string>()))
        return at(place.Mark(), toString(std::move(error)));
      places[name] = place.as<std::string>();
      return Error::success();
    };
    if (YAML::Node host = root["host"])
      if (Error error = take(host, kHost, "place"))
        return std::move(error);
    for (const YAML::Node &node : root["nodes"])
      if (Error error = take(node, node["name"].as<std::string>(), "place"))
        return std::move(error);
  } catch (const YAML::Exception &problem) {
    return at(problem.mark, problem.msg);
  }
  return places;
}

Expected<std::map<std::string, std::string>>
deploy::readPlaces(const Package &package, const PlacesRequest &request) {
  std::map<std::string, std::string> places;
  std::string manifest = request.manifest;
  if (manifest.empty() && sys::fs::exists(package.path(kManifest)))
    manifest = package.path(kManifest);
  if (!manifest.empty()) {
    auto read = readManifest(manifest, package.plan());
    if (!read)
      return read.takeError();
    places = std::move(*read);
  }
  for (StringRef text : request.at) {
    auto [name, place] = text.split('=');
    if (Error error = checkName(package.plan(), name))
      return error;
    if (Error error = checkPlace(place))
      return error;
    places[name.str()] = place.str();
  }
  return places;
}

std::string deploy::manifestText(const Plan &plan, StringRef root) {
  std::string text =
      "# Where the parties of this service are, as ADDRESS:PORT, and what "
      "each\n"
      "# node is. Fill in the places; deploy.sh, rhizome run and rhizome-node\n"
      "# read them. The host's may be empty: it is on the loopback interface\n"
      "# if all nodes are. 'load' is the command that brings a node up, in "
      "this\n"
      "# folder; empty for a rhizome-node process on this machine.\n"
      "schema: 1\n"
      "host:\n"
      "  place: \"\"\n"
      "nodes:\n";
  for (const PlannedNode &node : plan.nodes) {
    // A replica without a project of its own is its owner.
    std::string folder = "nodes/" + node.name;
    if (!sys::fs::is_directory(root + "/" + folder))
      folder = "nodes/" + plan.owner(node).name;
    text += "  - name: " + yamlScalar(node.name) +
            "\n    address: " + std::to_string(node.address) +
            "\n    device: " + yamlScalar(node.device) +
            "\n    files: " + yamlScalar(folder) +
            "\n    bitstream: \"\"\n    load: \"\"\n" +
            "    place: \"127.0.0.1:" + std::to_string(kPort + node.address) +
            "\"\n";
  }
  return text;
}
