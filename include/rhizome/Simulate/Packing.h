// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The border's bit format: integers of any width packed little-endian into
// bytes, a frame padded with zeros to whole beats.
#pragma once

#include "rhizome/Package/Plan.h"
#include "rhizome/Support/Tensor.h"

namespace rhizome {
/// One frame as its beats' bytes, beat after beat. Fails if the tensor's size
/// or a value does not fit the port.
llvm::Expected<std::vector<uint8_t>> packFrame(const Tensor &frame,
                                               const BorderPort &port);

/// The frame whose beats are at `bytes` (port.beats() · dataWidth/8 of them).
Tensor unpackFrame(const uint8_t *bytes, const BorderPort &port);
} // namespace rhizome
