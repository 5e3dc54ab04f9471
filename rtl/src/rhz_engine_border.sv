// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a row or column lies in the border of a box: before_i of them, then inside_i
// that do not, then the rest. load_i begins with the first one, each step_i goes on, and
// restart_i goes back to the first one.
module rhz_engine_border #(
  parameter int BeforeWidth = 4,
  parameter int InsideWidth = 10
) (
  input  logic                   clk_i,
  input  logic                   load_i,
  input  logic [BeforeWidth-1:0] before_i,
  input  logic [InsideWidth-1:0] inside_i,
  input  logic                   restart_i,
  input  logic                   step_i,
  output logic                   outside_o
);
  logic [BeforeWidth-1:0] before_q;
  logic [InsideWidth-1:0] inside_q;
  logic is_before_q, is_inside_q;   // before_q and inside_q are not 0
  logic [BeforeWidth-1:0] all_before_q;
  logic [InsideWidth-1:0] all_inside_q;
  logic any_before_q, any_inside_q;
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      all_before_q <= before_i;
      all_inside_q <= inside_i;
      any_before_q <= before_i != '0;
      any_inside_q <= inside_i != '0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (restart_i) begin
      before_q    <= all_before_q;
      is_before_q <= any_before_q;
      inside_q    <= all_inside_q;
      is_inside_q <= any_inside_q;
    end else if (load_i) begin
      before_q    <= before_i;
      is_before_q <= before_i != '0;
      inside_q    <= inside_i;
      is_inside_q <= inside_i != '0;
    end else if (step_i) begin
      if (is_before_q) begin
        before_q    <= before_q - BeforeWidth'(1);
        is_before_q <= before_q != BeforeWidth'(1);
      end else if (is_inside_q) begin
        inside_q    <= inside_q - InsideWidth'(1);
        is_inside_q <= inside_q != InsideWidth'(1);
      end
    end
  end
  assign outside_o = is_before_q || !is_inside_q;
endmodule
