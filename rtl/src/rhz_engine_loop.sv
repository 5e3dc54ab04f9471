// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One loop of a nest whose count an instruction says: load_i takes count_i, of which
// single_i says whether it is 1, each step_i goes on by one, last_o is high in the last of
// every count_i steps and comes from a register. After it the loop begins again by itself.
module rhz_engine_loop #(
  parameter int Width = 10
) (
  input  logic             clk_i,
  input  logic             load_i,
  input  logic [Width-1:0] count_i,
  input  logic             single_i,
  input  logic             step_i,
  output logic             last_o
);
  logic [Width-1:0] count_q, left_q;
  logic single_q, last_q;
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      count_q  <= count_i;
      left_q   <= count_i;
      single_q <= single_i;
      last_q   <= single_i;
    end else if (step_i) begin
      left_q <= last_q ? count_q : left_q - Width'(1);
      last_q <= last_q ? single_q : left_q == Width'(2);
    end
  end
  assign last_o = last_q;
endmodule
