// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of a design's data in off-chip memories.
#pragma once

#include "rhizome/Cost/MemoryImages.h"
#include "rhizome/Dialect/Flow/Flow.h"

namespace rhizome::gen {
/// Contents of a part of a bank before the first frame.
struct Segment {
  std::string image; ///< its name in the design's memory images
  std::string memory;
  int64_t bank = 0, address = 0, bytes = 0;
  int64_t bytesPerFrame = 0; ///< bytes that are read from it for every frame
};

/// Assigns every segment that actors of the design read its place, and then
/// every space that they have for themselves: bank by bank, one after another
/// in the order of the actors, each at the beginning of a page; the space of an
/// actor that also has a segment follows that. Readers of one image at one bank
/// share it. Enters the pages in the actors' parameters. An image that is
/// missing, or whose words are not as wide as the port that reads them, is an
/// error.
mlir::FailureOr<std::vector<Segment>> layOut(flow::DesignOp design,
                                             const MemoryImages &images);

/// What actors have for themselves in a bank, once it is laid out.
struct Space {
  int64_t address = 0, bytes = 0;
  int64_t bytesPerFrame = 0; ///< there and back, of those without a segment
};
Space spaceOf(flow::DesignOp design, llvm::StringRef memory, int64_t bank);
} // namespace rhizome::gen
