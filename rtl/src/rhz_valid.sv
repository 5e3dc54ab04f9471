// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline of control bits, cleared by reset: bit k of valid_o is the input
// of k cycles ago, bit 0 the input itself.
module rhz_valid #(
  parameter int Stages = 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            valid_i,
  output logic [Stages:0] valid_o
);
  logic [Stages:1] valid_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= valid_o[Stages-1:0];
  end
  assign valid_o = {valid_q, valid_i};
endmodule
