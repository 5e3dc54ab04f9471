// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of an HLS tool's AXI4-Stream words that the emitted data movers use.
#pragma once

#include "ap_int.h"

template <int D, int U, int TI, int TD> struct ap_axiu {
  ap_uint<D> data;
  ap_uint<D / 8> keep, strb;
  ap_uint<1> last;
};
