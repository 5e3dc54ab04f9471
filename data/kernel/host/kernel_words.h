// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbers of a kernel's arrays as the words of its streams' buffers. A
// buffer holds groups of elements, one after the other; a group is the beats of
// the stream, which have some words of each lane.
#pragma once

#include "rhizome_kernel.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome::host {
/// A tensor in a stream.
struct Tensor {
  std::string name;
  size_t argument; ///< whose numbers it holds
  size_t array;    ///< its number in the compiled function
  std::vector<int64_t> shape;
  std::string format;
  /// Of the conversion: into the format, or from it to the argument's.
  std::string rounding, overflow;
  int64_t words() const;
};

/// A stream, and the buffer in memory that it reads or writes.
struct Stream {
  std::string port;
  bool isInput, isOnce; ///< isOnce: one group of one element, sent once
  int wordBytes;
  int64_t groupBytes; ///< from a group of elements to the next
  int64_t words;      ///< of a lane in a beat; every tensor begins with a beat
  std::vector<Tensor> tensors;
  int64_t beatsOf(const Tensor &tensor) const {
    return (tensor.words() + words - 1) / words;
  }
};

/// An array of the caller: elements of a row-major tensor of float or double.
struct Argument {
  std::string name;
  int bits;
  bool isInput, isOutput, isOnce;
  std::vector<int64_t> shape;
  int64_t size() const; ///< numbers of an element
};

/// A kernel as the generated file describes it.
struct Kernel {
  std::string name;
  int64_t lanes, units; ///< elements side by side in a unit; units
  /// Offset of the registers of errors, 0 without: bit n % 32 of word n / 32 is
  /// set when the memory answers stream n with an error, until it is read.
  uint32_t errors;
  std::vector<Argument> arguments;
  std::vector<Stream> streams; ///< as the program's arguments
  /// The kernel's machine code on dense arrays of integers; null without.
  void (*compute)(int64_t elements, int32_t threads, const rhz_array *arrays);

  /// The bytes of a stream's buffer with so many elements.
  size_t bytesOf(const Stream &stream, int64_t elements) const;
};

/// Fills a stream's buffer with `count` elements from `first` on of the
/// caller's arrays, which are in the order of the arguments.
void pack(const Kernel &kernel, const Stream &stream, const void *const *arrays,
          int64_t first, int64_t count, uint8_t *buffer);
/// The same way back.
void unpack(const Kernel &kernel, const Stream &stream, const uint8_t *buffer,
            int64_t first, int64_t count, void *const *arrays);
/// What the FPGA does with the buffers of all streams, by the machine code.
void computeWords(const Kernel &kernel, int64_t elements,
                  uint8_t *const *buffers);
} // namespace rhizome::host
