// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One rank of a simulated cluster: rank 0 is the host, rank k + 1 the plan's
// node k. 'rhizome simulate --level cluster' writes its input (run.json and
// the frames) and reads its output (rank-<k>.json and the results). With
// --serve, frames come on standard input and results go to standard output, in
// the format of the runtime's driver 'mpi'.
#include "Client.h"
#include "Mpi.h"
#include "rhizome/ClusterSim/Parties.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Support/Program.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fstream>
#include <sys/prctl.h>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::clustersim;

namespace {
/// run.json.
struct Run {
  std::vector<std::string> libraries; ///< of the nodes' designs, by node
  int64_t frames = 1, total = 1;
  bool latency = false;
  int64_t patience = kNever;
  std::string progress; ///< file that counts finished frames, or ""
  Disturbance disturbance;
};

Expected<Run> readRun(const std::string &folder) {
  Expected<std::string> text = readFile(folder + "/run.json");
  if (!text)
    return text.takeError();
  Expected<json::Value> value = parseJson(*text);
  if (!value)
    return value.takeError();
  Run run;
  int64_t seed = 1;
  json::Path::Root root("run");
  json::ObjectMapper map(*value, root);
  if (!map || !map.map("libraries", run.libraries) ||
      !map.map("frames", run.frames) || !map.map("total", run.total) ||
      !map.map("latency", run.latency) || !map.map("seed", seed) ||
      !map.map("patience_ps", run.patience) ||
      !map.map("progress", run.progress) ||
      !map.map("loss", run.disturbance.loss) ||
      !map.map("reorder", run.disturbance.reorder) ||
      !map.map("reorder_delay_ps", run.disturbance.reorderDelay))
    return root.getError();
  run.disturbance.seed = uint64_t(seed);
  return run;
}

json::Object statisticsOf(const Party &party) {
  Ports::Statistics ports = party.ports.statistics();
  return json::Object{{"sent", ports.sent},
                      {"received", ports.received},
                      {"lost", ports.lost},
                      {"delayed", ports.delayed},
                      {"bytes_sent", ports.bytesSent},
                      {"bytes_received", ports.bytesReceived},
                      {"send_busy_ps", ports.sendBusy},
                      {"receive_busy_ps", ports.receiveBusy}};
}

Error runHost(const Package &package, const Run &run, const std::string &folder,
              Transport &transport, json::Object &report) {
  HostParty::Request request;
  request.frames = run.frames;
  request.total = run.total;
  request.latency = run.latency;
  request.patience = run.patience;
  size_t inputs = routerOf(package.plan(), kHost, false).size();
  for (size_t k = 0; k < inputs; ++k) {
    Expected<std::string> bytes =
        readFile(folder + "/in" + std::to_string(k) + ".bin");
    if (!bytes)
      return bytes.takeError();
    request.inputs.emplace_back(bytes->begin(), bytes->end());
  }
  std::ofstream terminal;
  if (!run.progress.empty())
    terminal.open(run.progress, std::ios::app);
  if (terminal.is_open())
    request.progress = [&, total = run.total](int64_t frames, Picoseconds now) {
      terminal << "\rsimulating frame " << frames << " of " << total << ", "
               << now / 1'000'000 << " us " << std::flush;
    };
  HostParty host(package.plan(), run.disturbance, std::move(request));
  Expected<RunStatistics> done =
      simulate(host, transport, lookahead(package.plan().links));
  terminal << "\r" << std::string(60, ' ') << "\r" << std::flush;
  report = statisticsOf(host);
  report["resent"] = int64_t(host.endpoint().counters().resent);
  if (!done)
    return done.takeError();
  report["end_ps"] = done->end;
  report["windows"] = done->windows;
  report["throughput_per_s"] = host.throughputPerS();
  report["latency_ps"] = host.latency();
  for (size_t k = 0; k < host.answers().size(); ++k)
    if (Error error = writeBytes(
            folder + "/out" + std::to_string(k) + ".bin",
            StringRef(reinterpret_cast<const char *>(host.answers()[k].data()),
                      host.answers()[k].size())))
      return error;
  return Error::success();
}

/// Frames from standard input until it ends.
Error serveFrames(const Package &package, const Run &run, int answers,
                  Transport &transport, json::Object &report) {
  PipeClient client(package.plan(), answers);
  LiveHostParty host(package.plan(), run.disturbance, client, run.patience);
  Expected<RunStatistics> done =
      simulate(host, transport, lookahead(package.plan().links));
  report = statisticsOf(host);
  report["resent"] = int64_t(host.endpoint().counters().resent);
  report["frames"] = host.frames();
  return done.takeError();
}

Error runNode(const Package &package, const Run &run, Transport &transport,
              json::Object &report) {
  size_t k = size_t(transport.rank()) - 1;
  const PlannedNode &node = package.plan().nodes[k];
  const std::string &library = run.libraries[k];
  std::string images = package.rtlPath(node);
  uint64_t seed = run.disturbance.seed + k;
  if (!node.nodeTop.empty()) {
    Expected<std::unique_ptr<NodeModel>> model =
        NodeModel::open(library, images, package.plan(), node, seed);
    if (!model)
      return model.takeError();
    BoardParty party(package.plan(), transport.rank(), run.disturbance,
                     std::move(*model));
    Expected<RunStatistics> done =
        simulate(party, transport, lookahead(package.plan().links));
    report = statisticsOf(party);
    report["resent"] = party.resent();
    report["cycles"] = party.design().cycles();
    return done.takeError();
  }
  Expected<std::unique_ptr<Model>> model =
      Model::open(library, images, node, seed);
  if (!model)
    return model.takeError();
  NodeParty party(package.plan(), transport.rank(), run.disturbance,
                  std::move(*model));
  Expected<RunStatistics> done =
      simulate(party, transport, lookahead(package.plan().links));
  report = statisticsOf(party);
  report["resent"] = int64_t(party.endpoint().counters().resent);
  report["cycles"] = party.design().statistics().cycles;
  report["skipped"] = party.skipped();
  return done.takeError();
}

/// `answers`: the descriptor to which rank 0 writes results; −1: to files.
Error runRank(const std::string &packagePath, const std::string &folder,
              int answers, Transport &transport, json::Object &report) {
  // The process that started the ranks has checked the files.
  Expected<Package> package = Package::open(packagePath, Changes::Ignore);
  if (!package)
    return package.takeError();
  Expected<Run> run = readRun(folder);
  if (!run)
    return run.takeError();
  if (size_t(transport.size()) != package->plan().nodes.size() + 1)
    return createStringError("%d ranks run, the package has %zu nodes and "
                             "needs one more than these",
                             transport.size(), package->plan().nodes.size());
  if (transport.rank() != 0)
    return runNode(*package, *run, transport, report);
  return answers >= 0 ? serveFrames(*package, *run, answers, transport, report)
                      : runHost(*package, *run, folder, transport, report);
}
} // namespace

