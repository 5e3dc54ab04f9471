// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the words of a kernel's tensors lie in its streams.
#include "rhizome/Package/PlannedKernel.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;

int64_t PlannedTensor::words() const {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

int64_t PlannedStream::beatsOf(const PlannedTensor &tensor) const {
  return divideCeil(uint64_t(tensor.words()), uint64_t(words));
}

PortLayout rhizome::layoutOf(const PlannedKernel &kernel,
                             const std::vector<PlannedTensor> &tensors,
                             const std::string &port) {
  PortLayout out;
  out.tensors = tensorsOfPort(kernel, tensors, port);
  auto stream = find_if(kernel.streams, [&](const PlannedStream &each) {
    return each.port == port;
  });
  if (stream == kernel.streams.end())
    return out;
  out.words = stream->words;
  out.lanes = stream->isOnce ? 1 : kernel.lanes;
  for (size_t t : out.tensors) {
    out.first.push_back(out.beats);
    out.beats += stream->beatsOf(tensors[t]);
  }
  return out;
}

std::vector<size_t>
rhizome::tensorsOfPort(const PlannedKernel &kernel,
                       const std::vector<PlannedTensor> &tensors,
                       const std::string &port) {
  std::vector<size_t> numbers;
  for (const PlannedStream &stream : kernel.streams) {
    if (stream.port != port)
      continue;
    for (const std::string &name : stream.tensors) {
      size_t t = 0;
      while (t < tensors.size() &&
             (tensors[t].name != name || is_contained(numbers, t)))
        ++t;
      if (t == tensors.size())
        return {};
      numbers.push_back(t);
    }
  }
  return numbers;
}
