// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The OpenCL face: the generated kernel with the sizes of a core.
#include "rhizome/Engine/Faces.h"
#include <algorithm>

using namespace rhizome;
using namespace rhizome::engine;

static constexpr char kKernel[] =
#include "rhizome/Engine/engine.cl.inc"
    ;

std::string engine::openClText(const Core &core, int64_t blocks) {
  std::string text;
  auto define = [&](const char *name, int64_t value) {
    text += std::string("#define ") + name + " " + std::to_string(value) + "\n";
  };
  define("IN", core.in);
  define("OUT", core.out);
  define("ENTRIES", core.entries);
  define("SUM_BITS", core.sum_bits);
  define("BLOCKS", std::max<int64_t>(blocks, 1));
  return text + kKernel;
}
