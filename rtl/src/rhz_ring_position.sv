// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Place in a ring of Count, from 0 on. An enabled cycle goes Full places on, or
// Last ones where last_i is high; neither is above Count.
module rhz_ring_position #(
  parameter int Count = 5,
  parameter int Full  = 2,
  parameter int Last  = 1
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     en_i,
  input  logic                     last_i,
  output logic [$clog2(Count)-1:0] at_o
);
  localparam int W = $clog2(Count);
  // The top bit of the second sum tells that the ring's end lies ahead still.
  logic [W-1:0] at_q;
  logic [W:0] ahead, around;
  assign ahead  = {1'b0, at_q} + (last_i ? (W+1)'(Last) : (W+1)'(Full));
  assign around = {1'b0, at_q} + (last_i ? (W+1)'(Last - Count) : (W+1)'(Full - Count));
  logic unused;
  assign unused = ahead[W];
  always_ff @(posedge clk_i) begin
    if (!rst_ni)   at_q <= '0;
    else if (en_i) at_q <= around[W] ? ahead[W-1:0] : around[W-1:0];
  end
  assign at_o = at_q;
endmodule
