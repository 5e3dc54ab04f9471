// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The array: the products of a word with In × Out weights, Out sums, a word a cycle.
// Two columns share a DSP (rhz_engine_weight), the even one in the low field, whose DSPs
// add along cascades of at most MaxPacked. A cascade of so many products lies in
// [-MaxPacked · 127 · 128, MaxPacked · 2^14]: begun with a half of the field's range less
// one, the low field neither overflows nor borrows from the high one, and what it holds
// is one less than the sum. Trees in fabric add the cascades, their carries give those
// ones back, and the last one is left to the accumulators: sums of even columns are one
// too small.
// The next weights are loaded column by column, weights_i with one bit of load_i, and
// taken over with the word that comes with take_i. Rows of a cascade work one cycle after
// the other, so words, weights and their strobes are delayed alike: the next column
// may be loaded a cycle after take_i. Latency = 4 + Length + clog2(Cascades) - 1.
module rhz_engine_array #(
  parameter int In   = 16,
  parameter int Out  = 16,
  parameter int Wide = 1,
  parameter int SumWidth = 16 + $clog2(In)
) (
  input  logic                    clk_i,
  input  logic [In*8-1:0]         word_i,
  input  logic                    take_i,
  input  logic [In*8-1:0]         weights_i,
  input  logic [Out-1:0]          load_i,
  output logic [Out*SumWidth-1:0] sums_o
);
  localparam int MaxPacked = (Wide != 0) ? 8 : 2;
  localparam int Field     = (Wide != 0) ? 18 : 16;
  localparam int Cascades  = (In + MaxPacked - 1) / MaxPacked;
  localparam int Length    = (In + Cascades - 1) / Cascades;
  localparam int PartWidth = 16 + $clog2(Length);
  localparam logic [47:0] Start = (48'd1 << (Field - 1)) - 48'd1;

  // What the rows share: bit or columns j belong to the row that works j cycles late.
  logic [Length-1:0] take_q;
  logic [Length:0] take;
  logic [Length*Out-1:0] loads;
  assign take = {take_q, take_i};
  always_ff @(posedge clk_i) take_q <= take[Length-1:0];
  if (Length == 1) begin : gen_one
    assign loads = load_i;
  end else begin : gen_more
    logic [(Length-1)*Out-1:0] loads_q;
    always_ff @(posedge clk_i) loads_q <= loads[(Length-1)*Out-1:0];
    assign loads = {loads_q, load_i};
  end

  logic [In*8-1:0] words, weights;
  for (genvar r = 0; r < In; r++) begin : gen_row
    localparam int Rest = In - r + r % Length;   // rows from its cascade's first one on
    localparam int Late = ((Rest < Length) ? Length - Rest : 0) + r % Length;
    rhz_delay #(.Width(16), .Stages(Late)) u_skew (
      .clk_i, .data_i({word_i[r*8 +: 8], weights_i[r*8 +: 8]}),
      .data_o({words[r*8 +: 8], weights[r*8 +: 8]})
    );
  end

  for (genvar q = 0; q < Out / 2; q++) begin : gen_pair
    localparam int N = 2 * q;
    logic [Cascades*PartWidth-1:0] hi, lo;
    for (genvar c = 0; c < Cascades; c++) begin : gen_cascade
      localparam int First = c * Length;
      localparam int Len   = (In - First < Length) ? In - First : Length;
      logic [47:0] p;
      for (genvar j = 0; j < Len; j++) begin : gen_dsp
        localparam int Late = Length - Len + j;
        logic [47:0] pcin, pcout, dsp_p;
        if (j == 0) begin : gen_head
          assign pcin = '0;
        end else begin : gen_chain
          assign pcin = gen_dsp[j-1].pcout;
        end
        rhz_engine_weight #(
          .Wide(Wide), .Field(Field), .Chained((j == 0) ? 0 : 1), .Start(Start)
        ) u_dsp (
          .clk_i, .weight_i(weights[(First+j)*8 +: 8]), .load_hi_i(loads[Late*Out+N+1]),
          .load_lo_i(loads[Late*Out+N]), .take_i(take[Late+1]),
          .word_i(words[(First+j)*8 +: 8]), .pcin_i(pcin), .pcout_o(pcout), .p_o(dsp_p)
        );
        if (j == Len - 1) begin : gen_tail
          logic unused;
          assign unused = &{1'b0, pcout};
          assign p = dsp_p;
        end else begin : gen_inner
          logic unused;
          assign unused = &{1'b0, dsp_p};
        end
      end
      logic unused_p;
      assign unused_p = &{1'b0, p};
      assign hi[c*PartWidth +: PartWidth] = p[Field +: PartWidth];
      assign lo[c*PartWidth +: PartWidth] = PartWidth'($signed({!p[Field-1], p[Field-2:0]}));
    end
    rhz_engine_tree #(.Count(Cascades), .Width(PartWidth), .Carry(0), .SumWidth(SumWidth)) u_hi (
      .clk_i, .terms_i(hi), .sum_o(sums_o[(N+1)*SumWidth +: SumWidth])
    );
    rhz_engine_tree #(.Count(Cascades), .Width(PartWidth), .Carry(1), .SumWidth(SumWidth)) u_lo (
      .clk_i, .terms_i(lo), .sum_o(sums_o[N*SumWidth +: SumWidth])
    );
  end
endmodule
