// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cell of PluginTest.cpp: of two streams the larger element of each lane.
// One stage before the output buffer: Latency = 1 + V.
module plug_max #(
  parameter int Lanes  = 1,
  parameter int Width  = 8,
  parameter int Signed = 1,
  parameter int Depth  = 2
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   a_valid_i,
  output logic                   a_ready_o,
  input  logic [Lanes*Width-1:0] a_data_i,
  input  logic                   b_valid_i,
  output logic                   b_ready_o,
  input  logic [Lanes*Width-1:0] b_data_i,
  output logic                   out_valid_o,
  input  logic                   out_ready_i,
  output logic [Lanes*Width-1:0] out_data_o
);
  logic credit, fire, push_q;
  logic [Lanes*Width-1:0] data_q;
  assign fire      = a_valid_i && b_valid_i && credit;
  assign a_ready_o = b_valid_i && credit;
  assign b_ready_o = a_valid_i && credit;
  always_ff @(posedge clk_i) push_q <= rst_ni && fire;

  for (genvar l = 0; l < Lanes; l = l + 1) begin : gen_lane
    logic [Width-1:0] a, b;
    logic larger;
    assign a = a_data_i[l*Width +: Width];
    assign b = b_data_i[l*Width +: Width];
    assign larger = (Signed != 0) ? $signed(a) > $signed(b) : a > b;
    always_ff @(posedge clk_i) data_q[l*Width +: Width] <= larger ? a : b;
  end

  rhz_outbuf #(.Width(Lanes * Width), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(push_q),
    .push_data_i(data_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
