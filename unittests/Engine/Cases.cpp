// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes random programs with what they find and what they leave, as files for
// the bench of the RTL:
//
//   engine-cases DIR IN OUT PORT_BITS PORTS KIND COUNT SEED
//
// writes DIR/0, DIR/1, … (see CaseFiles.h). KIND is one of those below.
#include "CaseFiles.h"
#include "RandomProgram.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>

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

void write(const std::filesystem::path &folder, const Case &made) {
  State after = made.before;
  if (llvm::Error error = runChecked(made.program, made.core, after)) {
    std::fprintf(stderr, "%s: %s\n", folder.c_str(),
                 llvm::toString(std::move(error)).c_str());
    std::exit(1);
  }
  writeCase(folder, made.core, made.program, made.before, after);
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
