// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a row or column lies in the border of a box: before_i of them, then inside_i
// that do not, then the rest. load_i begins with the first one, each step_i goes on.
module rhz_engine_border #(
  parameter int BeforeWidth = 4,
  parameter int InsideWidth = 10
) (
  input  logic                   clk_i,
  input  logic                   load_i,
  input  logic [BeforeWidth-1:0] before_i,
  input  logic [InsideWidth-1:0] inside_i,
  input  logic                   step_i,
  output logic                   outside_o
);
  logic [BeforeWidth-1:0] before_q;
  logic [InsideWidth-1:0] inside_q;
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      before_q <= before_i;
      inside_q <= inside_i;
    end else if (step_i) begin
      if (before_q != '0)      before_q <= before_q - BeforeWidth'(1);
      else if (inside_q != '0) inside_q <= inside_q - InsideWidth'(1);
    end
  end
  assign outside_o = before_q != '0 || inside_q == '0;
endmodule
