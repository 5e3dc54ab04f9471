// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read-only memory, Words words of Width bits from a hex file (one word a
// line), read in Stages = 1 (data register) or 2 (and an output register)
// cycles. Block = 1 puts it into block RAM, 0 into LUTs; tools name the latter
// differently. Without a file all words are 0.
`ifdef YOSYS
`define RHZ_ROM_LUTS romstyle = "logic"
`else
`define RHZ_ROM_LUTS rom_style = "distributed", romstyle = "logic"
`endif
module rhz_rom #(
  parameter int Width  = 8,
  parameter int Words  = 2,
  parameter int Stages = 2,
  parameter int Block  = 0,
  parameter     File   = "",
  parameter int AddrWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                 clk_i,
  input  logic [AddrWidth-1:0] addr_i,
  output logic [Width-1:0]     data_o
);
  logic [Width-1:0] data_q;

  if (File == "") begin : gen_zero
    logic unused;
    assign unused = &{1'b0, addr_i};
    always_ff @(posedge clk_i) data_q <= '0;
  end else if (Words == 1) begin : gen_one
    logic [Width-1:0] mem [0:0];
    logic unused;
    initial $readmemh(File, mem);
    assign unused = &{1'b0, addr_i};
    always_ff @(posedge clk_i) data_q <= mem[0];
  end else if (Block != 0) begin : gen_block
    (* rom_style = "block", romstyle = "block" *) logic [Width-1:0] mem [0:Words-1];
    initial $readmemh(File, mem);
    always_ff @(posedge clk_i) data_q <= mem[addr_i];
  end else begin : gen_luts
    (* `RHZ_ROM_LUTS *) logic [Width-1:0] mem [0:Words-1];
    initial $readmemh(File, mem);
    always_ff @(posedge clk_i) data_q <= mem[addr_i];
  end

  rhz_delay #(.Width(Width), .Stages(Stages - 1)) u_out (
    .clk_i, .data_i(data_q), .data_o
  );
endmodule
`undef RHZ_ROM_LUTS
