// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Delays Width bits by Stages cycles, without reset, so that tools may use
// shift-register LUTs. Stages = 0 is a wire.
module rhz_delay #(
  parameter int Width  = 1,
  parameter int Stages = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);
  if (Stages == 0) begin : gen_wire
    logic unused;
    assign unused = &{1'b0, clk_i};
    assign data_o = data_i;
  end else if (Stages == 1) begin : gen_one
    logic [Width-1:0] data_q;
    always_ff @(posedge clk_i) data_q <= data_i;
    assign data_o = data_q;
  end else begin : gen_chain
    logic [Stages*Width-1:0] data_q;
    always_ff @(posedge clk_i)
      data_q <= {data_q[(Stages-1)*Width-1:0], data_i};
    assign data_o = data_q[(Stages-1)*Width +: Width];
  end
endmodule
