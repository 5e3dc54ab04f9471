// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Deploy/Drivers.h"
#include "HostFiles.h"
#include "rhizome/Model/HostModel.h"
#include "rhizome/Simulate/Cluster.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Simulate/Program.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Folders.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/runtime/drivers.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::model;

Expected<runtime::Design> deploy::designOf(const Package &package) {
  return designOf(package.plan(), package.dir());
}

Expected<runtime::Compute> deploy::computeOf(const Package &package) {
  Expected<std::unique_ptr<HostModel>> read =
      HostModel::read(package.modelPath());
  if (!read)
    return read.takeError();
  std::shared_ptr<HostModel> model = std::move(*read);
  std::vector<const HostModel::Task *> regions;
  for (const HostModel::Task &task : model->tasks())
    if (task.onFpga)
      regions.push_back(&task);
  // What the FPGA would keep, by the task's number for it.
  auto kept = std::make_shared<std::map<unsigned, Tensor>>();
  auto begin = [model, kept] {
    for (const HostModel::State &state : model->states())
      if (state.onFpga)
        (*kept)[state.tensor] = state.initial;
  };
  begin();
  auto run = [model, regions, kept](size_t region,
                                    const std::vector<runtime::Bytes> &inputs)
      -> Expected<std::vector<runtime::Bytes>> {
    if (region >= regions.size())
      return createStringError("the model has no region %zu", region);
    const HostModel::Task &task = *regions[region];
    std::vector<Tensor> arguments;
    for (auto [k, bytes] : enumerate(inputs))
      arguments.push_back(unpackFrame(
          bytes.data(), model->networkInputs()[task.firstInput + k]));
    for (size_t k = task.inputPorts; k < task.takes.size(); ++k)
      arguments.push_back(kept->at(task.takes[k]));
    Expected<std::vector<Tensor>> results = model->runCompiled(task, arguments);
    if (!results)
      return results.takeError();
    for (const HostModel::State &state : model->states())
      if (auto at = find(task.gives, state.next);
          state.onFpga && at != task.gives.end())
        (*kept)[state.tensor] = (*results)[size_t(at - task.gives.begin())];
    std::vector<runtime::Bytes> outputs;
    for (size_t k = 0; k < task.outputPorts; ++k) {
      const BorderPort &port = model->networkOutputs()[task.firstOutput + k];
      Expected<std::vector<uint8_t>> bytes = packFrame((*results)[k], port);
      if (!bytes)
        return bytes.takeError();
      outputs.push_back(std::move(*bytes));
    }
    return outputs;
  };
  return
      [run, begin](size_t region, const std::vector<runtime::Bytes> &inputs,
                   std::vector<runtime::Bytes> &outputs, std::string &error) {
        if (region == runtime::kBegin) {
          begin();
          return true;
        }
        Expected<std::vector<runtime::Bytes>> results = run(region, inputs);
        if (!results) {
          error = toString(results.takeError());
          return false;
        }
        outputs = std::move(*results);
        return true;
      };
}

/// How a driver's thread confines itself. What bubblewrap would have to start
/// is not started by these drivers.
static std::function<std::string(const std::string &)>
confinerOf(std::optional<Confinement> confinement, std::string program) {
  if (!confinement)
    return nullptr;
  return [confinement = *confinement,
          program](const std::string &folder) -> std::string {
    Confinement wanted = confinement;
    if (llvm::find(wanted.writable, folder) == wanted.writable.end())
      wanted.writable.push_back(folder);
    Error error = confineThread(wanted, program);
    return error ? toString(std::move(error)) : "";
  };
}

static Expected<std::unique_ptr<runtime::Driver>>
simulationOf(const Package &package, const DriverOptions &options) {
  if (package.plan().nodes.size() != 1)
    return ofKind(
        Failure::Kind::Usage,
        createStringError(
            "the driver 'simulation' is for packages of one device, '%s' has "
            "%zu; the driver 'mpi' simulates all of them",
            package.dir().c_str(), package.plan().nodes.size()));
  Expected<SimulatorProgram> built = buildSimulator(package, options.onWait);
  if (!built)
    return built.takeError();
  runtime::SimulationOptions simulation;
  simulation.program = built->program;
  simulation.folder = built->folder;
  simulation.hangCycles = built->hangCycles;
  simulation.stallsIn = options.stallsIn;
  simulation.stallsOut = options.stallsOut;
  simulation.seed = options.seed;
  simulation.held = std::move(built->held);
  simulation.confine =
      confinerOf(std::move(built->confinement), built->program);
  return runtime::makeSimulationDriver(std::move(simulation));
}

