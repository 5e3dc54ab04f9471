// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// acc + across·rows for Digits radix-4 digits of the rows' bits (Booth's, each
// -2 .. 2 by two bits and the one under them, which rows_i begins with). A digit
// is one carry chain: a row is subtracted inverted, and the digit's sign comes
// in as the carry, so that a LUT of six inputs holds a row's bit and its adder.
// acc_i is signed, in place of the lowest digit. Combinational.
module rhz_digits #(
  parameter int Across       = 8,
  parameter int AcrossSigned = 0,
  parameter int Digits       = 2,
  parameter int Width        = Across + 2   // signed bits of acc and of a row
) (
  input  logic [Across-1:0]         across_i,
  input  logic [2*Digits:0]         rows_i,
  input  logic [Width-1:0]          acc_i,
  output logic [Width+2*Digits-3:0] sum_o
);
  logic [Width-1:0] once, twice;
  assign once  = {{2{(AcrossSigned != 0) && across_i[Across-1]}}, across_i};
  assign twice = once << 1;
  for (genvar d = 0; d < Digits; d++) begin : gen_digit
    logic [Width-1:0] below, row, after;
    logic [2:0] code;
    logic unused;
    assign code = rows_i[2*d +: 3];
    assign row  = {Width{code[2]}} ^ ((code[1] ^ code[0]) ? once
                                      : (code[2] ^ code[1]) ? twice : '0);
    if (d == 0) begin : gen_first
      assign below = acc_i;
    end else begin : gen_next
      assign below = Width'($signed(gen_digit[d-1].after[Width-1:2]));
    end
    assign {after, unused} = {below, code[2]} - {~row, 1'b1};
    if (d == Digits - 1) begin : gen_top
      assign sum_o[2*d +: Width] = after;
    end else begin : gen_low
      assign sum_o[2*d +: 2] = after[1:0];
    end
  end
endmodule
