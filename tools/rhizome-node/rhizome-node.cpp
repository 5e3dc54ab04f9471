// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One node of a service as a process: a peer on the network like a board.
#include "rhizome/KernelCommands/RunHardware.h"
#include "rhizome/Model/Input.h"
#include "rhizome/Support/Program.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Support/Version.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <csignal>

using namespace rhizome;
using namespace rhizome::deploy;

static volatile std::sig_atomic_t stopped = 0;

static void stop(int) { stopped = 1; }

static int serve(int argc, char **argv) {
  CLI::App app("Serve one node of a compiled package over UDP, until SIGTERM "
               "or SIGINT.",
               "rhizome-node");
  app.set_version_flag("--version", version());
  ServeRequest request;
  bool json = false;
  app.add_option("DIR", request.package, "a package of several nodes")
      ->required();
  app.add_option("NODE", request.node, "the node to be, by its plan's name")
      ->required();
  app.add_option("--at", request.places.at,
                 "where a party is; of this node: where to listen")
      ->type_name("NAME=ADDRESS:PORT")
      ->allow_extra_args(false);
  app.add_option("--manifest", request.places.manifest,
                 "a file to read instead of the package's deploy.yaml")
      ->option_text("FILE");
  app.add_option("--key", request.key,
                 "a file with 32 hexadecimal digits that the nodes and their "
                 "client share: datagrams without it are dropped")
      ->option_text("FILE");
  app.add_option("--metrics", request.metrics,
                 "offer what the node counts in Prometheus' text form: at a "
                 "port of the loopback interface, at ADDRESS:PORT, or in a "
                 "file")
      ->option_text("PORT|FILE");
  std::map<std::string, NodeEngine> engines = {{"cpu", NodeEngine::Cpu},
                                               {"rtl", NodeEngine::Rtl}};
  app.add_option("--engine", request.engine,
                 "what computes: machine code for this host or the node's "
                 "Verilated design")
      ->transform(CLI::CheckedTransformer(engines))
      ->option_text("cpu|rtl");
  app.add_flag("--accept-changes", request.acceptChanges,
               "accept the package's files as they are, and list those that "
               "changed");
  app.add_flag(
      "--trust", request.trust,
      "the same, and allow its RTL everything that a simulator can do");
  app.add_flag("--json", json, "statistics at the end as one JSON object");
  app.footer("Examples:\n"
             "  rhizome-node net.rhz node0\n"
             "  rhizome-node net.rhz node1 --engine rtl \\\n"
             "      --at node0=10.0.0.1:2719 --at node1=10.0.0.2:2720");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  struct sigaction action = {};
  action.sa_handler = stop;
  for (int signal : {SIGTERM, SIGINT})
    sigaction(signal, &action, nullptr);
  request.isStopped = [] { return stopped != 0; };
  request.onReady = [&](const std::string &place) {
    llvm::errs() << request.node << " listens at " << place << "\n";
  };
  request.onMetrics = [&](const std::string &place) {
    llvm::errs() << request.node << ": metrics at " << place << "\n";
  };
  auto served =
      model::inputKind(request.package) == model::InputKind::KernelPackage
          ? kernelcommands::serveKernelNode(request)
          : serveNode(request);
  for (const std::string &note :
       served ? served->notes : served.failure().notes)
    llvm::errs() << "note: " << withoutControls(note) << "\n";
  if (!served) {
    const std::string &reason = served.failure().reason();
    if (json)
      llvm::outs() << llvm::json::Value(llvm::json::Object{
                          {"ok", false},
                          {"error", llvm::json::fixUTF8(reason)}})
                   << "\n";
    else
      llvm::errs() << "error: " << withoutControls(reason) << "\n";
    return served.failure().exitCode();
  }
  const ServeResult &result = *served;
  if (json)
    llvm::outs() << llvm::json::Value(llvm::json::Object{
                        {"ok", true},
                        {"frames", result.frames},
                        {"epochs", result.epochs},
                        {"cycles", result.cycles},
                        {"datagrams_received", result.datagramsReceived},
                        {"datagrams_sent", result.datagramsSent},
                        {"resent", result.resent},
                        {"dropped", result.dropped}})
                 << "\n";
  else
    llvm::errs() << result.frames << " frames for " << result.epochs
                 << " clients, " << result.datagramsReceived
                 << " datagrams received, " << result.datagramsSent << " sent, "
                 << result.resent << " sent again, " << result.dropped
                 << " dropped\n";
  return 0;
}

int main(int argc, char **argv) {
  return runProgram([&] { return serve(argc, argv); });
}
