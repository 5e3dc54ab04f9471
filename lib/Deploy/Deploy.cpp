// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client is the runtime with a C interface from data/host and generated
// constants: the model's in rhizome_model.h, the service's in service.cpp.
#include "rhizome/Deploy/Deploy.h"
#include "HostFiles.h"
#include "Places.h"
#include "rhizome/ClusterSim/Channels.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Texts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::model;

namespace {
void printRoutes(raw_ostream &os, StringRef member,
                 const std::vector<link::Route> &routes) {
  os << "  service." << member << " = {\n";
  for (const link::Route &route : routes)
    os << "      {" << route.port << ", " << route.channel << ", "
       << route.first << ", " << route.every << "},\n";
  os << "  };\n";
}

void printTensors(raw_ostream &os, StringRef member,
                  const std::vector<link::TensorInfo> &tensors) {
  os << "  service." << member << " = {\n";
  for (const link::TensorInfo &tensor : tensors) {
    os << "      {" << cString(tensor.name) << ", {";
    ListSeparator comma;
    for (int64_t size : tensor.shape)
      os << comma << size;
    os << "}, " << tensor.width << ", " << (tensor.isSigned ? "true" : "false")
       << "},\n";
  }
  os << "  };\n";
}

/// service.cpp: the contents of `service` as constants.
std::string serviceText(const link::Service &service) {
  std::string text;
  raw_string_ostream os(text);
  os << "// Written by rhizome: channels, tensors and nodes of this service.\n"
        "#include \"rhizome/runtime/service.h\"\n\n"
        "namespace rhizome {\n"
        "static link::Service makeService() {\n"
        "  link::Service service;\n"
        "  link::ChannelConfig channel;\n";
  for (const link::ChannelConfig &c : service.channels)
    os << "  channel.id = " << c.id << ";\n"
       << "  channel.transmit = " << (c.transmit ? "true" : "false") << ";\n"
       << "  channel.peer = " << c.peer << ";\n"
       << "  channel.frameBits = " << c.frameBits << ";\n"
       << "  channel.slotWords = " << c.slotWords << ";\n"
       << "  channel.reliable = " << (c.reliable ? "true" : "false") << ";\n"
       << "  channel.roundTrip = " << c.roundTrip << ";\n"
       << "  service.channels.push_back(channel);\n";
  printRoutes(os, "inputs", service.inputs);
  printRoutes(os, "outputs", service.outputs);
  printTensors(os, "inputTensors", service.inputTensors);
  printTensors(os, "outputTensors", service.outputTensors);
  os << "  service.nodes = {\n";
  for (const link::NodeInfo &node : service.nodes)
    os << "      {" << cString(node.name) << ", " << node.address << "},\n";
  os << "  };\n"
        "  return service;\n"
        "}\n\n"
        "const link::Service &compiledService() {\n"
        "  static const link::Service service = makeService();\n"
        "  return service;\n"
        "}\n"
        "} // namespace rhizome\n";
  return text;
}

/// Copies a folder's files, including subfolders.
Error copyFolder(PackageWriter &writer, const std::string &from,
                 const std::string &to) {
  std::error_code error;
  for (sys::fs::recursive_directory_iterator it(from, error), end;
       it != end && !error; it.increment(error)) {
    if (sys::fs::is_directory(it->path()))
      continue;
    StringRef inner = StringRef(it->path()).substr(from.size() + 1);
    if (Error problem = writer.copyFile(to + "/" + inner.str(), it->path()))
      return problem;
  }
  if (error)
    return createStringError(error, "cannot read the folder '%s': %s",
                             from.c_str(), error.message().c_str());
  return Error::success();
}
} // namespace

Error deploy::writeManifest(PackageWriter &writer, const Plan &plan) {
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  if (Error error =
          writer.writeFile(kManifest, manifestText(plan, writer.dir())))
    return error;
  if (Error error = writer.copyFile("deploy.sh", *data + "/host/deploy.sh"))
    return error;
  if (std::error_code error = sys::fs::setPermissions(
          writer.dir() + "/deploy.sh",
          sys::fs::all_read | sys::fs::all_exe | sys::fs::owner_write))
    return errorCodeToError(error);
  return Error::success();
}

/// The test bench's folder in the package, "" if it has none.
static std::string testBenchOf(const PackageWriter &writer, const Plan &plan) {
  const std::string folder = "nodes/" + plan.nodes.front().name + "/tb";
  return sys::fs::exists(writer.dir() + "/" + folder) ? folder : "";
}

Error deploy::writeDeployment(PackageWriter &writer, const Plan &plan,
                              mlir::func::FuncOp network) {
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  Expected<std::string> library = runtimeDir();
  if (!library)
    return library.takeError();
  if (!plan.channels.empty())
    if (Error error = writeManifest(writer, plan))
      return error;
  Expected<runtime::Design> design = designOf(plan, writer.dir());
  if (!design)
    return design.takeError();
  if (Error error =
          writer.writeFile("host/rhizome_model.h", modelHeader(plan, *design)))
    return error;
  if (Error error = writer.writeFile("host/README.md", hostPage(plan)))
    return error;
  if (Error error = writer.writeFile(
          "README.md", packagePage(plan, testBenchOf(writer, plan))))
    return error;
  for (const char *name :
       {"CMakeLists.txt", "rhizome_client.h", "rhizome_client.cpp",
        "rhizome_client.py", "example.c"})
    if (Error error = writer.copyFile(std::string("host/") + name,
                                      *data + "/host/" + name))
      return error;
  for (const char *part : {"include", "lib"})
    if (Error error = copyFolder(writer, *library + "/" + part,
                                 std::string("host/runtime/") + part))
      return error;
  if (Error error = writer.copyFile("host/runtime/CMakeLists.txt",
                                    *library + "/CMakeLists.txt"))
    return error;
  link::Service service;
  if (!plan.channels.empty())
    service = clustersim::serviceOf(plan, hostPorts(network, false),
                                    hostPorts(network, true));
  return writer.writeFile("host/service.cpp", serviceText(service));
}
