// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of every kind of file (npy, npz, idx, TensorProto, PNG, JPEG, each
// also gzipped): read with as many elements as their shapes say, or refused.
#include "FuzzTarget.h"
#include "rhizome/Support/Data.h"

using namespace rhizome;

RHIZOME_FUZZ_TARGET(data, bytes) {
  auto arrays = readArrays("fuzzed", bytes);
  if (fuzz::isRefused(arrays.takeError()))
    return;
  fuzz::require(!arrays->empty());
  for (const NamedTensor &array : *arrays) {
    uint64_t count = 1;
    for (int64_t size : array.tensor.shape)
      count *= uint64_t(size);
    fuzz::require(count == (array.tensor.isFloat ? array.tensor.floats.size()
                                                 : array.tensor.ints.size()));
    fuzz::require(array.doubles.empty() || array.doubles.size() == count);
  }
}
