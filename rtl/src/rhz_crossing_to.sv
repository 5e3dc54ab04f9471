// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The half of a crossing on the die that receives: Registers behind the border
// for beats, as many before it for freed places, and the buffer.
module rhz_crossing_to #(
  parameter int Width     = 8,
  parameter int Registers = 1,
  parameter int Depth     = 6
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic [Width-1:0] data_i,
  output logic             freed_o,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  logic [Registers:0] valid, freed;
  (* shreg_extract = "no" *) logic [Registers*Width-1:0] data_q;
  logic unused;

  rhz_valid #(.Stages(Registers)) u_valid (.clk_i, .rst_ni, .valid_i, .valid_o(valid));
  if (Registers == 1) begin : gen_one
    always_ff @(posedge clk_i) data_q <= data_i;
  end else begin : gen_chain
    always_ff @(posedge clk_i) data_q <= {data_q[(Registers-1)*Width-1:0], data_i};
  end
  rhz_valid #(.Stages(Registers)) u_freed (
    .clk_i, .rst_ni, .valid_i(out_valid_o && out_ready_i), .valid_o(freed)
  );
  assign freed_o = freed[Registers];

  // The sender counts the free places.
  logic unused_credit;
  rhz_outbuf #(.Width(Width), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(unused_credit), .take_i(valid[Registers]),
    .push_i(valid[Registers]), .push_data_i(data_q[(Registers-1)*Width +: Width]),
    .out_valid_o, .out_ready_i, .out_data_o
  );
  assign unused = &{1'b0, valid, freed, unused_credit};
endmodule
