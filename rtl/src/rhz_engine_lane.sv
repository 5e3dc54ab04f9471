// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lane of the vector unit. A byte comes in stage 1 with what it is for: a constant, the
// held operand (a of add and multiply, the weight of dot) or a pixel's. In stage 3 the
// sum comes, in stage 7 the product for the accumulators leaves, and the result leaves in
// stage 11, of requantize in stage 12, of maximum in stage 4, of table in stage 5.
// Constants go through a chain of twelve bytes: o in the last six, before it m of 35
// bits, or m and n of 24 bits each. With line_i, a pixel's word and the two before it are
// three taps of a row of dot: the word is multiplied by the last weight, the one before
// it by the middle one, in the first DSP, and the oldest one by the first weight, which
// comes to the first DSP as a constant.
module rhz_engine_lane #(
  parameter int Wide    = 1,
  parameter int SumBits = 27
) (
  input  logic               clk_i,
  // The instruction.
  input  logic               requantize_i,
  input  logic               add_i,
  input  logic               maximum_i,
  input  logic               table_i,
  input  logic               line_i,
  input  logic               clear_i,    // of the constants, as it starts
  input  logic [1:0]         shift_i,
  input  logic [7:0]         low_i,
  input  logic [7:0]         high_i,
  // Stage 1.
  input  logic [7:0]         byte_i,
  input  logic               constant_i,
  input  logic               tap_i,
  input  logic               tap_first_i,
  input  logic               shift_in_i,
  // Stages 2 and 3: all constants are there, this is the held operand.
  input  logic               constants2_i,
  input  logic               constants3_i,
  input  logic               held2_i,
  input  logic               held3_i,
  input  logic               first2_i,   // the first and the middle weight of a line
  input  logic               middle2_i,
  input  logic [SumBits-1:0] sum_i,
  input  logic [7:0]         table_byte_i,
  output logic [16:0]        product_o,
  output logic [7:0]         result_o
);
  logic [95:0] chain_q;
  logic [7:0] byte2_q, byte3_q;
  always_ff @(posedge clk_i) begin
    if (clear_i)         chain_q <= '0;
    else if (constant_i) chain_q <= {byte_i, chain_q[95:8]};
    byte2_q <= byte_i;
    byte3_q <= byte2_q;
  end
  // The words before, as they come and for this one, and the oldest one's product.
  logic [7:0] before_q, oldest_q, before2_q, oldest2_q, weight_q;
  logic [15:0] third4, oldest;
  always_ff @(posedge clk_i) begin
    if (shift_in_i) begin
      before_q <= byte_i;
      oldest_q <= before_q;
    end
    before2_q <= before_q;
    oldest2_q <= oldest_q;
    if (first2_i) weight_q <= byte2_q;
  end
  rhz_engine_times u_third (
    .clk_i, .byte_i(oldest2_q), .weight_i(weight_q), .product_o(third4)
  );
  logic [34:0] m;
  assign m = chain_q[42:8];
  logic unused_top;
  assign unused_top = chain_q[95];

  logic [26:0] sum;
  logic [17:0] y1, y2;
  logic [23:0] d1, d2;
  logic [46:0] c;
  logic [47:0] p;
  assign sum = 27'($signed(sum_i));
  // The operands of add count four times.
  logic [17:0] operand2, operand3;
  assign operand2 = add_i ? 18'($signed({byte2_q, 2'b00})) : 18'($signed(byte2_q));
  assign operand3 = add_i ? 18'($signed({byte3_q, 2'b00})) : 18'($signed(byte3_q));
  assign y1  = constants2_i ? {1'b0, m[16:0]} : line_i ? 18'($signed(before2_q)) : operand2;
  assign d1  = constants2_i ? chain_q[23:0] : 24'($signed(byte2_q));
  // The oldest word's product has 2^15 more, so that nothing is above its bits: dot has no
  // constants.
  assign oldest = {!third4[15], third4[14:0]} & {16{line_i}};
  assign c      = chain_q[94:48] | 47'(oldest);
  assign y2  = constants3_i ? m[34:17] : operand3;
  assign d2  = constants3_i ? chain_q[47:24] : 24'($signed(byte3_q));
  rhz_engine_multiply #(.Wide(Wide)) u_multiply (
    .clk_i, .held_i(!requantize_i), .adds_i(requantize_i || add_i || line_i),
    .shifts_i(requantize_i), .sum_i(sum),
    .load_d1_i(constants2_i || middle2_i), .d1_i(d1),
    .load_c_i(constants2_i || line_i), .c_i(c),
    .load_y1_i(constants2_i || held2_i || line_i),
    .y1_i(y1),
    .load_d2_i(constants3_i || (held3_i && !add_i)),
    .d2_i(d2),
    .load_y2_i(constants3_i || !requantize_i),
    .y2_i(y2), .p_o(p)
  );
  // Without the 2^15.
  assign product_o = {p[16] ^ (line_i && !p[15]), p[15] ^ line_i, p[14:0]};

  // Stage 8: the byte that the shift picks, and which bytes above hold only the sign.
  // Stage 9: the nearest signed byte. Stage 10: the value that is left between bounds.
  logic [7:0] picked, picked_q, nearest_q;
  logic [5:1] sign_only_q;
  logic sign_q, over;
  rhz_mux #(.Width(8), .Count(4)) u_picked (.sel_i(shift_i), .data_i(p[31:0]), .data_o(picked));
  always_comb begin
    over = picked_q[7] != sign_q;
    for (int k = 1; k < 6; k++)
      if ((k > 3 || shift_i < 2'(k)) && !sign_only_q[k]) over = 1'b1;
  end
  always_ff @(posedge clk_i) begin
    picked_q <= picked;
    sign_q   <= p[47];
    for (int k = 1; k < 6; k++) sign_only_q[k] <= p[k*8 +: 8] == {8{p[47]}};
    nearest_q <= over ? {sign_q, {7{!sign_q}}} : picked_q;
  end

  logic signed [7:0] greatest_q, value_q;
  always_ff @(posedge clk_i)
    if (tap_i && (tap_first_i || $signed(byte_i) > greatest_q)) greatest_q <= byte_i;
  always_ff @(posedge clk_i) begin
    value_q <= maximum_i ? greatest_q : table_i ? table_byte_i : nearest_q;
    if (value_q < $signed(low_i))       result_o <= low_i;
    else if (value_q > $signed(high_i)) result_o <= high_i;
    else                                result_o <= value_q;
  end
endmodule
