// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two dot products that share one operand, two products per DSP48E2 (Wide = 1) or
// DSP48E1: the pair {hi, lo} meets in the pre-adder as hi·2^Field + lo, is multiplied
// by the common operand and added along cascades of at most MaxPacked products, for
// which the low field cannot overflow. A cascade begins with half of the low field's
// range, which keeps its sign from the high field and is taken off by its top bit.
// Sums of cascades are added in fabric trees. Operands have at most 8 bits.
// An operand that is Skewed comes in lane s late by its place in the cascade.
// Latency = 4 + C + clog2(N); N = ceil(Simd/MaxPacked), C = ceil(Simd/N).
module rhz_dot_pair #(
  parameter int Simd         = 1,
  parameter int PairWidth    = 8,
  parameter int PairSigned   = 1,
  parameter int CommonWidth  = 8,
  parameter int CommonSigned = 0,
  parameter int Wide         = 1,
  parameter int MaxPacked    = (PairSigned != 0 && CommonSigned != 0) ? 7 : 4,
  parameter int PairSkewed   = 0,
  parameter int CommonSkewed = 0,
  parameter int SumWidth     = PairWidth + CommonWidth + $clog2(Simd)
) (
  input  logic                        clk_i,
  input  logic [Simd*PairWidth-1:0]   hi_i,
  input  logic [Simd*PairWidth-1:0]   lo_i,
  input  logic [Simd*CommonWidth-1:0] common_i,
  output logic [SumWidth-1:0]         hi_o,
  output logic [SumWidth-1:0]         lo_o
);
  /* verilator no_inline_module */  // compiled once, however many there are
  localparam int Cascades = (Simd + MaxPacked - 1) / MaxPacked;
  localparam int Length   = (Simd + Cascades - 1) / Cascades;
  localparam int Field    =
      (Wide != 0) ? 18 : 24 - ((PairWidth > CommonWidth) ? PairWidth : CommonWidth);
  localparam int PartWidth = PairWidth + CommonWidth + $clog2(Length);
  localparam int TreeWidth = PartWidth + $clog2(Cascades);

  if (PairWidth > 8 || CommonWidth > 8) begin : gen_bad_width
    initial $fatal(1, "rhz_dot_pair: operands of %0d and %0d bits, at most 8 fit",
                   PairWidth, CommonWidth);
  end

  logic [Cascades*PartWidth-1:0] hi_part_q, lo_part_q;
  for (genvar c = 0; c < Cascades; c++) begin : gen_cascade
    localparam int First = c * Length;
    localparam int Len   = (Simd - First < Length) ? Simd - First : Length;
    logic [47:0] p;
    for (genvar j = 0; j < Len; j++) begin : gen_dsp
      localparam int Lane = First + j;
      logic [PairWidth-1:0] hi, lo;
      logic [CommonWidth-1:0] common;
      logic [47:0] pcin, pcout;
      // A DSP adds its product a cycle after the one below it.
      localparam int Skew = Length - Len + j;
      rhz_delay #(.Width(2 * PairWidth), .Stages((PairSkewed != 0) ? 0 : Skew)) u_skew_pair (
        .clk_i,
        .data_i({hi_i[Lane*PairWidth +: PairWidth], lo_i[Lane*PairWidth +: PairWidth]}),
        .data_o({hi, lo})
      );
      rhz_delay #(.Width(CommonWidth), .Stages((CommonSkewed != 0) ? 0 : Skew)) u_skew_common (
        .clk_i, .data_i(common_i[Lane*CommonWidth +: CommonWidth]), .data_o(common)
      );
      if (j == 0) begin : gen_head
        assign pcin = '0;
      end else begin : gen_chain
        assign pcin = gen_dsp[j-1].pcout;
      end
      logic [26:0] a, d;
      logic [17:0] b;
      assign a = (PairSigned != 0) ? 27'($signed(hi)) << Field : 27'(hi) << Field;
      assign d = (PairSigned != 0) ? 27'($signed(lo)) : 27'(lo);
      assign b = (CommonSigned != 0) ? 18'($signed(common)) : 18'(common);
      logic [47:0] dsp_p;
      rhz_dsp_packed #(.Wide(Wide), .Chained((j == 0) ? 0 : 1), .Start(48'd1 << (Field - 1))) u_dsp (
        .clk_i, .a_i(a), .d_i(d), .b_i(b), .pcin_i(pcin), .pcout_o(pcout), .p_o(dsp_p)
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
    always_ff @(posedge clk_i) begin
      hi_part_q[c*PartWidth +: PartWidth] <= p[Field +: PartWidth];
      lo_part_q[c*PartWidth +: PartWidth] <=
          PartWidth'($signed({!p[Field-1], p[Field-2:0]}));
    end
  end
  // The trees may be a bit wider than the result needs.
  logic [TreeWidth-1:0] hi_sum, lo_sum;
  logic unused_sum;
  rhz_sum #(.Count(Cascades), .Width(PartWidth)) u_sum_hi (
    .clk_i, .terms_i(hi_part_q), .sum_o(hi_sum)
  );
  rhz_sum #(.Count(Cascades), .Width(PartWidth)) u_sum_lo (
    .clk_i, .terms_i(lo_part_q), .sum_o(lo_sum)
  );
  assign hi_o = hi_sum[SumWidth-1:0];
  assign lo_o = lo_sum[SumWidth-1:0];
  assign unused_sum = &{1'b0, hi_sum, lo_sum};
endmodule
