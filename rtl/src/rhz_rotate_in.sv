// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lays Lanes words from word at_i of a ring of Count words on; what comes out at
// the ring's other places is of no meaning. Digits digits of two bits of at_i
// shift, the lowest first, then its upper part chooses the place. With Stage = 1 a
// register lies behind the first two digits, and the words come a cycle later.
// Lanes + 4^Digits - 1 must not be above Count.
module rhz_rotate_in #(
  parameter int Width  = 8,
  parameter int Count  = 16,
  parameter int Lanes  = 4,
  parameter int Digits = 1,
  parameter int Stage  = 0,
  parameter int AtWidth = (Count > 1) ? $clog2(Count) : 1
) (
  input  logic                   clk_i,
  input  logic [AtWidth-1:0]     at_i,
  input  logic [Lanes*Width-1:0] data_i,
  output logic [Count*Width-1:0] data_o
);
  localparam int Span   = 1 << (2 * Digits);
  localparam int Coarse = (Count + Span - 1) / Span;
  localparam int CoarseW = (Coarse > 1) ? $clog2(Coarse) : 1;
  localparam int Before = (Digits > 2) ? 2 : Digits;
  logic [AtWidth-1:0] at;
  logic unused;
  assign unused = &{1'b0, clk_i, at_i, at};
  if (Stage != 0) begin : gen_at_stage
    always_ff @(posedge clk_i) at <= at_i;
  end else begin : gen_at_wire
    assign at = at_i;
  end

  for (genvar l = 0; l <= Digits; l++) begin : gen_level
    localparam int Words = Lanes + (1 << (2 * l)) - 1;
    logic [Words*Width-1:0] shifted, words;
    if (l == 0) begin : gen_in
      assign shifted = data_i;
    end else begin : gen_digit
      localparam int Step = 1 << (2 * l - 2);
      localparam int From = Lanes + Step - 1;
      logic [1:0] digit;
      if (l <= Before) begin : gen_before
        assign digit = at_i[2*l-2 +: 2];
      end else begin : gen_behind
        assign digit = at[2*l-2 +: 2];
      end
      for (genvar q = 0; q < Words; q++) begin : gen_word
        // Word q was at q - d*Step, which must have been one of From words.
        localparam int First = (q < From) ? 0 : (q - From) / Step + 1;
        localparam int Last  = (q / Step < 3) ? q / Step : 3;
        if (First == Last) begin : gen_one
          assign shifted[q*Width +: Width] = gen_level[l-1].words[(q-First*Step)*Width +: Width];
        end else if (First + 1 == Last) begin : gen_two
          // Of 1 and 2 the upper bit tells, of the others the lower one.
          rhz_choose_few #(.Width(Width), .Count(2)) u_few (
            .sel_i((First == 1) ? digit[1] : digit[0]),
            .data_i({gen_level[l-1].words[(q-Last*Step)*Width +: Width],
                     gen_level[l-1].words[(q-First*Step)*Width +: Width]}),
            .data_o(shifted[q*Width +: Width])
          );
        end else begin : gen_four
          logic [4*Width-1:0] choices;
          for (genvar d = 0; d < 4; d++) begin : gen_choice
            localparam int D = (d < First) ? First : (d > Last) ? Last : d;
            assign choices[d*Width +: Width] =
                gen_level[l-1].words[(q-D*Step)*Width +: Width];
          end
          rhz_choose_few #(.Width(Width), .Count(4)) u_few (
            .sel_i(digit), .data_i(choices), .data_o(shifted[q*Width +: Width])
          );
        end
      end
    end
    if (Stage != 0 && l == Before) begin : gen_stage
      always_ff @(posedge clk_i) words <= shifted;
    end else begin : gen_wire
      assign words = shifted;
    end
  end

  // The n-th value of the upper part that brings a word to place p, or how many
  // do if n is negative. The ring's end cuts the last span short.
  function automatic int wayTo(input int p, input int n);
    int ways;
    int word;
    int reach;
    ways  = 0;
    wayTo = 0;
    for (int d = 0; d < Coarse; d++) begin
      word  = (p + Count - d * Span) % Count;
      reach = (Count - d * Span < Span) ? Count - d * Span : Span;
      if (word < Lanes + reach - 1) begin
        if (ways == n) wayTo = d;
        ways = ways + 1;
      end
    end
    if (n < 0) wayTo = ways;
  endfunction
  function automatic int lowestOne(input int value);
    int bit_at;
    bit_at = 0;
    for (int b = 31; b >= 0; b--)
      if (((value >> b) & 1) != 0) bit_at = b;
    lowestOne = bit_at;
  endfunction

  logic [CoarseW-1:0] coarse;
  if (Coarse > 1) begin : gen_coarse
    assign coarse = at[2*Digits +: CoarseW];
  end else begin : gen_no_coarse
    assign coarse = '0;
  end
  for (genvar p = 0; p < Count; p++) begin : gen_place
    localparam int Ways  = wayTo(p, -1);
    localparam int WayA  = wayTo(p, 0);
    localparam int WayB  = wayTo(p, 1);
    if (Ways == 1) begin : gen_one
      assign data_o[p*Width +: Width] =
          gen_level[Digits].words[((p+Count-WayA*Span)%Count)*Width +: Width];
    end else if (Ways == 2) begin : gen_two
      // A bit in which both differ tells.
      localparam int Bit = lowestOne(WayA ^ WayB);
      localparam int Set   = (((WayA >> Bit) & 1) != 0) ? WayA : WayB;
      localparam int Clear = WayA ^ WayB ^ Set;
      rhz_choose_few #(.Width(Width), .Count(2)) u_few (
        .sel_i(coarse[Bit]),
        .data_i({gen_level[Digits].words[((p+Count-Set*Span)%Count)*Width +: Width],
                 gen_level[Digits].words[((p+Count-Clear*Span)%Count)*Width +: Width]}),
        .data_o(data_o[p*Width +: Width])
      );
    end else begin : gen_many
      logic [Coarse*Width-1:0] choices;
      for (genvar d = 0; d < Coarse; d++) begin : gen_choice
        // What does not bring one stands for one that does.
        localparam int At = (p + Count - d * Span) % Count;
        localparam int Q  = (At < Lanes + Span - 1) ? At : (p + Count - WayA * Span) % Count;
        assign choices[d*Width +: Width] = gen_level[Digits].words[Q*Width +: Width];
      end
      rhz_choose #(.Width(Width), .Count(Coarse)) u_choose (
        .sel_i(coarse), .data_i(choices), .data_o(data_o[p*Width +: Width])
      );
    end
  end
endmodule
