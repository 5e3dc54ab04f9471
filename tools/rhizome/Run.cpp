// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome run: frames through a compiled package by a driver (a board, nodes on
// a network, a simulation, the CPU), or a tensor kernel applied to data.
#include "Commands.h"
#include "Kernel.h"
#include "ModelOptions.h"
#include "Output.h"
#include "rhizome/Deploy/Service.h"
#include "rhizome/KernelCommands/RunHardware.h"
#include "rhizome/Support/Units.h"
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::deploy;
using namespace rhizome::kernelcommands;
using namespace rhizome::model;

static llvm::json::Object objectOf(const RunResult &result) {
  llvm::json::Object object{
      {"frames", result.frames},
      {"checked", result.checked},
      {"compared", result.compared},
      {"mismatches", result.mismatches},
      {"predicted", toJSON(result.predicted)},
      {"measured",
       llvm::json::Object{{"throughput_per_s", result.throughputPerS},
                          {"latency_us", result.latencyUs},
                          {"shortest_us", result.shortestUs},
                          {"longest_us", result.longestUs}}},
      {"seconds", result.seconds},
      {"held_seconds", result.heldSeconds},
      {"frame_errors", result.frameErrors},
      {"repeated", result.repeated},
      {"resent", result.resent},
      {"events", llvm::json::Array(result.events)}};
  if (result.unexpected >= 0)
    object["unexpected"] = result.unexpected;
  if (!result.firstMismatch.empty())
    object["first_mismatch"] = result.firstMismatch;
  return object;
}

/// "1,000 frames, 100 of them compared, 0 mismatches".
static void printFrames(const RunResult &result) {
  llvm::outs() << grouped(result.frames);
  if (result.isInterrupted)
    llvm::outs() << " of " << grouped(result.asked);
  llvm::outs() << (result.frames == 1 && !result.isInterrupted ? " frame"
                                                               : " frames");
  if (result.checked && result.compared != result.frames)
    llvm::outs() << ", " << grouped(result.compared) << " of them compared";
  if (result.checked)
    llvm::outs() << ", "
                 << verdict(result.mismatches,
                            grouped(result.mismatches) + " mismatches");
  llvm::outs() << "\n";
}

static void printRates(const RunResult &result) {
  llvm::outs() << rateText(result.throughputPerS) << " frames per second; "
               << "a frame took " << durationText(result.latencyUs * 1e-6)
               << ", from " << durationText(result.shortestUs * 1e-6) << " to "
               << durationText(result.longestUs * 1e-6) << "\n";
  if (result.heldSeconds > 0.05 * result.seconds)
    llvm::outs() << "the interpreter, which compares, held them back for "
                 << durationText(result.heldSeconds) << " of "
                 << durationText(result.seconds)
                 << "; --check-every N or --no-check shows the device's rate\n";
  if (result.frameErrors)
    llvm::outs() << counted(result.frameErrors, "frame")
                 << (result.frameErrors == 1 ? " was" : " were")
                 << " too short or too long at the design's border\n";
  if (result.repeated)
    llvm::outs() << counted(result.repeated, "frame")
                 << (result.repeated == 1 ? " was" : " were")
                 << " repeated after a node was lost\n";
  if (result.resent)
    llvm::outs() << counted(result.resent, "datagram")
                 << (result.resent == 1 ? " was" : " were") << " sent again\n";
}

/// What was done before a signal came.
static void printInterrupted(const RunResult &result, bool json) {
  if (json) {
    llvm::json::Object object = objectOf(result);
    object["ok"] = false;
    object["error"] = "it was interrupted";
    object["asked"] = result.asked;
    printJson(std::move(object));
    return;
  }
  llvm::outs() << "interrupted: ";
  printFrames(result);
  if (!result.firstMismatch.empty())
    llvm::outs() << "first: " << result.firstMismatch << "\n";
}

