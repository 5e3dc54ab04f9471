// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream from one die to the next. Each half is placed on its die; every wire
// between them runs from a register to a register, without logic. Registers
// counts those that a beat passes. Latency = Registers + V; a place that is
// freed can be used Registers cycles later than in other buffers.
module rhz_crossing #(
  parameter int Width     = 8,
  parameter int Registers = 2,
  parameter int Depth     = 6,
  parameter int Latency   = 0
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
  localparam int Lat = Registers + ((Depth > 64) ? 2 : 1);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_crossing: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Registers < 2) begin : gen_bad_registers
    initial $fatal(1, "rhz_crossing: Registers %0d, one on each side are needed", Registers);
  end

  logic valid, freed;
  logic [Width-1:0] data;
  rhz_crossing_from #(.Width(Width), .Depth(Depth)) u_from (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i,
    .valid_o(valid), .data_o(data), .freed_i(freed)
  );
  rhz_crossing_to #(.Width(Width), .Registers(Registers - 1), .Depth(Depth)) u_to (
    .clk_i, .rst_ni, .valid_i(valid), .data_i(data), .freed_o(freed),
    .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
