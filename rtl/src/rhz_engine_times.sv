// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The product of a byte and a weight, both signed, in 40 LUTs: the weight's four digits in
// base 4 are -2 to 2, and a bit of a digit's multiple is a function of the digit and two
// bits of the byte, which the LUT of an adder has room for. A negative multiple is
// inverted; the ones that this lacks are known from the weight alone and are what the sum
// begins with. The product comes two cycles after its operands.
module rhz_engine_times (
  input  logic        clk_i,
  input  logic [7:0]  byte_i,
  input  logic [7:0]  weight_i,
  output logic [15:0] product_o
);
  function automatic logic [9:0] multiple(input logic [2:0] digit, input logic [7:0] of);
    logic [8:0] part;
    part = (digit == 3'b000 || digit == 3'b111) ? 9'd0
             : (digit == 3'b011 || digit == 3'b100) ? {of, 1'b0} : {of[7], of};
    multiple = {part[8], part} ^ {10{digit[2]}};
  endfunction

  // Two digits, a register, and the other two.
  logic [7:0] byte_q;
  logic [4:0] weight_q;      // its upper bits
  logic [3:0] low_q;
  logic [7:0] high_q;
  logic [9:0] first, second, third, fourth;
  assign first  = {3'b0, weight_i[7], 1'b0, weight_i[5], 1'b0, weight_i[3], 1'b0, weight_i[1]} +
                  multiple({weight_i[1:0], 1'b0}, byte_i);
  assign second = 10'($signed(first[9:2])) + multiple(weight_i[3:1], byte_i);
  always_ff @(posedge clk_i) begin
    byte_q   <= byte_i;
    weight_q <= weight_i[7:3];
    low_q    <= {second[1:0], first[1:0]};
    high_q   <= second[9:2];
  end
  assign third  = 10'($signed(high_q)) + multiple(weight_q[2:0], byte_q);
  assign fourth = 10'($signed(third[9:2])) + multiple(weight_q[4:2], byte_q);
  always_ff @(posedge clk_i) product_o <= {fourth, third[1:0], low_q};
endmodule
