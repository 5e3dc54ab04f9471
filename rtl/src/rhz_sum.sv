// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adder tree over Count signed terms, one register a level; the result is exact.
// Latency = clog2(Count).
module rhz_sum #(
  parameter int Count = 2,
  parameter int Width = 8,
  parameter int SumWidth = Width + $clog2(Count)
) (
  input  logic                    clk_i,
  input  logic [Count*Width-1:0]  terms_i,
  output logic [SumWidth-1:0]     sum_o
);
  localparam int Levels = $clog2(Count);
  logic unused;
  assign unused = &{1'b0, clk_i};
  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    localparam int N = (Count + (1 << l) - 1) >> l;
    localparam int W = Width + l;
    logic [N*W-1:0] terms;
    if (l == 0) begin : gen_in
      assign terms = terms_i;
    end else begin : gen_add
      localparam int Before = (Count + (1 << (l - 1)) - 1) >> (l - 1);
      for (genvar i = 0; i < N; i++) begin : gen_pair
        logic signed [W-2:0] a, b;
        assign a = gen_level[l-1].terms[2*i*(W-1) +: W-1];
        if (2 * i + 1 < Before) begin : gen_two
          assign b = gen_level[l-1].terms[(2*i+1)*(W-1) +: W-1];
        end else begin : gen_one
          assign b = '0;
        end
        always_ff @(posedge clk_i) terms[i*W +: W] <= W'(a) + W'(b);
      end
    end
  end
  assign sum_o = gen_level[Levels].terms;
endmodule