/// The signal that ends the run; 0: none yet.
static volatile std::sig_atomic_t cancelled = 0;

namespace {
/// Ends the program soon after a signal, whatever it computes just then: a
/// frame of a large network takes the interpreter, or this CPU, many seconds.
class Watchdog {
public:
  explicit Watchdog(bool json) : json(json), thread([this] { watch(); }) {}
  ~Watchdog() {
    end();
    thread.join();
  }
  /// The run is over.
  void end() {
    {
      std::lock_guard<std::mutex> guard(mutex);
      isOver = true;
    }
    over.notify_all();
  }
  /// What is known so far.
  void note(int64_t done, const RunResult &result) {
    std::lock_guard<std::mutex> guard(mutex);
    soFar = result;
    soFar.frames = done;
  }

private:
  void watch() {
    std::unique_lock<std::mutex> lock(mutex);
    auto until = [&](auto time, auto condition) {
      return over.wait_for(lock, time, condition);
    };
    while (!until(std::chrono::milliseconds(50), [this] { return isOver; }))
      if (cancelled)
        break;
    if (until(std::chrono::milliseconds(700), [this] { return isOver; }))
      return;
    printInterrupted(soFar, json);
    llvm::outs().flush();
    std::_Exit(128 + cancelled);
  }

  bool json, isOver = false;
  RunResult soFar;
  std::mutex mutex;
  std::condition_variable over;
  std::thread thread; // the last: it uses the others
};
} // namespace

static void takeSignals() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) { cancelled = signal; };
  for (int signal : {SIGINT, SIGTERM})
    sigaction(signal, &action, nullptr);
}

/// Requests of the program that started this one.
static int runServing(RunRequest request) {
  signal(SIGPIPE, SIG_IGN);
  request.onBegin = takeSignals;
  request.isCancelled = [] { return cancelled != 0; };
  request.onEvent = [](const std::string &event) {
    llvm::errs() << event << "\n";
  };
  auto served = serveFrames(request, STDIN_FILENO, STDOUT_FILENO);
  if (!served)
    return failWith(served.failure(), /*json=*/false);
  return served->isInterrupted ? 128 + cancelled : 0;
}

using RunOne = std::function<rhizome::Result<RunResult>(const RunRequest &)>;

static int runRun(RunRequest request, bool json,
                  const RunOne &runOne = runPackage) {
  // Until then a signal ends the program, and what it builds, as usual.
  request.onBegin = takeSignals;
  request.isCancelled = [] { return cancelled != 0; };
  ProgressLine line(!json);
  Watchdog watchdog(json);
  // Printed at once, even for machines: someone is waiting for it.
  request.onEvent = [&line](const std::string &event) {
    line.show("");
    llvm::errs() << event << "\n";
  };
  request.driverOptions.onWait = [&line](const std::string &what) {
    line.announce(what);
  };
  request.onProgress = [&](int64_t done, int64_t all, const RunResult &soFar) {
    watchdog.note(done, soFar);
    line.show(grouped(done) + " of " + grouped(all) + " frames" +
              (soFar.checked ? ", " + grouped(soFar.compared) + " compared"
                             : std::string()) +
              " …");
  };
  auto run = runOne(request);
  watchdog.end();
  line.show("");
  // If it failed, the frames that succeeded.
  const RunResult &result =
      run ? *run : *std::any_cast<RunResult>(&run.failure().detail);
  if (!run && !json)
    return failWith(run.failure(), json);
  printNotes(result.notes);
  if (result.isInterrupted) {
    printInterrupted(result, json);
    return 128 + cancelled;
  }
  bool good = run && result.mismatches == 0 && result.unexpected <= 0;
  if (json) {
    llvm::json::Object object = objectOf(result);
    object["ok"] = bool(run);
    if (!run)
      object["error"] = llvm::json::fixUTF8(run.failure().reason());
    printJson(std::move(object));
    return good ? 0 : run ? 1 : run.failure().exitCode();
  }
  printFrames(result);
  if (result.unexpected >= 0)
    llvm::outs() << grouped(result.unexpected)
                 << " elements differ from the expected outputs\n";
  if (!result.firstMismatch.empty())
    llvm::outs() << "first: " << result.firstMismatch << "\n";
  printRates(result);
  return good ? 0 : 1;
}

