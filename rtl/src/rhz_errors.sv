// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts of frames with mistakes, of a port and of the units behind it, as one: their
// sum, a cycle later. It saturates.
module rhz_errors #(
  parameter int Count = 2
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [16*Count-1:0] err_i,
  output logic [15:0]         err_o
);
  localparam int SumW = 16 + $clog2(Count + 1);
  logic [SumW-1:0] sum;
  always_comb begin
    sum = '0;
    for (int i = 0; i < Count; i++) sum = sum + SumW'(err_i[16*i +: 16]);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) err_o <= '0;
    else         err_o <= (sum[SumW-1:16] != '0) ? '1 : sum[15:0];
  end
endmodule
