// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the nodes' designs, starts the ranks and reads their results.
#include "rhizome/Simulate/Cluster.h"
#include "Run.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

namespace {
/// What a rank tells of its progress, in the run's folder.
constexpr const char *kProgress = "progress.txt";
constexpr int64_t kFewestFrames = 24, kFramesPerNode = 4;

/// The program of a rank, next to ours.
Expected<std::string> rankProgram() {
  static int anchor;
  SmallString<256> path(
      sys::path::parent_path(sys::fs::getMainExecutable(nullptr, &anchor)));
  sys::path::append(path, "rhizome-rank");
  if (sys::fs::can_execute(path))
    return path.str().str();
  return createStringError("'%s' is missing: build it with 'make build'; it "
                           "needs MPI, which Debian's package libopenmpi-dev "
                           "brings",
                           path.c_str());
}

std::string partyName(const Plan &plan, size_t rank) {
  return rank == 0 ? kHost : plan.nodes[rank - 1].name;
}

struct Report {
  std::vector<std::optional<json::Object>> ranks;
  int64_t number(size_t rank, StringRef key) const {
    return ranks[rank] ? ranks[rank]->getInteger(key).value_or(0) : 0;
  }
};

Report readReports(const Plan &plan, const std::string &folder) {
  Report report;
  for (size_t rank = 0; rank <= plan.nodes.size(); ++rank) {
    auto &entry = report.ranks.emplace_back();
    Expected<std::string> text =
        readFile(folder + "/rank-" + std::to_string(rank) + ".json");
    if (!text) {
      consumeError(text.takeError());
      continue;
    }
    if (Expected<json::Value> value = parseJson(*text)) {
      if (json::Object *object = value->getAsObject())
        entry = std::move(*object);
    } else {
      consumeError(value.takeError());
    }
  }
  return report;
}

/// Why the ranks ended early: a rank's message, or the rank that mpirun saw
/// die.
Error explain(const Plan &plan, const Report &report, int status,
              const std::string &log) {
  for (auto [rank, entry] : enumerate(report.ranks))
    if (entry)
      if (auto text = entry->getString("error"))
        return createStringError("%s: %s", partyName(plan, rank).c_str(),
                                 text->str().c_str());
  std::string text;
  if (Expected<std::string> read = readFile(log))
    text = std::move(*read);
  else
    consumeError(read.takeError());
  SmallVector<StringRef> match;
  size_t rank = 0;
  if (Regex("process rank ([0-9]+) with PID [0-9]+ on node [^ ]+ exited on "
            "signal ([0-9]+ \\([A-Za-z ]+\\))")
          .match(text, &match) &&
      !match[1].getAsInteger(10, rank) && rank <= plan.nodes.size())
    return createStringError(
        "%s: its process died of signal %s (rank %zu, log in '%s')",
        partyName(plan, rank).c_str(), match[2].str().c_str(), rank,
        log.c_str());
  return toolError("mpirun", status, log);
}

Error writeInputs(const std::string &folder,
                  const std::vector<std::vector<Tensor>> &frames,
                  const std::vector<BorderPort> &inputs) {
  for (auto [k, port] : enumerate(inputs)) {
    std::string bytes;
    for (const std::vector<Tensor> &frame : frames) {
      if (frame.size() != inputs.size())
        return createStringError("the network has %zu inputs, a frame %zu",
                                 inputs.size(), frame.size());
      Expected<std::vector<uint8_t>> packed = packFrame(frame[k], port);
      if (!packed)
        return packed.takeError();
      bytes.append(packed->begin(), packed->end());
    }
    if (Error error =
            writeBytes(folder + "/in" + std::to_string(k) + ".bin", bytes))
      return error;
  }
  return Error::success();
}

Error readOutputs(const std::string &folder, size_t frames,
                  const std::vector<BorderPort> &outputs,
                  ClusterResult &result) {
  result.outputs.resize(frames);
  for (auto [k, port] : enumerate(outputs)) {
    Expected<std::string> bytes =
        readFile(folder + "/out" + std::to_string(k) + ".bin");
    if (!bytes)
      return bytes.takeError();
    size_t frameBytes = size_t(port.beats()) * (port.dataWidth / 8);
    if (bytes->size() != frameBytes * frames)
      return createStringError("the simulation wrote %zu bytes of output %zu "
                               "instead of %zu",
                               bytes->size(), k, frameBytes * frames);
    for (size_t f = 0; f < frames; ++f)
      result.outputs[f].push_back(unpackFrame(
          reinterpret_cast<const uint8_t *>(bytes->data()) + f * frameBytes,
          port));
  }
  return Error::success();
}

/// Number of frames to send at full rate: more than enough to fill all nodes.
int64_t totalFrames(const Plan &plan, int64_t frames, bool measure) {
  if (!measure)
    return frames;
  // Batches fill the nodes one by one, and come out in groups.
  int64_t batch = 1;
  for (const PlannedNode &node : plan.nodes)
    batch = std::max(batch, plan.owner(node).batch());
  return std::max(
      frames,
      batch * (kFewestFrames + kFramesPerNode * int64_t(plan.nodes.size())));
}

/// Simulated time without a result after which the run counts as hung. Where
/// datagrams are lost, a question (S7) and its answer get through at this rate:
/// as much time for each of so many that one in a billion runs has bad luck.
int64_t patience(const Plan &plan, double loss) {
  double frame = plan.predicted.latencyUs;
  for (const PlannedNode &node : plan.nodes)
    if (node.clockMhz > 0)
      frame += double(std::max(node.predicted.intervalCycles,
                               node.predicted.latencyCycles)) /
               node.clockMhz;
  const double through = (1 - loss) * (1 - loss);
  const double questions =
      loss > 0 ? std::max(1.0, std::log(1e-9) / std::log(1 - through)) : 1;
  return int64_t(std::max(2000.0, 20 * frame) * questions * 1e6);
}

/// The launcher with its arguments and those of the ranks.
Expected<std::vector<std::string>> ranksCommand(const Package &package,
                                                const std::string &folder,
                                                const std::string &hostfile) {
  ErrorOr<std::string> mpirun = sys::findProgramByName("mpirun");
  if (!mpirun)
    return createStringError("the program 'mpirun' is missing; Debian's "
                             "package openmpi-bin brings it");
  Expected<std::string> rank = rankProgram();
  if (!rank)
    return rank.takeError();
  SmallString<256> dir(package.dir());
  if (std::error_code error = sys::fs::make_absolute(dir))
    return errorCodeToError(error);
  std::vector<std::string> command = {
      *mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
      "--mca", "mpi_yield_when_idle", "1",
      // Containers forbid one process to read another's memory.
      "--mca", "btl_vader_single_copy_mechanism", "none", "-n",
      std::to_string(package.plan().nodes.size() + 1)};
  if (!hostfile.empty())
    if (Error error = checkIsFile(hostfile))
      return std::move(error);
  if (!hostfile.empty())
    command.insert(command.end(), {"--hostfile", hostfile});
  else // all on this machine: nothing is heard from elsewhere
    command.insert(command.end(), {"--mca", "oob_tcp_if_include", "lo", "--mca",
                                   "btl", "self,vader"});
  command.insert(command.end(), {*rank, dir.str().str(), folder});
  return command;
}

/// Files of MPI's own for one run: its sockets and the memory that ranks share.
class MpiFolder {
public:
  static Expected<MpiFolder> make() {
    MpiFolder made;
    if (Error error = makeTemporaryFolder("rhizome-mpi").moveInto(made.path))
      return std::move(error);
    return std::move(made);
  }
  MpiFolder(MpiFolder &&) = default;
  ~MpiFolder() {
    if (!path.empty())
      consumeError(removeTree(path));
  }
  std::string path;

private:
  MpiFolder() = default;
};

/// Options of the launcher: what MPI writes lies in this folder.
void keepIn(const std::string &folder, std::vector<std::string> &arguments) {
  arguments.insert(arguments.begin(),
                   {"--mca", "orte_tmpdir_base", folder, "--mca",
                    "btl_vader_backing_directory", folder});
}

/// What the launcher and the ranks may do: MPI connects them by sockets.
Expected<std::optional<Confinement>>
ranksConfinement(const Package &package,
                 const std::vector<std::string> &folders,
                 const std::string &rank) {
  SmallString<256> dir(package.dir());
  if (std::error_code error = sys::fs::make_absolute(dir))
    return errorCodeToError(error);
  Expected<KeptFiles> kept = KeptFiles::ofUser("simulators");
  if (!kept)
    return kept.takeError();
  Confinement wanted;
  wanted.writable = folders;
  wanted.readable = {dir.str().str(), kept->folder()};
  wanted.tools = {rank};
  wanted.hasNetwork = true;
  return package.confinement(std::move(wanted));
}

/// Shows what a rank has written there since `shown`.
void showProgress(const std::string &path, size_t &shown) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return consumeError(text.takeError());
  if (text->size() > shown)
    errs() << StringRef(*text).substr(shown);
  shown = text->size();
}

