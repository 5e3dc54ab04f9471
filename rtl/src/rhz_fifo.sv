// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A FIFO between actors: an output buffer with an issue stage of its own, one
// beat a cycle. Latency = 1 + V.
module rhz_fifo #(
  parameter int Width   = 8,
  parameter int Depth   = 2,
  parameter int Latency = 0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  rhz_fork #(.Width(Width), .Outputs(1), .Depth(Depth), .Latency(Latency)) u_fork (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i,
    .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
