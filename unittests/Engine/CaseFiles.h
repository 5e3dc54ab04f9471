// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with what it finds and what it leaves, as files for the bench of
// the RTL: core.json, program.bin, program.txt, mN.before.bin and mN.after.bin
// for each port, stream_in.bin, stream_out.bin.
#pragma once

#include "rhizome/Engine/Faces.h"
#include <filesystem>

namespace rhizome::engine::test {
/// Writes a file, or ends the process with a message.
void writeFile(const std::filesystem::path &path, const void *bytes,
               size_t count);

void writeCase(const std::filesystem::path &folder, const Core &core,
               const Program &program, const State &before, const State &after);
} // namespace rhizome::engine::test
