// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keyed hashes for sockets (udp.h): SipHash of libsodium, where the build found
// it; without it both functions say so.
#pragma once

#include "rhizome/runtime/udp.h"

namespace rhizome::link {
/// With a key that nobody knows. Null with a sentence in `error`.
Mac freshMac(std::string &error);

/// With the key in a file: 32 hexadecimal digits. Null with a sentence in
/// `error`.
Mac macOf(const std::string &keyFile, std::string &error);
} // namespace rhizome::link
