// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adder tree over Count signed terms, one register a level, each adder with the carry-in
// Carry: the result is the sum and Count - 1 such ones, and SumWidth bits hold it.
// Latency = clog2(Count).
module rhz_engine_tree #(
  parameter int Count    = 2,
  parameter int Width    = 8,
  parameter int Carry    = 0,
  parameter int SumWidth = Width + $clog2(Count)
) (
  input  logic                   clk_i,
  input  logic [Count*Width-1:0] terms_i,
  output logic [SumWidth-1:0]    sum_o
);
  localparam int Levels = $clog2(Count);
  localparam int W      = SumWidth;
  logic unused;
  assign unused = &{1'b0, clk_i};
  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    localparam int N = (Count + (1 << l) - 1) >> l;
    logic [N*W-1:0] terms;
    for (genvar i = 0; i < N; i++) begin : gen_term
      if (l == 0) begin : gen_in
        assign terms[i*W +: W] = W'($signed(terms_i[i*Width +: Width]));
      end else if (2 * i + 1 < (Count + (1 << (l - 1)) - 1) >> (l - 1)) begin : gen_add
        // A carry-in is a bit below, where every synthesis finds it.
        logic [W:0] sum;
        logic unused_low;
        assign sum = {gen_level[l-1].terms[2*i*W +: W], Carry != 0} +
                     {gen_level[l-1].terms[(2*i+1)*W +: W], Carry != 0};
        assign unused_low = sum[0];
        always_ff @(posedge clk_i) terms[i*W +: W] <= sum[W:1];
      end else begin : gen_pass
        always_ff @(posedge clk_i) terms[i*W +: W] <= gen_level[l-1].terms[2*i*W +: W];
      end
    end
  end
  assign sum_o = gen_level[Levels].terms;
endmodule