Error runRanks(const Package &package, const std::string &folder,
               const ClusterOptions &options) {
  Expected<std::vector<std::string>> command =
      ranksCommand(package, folder, options.hostfile);
  if (!command)
    return command.takeError();
  std::string log = folder + "/log.txt";
  Process process;
  process.program = command->front();
  process.arguments.assign(command->begin() + 1, command->end());
  process.folder = folder;
  process.log = log;
  Expected<MpiFolder> own = MpiFolder::make();
  if (!own)
    return own.takeError();
  // Ranks on other machines are started by ssh, which is the user's.
  if (options.hostfile.empty()) {
    keepIn(own->path, process.arguments);
    if (Error error = ranksConfinement(package, {own->path, folder},
                                       (*command)[command->size() - 3])
                          .moveInto(process.confinement))
      return error;
  }
  ProcessRunner runner(1);
  if (Error error = runner.start(process))
    return error;
  size_t shown = 0;
  while (!runner.wait(std::chrono::milliseconds(100)))
    if (options.progress)
      showProgress(folder + "/" + kProgress, shown);
  if (options.progress)
    showProgress(folder + "/" + kProgress, shown);
  if (process.status == 0)
    return Error::success();
  const Plan &plan = package.plan();
  return explain(plan, readReports(plan, folder), process.status, log);
}

