// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiplexer of many words under a binary index, four at a time. Every four are
// a module of their own (rhz_choose_few), because logic optimisation takes large
// multiplexers apart and then finds up to a third more LUTs than they need. An
// index beyond Count selects any word.
module rhz_choose #(
  parameter int Width = 8,
  parameter int Count = 2,
  parameter int SelWidth = (Count > 1) ? $clog2(Count) : 1
) (
  input  logic [SelWidth-1:0]    sel_i,
  input  logic [Count*Width-1:0] data_i,
  output logic [Width-1:0]       data_o
);
  localparam int Levels = ($clog2(Count) + 1) / 2;
  logic unused;
  assign unused = &{1'b0, sel_i};
  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    localparam int N = (Count + (1 << (2 * l)) - 1) >> (2 * l);
    logic [N*Width-1:0] words;
    if (l == 0) begin : gen_in
      assign words = data_i;
    end else begin : gen_choice
      localparam int Before = (Count + (1 << (2 * l - 2)) - 1) >> (2 * l - 2);
      for (genvar i = 0; i < N; i++) begin : gen_word
        localparam int Few = (Before - 4 * i < 4) ? Before - 4 * i : 4;
        if (Few == 1) begin : gen_one
          assign words[i*Width +: Width] = gen_level[l-1].words[4*i*Width +: Width];
        end else begin : gen_few
          rhz_choose_few #(.Width(Width), .Count(Few)) u_few (
            .sel_i(sel_i[2*l-2 +: $clog2(Few)]),
            .data_i(gen_level[l-1].words[4*i*Width +: Few*Width]),
            .data_o(words[i*Width +: Width])
          );
        end
      end
    end
  end
  assign data_o = gen_level[Levels].words;
endmodule
