// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounds of different lengths: last_o is high in the last step of each. A round
// has limit_i + 1 steps, taken when the round before ends; the first one has
// First + 1. Like that of rhz_counter, last_o comes from a register.
module rhz_countdown #(
  parameter int Width = 1,
  parameter int First = 0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             en_i,
  input  logic [Width-1:0] limit_i,
  output logic             last_o
);
  logic [Width-1:0] left_q, left_d;
  logic last_q;
  assign left_d = last_q ? limit_i : left_q - Width'(1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= Width'(First);
      last_q <= First == 0;
    end else if (en_i) begin
      left_q <= left_d;
      last_q <= left_d == '0;
    end
  end
  assign last_o = last_q;
endmodule
