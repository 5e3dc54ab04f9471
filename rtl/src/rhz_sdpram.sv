// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simple dual-port memory, one clock: write in cycle t, readable by an address
// of cycle t + 1. The read data passes a data register and, with Stages = 2, an
// output register. Equal addresses in one cycle never matter to our callers. It
// is in UltraRAM (Ultra = 1), or where synthesis puts a memory of its shape.
module rhz_sdpram #(
  parameter int Width  = 8,
  parameter int Words  = 2,
  parameter int Stages = 2,
  parameter int Ultra  = 0,
  parameter int AddrWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                 clk_i,
  input  logic                 we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     wdata_i,
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o
);
  logic [Width-1:0] rdata_q;

  if (Words == 1) begin : gen_one
    logic [Width-1:0] word_q;
    logic unused;
    assign unused = &{1'b0, waddr_i, raddr_i};
    always_ff @(posedge clk_i) begin
      if (we_i) word_q <= wdata_i;
      if (re_i) rdata_q <= word_q;
    end
  end else if (Ultra != 0) begin : gen_ultra
    (* ram_style = "ultra", ramstyle = "no_rw_check" *) logic [Width-1:0] mem [0:Words-1];
    always_ff @(posedge clk_i) begin
      if (we_i) mem[waddr_i] <= wdata_i;
      if (re_i) rdata_q <= mem[raddr_i];
    end
  end else begin : gen_many
    logic [Width-1:0] mem [0:Words-1];
    always_ff @(posedge clk_i) begin
      if (we_i) mem[waddr_i] <= wdata_i;
      if (re_i) rdata_q <= mem[raddr_i];
    end
  end

  rhz_delay #(.Width(Width), .Stages(Stages - 1)) u_out (
    .clk_i, .data_i(rdata_q), .data_o(rdata_o)
  );
endmodule
