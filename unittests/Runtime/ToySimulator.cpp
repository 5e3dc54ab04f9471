// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A simulator of Toy.h's designs with the arguments of data/sim/harness.cpp.
// The variable RHZ_TOY makes it misbehave: "stall" waits for ever, "die" ends
// by a signal, "short" writes too little, "error" reports one. With "keep" it
// keeps state.
#include "Toy.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

using namespace rhizome::runtime;

int main(int argc, char **argv) {
  std::string in, out, report, fault;
  size_t ports = 0, region = 0;
  if (const char *wanted = std::getenv("RHZ_TOY"))
    fault = wanted;
  for (int i = 1; i + 1 < argc; ++i) {
    const bool isSilent = !std::strcmp(argv[i + 1], "-");
    if (!std::strcmp(argv[i], "--in")) {
      if (!isSilent) {
        in = argv[i + 1];
        region = ports;
      }
      ++ports;
    } else if (!std::strcmp(argv[i], "--out") && !isSilent)
      out = argv[i + 1];
    else if (!std::strcmp(argv[i], "--report"))
      report = argv[i + 1];
  }
  if (fault == "stall")
    for (;;)
      pause();
  if (fault == "die")
    raise(SIGKILL);
  FILE *from = std::fopen(in.c_str(), "rb");
  FILE *to = std::fopen(out.c_str(), "wb");
  FILE *lines = std::fopen(report.c_str(), "w");
  if (!from || !to || !lines)
    return 2;
  if (fault == "error")
    std::fprintf(lines, "error it hangs\n");
  std::fprintf(lines, "cycles 7\n");
  Design design = toy::regions("");
  Bytes frame(design.inputs[region].paddedBytes());
  toy::Keeping keeping;
  while (fault != "short" &&
         std::fread(frame.data(), 1, frame.size(), from) == frame.size()) {
    Bytes answer =
        fault == "keep" ? keeping.compute(frame) : toy::compute(region, frame);
    answer.resize(design.outputs[region].paddedBytes());
    std::fwrite(answer.data(), 1, answer.size(), to);
  }
  std::fclose(from);
  std::fclose(to);
  std::fclose(lines);
  return 0;
}
