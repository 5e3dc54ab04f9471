// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface over the runtime's client; service.cpp says what the service
// is.
#include "rhizome_client.h"
#include "rhizome/runtime/client.h"
#include "rhizome/runtime/packing.h"
#include <cstdio>
#include <memory>

using namespace rhizome;

namespace rhizome {
/// In service.cpp, which the compiler wrote.
const link::Service &compiledService();
} // namespace rhizome

struct rhz_client {
  std::unique_ptr<link::Client> client;
  std::string error;
};

static rhz_tensor describe(const link::TensorInfo &tensor) {
  return {tensor.name.c_str(), tensor.elements(), tensor.width,
          tensor.isSigned};
}

size_t rhz_inputs(void) { return compiledService().inputTensors.size(); }
size_t rhz_outputs(void) { return compiledService().outputTensors.size(); }
rhz_tensor rhz_input(size_t index) {
  return describe(compiledService().inputTensors.at(index));
}
rhz_tensor rhz_output(size_t index) {
  return describe(compiledService().outputTensors.at(index));
}

/// False with a sentence in `error` if a place names no node.
static bool readPlace(const std::string &text, link::ClientOptions &options,
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
  for (const link::NodeInfo &node : compiledService().nodes)
    if (node.name == name) {
      options.places[node.address] = text.substr(equals + 1);
      return true;
    }
  error = "the service has no node '" + name + "'";
  return false;
}

rhz_client *rhz_open(const char *const *places, double patience_s, char *error,
                     size_t error_size) {
  std::string problem;
  link::ClientOptions options;
  options.patience = link::Time(patience_s * 1e9);
  auto client = std::make_unique<rhz_client>();
  bool good = true;
  for (; good && *places; ++places)
    good = readPlace(*places, options, problem);
  if (good) {
    client->client =
        std::make_unique<link::Client>(compiledService(), std::move(options));
    good = client->client->open(problem);
  }
  if (good)
    return client.release();
  if (error && error_size)
    std::snprintf(error, error_size, "%s", problem.c_str());
  return nullptr;
}

void rhz_close(rhz_client *client) { delete client; }

int rhz_infer(rhz_client *client, size_t frames, const int64_t *const *inputs,
              int64_t *const *outputs) {
  const link::Service &service = compiledService();
  std::vector<link::Client::Frame> sent(frames), answers;
  for (size_t f = 0; f < frames; ++f)
    for (size_t k = 0; k < service.inputTensors.size(); ++k) {
      const link::TensorInfo &tensor = service.inputTensors[k];
      size_t n = tensor.elements();
      sent[f].push_back(
          link::packElements({inputs[k] + f * n, n}, tensor.width));
    }
  if (!client->client->infer(sent, answers, client->error))
    return 1;
  for (size_t f = 0; f < frames; ++f)
    for (size_t k = 0; k < service.outputTensors.size(); ++k) {
      const link::TensorInfo &tensor = service.outputTensors[k];
      size_t n = tensor.elements();
      std::vector<int64_t> values = link::unpackElements(
          answers[f][k], tensor.width, tensor.isSigned, n);
      std::copy(values.begin(), values.end(), outputs[k] + f * n);
    }
  return 0;
}

const char *rhz_error(const rhz_client *client) {
  return client->error.c_str();
}

void rhz_on_event(rhz_client *client, void (*told)(void *, const char *),
                  void *context) {
  client->client->onEvent = [told, context](const link::ClientEvent &event) {
    std::string line = event.node + " (" + event.place + ")";
    line += event.kind == link::ClientEvent::Silent ? " is silent"
            : event.kind == link::ClientEvent::Back ? " is back"
                                                    : " has started anew";
    told(context, line.c_str());
  };
}
