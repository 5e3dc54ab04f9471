// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Former spellings of commands, options and phases, which are still read.
#pragma once

namespace rhizome::cli {

/// Replaces former spellings in `argv` by today's: the command, names of
/// options, and the phase that --compile-to or --compile-from names. Arguments
/// after "--" are not changed.
void respell(int argc, char **argv);

} // namespace rhizome::cli
