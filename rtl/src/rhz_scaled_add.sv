// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// out = a·MulA + b·MulB with constant signed factors, or with Max the larger
// one of a·MulA and b·MulB + Offset; one firing pops both inputs. With Stored, the
// factors and the offset lie in a memory, {offset, b's, a's} of each of Trips trips,
// which takes them Uses times in a row. Latency = 4 + V.
module rhz_scaled_add #(
  parameter int Lanes    = 1,
  parameter int AWidth   = 8,
  parameter int ASigned  = 1,
  parameter int BWidth   = 8,
  parameter int BSigned  = 1,
  parameter int MulA     = 1,
  parameter int MulB     = 1,
  parameter int MulWidth = 2,
  parameter int Max      = 0,
  parameter int Offset   = 0,
  parameter int MaxWidth = 16,  // signed bits that hold both operands of Max
  parameter int Stored   = 0,
  parameter int Trips    = 1,
  parameter int Uses     = 1,
  parameter int Block    = 0,   // 1: the factors are in block RAM
  parameter     FactorFile = "",
  parameter int OutWidth = 12,
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      a_valid_i,
  output logic                      a_ready_o,
  input  logic [Lanes*AWidth-1:0]   a_data_i,
  input  logic                      b_valid_i,
  output logic                      b_ready_o,
  input  logic [Lanes*BWidth-1:0]   b_data_i,
  output logic                      out_valid_o,
  input  logic                      out_ready_i,
  output logic [Lanes*OutWidth-1:0] out_data_o
);
  localparam int Lat = 4 + ((Depth > 64) ? 2 : 1);
  localparam logic signed [MulWidth-1:0] FactorA = MulWidth'(MulA);
  localparam logic signed [MulWidth-1:0] FactorB = MulWidth'(MulB);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_scaled_add: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire;
  logic [4:0] valid;
  logic unused_valid;
  assign a_ready_o = credit && b_valid_i;
  assign b_ready_o = credit && a_valid_i;
  assign fire = credit && a_valid_i && b_valid_i;
  assign unused_valid = &{1'b0, valid};
  rhz_valid #(.Stages(4)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));

  // Stage 1: the factors; stage 3: the offset.
  logic [2*MulWidth-1:0] factors;
  logic signed [MaxWidth-1:0] offset;
  if (Stored == 0) begin : gen_constant
    assign factors = {FactorB, FactorA};
    assign offset  = MaxWidth'(Offset);
  end else begin : gen_stored
    localparam int Width = 2 * MulWidth + ((Max != 0) ? MaxWidth : 0);
    localparam int TripW = (Trips > 1) ? $clog2(Trips) : 1;
    logic [TripW-1:0] trip;
    logic [Width-1:0] word;
    rhz_index #(.Trips(Trips), .Uses(Uses)) u_trip (
      .clk_i, .rst_ni, .en_i(fire), .value_o(trip)
    );
    rhz_rom #(
      .Width(Width), .Words(Trips), .Stages(1), .Block(Block), .File(FactorFile)
    ) u_factors (.clk_i, .addr_i(trip), .data_o(word));
    assign factors = word[2*MulWidth-1:0];
    if (Max != 0) begin : gen_offset
      rhz_delay #(.Width(MaxWidth), .Stages(2)) u_offset (
        .clk_i, .data_i(word[Width-1:2*MulWidth]), .data_o(offset)
      );
    end else begin : gen_no_offset
      assign offset = '0;
    end
  end
  logic unused_factors;
  assign unused_factors = &{1'b0, factors, offset};

  logic [Lanes*OutWidth-1:0] out_q;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic signed [AWidth:0] a_q;
    logic signed [BWidth:0] b_q;
    logic signed [AWidth+MulWidth:0] a_product2;
    logic signed [BWidth+MulWidth:0] b_product2;
    logic unused_sign;  // the sum's range bounds the products: sign copies
    assign unused_sign = &{1'b0, a_product2, b_product2};
    logic signed [OutWidth-1:0] result;
    if (Max != 0) begin : gen_max
      logic signed [MaxWidth-1:0] a_scaled, b_scaled;
      assign a_scaled = MaxWidth'(a_product2);
      assign b_scaled = MaxWidth'(b_product2) + offset;
      assign result = (a_scaled > b_scaled) ? OutWidth'(a_scaled) : OutWidth'(b_scaled);
    end else begin : gen_sum
      assign result = OutWidth'(a_product2) + OutWidth'(b_product2);
    end
    always_ff @(posedge clk_i) begin
      a_q <= {(ASigned != 0) && a_data_i[l*AWidth+AWidth-1], a_data_i[l*AWidth +: AWidth]};
      b_q <= {(BSigned != 0) && b_data_i[l*BWidth+BWidth-1], b_data_i[l*BWidth +: BWidth]};
      out_q[l*OutWidth +: OutWidth] <= result;
    end
    if (Stored == 0) begin : gen_constant
      logic signed [AWidth+MulWidth:0] a_product_q, a_product2_q;
      logic signed [BWidth+MulWidth:0] b_product_q, b_product2_q;
      always_ff @(posedge clk_i) begin
        a_product_q  <= a_q * FactorA;
        b_product_q  <= b_q * FactorB;
        a_product2_q <= a_product_q;
        b_product2_q <= b_product_q;
      end
      assign a_product2 = a_product2_q;
      assign b_product2 = b_product2_q;
    end else begin : gen_product
      logic signed [AWidth+MulWidth:0] a_product;
      logic signed [BWidth+MulWidth:0] b_product;
      rhz_mul #(
        .XWidth(AWidth + 1), .XSigned(1), .WWidth(MulWidth), .Style(0), .Stages(2)
      ) u_a (.clk_i, .x_i(a_q), .w_i(factors[0 +: MulWidth]), .product_o(a_product));
      rhz_mul #(
        .XWidth(BWidth + 1), .XSigned(1), .WWidth(MulWidth), .Style(0), .Stages(2)
      ) u_b (.clk_i, .x_i(b_q), .w_i(factors[MulWidth +: MulWidth]), .product_o(b_product));
      assign a_product2 = a_product;
      assign b_product2 = b_product;
    end
  end

  rhz_outbuf #(.Width(Lanes * OutWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(valid[4]),
    .push_data_i(out_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
