// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two places for what passes from one side to the other, so that no path leads through:
// in_ready_o and all outputs come from registers. What comes leaves a cycle later, one a
// cycle. out_valid_o is high as long as anything is here.
module rhz_engine_slice #(
  parameter int Width = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  logic valid_q, spare_q, goes;
  logic [Width-1:0] data_q, spare_data_q;
  assign goes        = !valid_q || out_ready_i;
  assign in_ready_o  = !spare_q;
  assign out_valid_o = valid_q;
  assign out_data_o  = data_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      spare_q <= 1'b0;
    end else begin
      valid_q <= in_valid_i || spare_q || !goes;
      spare_q <= !goes && (in_valid_i || spare_q);
    end
  end
  always_ff @(posedge clk_i) begin
    if (goes)     data_q       <= spare_q ? spare_data_q : in_data_i;
    if (!spare_q) spare_data_q <= in_data_i;
  end
endmodule
