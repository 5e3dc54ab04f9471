// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiplexer of Count words under a binary index, written as a tree of two-way
// choices, which tools pack better than a chain of comparisons. An index beyond
// Count selects any word.
module rhz_mux #(
  parameter int Width = 8,
  parameter int Count = 2,
  parameter int SelWidth = (Count > 1) ? $clog2(Count) : 1
) (
  input  logic [SelWidth-1:0]    sel_i,
  input  logic [Count*Width-1:0] data_i,
  output logic [Width-1:0]       data_o
);
  localparam int Levels = $clog2(Count);
  logic unused;
  assign unused = &{1'b0, sel_i};
  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    localparam int N = (Count + (1 << l) - 1) >> l;
    logic [N*Width-1:0] words;
    if (l == 0) begin : gen_in
      assign words = data_i;
    end else begin : gen_choice
      localparam int Before = (Count + (1 << (l - 1)) - 1) >> (l - 1);
      for (genvar i = 0; i < N; i++) begin : gen_word
        if (2 * i + 1 < Before) begin : gen_two
          assign words[i*Width +: Width] =
              sel_i[l-1] ? gen_level[l-1].words[(2*i+1)*Width +: Width]
                         : gen_level[l-1].words[2*i*Width +: Width];
        end else begin : gen_one
          assign words[i*Width +: Width] = gen_level[l-1].words[2*i*Width +: Width];
        end
      end
    end
  end
  assign data_o = gen_level[Levels].words;
endmodule