/// --driver and the options of single drivers.
static void addDriver(CLI::App &command, RunRequest &request) {
  static const std::map<std::string, DriverKind> kinds = {
      {"null", DriverKind::Null},
      {"cpu", DriverKind::Cpu},
      {"simulation", DriverKind::Simulation},
      {"uart", DriverKind::Uart},
      {"udp", DriverKind::Udp},
      {"mpi", DriverKind::Mpi},
      {"opencl", DriverKind::OpenCl},
      {"pynq", DriverKind::Pynq},
      {"xrt", DriverKind::Xrt}};
  DriverOptions &options = request.driverOptions;
  command
      .add_option_function<std::string>(
          "--driver",
          [&request](const std::string &name) {
            auto found = kinds.find(name);
            if (found == kinds.end())
              throw CLI::ValidationError(
                  "--driver", "'" + name +
                                  "' is not null, cpu, simulation, uart, "
                                  "udp, mpi, opencl, pynq or xrt");
            request.driver = found->second;
          },
          "what computes: nothing (zeros), this CPU, the simulated RTL, a "
          "board at a serial line, nodes on a network, simulated nodes as MPI "
          "ranks, an OpenCL device, the design next to this Zynq's processors, "
          "an Alveo; udp is the default for a cluster's package")
      ->option_text("null|cpu|simulation|uart|udp|mpi|opencl|pynq|xrt");
  command
      .add_option("--port", options.port,
                  "driver uart: the serial line, e.g. /dev/ttyUSB1")
      ->option_text("TTY");
  command
      .add_option("--baud", options.baud,
                  "driver uart: the speed, as in the board's file")
      ->capture_default_str()
      ->option_text("RATE");
  command
      .add_option(
          "--stalls-in", options.stallsIn,
          "driver simulation: percent of cycles in which the source pauses")
      ->check(CLI::Range(0, 95))
      ->option_text("PERCENT");
  command
      .add_option(
          "--stalls-out", options.stallsOut,
          "driver simulation: percent of cycles in which the sink pauses")
      ->check(CLI::Range(0, 95))
      ->option_text("PERCENT");
}

static void addJobAndDevice(CLI::App &command, DriverOptions &options) {
  command
      .add_option("--hostfile", options.hostfile,
                  "driver mpi: mpirun's hostfile; the package needs the same "
                  "path on all hosts")
      ->option_text("FILE");
  command
      .add_option("--platform", options.platform,
                  "driver opencl: part of a platform's name; otherwise the "
                  "first one with a device")
      ->option_text("NAME");
  command
      .add_option(
          "--program", options.program,
          "drivers opencl and xrt: the program for the device, such as the "
          "package's rhizome.xclbin or its nodes/node0/opencl/engine.cl; "
          "without one, this CPU's code replaces the device of opencl. Driver "
          "pynq: the overlay, otherwise the package's "
          "rhizome.bit")
      ->option_text("FILE");
  command.add_option("--card", options.card, "driver xrt: the card's number")
      ->capture_default_str()
      ->option_text("N");
}

