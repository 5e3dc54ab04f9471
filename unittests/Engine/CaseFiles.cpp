// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the files of a case.
#include "CaseFiles.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace rhizome::engine;

void test::writeFile(const std::filesystem::path &path, const void *bytes,
                     size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char *>(bytes), std::streamsize(count));
  if (!file.flush()) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

void test::writeCase(const std::filesystem::path &folder, const Core &core,
                     const Program &program, const State &before,
                     const State &after) {
  std::filesystem::create_directories(folder);
  std::string json = "{";
  for (const ParameterInfo &parameter : parameters())
    json += std::string("\"") + parameter.name +
            "\": " + std::to_string(core.*parameter.member) + ", ";
  json += "\"hash\": " + std::to_string(core.hash()) + "}\n";
  writeFile(folder / "core.json", json.data(), json.size());
  const std::vector<uint8_t> bytes = toBytes(program);
  writeFile(folder / "program.bin", bytes.data(), bytes.size());
  const std::string text = print(program);
  writeFile(folder / "program.txt", text.data(), text.size());
  for (size_t port = 0; port < size_t(core.ports); ++port)
    for (auto [state, name] :
         {std::pair(&before, ".before.bin"), std::pair(&after, ".after.bin")})
      writeFile(folder / ("m" + std::to_string(port) + name),
                state->memories[port].data(), state->memories[port].size());
  writeFile(folder / "stream_in.bin", after.received.data(),
            after.received.size());
  writeFile(folder / "stream_out.bin", after.sent.data(), after.sent.size());
}
