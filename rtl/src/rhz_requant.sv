// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// out = clamp((x·m + o) >>> Shift, Lo, Hi) with m and o per channel; without a
// multiplier (MulWidth = 0) m is 1 and only offsets are stored.
// Latency = 6 + V.
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
  localparam int Lat = 6 + ((Depth > 64) ? 2 : 1);
  localparam int PairWidth    = MulWidth + OffsetWidth;
  localparam int ProductWidth = InWidth + ((MulWidth > 0) ? MulWidth : 1);
  localparam int SumWidth =
      ((ProductWidth > OffsetWidth) ? ProductWidth : OffsetWidth) + 1;
  // Comparisons have room for the limits whatever the sum's width.
  localparam int CompareWidth = (SumWidth > 33) ? SumWidth : 33;
  localparam logic signed [CompareWidth-1:0] LoLimit = CompareWidth'(Lo);
  localparam logic signed [CompareWidth-1:0] HiLimit = CompareWidth'(Hi);
  localparam int OutW = (OutFolds > 1) ? $clog2(OutFolds) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_requant: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire, unused_last;
  logic [OutW-1:0] index, index_q;
  logic [6:0] valid;
  logic unused_valid;
  assign in_ready_o = credit;
  assign fire = in_valid_i && credit;
  assign unused_valid = &{1'b0, valid};
  rhz_counter #(.Count(OutFolds)) u_index (
    .clk_i, .rst_ni, .en_i(fire), .value_o(index), .last_o(unused_last)
  );
  rhz_valid #(.Stages(6)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));

  logic [Pixels*Lanes*InWidth-1:0] x;   // stage 3
  logic [Lanes*PairWidth-1:0] pairs;    // stage 3
  always_ff @(posedge clk_i) index_q <= index;
  rhz_delay #(.Width(Pixels * Lanes * InWidth), .Stages(3)) u_x (
    .clk_i, .data_i(in_data_i), .data_o(x)
  );
  rhz_rom #(
    .Width(Lanes * PairWidth), .Words(OutFolds), .Stages(2), .File(ParamFile)
  ) u_params (.clk_i, .addr_i(index_q), .data_o(pairs));

  logic [Lanes*OffsetWidth-1:0] offset_q;   // stage 4
  for (genvar l = 0; l < Lanes; l++) begin : gen_offset
    always_ff @(posedge clk_i)
      offset_q[l*OffsetWidth +: OffsetWidth] <=
          pairs[l*PairWidth+MulWidth +: OffsetWidth];
  end

  logic [Pixels*Lanes*OutWidth-1:0] out_q;
  for (genvar p = 0; p < Pixels; p++) begin : gen_pixel
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      localparam int I = p * Lanes + l;
      logic signed [ProductWidth-1:0] product;   // stage 4
      if (MulWidth > 0) begin : gen_mul
        rhz_mul #(
          .XWidth(InWidth), .XSigned(InSigned), .WWidth(MulWidth), .Style(1)
        ) u_mul (
          .clk_i, .x_i(x[I*InWidth +: InWidth]),
          .w_i(pairs[l*PairWidth +: MulWidth]), .product_o(product)
        );
      end else begin : gen_no_mul
        logic [ProductWidth-1:0] product_q;
        always_ff @(posedge clk_i)
          product_q <= {(InSigned != 0) && x[I*InWidth+InWidth-1],
                        x[I*InWidth +: InWidth]};
        assign product = product_q;
      end
      logic signed [SumWidth-1:0] sum_q, whole;   // stage 5
      logic signed [CompareWidth-1:0] shifted;
      logic unused;
      always_ff @(posedge clk_i)
        sum_q <= SumWidth'(product) +
            SumWidth'($signed(offset_q[l*OffsetWidth +: OffsetWidth]));
      if (TiesEven != 0 && Shift > 0) begin : gen_ties
        // An odd level at a tie gives one less: its lowest bit is cleared.
        logic signed [SumWidth-1:0] floored;
        assign floored = sum_q >>> Shift;
        if (Shift < SumWidth) begin : gen_tie
          assign whole = {floored[SumWidth-1:1], floored[0] && (|sum_q[Shift-1:0])};
        end else begin : gen_sign
          assign whole = floored;
        end
      end else begin : gen_floor
        assign whole = sum_q >>> Shift;
      end
      assign shifted = CompareWidth'(whole);
      assign unused = &{1'b0, shifted};
      always_ff @(posedge clk_i) begin
        if (shifted < LoLimit)      out_q[I*OutWidth +: OutWidth] <= OutWidth'(Lo);
        else if (shifted > HiLimit) out_q[I*OutWidth +: OutWidth] <= OutWidth'(Hi);
        else                        out_q[I*OutWidth +: OutWidth] <= shifted[OutWidth-1:0];
      end
    end
  end

  rhz_outbuf #(.Width(Pixels * Lanes * OutWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(valid[6]),
    .push_data_i(out_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