/// Refuses options that the driver would ignore.
static void checkDriverOptions(const CLI::App &command,
                               std::optional<DriverKind> given) {
  static const struct {
    const char *option;
    std::vector<DriverKind> takenBy;
    const char *names;
  } options[] = {{"--port", {DriverKind::Uart}, "uart"},
                 {"--baud", {DriverKind::Uart}, "uart"},
                 {"--stalls-in", {DriverKind::Simulation}, "simulation"},
                 {"--stalls-out", {DriverKind::Simulation}, "simulation"},
                 {"--hostfile", {DriverKind::Mpi}, "mpi"},
                 {"--platform", {DriverKind::OpenCl}, "opencl"},
                 {"--program",
                  {DriverKind::OpenCl, DriverKind::Xrt, DriverKind::Pynq},
                  "opencl, xrt and pynq"},
                 {"--card", {DriverKind::Xrt}, "xrt"}};
  // Without --driver, a cluster's package takes udp, and others none.
  const DriverKind driver = given.value_or(DriverKind::Udp);
  for (const auto &[option, takenBy, names] : options)
    if (command.count(option) && !llvm::is_contained(takenBy, driver))
      throw CLI::ValidationError(
          option, "of the drivers, it is for " + std::string(names) +
                      " only; leave it out, or give --driver");
}

/// Elements through a kernel's package: on this CPU, or through its RTL.
static Run kernelPackageRun(const CLI::App &command, const RunRequest &given,
                            const std::vector<std::string> &inputs,
                            const KernelRunRequest &kernel, bool json) {
  checkOptions(command, true,
               {"--input", "--output", "--frames", "--seed", "--json",
                "--driver", "--stalls-in", "--stalls-out", "--accept-changes",
                "--trust", "--no-check", "--at", "--manifest", "--key",
                "--outstanding", "--patience-s", "--hostfile", "--platform"});
  refuseKernelOptions(command, {"--check", "--threads"});
  HardwareRunRequest request;
  static_cast<KernelRunRequest &>(request) = kernel;
  request.path = given.package;
  request.inputs = inputs;
  request.outputs = given.outputs;
  request.frames = given.frames;
  request.seed = given.seed;
  request.acceptChanges = given.acceptChanges;
  request.trust = given.trust;
  request.stallsIn = given.driverOptions.stallsIn;
  request.stallsOut = given.driverOptions.stallsOut;
  const DriverKind driver = given.driver.value_or(
      isLinked(given.package) ? DriverKind::Udp : DriverKind::Cpu);
  checkDriverOptions(command, driver);
  if (driver == DriverKind::Cpu)
    return [request, json] { return runKernelPackage(request, json); };
  if (driver == DriverKind::Simulation)
    return [request, json] { return runKernelHardware(request, json); };
  RunRequest frames = given;
  frames.driver = driver;
  frames.driverOptions.seed = given.seed;
  return [frames, request, json] {
    return runRun(frames, json, [&](const RunRequest &run) {
      return runKernelFrames(run, request);
    });
  };
}

