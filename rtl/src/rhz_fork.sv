// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One beat into every output; fires when all outputs have a credit.
// Latency = 1 + V. Depth holds for every output; a deeper one is a rhz_fifo
// behind it.
module rhz_fork #(
  parameter int Width   = 8,
  parameter int Outputs = 2,
  parameter int Depth   = 2,
  parameter int Latency = 0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     in_valid_i,
  output logic                     in_ready_o,
  input  logic [Width-1:0]         in_data_i,
  output logic [Outputs-1:0]       out_valid_o,
  input  logic [Outputs-1:0]       out_ready_i,
  output logic [Outputs*Width-1:0] out_data_o
);
  localparam int Lat = 1 + ((Depth > 64) ? 2 : 1);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_fork: Latency %0d given, %0d built", Latency, Lat);
  end

  logic [Outputs-1:0] credit;
  logic fire, push_q;
  logic [Width-1:0] data_q;
  assign in_ready_o = &credit;
  assign fire = in_valid_i && in_ready_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) push_q <= 1'b0;
    else         push_q <= fire;
  end
  always_ff @(posedge clk_i) data_q <= in_data_i;

  for (genvar o = 0; o < Outputs; o++) begin : gen_out
    rhz_outbuf #(.Width(Width), .Depth(Depth)) u_outbuf (
      .clk_i, .rst_ni,
      .credit_o(credit[o]), .take_i(fire), .push_i(push_q), .push_data_i(data_q),
      .out_valid_o(out_valid_o[o]), .out_ready_i(out_ready_i[o]),
      .out_data_o(out_data_o[o*Width +: Width])
    );
  end
endmodule
