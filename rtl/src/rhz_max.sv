// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maximum of Count signed terms, one register a level. Latency = clog2(Count).
module rhz_max #(
  parameter int Count = 2,
  parameter int Width = 8
) (
  input  logic                   clk_i,
  input  logic [Count*Width-1:0] terms_i,
  output logic [Width-1:0]       max_o
);
  localparam int Levels = $clog2(Count);
  logic unused;
  assign unused = &{1'b0, clk_i};
  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    localparam int N = (Count + (1 << l) - 1) >> l;
    logic [N*Width-1:0] terms;
    if (l == 0) begin : gen_in
      assign terms = terms_i;
    end else begin : gen_compare
      localparam int Before = (Count + (1 << (l - 1)) - 1) >> (l - 1);
      for (genvar i = 0; i < N; i++) begin : gen_pair
        localparam int Other = (2 * i + 1 < Before) ? 2 * i + 1 : 2 * i;
        logic signed [Width-1:0] a, b;
        assign a = gen_level[l-1].terms[2*i*Width +: Width];
        assign b = gen_level[l-1].terms[Other*Width +: Width];
        always_ff @(posedge clk_i) terms[i*Width +: Width] <= (a > b) ? a : b;
      end
    end
  end
  assign max_o = gen_level[Levels].terms;
endmodule