static Expected<std::unique_ptr<runtime::Driver>>
ranksOf(const Package &package, const DriverOptions &options) {
  ClusterOptions cluster;
  cluster.hostfile = options.hostfile;
  cluster.seed = options.seed;
  cluster.onWait = options.onWait;
  Expected<RankJob> job = rankJob(package, cluster);
  if (!job)
    return job.takeError();
  runtime::MpiOptions mpi;
  mpi.confine = confinerOf(std::move(job->confinement), job->command.front());
  mpi.command = std::move(job->command);
  mpi.folder = std::move(job->folder);
  mpi.ownsFolder = true;
  mpi.held =
      std::make_shared<std::vector<KeptFiles::Held>>(std::move(job->held));
  return runtime::makeMpiDriver(std::move(mpi));
}

static Expected<std::unique_ptr<runtime::Driver>>
openClOf(const Package &package, const DriverOptions &options,
         const ComputeOf &computeOf) {
  runtime::OpenClOptions openCl;
  openCl.platform = options.platform;
  openCl.program = options.program;
  if (options.program.empty()) {
    Expected<runtime::Compute> compute = computeOf();
    if (!compute)
      return compute.takeError();
    openCl.native = std::move(*compute);
  } else if (package.plan().nodes.size() != 1) {
    return createStringError("the driver 'opencl' runs a program on one "
                             "device, the package '%s' is for %zu",
                             package.dir().c_str(),
                             package.plan().nodes.size());
  }
  return runtime::makeOpenClDriver(std::move(openCl));
}

/// The package's client in Python is ours: what runs is not the package's.
static Expected<std::unique_ptr<runtime::Driver>>
pynqOf(const Package &package, const DriverOptions &options) {
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  Expected<std::string> folder = makeTemporaryFolder("rhizome-pynq");
  if (!folder)
    return folder.takeError();
  runtime::PynqOptions pynq;
  pynq.folder = std::move(*folder);
  // That of a caller in Python has PYNQ and numpy.
  const char *python = std::getenv("RHIZOME_PYTHON");
  pynq.command = {python && *python ? python : "python3",
                  *data + "/host/rhizome_client.py", "pynq"};
  if (!options.program.empty())
    pynq.command.push_back(options.program);
  pynq.command.insert(pynq.command.end(),
                      {"--package", package.dir(), "--serve"});
  return runtime::makePynqDriver(std::move(pynq));
}

static Expected<std::unique_ptr<runtime::Driver>>
xrtOf(const DriverOptions &options) {
  if (options.program.empty())
    return ofKind(
        Failure::Kind::Usage,
        createStringError("the driver 'xrt' needs --program, the .xclbin that "
                          "'make' in the package's nodes/node0/vitis builds"));
  std::string problem;
  std::unique_ptr<runtime::Driver> driver =
      runtime::makeXrtDriver({options.program, options.card}, problem);
  if (!driver)
    return createStringError(
        "the driver 'xrt': " + problem +
        "; elsewhere, the package's client in C and C++ (host/README.md) has "
        "this driver, and --driver opencl runs the same program");
  return driver;
}

Expected<std::unique_ptr<runtime::Driver>>
deploy::makeDriver(const Package &package, DriverKind kind,
                   const DriverOptions &options, const ComputeOf &computeOf) {
  switch (kind) {
  case DriverKind::Null:
    return runtime::makeNullDriver();
  case DriverKind::Cpu: {
    Expected<runtime::Compute> compute = computeOf();
    if (!compute)
      return compute.takeError();
    return runtime::makeCpuDriver(std::move(*compute));
  }
  case DriverKind::Simulation:
    return simulationOf(package, options);
  case DriverKind::Uart:
    if (options.port.empty())
      return ofKind(
          Failure::Kind::Usage,
          createStringError("the driver 'uart' needs --port, the serial line "
                            "of the board, such as /dev/ttyUSB1"));
    return runtime::makeUartDriver({options.port, options.baud});
  case DriverKind::Mpi:
    return ranksOf(package, options);
  case DriverKind::OpenCl:
    return openClOf(package, options, computeOf);
  case DriverKind::Pynq:
    return pynqOf(package, options);
  case DriverKind::Xrt:
    return xrtOf(options);
  case DriverKind::Udp:
    break;
  }
  llvm_unreachable("a service has a client of its own");
}
