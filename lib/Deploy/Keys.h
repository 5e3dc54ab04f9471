// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keyed hashes for the link: libsodium's SipHash-2-4.
#pragma once

#include "rhizome/runtime/udp.h"
#include "llvm/Support/Error.h"

namespace rhizome::deploy {
/// With a key of this process's own.
llvm::Expected<link::Mac> freshMac();
/// With the key in a file: 32 hexadecimal digits.
llvm::Expected<link::Mac> macOf(const std::string &keyFile);
} // namespace rhizome::deploy
