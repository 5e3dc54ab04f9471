// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// out = clamp((x·m + o) >>> Shift, Lo, Hi) with m and o per channel; without a
// multiplier (MulWidth = 0) m is 1 and only offsets are stored. Split > 0 cuts
// m into m_hi·2^Split + m_lo, whose products are made apart, each in DSPs or
// LUTs (Style, SplitStyle); in DSPs Slice > 0 cuts x (rhz_mul). Latency =
// 6 + M + V, one more if split; M are the stages of the products, of two unlike
// ones the larger. Several Trips have their own m and o, each for Uses pixels in a row.
module rhz_requant #(
  parameter int Pixels   = 1,
  parameter int Lanes    = 1,
  parameter int InWidth  = 24,
  parameter int InSigned = 1,
  parameter int MulWidth = 16,
  parameter int OffsetWidth = 32,
  parameter int Shift    = 0,
  parameter int TiesEven = 0,
  parameter int OutWidth = 8,
  parameter int Lo       = -128,
  parameter int Hi       = 127,
  parameter int OutFolds = 1,
  parameter int Trips    = 1,
  parameter int Uses     = 1,
  parameter int Style      = 1,   // 0: product in LUTs, 1: in DSPs
  parameter int Split      = 0,
  parameter int SplitStyle = 0,   // of the low product
  parameter int Slice      = 0,
  parameter int Block      = 0,   // 1: parameters in block RAM
  parameter     ParamFile = "",
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             in_valid_i,
  output logic                             in_ready_o,
  input  logic [Pixels*Lanes*InWidth-1:0]  in_data_i,
  output logic                             out_valid_o,
  input  logic                             out_ready_i,
  output logic [Pixels*Lanes*OutWidth-1:0] out_data_o
);
  // A product in LUTs of more than two digits takes two stages, and so does a
  // sliced one (rhz_mul).
  localparam int HighWidth = MulWidth - Split;
  localparam bit Wide      = InWidth + 1 - InSigned > 4;
  localparam int MulStages =
      ((Style == 0 && Wide && HighWidth > 4) || (Slice > 0 && MulWidth > 0) ||
       (Split > 3 && SplitStyle == 0 && Wide)) ? 2 : 1;
  localparam int Late = MulStages - 1 + ((Split > 0) ? 1 : 0);
  localparam int Push = 7 + Late;
  localparam int Lat  = Push + ((Depth > 64) ? 2 : 1);
  localparam int PairWidth    = MulWidth + OffsetWidth;
  localparam int ProductWidth =
      InWidth + ((MulWidth > 0) ? MulWidth : (InSigned != 0) ? 0 : 1);
  localparam int SumWidth =
      ((ProductWidth > OffsetWidth) ? ProductWidth : OffsetWidth) + 1;
  // Levels with room for the limits; ties to even clear the lowest bit of odd
  // ones, which never crosses a limit, unless that is odd and the lower one.
  localparam int LevelWidth   = (SumWidth > Shift + OutWidth + 1) ? SumWidth - Shift : OutWidth + 1;
  localparam int WideWidth    = (SumWidth > LevelWidth) ? SumWidth : LevelWidth;
  localparam int CompareWidth = (LevelWidth > 33) ? LevelWidth : 33;
  localparam int Ties = (TiesEven != 0 && Shift > 0) ? 1 : 0;
  localparam int Low  = (Ties != 0 && Lo % 2 != 0) ? Lo + 1 : Lo;
  // Limits that are zero or powers of two are looks at some bits, whatever a tool
  // makes of comparisons.
  localparam bit LowIsPower  = Low <= 0 && Low > -(1 << 30) && (Low & (-Low)) == -Low;
  localparam bit HighIsPower = Hi >= 0 && Hi < (1 << 30) && (Hi & (Hi + 1)) == 0;
  localparam int LowBit  = (LowIsPower && Low < 0) ? $clog2(-Low) : LevelWidth - 1;
  localparam int HighBit = HighIsPower ? $clog2(Hi + 1) : LevelWidth - 1;
  localparam int Words = Trips * OutFolds;
  localparam int OutW  = (Words > 1) ? $clog2(Words) : 1;
  if (Split > 0 && Split >= MulWidth) begin : gen_bad_split
    initial $fatal(1, "rhz_requant: Split %0d of a multiplier of %0d bits", Split, MulWidth);
  end
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_requant: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire;
  logic [OutW-1:0] index, index_q;
  logic [Push:0] valid;
  logic unused_valid;
  assign in_ready_o = credit;
  assign fire = in_valid_i && credit;
  assign unused_valid = &{1'b0, valid};
  rhz_index #(.Count(OutFolds), .Trips(Trips), .Uses(Uses)) u_index (
    .clk_i, .rst_ni, .en_i(fire), .value_o(index)
  );
  rhz_valid #(.Stages(Push)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));

  logic [Pixels*Lanes*InWidth-1:0] x;   // stage 3
  logic [Lanes*PairWidth-1:0] pairs;    // stage 3
  always_ff @(posedge clk_i) index_q <= index;
  rhz_delay #(.Width(Pixels * Lanes * InWidth), .Stages(3)) u_x (
    .clk_i, .data_i(in_data_i), .data_o(x)
  );
  rhz_rom #(
    .Width(Lanes * PairWidth), .Words(Words), .Stages(2), .Block(Block), .File(ParamFile)
  ) u_params (.clk_i, .addr_i(index_q), .data_o(pairs));

  logic [Lanes*OffsetWidth-1:0] offset;   // stage 3 + MulStages
  for (genvar l = 0; l < Lanes; l++) begin : gen_offset
    rhz_delay #(.Width(OffsetWidth), .Stages(MulStages)) u_offset (
      .clk_i, .data_i(pairs[l*PairWidth+MulWidth +: OffsetWidth]),
      .data_o(offset[l*OffsetWidth +: OffsetWidth])
    );
  end

  logic [Pixels*Lanes*OutWidth-1:0] out_q;
  for (genvar p = 0; p < Pixels; p++) begin : gen_pixel
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      localparam int I = p * Lanes + l;
      logic signed [SumWidth-1:0] sum_q;   // stage 5 + Late
      if (MulWidth == 0) begin : gen_no_mul
        logic [ProductWidth-1:0] product_q;
        always_ff @(posedge clk_i) begin
          product_q <= ProductWidth'({1'b0, x[I*InWidth +: InWidth]});
          sum_q <= SumWidth'($signed(product_q)) +
              SumWidth'($signed(offset[l*OffsetWidth +: OffsetWidth]));
        end
      end else if (Split == 0) begin : gen_mul
        logic signed [ProductWidth-1:0] product;
        rhz_mul #(
          .XWidth(InWidth), .XSigned(InSigned), .WWidth(MulWidth), .Style(Style),
          .Constant((Words == 1) ? 1 : 0), .Slice(Slice), .Stages(MulStages)
        ) u_mul (
          .clk_i, .x_i(x[I*InWidth +: InWidth]),
          .w_i(pairs[l*PairWidth +: MulWidth]), .product_o(product)
        );
        always_ff @(posedge clk_i)
          sum_q <= SumWidth'(product) +
              SumWidth'($signed(offset[l*OffsetWidth +: OffsetWidth]));
      end else begin : gen_split
        logic signed [InWidth+MulWidth-Split-1:0] high, high_q;
        logic signed [InWidth+Split:0] low;
        logic signed [SumWidth-1:0] low_q;
        rhz_mul #(
          .XWidth(InWidth), .XSigned(InSigned), .WWidth(HighWidth), .Style(Style),
          .Constant((Words == 1) ? 1 : 0), .Slice(Slice), .Stages(MulStages)
        ) u_high (
          .clk_i, .x_i(x[I*InWidth +: InWidth]),
          .w_i(pairs[l*PairWidth+Split +: MulWidth-Split]), .product_o(high)
        );
        rhz_mul #(
          .XWidth(InWidth), .XSigned(InSigned), .WWidth(Split + 1), .Style(SplitStyle),
          .Constant((Words == 1) ? 1 : 0), .Slice(Slice), .Stages(MulStages)
        ) u_low (
          .clk_i, .x_i(x[I*InWidth +: InWidth]),
          .w_i({1'b0, pairs[l*PairWidth +: Split]}), .product_o(low)
        );
        always_ff @(posedge clk_i) begin
          high_q <= high;
          low_q  <= SumWidth'(low) +
              SumWidth'($signed(offset[l*OffsetWidth +: OffsetWidth]));
          // The high product meets the upper bits only.
          sum_q  <= {low_q[SumWidth-1:Split] + (SumWidth-Split)'(high_q), low_q[Split-1:0]};
        end
      end

      // Stage 6 + Late: the level, and whether it is below, above or beside a tie.
      logic signed [WideWidth-1:0] wide;
      logic signed [LevelWidth-1:0] level;
      logic [OutWidth-1:0] level_q;
      logic below, above, below_q, above_q, clear, unused;
      assign wide   = WideWidth'(sum_q) >>> Shift;
      assign level  = wide[LevelWidth-1:0];
      assign unused = &{1'b0, wide};
      always_ff @(posedge clk_i) begin
        level_q <= level[OutWidth-1:0];
        below_q <= below;
        above_q <= above;
      end
      if (!LowIsPower) begin : gen_compare_low
        assign below = CompareWidth'(level) < $signed(CompareWidth'(Low));
      end else if (LowBit < LevelWidth - 1) begin : gen_low_bits
        assign below = level[LevelWidth-1] && level[LevelWidth-2:LowBit] != '1;
      end else begin : gen_negative
        assign below = level[LevelWidth-1];
      end
      if (!HighIsPower) begin : gen_compare_high
        assign above = CompareWidth'(level) > $signed(CompareWidth'(Hi));
      end else if (HighBit < LevelWidth - 1) begin : gen_high_bits
        assign above = !level[LevelWidth-1] && level[LevelWidth-2:HighBit] != '0;
      end else begin : gen_never
        assign above = 1'b0;
      end
      if (Ties == 0) begin : gen_floor
        assign clear = 1'b0;
      end else if (Shift < SumWidth) begin : gen_tie
        logic tie_q;
        always_ff @(posedge clk_i) tie_q <= sum_q[Shift-1:0] == '0;
        assign clear = tie_q;
      end else begin : gen_sign
        assign clear = 1'b0;
      end
      logic [OutWidth-1:0] fixed;
      if (OutWidth == 1) begin : gen_bit
        assign fixed = level_q & ~clear;
      end else begin : gen_bits
        assign fixed = {level_q[OutWidth-1:1], level_q[0] & ~clear};
      end
      always_ff @(posedge clk_i) begin
        if (below_q)      out_q[I*OutWidth +: OutWidth] <= OutWidth'(Lo);
        else if (above_q) out_q[I*OutWidth +: OutWidth] <= OutWidth'(Hi);
        else              out_q[I*OutWidth +: OutWidth] <= fixed;
      end
    end
  end

  rhz_outbuf #(.Width(Pixels * Lanes * OutWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(valid[Push]),
    .push_data_i(out_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
