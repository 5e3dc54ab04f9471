// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes neighbours of a ring of Count words, from word at_i on. The upper part of
// at_i chooses first, which leaves Lanes + 4^Digits - 1 words, then Digits digits
// of two bits, the highest first. With Stage = 1 a register lies in between,
// before the last two digits, and the words come a cycle later.
module rhz_rotate_out #(
  parameter int Width  = 8,
  parameter int Count  = 16,
  parameter int Lanes  = 4,
  parameter int Digits = 1,
  parameter int Stage  = 0,
  parameter int AtWidth = (Count > 1) ? $clog2(Count) : 1
) (
  input  logic                   clk_i,
  input  logic [AtWidth-1:0]     at_i,
  input  logic [Count*Width-1:0] data_i,
  output logic [Lanes*Width-1:0] data_o
);
  localparam int Span   = 1 << (2 * Digits);
  localparam int Coarse = (Count + Span - 1) / Span;
  // Digits behind the register, and what these need of at_i there.
  localparam int Behind  = (Digits > 2) ? 2 : Digits;
  localparam int BehindW = (Digits > 0) ? 2 * Behind : 1;
  logic [BehindW-1:0] fine;
  logic unused;
  assign unused = &{1'b0, clk_i, at_i, fine};

  for (genvar l = Digits; l >= 0; l--) begin : gen_level
    // The words that are left once all digits from l on have chosen.
    localparam int Words = Lanes + (1 << (2 * l)) - 1;
    logic [Words*Width-1:0] chosen, words;
    for (genvar q = 0; q < Words; q++) begin : gen_word
      if (l == Digits) begin : gen_coarse
        // The last span may be cut short by the ring's end.
        localparam int Choices =
            (Coarse > 1 && q >= Count - (Coarse - 1) * Span + Lanes - 1) ? Coarse - 1 : Coarse;
        if (Choices == 1) begin : gen_one
          assign chosen[q*Width +: Width] = data_i[(q%Count)*Width +: Width];
        end else begin : gen_choose
          logic [Choices*Width-1:0] choices;
          for (genvar d = 0; d < Choices; d++) begin : gen_choice
            assign choices[d*Width +: Width] = data_i[((d*Span+q)%Count)*Width +: Width];
          end
          rhz_choose #(.Width(Width), .Count(Choices)) u_choose (
            .sel_i(at_i[2*Digits +: $clog2(Choices)]), .data_i(choices),
            .data_o(chosen[q*Width +: Width])
          );
        end
      end else begin : gen_digit
        logic [4*Width-1:0] choices;
        for (genvar d = 0; d < 4; d++) begin : gen_choice
          assign choices[d*Width +: Width] =
              gen_level[l+1].words[(q+(d<<(2*l)))*Width +: Width];
        end
        if (l < Behind) begin : gen_behind
          rhz_choose_few #(.Width(Width), .Count(4)) u_few (
            .sel_i(fine[2*l +: 2]), .data_i(choices), .data_o(chosen[q*Width +: Width])
          );
        end else begin : gen_before
          rhz_choose_few #(.Width(Width), .Count(4)) u_few (
            .sel_i(at_i[2*l +: 2]), .data_i(choices), .data_o(chosen[q*Width +: Width])
          );
        end
      end
    end
    if (Stage != 0 && l == Behind) begin : gen_stage
      always_ff @(posedge clk_i) words <= chosen;
    end else begin : gen_wire
      assign words = chosen;
    end
  end
  if (Stage != 0) begin : gen_fine_stage
    always_ff @(posedge clk_i) fine <= at_i[BehindW-1:0];
  end else begin : gen_fine_wire
    assign fine = at_i[BehindW-1:0];
  end
  assign data_o = gen_level[0].words;
endmodule