Error checkLinks(const Package &package) {
  if (!package.plan().channels.empty())
    return Error::success();
  return createStringError("the package '%s' has no links; compile it for a "
                           "cluster ('rhizome compile … --cluster NAME')",
                           package.dir().c_str());
}

/// The nodes' designs as libraries; adds to the build time.
Expected<json::Array> buildLibraries(const Package &package,
                                     std::vector<KeptFiles::Held> &held,
                                     double &seconds,
                                     const WaitNotice &onWait) {
  json::Array libraries;
  for (const PlannedNode &node : package.plan().nodes) {
    Expected<sim::Simulator> model =
        sim::buildModel(package, node, !node.nodeTop.empty(), onWait);
    if (!model)
      return createStringError("%s: %s", node.name.c_str(),
                               toString(model.takeError()).c_str());
    libraries.push_back(model->program);
    held.push_back(std::move(model->held));
    seconds += model->buildSeconds;
  }
  return libraries;
}

/// The input of each rank.
Error writeRun(const std::string &folder, const Plan &plan,
               json::Array libraries, int64_t frames, int64_t total,
               bool measure, const ClusterOptions &options) {
  std::string run;
  raw_string_ostream(run) << json::Value(
      json::Object{{"libraries", std::move(libraries)},
                   {"frames", frames},
                   {"total", total},
                   {"latency", measure},
                   {"seed", int64_t(options.seed)},
                   {"patience_ps", patience(plan, options.loss)},
                   {"loss", options.loss},
                   {"reorder", options.reorder},
                   {"reorder_delay_ps", int64_t(options.reorderDelayUs * 1e6)},
                   // Of the host's rank; mpirun's messages are kept in a log.
                   {"progress", options.progress ? folder + "/" + kProgress
                                                 : std::string()}});
  return writeBytes(folder + "/run.json", run);
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

void fillStatistics(const Plan &plan, const Report &report, int64_t frames,
                    ClusterResult &result) {
  result.throughputPerS =
      report.ranks[0]->getNumber("throughput_per_s").value_or(0);
  result.latencyUs = double(report.number(0, "latency_ps")) * 1e-6;
  result.simulatedUs = double(report.number(0, "end_ps")) * 1e-6;
  for (size_t rank = 0; rank <= plan.nodes.size(); ++rank) {
    ClusterParty &party = result.parties.emplace_back();
    party.name = partyName(plan, rank);
    auto share = [&](StringRef key) {
      return double(report.number(rank, key)) * 1e-12 / double(frames) *
             result.throughputPerS;
    };
    party.sending = share("send_busy_ps");
    party.receiving = share("receive_busy_ps");
    party.datagrams = report.number(rank, "sent");
    party.lost = report.number(rank, "lost");
    party.resent = report.number(rank, "resent");
    party.cycles = report.number(rank, "cycles");
    party.skipped = report.number(rank, "skipped");
    if (rank == 0)
      continue;
    const PlannedNode &node = plan.nodes[rank - 1];
    party.device = node.device;
    party.utilization = double(node.predicted.intervalCycles) /
                        (node.clockMhz * 1e6) * result.throughputPerS /
                        double(node.replica.count);
  }
}
} // namespace

