// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes random programs with what they find and what they leave, as files for
// the bench of the RTL:
//
//   engine-cases DIR IN OUT PORT_BITS PORTS KIND COUNT SEED
//
// writes DIR/0, DIR/1, … with core.json, program.bin, program.txt,
// mN.before.bin and mN.after.bin for each port, stream_in.bin, stream_out.bin.
// KIND is one of those below.
#include "RandomProgram.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace rhizome::engine;
using namespace rhizome::engine::test;

namespace {
struct Kind {
  const char *name;
  Mix mix;
};

std::vector<Kind> kinds() {
  const auto load = Opcode::Load, pack = Opcode::Pack, store = Opcode::Store,
             weights = Opcode::Weights, matrix = Opcode::Matrix,
             vector = Opcode::Vector;
  return {
      {"load", {{load}, 6, false}},
      {"store", {{store}, 6, false}},
      {"stream", {{load, store}, 12, true}},
      {"pack", {{pack}, 6, true}},
      {"sums", {{vector}, 10, false, {0, 3, 4}}},
      {"words", {{vector}, 10, false, {1, 2, 5}}},
      {"matrix", {{weights, matrix, vector}, 14, false, {0}}},
      {"all",
       {{load, pack, weights, weights, matrix, matrix, vector, vector, store},
        40,
        true}}};
}

void write(const std::filesystem::path &path, const void *bytes, size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char *>(bytes), std::streamsize(count));
  if (!file.flush()) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

void write(const std::filesystem::path &folder, const Case &made) {
  std::filesystem::create_directories(folder);
  std::string json = "{";
  for (const ParameterInfo &parameter : parameters())
    json += std::string("\"") + parameter.name +
            "\": " + std::to_string(made.core.*parameter.member) + ", ";
  json += "\"hash\": " + std::to_string(made.core.hash()) + "}\n";
  write(folder / "core.json", json.data(), json.size());
  const std::vector<uint8_t> program = toBytes(made.program);
  write(folder / "program.bin", program.data(), program.size());
  const std::string text = print(made.program);
  write(folder / "program.txt", text.data(), text.size());

  State after = made.before;
  if (llvm::Error error = runChecked(made.program, made.core, after)) {
    std::fprintf(stderr, "%s: %s\n", folder.c_str(),
                 llvm::toString(std::move(error)).c_str());
    std::exit(1);
  }
  for (size_t port = 0; port < size_t(made.core.ports); ++port)
    for (auto [state, name] :
         {std::pair(&made.before, ".before.bin"),
          std::pair<const State *, const char *>(&after, ".after.bin")})
      write(folder / ("m" + std::to_string(port) + name),
            state->memories[port].data(), state->memories[port].size());
  write(folder / "stream_in.bin", after.received.data(), after.received.size());
  write(folder / "stream_out.bin", after.sent.data(), after.sent.size());
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 9) {
    std::fprintf(stderr, "usage: engine-cases DIR IN OUT PORT_BITS PORTS KIND "
                         "COUNT SEED\n");
    return 2;
  }
  const uint64_t seed = std::strtoull(argv[8], nullptr, 10);
  Core core = coreOf(std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]),
                     std::atoi(argv[5]), seed);
  if (llvm::Error error = check(core)) {
    std::fprintf(stderr, "%s\n", llvm::toString(std::move(error)).c_str());
    return 2;
  }
  for (const Kind &kind : kinds()) {
    if (std::string(argv[6]) != kind.name)
      continue;
    for (int i = 0; i < std::atoi(argv[7]); ++i) {
      Case made = randomCase(core, kind.mix, seed * 1000 + uint64_t(i));
      for (const Problem &problem :
           verify(made.program, made.core, made.around)) {
        std::fprintf(stderr, "%d: %s\n", i, problem.text.c_str());
        return 1;
      }
      write(std::filesystem::path(argv[1]) / std::to_string(i), made);
    }
    return 0;
  }
  std::fprintf(stderr, "'%s' is no kind; known are", argv[6]);
  for (const Kind &kind : kinds())
    std::fprintf(stderr, " %s", kind.name);
  std::fprintf(stderr, "\n");
  return 2;
}