void cli::addRun(CLI::App &app, Run &run) {
  struct Options {
    RunRequest request;
    std::vector<std::string> inputs;
    DataRequest how;
    KernelRunRequest kernel;
    bool json = false, noCheck = false, serve = false;
  };
  auto options = std::make_shared<Options>();
  RunRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "run", "Run frames through a package, or apply a tensor kernel.");
  command
      ->add_option("DIR", request.package,
                   "a package; or a kernel (.cfd, .mlir) or the folder of a "
                   "compiled one")
      ->required();
  addData(*command, request, options->inputs, options->how);
  addDriver(*command, request);
  addJobAndDevice(*command, request.driverOptions);
  command
      ->add_option(
          "--at", request.places.at,
          "the address of a node; for 'host', the address to listen on")
      ->type_name("NAME=ADDRESS:PORT")
      ->allow_extra_args(false);
  command
      ->add_option("--manifest", request.places.manifest,
                   "a file to read instead of the package's deploy.yaml")
      ->option_text("FILE");
  command
      ->add_option("--key", request.key,
                   "a file with 32 hexadecimal digits that rhizome-node "
                   "processes share with this client")
      ->option_text("FILE");
  command
      ->add_option("--metrics", request.metrics,
                   "offer requests, latencies, failovers and the nodes' states "
                   "in Prometheus' text form while it runs: at a port of the "
                   "loopback interface, at ADDRESS:PORT, or in a file")
      ->option_text("PORT|FILE");
  command
      ->add_option("--outstanding", request.outstanding,
                   "frames in flight; 1 for single requests; otherwise as many "
                   "as the links take")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 32))
      ->option_text("N");
  command
      ->add_option("--patience-s", request.patienceS,
                   "timeout without nodes or answers")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  CLI::Option *noCheck = command->add_flag(
      "--no-check", options->noCheck, "do not compare with the interpreter");
  command
      ->add_option("--check-every", request.checkEvery,
                   "compare only the first of every N frames: the interpreter "
                   "is slower than a device")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 32))
      ->capture_default_str()
      ->option_text("N")
      ->excludes(noCheck);
  command->add_flag(
      "--check", options->kernel.check,
      "compare with the interpreter, in number formats bit by bit");
  command
      ->add_option("--threads", options->kernel.threads,
                   "threads to share the elements")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  ofKernels(*command, {"--check", "--threads"});
  addKernelOptions(*command, options->kernel.options);
  addPackageChecks(*command, request.acceptChanges, request.trust);
  command
      ->add_flag("--serve", options->serve,
                 "open the driver once and answer arrays from standard input "
                 "on standard output, as the Python interface asks for it")
      ->excludes("--input")
      ->excludes("--output")
      ->excludes("--expect")
      ->excludes("--frames");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n"
                  "  rhizome run net.rhz --driver simulation -n 4\n"
                  "  rhizome run net.rhz --driver uart --port /dev/ttyUSB1 "
                  "--input x.npy --output y.npy\n"
                  "  rhizome run net.rhz --driver mpi -n 8\n"
                  "  rhizome run net.rhz --driver opencl --platform Xilinx "
                  "--program rhizome.xclbin\n"
                  "  rhizome run net.rhz --driver opencl --program "
                  "net.rhz/nodes/node0/opencl/engine.cl\n"
                  "  rhizome run net.rhz --driver xrt --program "
                  "rhizome.xclbin\n"
                  "  sudo rhizome run net.rhz --driver pynq --input x.npy\n"
                  "  rhizome run net.rhz -n 1000\n"
                  "  rhizome run net.rhz --input x.npy --expect y.npy --json\n"
                  "  rhizome run net.rhz --at node0=10.0.0.1:2719 "
                  "--outstanding 1\n"
                  "  rhizome run net.rhz -n 1000000 --metrics 9464\n"
                  "  rhizome run helmholtz.cfd --input x.npz --output v.npy\n"
                  "  rhizome run helmholtz.rhz --driver simulation -n 4\n"
                  "  rhizome run helmholtz.cfd -n 1000 --threads 2 --check");
  command->callback([options, command, &run] {
    const InputKind kind = inputKind(options->request.package);
    if (kind == InputKind::KernelPackage) {
      options->request.check = !options->noCheck;
      run = kernelPackageRun(*command, options->request, options->inputs,
                             options->kernel, options->json);
      return;
    }
    const bool isKernel = runsOnCpu(kind);
    checkOptions(*command, isKernel,
                 {"--input", "--output", "--frames", "--seed", "--json"});
    if (isKernel) {
      KernelRunRequest &kernel = options->kernel;
      const RunRequest &given = options->request;
      kernel.path = given.package;
      kernel.inputs = options->inputs;
      kernel.outputs = given.outputs;
      kernel.frames = given.frames;
      kernel.seed = given.seed;
      run = [options] {
        return runKernelShown(options->kernel, options->json);
      };
      return;
    }
    checkDriverOptions(*command, options->request.driver);
    options->request.inputs = dataOf(options->inputs, options->how);
    options->request.check = !options->noCheck;
    options->request.driverOptions.seed = options->request.seed;
    if (options->serve) {
      run = [options] { return runServing(options->request); };
      return;
    }
    run = [options] { return runRun(options->request, options->json); };
  });
}
