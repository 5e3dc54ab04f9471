// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `host`: which tensors a caller gives and gets, and how each of
// them becomes a frame of the device's ports, or is made from one. The
// runtime's border.c and the generated header of a package work by it.
#pragma once

#include "rhizome/Numeric/Format.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
/// The elements of a stream: their format, of integers, and which of them
/// occur.
struct StreamElement {
  numeric::Format format = numeric::Format::integer(8, false);
  int64_t lo = 0, hi = 255;

  StreamElement() = default;
  StreamElement(const numeric::Format &format, int64_t lo, int64_t hi)
      : format(format), lo(lo), hi(hi) {}
  StreamElement(bool isSigned, unsigned width, int64_t lo, int64_t hi)
      : format(numeric::Format::integer(int(width), isSigned)), lo(lo), hi(hi) {
  }
  bool isSigned() const { return format.isSigned; }
  unsigned width() const { return unsigned(format.width()); }
  bool operator==(const StreamElement &) const = default;
};

/// A tensor in the caller's memory, row-major: float32 or int64.
struct HostTensor {
  std::string name;
  bool isFloat = true;
  std::vector<int64_t> shape;
  /// The model's own; otherwise tasks on the host stand between it and the
  /// model's inputs or outputs.
  bool ofModel = true;
  bool operator==(const HostTensor &) const = default;
};

/// One digit of the order in which a frame takes a tensor's elements.
struct OrderDigit {
  int64_t size = 1, stride = 1;
  bool operator==(const OrderDigit &) const = default;
};

/// A tensor as a frame of one port. Element i of the frame is the tensor's
/// element at the sum of digit × stride, the digits being i in the mixed radix
/// of the sizes, the last one least significant; element m of the tensor has
/// channel m / inner mod channels.
struct HostBorder {
  std::string port;   ///< the stream's, "s_axis_0"; of a cluster "input0"
  int64_t tensor = 0; ///< index in the section's inputs or outputs
  StreamElement element;
  unsigned dataWidth = 8; ///< bits of a beat; frames are padded to whole ones
  std::vector<OrderDigit> order;
  std::string rounding = "half_even"; ///< as osa.quantize names it
  int64_t channels = 1, inner = 1;
  /// One per channel; none for a tensor of integers.
  std::vector<float> scale{};
  std::vector<int64_t> zeroPoint{};
  std::vector<float> offset{}; ///< added behind the scale; none for zeros
  int64_t elements() const;
  bool operator==(const HostBorder &) const = default;
};

/// A tensor that the caller's side keeps from frame to frame: input and output
/// by their index.
struct HostState {
  int64_t input = 0, output = 0;
  std::vector<float> initial; ///< none for zeros
  bool operator==(const HostState &) const = default;
};

struct HostSection {
  /// Every input and output is the model's: a caller needs nothing else.
  bool complete = false;
  std::vector<HostTensor> inputs, outputs;
  std::vector<HostBorder> toDevice, fromDevice;
  /// Those of the model's states of which both ends are the device's.
  std::vector<HostState> states{};
  bool operator==(const HostSection &) const = default;
};

/// The names of roundings in the order of the runtime's rhz_rounding.
const std::vector<std::string> &roundingNames();

/// The member "element", and the member "host".
void printElement(llvm::json::OStream &os, const StreamElement &element);
void printHost(llvm::json::OStream &os, const HostSection &host);
bool fromJSON(const llvm::json::Value &value, StreamElement &element,
              llvm::json::Path path);
/// Refuses borders that name no tensor, orders that leave it, lists of scales
/// of another length than their channels, and states that name no tensors of
/// one shape and type.
bool fromJSON(const llvm::json::Value &value, HostSection &host,
              llvm::json::Path path);
} // namespace rhizome