json::Array rhizome::sharesOf(ArrayRef<ClusterParty> parties) {
  json::Array shares;
  for (const ClusterParty &party : parties)
    shares.push_back(json::Object{{"name", party.name},
                                  {"utilization", party.utilization},
                                  {"sending", party.sending},
                                  {"receiving", party.receiving}});
  return shares;
}

Expected<ClusterResult> rhizome::simulateCluster(
    const Package &package, const std::vector<std::vector<Tensor>> &frames,
    const std::vector<BorderPort> &inputs,
    const std::vector<BorderPort> &outputs, const ClusterOptions &options) {
  const Plan &plan = package.plan();
  if (Error error = checkLinks(package))
    return error;
  if (frames.empty())
    return createStringError("there are no frames to simulate");
  // Before the designs are built, which takes minutes.
  if (Error error = ranksCommand(package, "", options.hostfile).takeError())
    return error;
  ClusterResult result;
  std::vector<KeptFiles::Held> held;
  Expected<json::Array> libraries =
      buildLibraries(package, held, result.buildSeconds, options.onWait);
  if (!libraries)
    return libraries.takeError();
  Expected<std::string> folder = sim::makeRunFolder(package, "cluster");
  if (!folder)
    return folder.takeError();
  if (Error error = writeInputs(*folder, frames, inputs))
    return error;
  int64_t total = totalFrames(plan, int64_t(frames.size()), options.measure);
  if (Error error =
          writeRun(*folder, plan, std::move(*libraries), int64_t(frames.size()),
                   total, options.measure, options))
    return error;
  auto start = std::chrono::steady_clock::now();
  if (Error error = runRanks(package, *folder, options))
    return error;
  result.seconds = secondsSince(start);
  Report report = readReports(plan, *folder);
  for (size_t rank = 0; rank < report.ranks.size(); ++rank)
    if (!report.ranks[rank])
      return createStringError("%s left no report in '%s'",
                               partyName(plan, rank).c_str(), folder->c_str());
  if (Error error = readOutputs(*folder, frames.size(), outputs, result))
    return error;
  fillStatistics(plan, report, total + options.measure, result);
  if (Error error = removeTree(*folder))
    return std::move(error);
  return result;
}

/// A private folder for one job, which other simulations of this process do not
/// use; on several machines it must be in the same place as the package.
static Expected<std::string> rankFolder(const Package &package,
                                        const ClusterOptions &options) {
  if (!options.hostfile.empty())
    return sim::makeRunFolder(package, "mpi");
  return makeTemporaryFolder("rhizome-ranks");
}

Expected<RankJob> rhizome::rankJob(const Package &package,
                                   const ClusterOptions &options) {
  if (Error error = checkLinks(package))
    return error;
  RankJob job;
  // Missing tools are reported before anything is built.
  if (Error error = ranksCommand(package, "", options.hostfile).takeError())
    return error;
  Expected<json::Array> libraries =
      buildLibraries(package, job.held, job.buildSeconds, options.onWait);
  if (!libraries)
    return libraries.takeError();
  Expected<std::string> folder = rankFolder(package, options);
  if (!folder)
    return folder.takeError();
  job.folder = *folder;
  if (Error error = writeRun(*folder, package.plan(), std::move(*libraries), 0,
                             0, /*measure=*/false, options))
    return error;
  Expected<std::vector<std::string>> command =
      ranksCommand(package, *folder, options.hostfile);
  if (!command)
    return command.takeError();
  const std::string rank = (*command)[command->size() - 3];
  job.command = std::move(*command);
  job.command.push_back("--serve");
  if (!options.hostfile.empty())
    return job;
  std::vector<std::string> arguments(job.command.begin() + 1,
                                     job.command.end());
  job.command.resize(1);
  keepIn(job.folder, arguments);
  llvm::append_range(job.command, arguments);
  if (Error error = ranksConfinement(package, {job.folder}, rank)
                        .moveInto(job.confinement))
    return std::move(error);
  return job;
}

Expected<NodeModel> rhizome::buildNodeModel(const Package &package,
                                            const PlannedNode &node,
                                            const WaitNotice &onWait) {
  Expected<sim::Simulator> model =
      sim::buildModel(package, node, /*withEndpoint=*/false, onWait);
  if (!model)
    return model.takeError();
  Expected<std::optional<Confinement>> confinement =
      sim::simulatorConfinement(package, package.plan().owner(node), "");
  if (!confinement)
    return confinement.takeError();
  if (*confinement)
    (*confinement)->writable.clear();
  return NodeModel{std::move(model->program), std::move(model->held),
                   std::move(*confinement)};
}
