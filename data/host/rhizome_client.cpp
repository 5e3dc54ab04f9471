// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface over the runtime; rhizome_model.h says what the model is,
// service.cpp who its nodes are.
#include "rhizome_client.h"
#include "rhizome/runtime/cpu.h"
#include "rhizome/runtime/drivers.h"
#include "rhizome/runtime/infer.h"
#include "rhizome/runtime/key.h"
#include "rhizome_model.h"
#include <cstdio>
#include <cstdlib>

using namespace rhizome;
using namespace rhizome::runtime;

namespace rhizome {
/// In service.cpp and cpu.cpp, which the compiler wrote; the latter's is null
/// if the package has no machine code.
const link::Service &compiledService();
const rhz_cpu_model *compiledCpuModel();
} // namespace rhizome

struct rhz_client {
  std::unique_ptr<Inference> inference;
  std::string error;
  void (*told)(void *, const char *) = nullptr;
  void *context = nullptr;
};

const rhz_model *rhz_compiled_model(void) { return &rhizome_model; }

static const char kNoObject[] =
    "the package has no machine code of the model; compile it with "
    "--cpu-object";

/// A place, or the key. False with a sentence in `error` if it is neither.
static bool readPlace(const std::string &text, UdpOptions &options,
                      std::string &error) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (equals == std::string::npos) {
    error = "'" + text + "' is not NODE=ADDRESS:PORT";
    return false;
  }
  if (name == "host") {
    options.listen = text.substr(equals + 1);
    return true;
  }
  if (name == "key") {
    options.seal = link::macOf(text.substr(equals + 1), error);
    return bool(options.seal);
  }
  for (const link::NodeInfo &node : compiledService().nodes)
    if (node.name == name) {
      options.places[node.address] = text.substr(equals + 1);
      return true;
    }
  error = "the service has no node '" + name + "'";
  return false;
}

/// The driver of that name; null with a sentence in `error`.
static std::unique_ptr<Driver>
makeDriver(rhz_client &client, const std::string &package,
           const std::string &name, const char *const *where, Duration patience,
           std::string &error) {
  if (name == "null")
    return makeNullDriver();
  if (name == "udp") {
    UdpOptions options;
    options.service = compiledService();
    options.patience = patience;
    options.onEvent = [&client](const std::string &, const std::string &line) {
      if (client.told)
        client.told(client.context, line.c_str());
    };
    for (; *where; ++where)
      if (!readPlace(*where, options, error))
        return nullptr;
    return makeUdpDriver(std::move(options));
  }
  const rhz_cpu_model *cpu = compiledCpuModel();
  if (name == "cpu" && !cpu) {
    error = kNoObject;
    return nullptr;
  }
  if (name == "cpu")
    return makeCpuDriver(computeOf(*cpu));
  if (name == "opencl") {
    OpenClOptions options;
    if (where[0])
      options.program = where[0];
    if (where[0] && where[1])
      options.platform = where[1];
    if (cpu)
      options.native = computeOf(*cpu);
    return makeOpenClDriver(std::move(options));
  }
  if (name != "uart" && name != "simulation" && name != "xrt") {
    error = "there is no driver '" + name +
            "'; there are null, cpu, simulation, uart, udp, xrt and opencl";
    return nullptr;
  }
  if (!*where) {
    error = "the driver '" + name + "' needs " +
            (name == "uart"  ? "a serial line"
             : name == "xrt" ? "a program, the .xclbin"
                             : "a simulator's program");
    return nullptr;
  }
  if (name == "xrt") {
    XrtOptions options;
    options.program = where[0];
    if (where[1])
      options.card = unsigned(std::strtoul(where[1], nullptr, 10));
    return makeXrtDriver(std::move(options), error);
  }
  if (name == "simulation") {
    SimulationOptions options;
    options.program = where[0];
    options.folder = package + "/nodes/node0/rtl";
    return makeSimulationDriver(std::move(options));
  }
  UartOptions options;
  options.port = where[0];
  if (where[1])
    options.baud = unsigned(std::strtoul(where[1], nullptr, 10));
  return makeUartDriver(std::move(options));
}

rhz_client *rhz_open(const char *package, const char *driver,
                     const char *const *where, double patience_s, char *error,
                     size_t error_size) {
  auto patience = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(patience_s));
  auto client = std::make_unique<rhz_client>();
  std::unique_ptr<Driver> made =
      makeDriver(*client, package, driver, where, patience, client->error);
  if (made) {
    client->inference =
        std::make_unique<Inference>(rhizome_model, package, std::move(made));
    client->inference->patience = patience;
    Status status = client->inference->open();
    if (status)
      return client.release();
    client->error = status.text;
  }
  if (error && error_size)
    std::snprintf(error, error_size, "%s", client->error.c_str());
  return nullptr;
}

void rhz_close(rhz_client *client) {
  if (client)
    client->inference->driver().close();
  delete client;
}

int rhz_infer(rhz_client *client, size_t frames, const void *const *inputs,
              void *const *outputs) {
  Status status =
      client->inference->infer({inputs, rhizome_model.input_count},
                               {outputs, rhizome_model.output_count}, frames);
  client->error = status.text;
  return status ? 0 : 1;
}

int rhz_run(rhz_client *client, size_t frames, const void *const *inputs,
            void *const *outputs) {
  const rhz_cpu_model *cpu = compiledCpuModel();
  Status status = {Fault::Unsupported, kNoObject};
  if (cpu)
    status = client->inference->run(
        *cpu, {inputs, cpu->input_count - cpu->kept_count},
        {outputs, cpu->output_count - cpu->kept_count}, frames);
  client->error = status.text;
  return status ? 0 : 1;
}
void rhz_reset(rhz_client *client) { client->inference->reset(); }

const rhz_cpu_model *rhz_compiled_cpu_model(void) { return compiledCpuModel(); }

int rhz_compute(const void *const *inputs, void *const *outputs, char *error,
                size_t error_size) {
  std::string text = kNoObject;
  const rhz_cpu_model *cpu = compiledCpuModel();
  if (cpu &&
      run(*cpu, {inputs, cpu->input_count}, {outputs, cpu->output_count}, text))
    return 0;
  if (error && error_size)
    std::snprintf(error, error_size, "%s", text.c_str());
  return 1;
}

const char *rhz_error(const rhz_client *client) {
  return client->error.c_str();
}

void rhz_on_event(rhz_client *client,
                  void (*told)(void *context, const char *line),
                  void *context) {
  client->told = told;
  client->context = context;
}
