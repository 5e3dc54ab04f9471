// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Simulate/Packing.h"

using namespace llvm;
using namespace rhizome;

Expected<std::vector<uint8_t>> rhizome::packFrame(const Tensor &frame,
                                                  const BorderPort &port) {
  if (frame.isFloat || int64_t(frame.ints.size()) != port.elements())
    return createStringError(
        "the input '%s' takes %lld integers, the frame has %zu %s",
        port.name.c_str(), static_cast<long long>(port.elements()),
        frame.isFloat ? frame.floats.size() : frame.ints.size(),
        frame.isFloat ? "real values" : "integers");
  std::vector<uint8_t> bytes(port.beats() * (port.dataWidth / 8), 0);
  size_t bit = 0;
  for (int64_t value : frame.ints) {
    if (value < port.element.lo || value > port.element.hi)
      return createStringError("the input '%s' takes integers from %lld to "
                               "%lld, the frame holds %lld",
                               port.name.c_str(),
                               static_cast<long long>(port.element.lo),
                               static_cast<long long>(port.element.hi),
                               static_cast<long long>(value));
    for (unsigned i = 0; i < port.element.width(); ++i, ++bit)
      bytes[bit / 8] |= ((uint64_t(value) >> i) & 1) << (bit % 8);
  }
  return bytes;
}

Tensor rhizome::unpackFrame(const uint8_t *bytes, const BorderPort &port) {
  std::vector<int64_t> values(port.elements());
  size_t bit = 0;
  for (int64_t &value : values) {
    uint64_t raw = 0;
    unsigned width = port.element.width();
    for (unsigned i = 0; i < width; ++i, ++bit)
      raw |= uint64_t((bytes[bit / 8] >> (bit % 8)) & 1) << i;
    if (port.element.isSigned() && width < 64 && (raw >> (width - 1)) & 1)
      raw |= ~uint64_t(0) << width;
    value = int64_t(raw);
  }
  return Tensor::ofInts(port.shape, std::move(values));
}
