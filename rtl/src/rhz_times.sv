// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// x times a positive constant of Bits bits, x signed: shifted copies of x for the
// set bits, those of the lower and of the upper half added first. Latency = 2.
module rhz_times #(
  parameter int Width  = 8,
  parameter int Bits   = 4,
  parameter int Factor = 3
) (
  input  logic                          clk_i,
  input  logic signed [Width-1:0]       x_i,
  output logic signed [Width+Bits-1:0]  product_o
);
  localparam int Half = (Bits + 1) / 2;
  localparam logic [31:0] FactorBits = 32'(Factor);
  logic signed [Width+Bits-1:0] low, high, low_q, high_q, wide;
  assign wide = (Width+Bits)'(x_i);
  always_comb begin
    low  = '0;
    high = '0;
    for (int i = 0; i < Half; i++) if (FactorBits[i]) low = low + (wide <<< i);
    for (int i = Half; i < Bits; i++) if (FactorBits[i]) high = high + (wide <<< i);
  end
  always_ff @(posedge clk_i) begin
    low_q     <= low;
    high_q    <= high;
    product_o <= low_q + high_q;
  end
endmodule
