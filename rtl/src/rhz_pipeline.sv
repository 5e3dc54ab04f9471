// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Issue stage and output buffer around a datapath that stands beside it: a
// pipeline of Stages registers that never stalls (0: logic alone). data_i is
// what it makes of the beat that fired Stages cycles ago. Latency = Stages + V.
module rhz_pipeline #(
  parameter int Width   = 8,
  parameter int Stages  = 1,
  parameter int Depth   = 2,
  parameter int Latency = 0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  localparam int Lat = Stages + ((Depth > 64) ? 2 : 1);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_pipeline: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire, push;
  assign in_ready_o = credit;
  assign fire = in_valid_i && credit;

  if (Stages == 0) begin : gen_logic
    assign push = fire;
  end else begin : gen_stages
    logic [Stages:0] valid;
    logic unused;
    rhz_valid #(.Stages(Stages)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));
    assign push   = valid[Stages];
    assign unused = &{1'b0, valid};
  end

  rhz_outbuf #(.Width(Width), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(push),
    .push_data_i(data_i), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
