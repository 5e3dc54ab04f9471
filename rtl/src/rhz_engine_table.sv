// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table of 256 bytes for two lanes, in block RAM (Block = 1) or in LUTs. A write takes
// the first lane's port. Latency = 2.
module rhz_engine_table #(
  parameter int Block = 1
) (
  input  logic       clk_i,
  input  logic       we_i,
  input  logic [7:0] waddr_i,
  input  logic [7:0] wdata_i,
  input  logic [7:0] first_i,
  input  logic [7:0] second_i,
  output logic [7:0] first_o,
  output logic [7:0] second_o
);
  logic [7:0] addr, first_q, second_q;
  assign addr = we_i ? waddr_i : first_i;
  if (Block != 0) begin : gen_block
    (* ram_style = "block" *) logic [7:0] mem [0:255];
    always_ff @(posedge clk_i) begin
      if (we_i) mem[addr] <= wdata_i;
      first_q <= mem[addr];
    end
    always_ff @(posedge clk_i) second_q <= mem[second_i];
  end else begin : gen_luts
    (* ram_style = "distributed" *) logic [7:0] mem [0:255];
    always_ff @(posedge clk_i) begin
      if (we_i) mem[addr] <= wdata_i;
      first_q <= mem[addr];
    end
    always_ff @(posedge clk_i) second_q <= mem[second_i];
  end
  always_ff @(posedge clk_i) begin
    first_o  <= first_q;
    second_o <= second_q;
  end
endmodule