int main(int argc, char **argv) {
  // End when mpirun ends, whatever happens.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool serves = argc == 4 && StringRef(argv[3]) == "--serve";
  if (argc != 3 && !serves) {
    errs() << "usage: mpirun -n NODES+1 rhizome-rank PACKAGE RUNFOLDER "
              "[--serve]\n"
              "'rhizome simulate PACKAGE --level cluster' does this, 'rhizome "
              "run PACKAGE --driver mpi' with --serve.\n";
    return 2;
  }
  // Output printed by a simulated design must not mix with the results.
  int answers = -1;
  if (serves) {
    answers = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  json::Object report;
  MpiTransport transport(&argc, &argv);
  std::string folder = argv[2];
  bool failed = false;
  auto fail = [&](StringRef problem) {
    if (serves)
      errs() << runtime::kMpiSays << problem << "\n";
    report["error"] = problem;
    failed = true;
  };
  runProgram(
      [&] {
        if (Error error = runRank(argv[1], folder, answers, transport, report))
          fail(toString(std::move(error)));
        return 0;
      },
      fail);
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(report));
  std::string path =
      folder + "/rank-" + std::to_string(transport.rank()) + ".json";
  if (Error problem = writeAtomically(path, text)) {
    errs() << toString(std::move(problem)) << "\n";
    failed = true;
  }
  if (failed)
    transport.abort();
  return 0;
}
