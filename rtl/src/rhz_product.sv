// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// out = (a - ZeroA) · (b - ZeroB), lane by lane; one firing pops both inputs.
// Style 1 asks for DSPs, 0 for LUTs. Latency = 4 + V.
module rhz_product #(
  parameter int Lanes    = 1,
  parameter int AWidth   = 8,
  parameter int ASigned  = 1,
  parameter int BWidth   = 8,
  parameter int BSigned  = 1,
  parameter int ZeroA    = 0,
  parameter int ZeroB    = 0,
  parameter int ADiff    = 9,  // signed bits of a - ZeroA
  parameter int BDiff    = 9,
  parameter int OutWidth = 16,
  parameter int Style    = 1,
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
  // A product in LUTs may take the output's stage, too (rhz_mul).
  localparam bit Deep = Style == 0 && ADiff > 4 && BDiff > 4;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_product: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire;
  logic [4:0] valid;
  logic unused_valid;
  assign a_ready_o = credit && b_valid_i;
  assign b_ready_o = credit && a_valid_i;
  assign fire = credit && a_valid_i && b_valid_i;
  assign unused_valid = &{1'b0, valid};
  rhz_valid #(.Stages(4)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));

  logic [Lanes*OutWidth-1:0] out_q;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic signed [AWidth:0] a_q;
    logic signed [BWidth:0] b_q;
    logic signed [ADiff-1:0] a_diff_q;
    logic signed [BDiff-1:0] b_diff_q;
    logic signed [ADiff+BDiff-1:0] product;
    logic unused_sign;
    assign unused_sign = &{1'b0, product};
    always_ff @(posedge clk_i) begin
      a_q <= {(ASigned != 0) && a_data_i[l*AWidth+AWidth-1], a_data_i[l*AWidth +: AWidth]};
      b_q <= {(BSigned != 0) && b_data_i[l*BWidth+BWidth-1], b_data_i[l*BWidth +: BWidth]};
      a_diff_q <= ADiff'(a_q) - ADiff'(ZeroA);
      b_diff_q <= BDiff'(b_q) - BDiff'(ZeroB);
    end
    rhz_mul #(.XWidth(ADiff), .XSigned(1), .WWidth(BDiff), .Style(Style)) u_mul (
      .clk_i, .x_i(a_diff_q), .w_i(b_diff_q), .product_o(product)
    );
    if (Deep) begin : gen_made
      assign out_q[l*OutWidth +: OutWidth] = OutWidth'(product);
    end else begin : gen_delayed
      always_ff @(posedge clk_i) out_q[l*OutWidth +: OutWidth] <= OutWidth'(product);
    end
  end

  rhz_outbuf #(.Width(Lanes * OutWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(valid[4]),
    .push_data_i(out_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
