// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether an unsigned value is at least Bound, 1 .. 2^Width - 1. A wide one ends
// in the carry chain of a sum, where a comparison would take logic behind it.
module rhz_at_least #(
  parameter int Width = 4,
  parameter int Bound = 1
) (
  input  logic [Width-1:0] value_i,
  output logic             yes_o
);
  if (Width <= 4) begin : gen_logic
    assign yes_o = value_i >= Width'(Bound);
  end else begin : gen_chain
    logic [Width:0] sum;
    logic unused;
    assign sum    = {1'b0, value_i} + (Width+1)'((1 << Width) - Bound);
    assign unused = &{1'b0, sum[Width-1:0]};
    assign yes_o  = sum[Width];
  end
endmodule
