// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The OpenCL face: the generated kernel with the sizes of a core.
#include "rhizome/Engine/Faces.h"

using namespace rhizome;
using namespace rhizome::engine;

static constexpr char kKernel[] =
#include "rhizome/Engine/engine.cl.inc"
    ;

std::string engine::openClText(const Core &core) {
  std::string text;
  auto define = [&](const char *name, int64_t value) {
    text += std::string("#define ") + name + " " + std::to_string(value) + "\n";
  };
  define("IN", core.in);
  define("OUT", core.out);
  define("ENTRIES", core.entries);
  define("SUM_BITS", core.sum_bits);
  return text + kKernel;
}
