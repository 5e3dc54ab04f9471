// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read-only memory, Words words of Width bits from a hex file (one word a
// line), read in Stages = 1 (data register) or 2 (and an output register)
// cycles. The tool chooses the kind of memory. Without a file all words are 0.
module rhz_rom #(
  parameter int Width  = 8,
  parameter int Words  = 2,
  parameter int Stages = 2,
  parameter     File   = "",
  parameter int AddrWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                 clk_i,
  input  logic [AddrWidth-1:0] addr_i,
  output logic [Width-1:0]     data_o
);
  logic [Width-1:0] mem [0:Words-1];
  logic [Width-1:0] data_q;

  if (File == "") begin : gen_zero
    initial for (int i = 0; i < Words; i++) mem[i] = '0;
  end else begin : gen_file
    initial $readmemh(File, mem);
  end

  if (Words == 1) begin : gen_one
    logic unused;
    assign unused = &{1'b0, addr_i};
    always_ff @(posedge clk_i) data_q <= mem[0];
  end else begin : gen_many
    always_ff @(posedge clk_i) data_q <= mem[addr_i];
  end

  rhz_delay #(.Width(Width), .Stages(Stages - 1)) u_out (
    .clk_i, .data_i(data_q), .data_o
  );
endmodule
