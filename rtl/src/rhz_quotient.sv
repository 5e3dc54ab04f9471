// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotient of the constant First · 2^Bits + Low and a divisor above First, Bits
// bits. Divisors come at least Interval cycles after one another: the steps, one
// a bit, are made by as many parts in a row as that needs, each of which makes a
// step in every cycle. Latency = Bits.
module rhz_quotient #(
  parameter int Divisor  = 8,   // bits of a divisor
  parameter int Bits     = 16,
  parameter int Interval = 1,
  parameter int First    = 0,
  parameter int Low      = 0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               valid_i,
  input  logic [Divisor-1:0] divisor_i,
  output logic               valid_o,
  output logic [Bits-1:0]    quotient_o
);
  localparam int Steps = (Interval < Bits) ? Interval : Bits;
  localparam int Parts = (Bits + Steps - 1) / Steps;
  localparam logic [31:0] LowBits = 32'(Low);
  localparam bit Ones = Low == (1 << Bits) - 1;

  for (genvar p = 0; p < Parts; p++) begin : gen_part
    localparam int Before = p * Steps;
    localparam int Count  = (p == Parts - 1) ? Bits - Before : Steps;
    localparam int After  = Before + Count;
    logic start, unused_valid;
    logic [Divisor-1:0] rest_in, divisor_in, rest, divisor, rest_q, divisor_q;
    logic [After-1:0] quotient_in, quotient, quotient_q;
    logic [Divisor+1:0] wide, less;
    logic digit, unused_top;
    logic [Count:0] valid;
    if (p == 0) begin : gen_first
      assign start       = valid_i;
      assign rest_in     = Divisor'(First);
      assign divisor_in  = divisor_i;
      assign quotient_in = '0;
    end else begin : gen_next
      assign start       = gen_part[p-1].valid[Steps];
      assign rest_in     = gen_part[p-1].rest_q;
      assign divisor_in  = gen_part[p-1].divisor_q;
      assign quotient_in = After'(gen_part[p-1].quotient_q);
    end
    if (Count == 1) begin : gen_single
      assign rest     = rest_in;
      assign divisor  = divisor_in;
      assign quotient = quotient_in;
    end else begin : gen_again
      assign rest     = start ? rest_in : rest_q;
      assign divisor  = start ? divisor_in : divisor_q;
      assign quotient = start ? quotient_in : quotient_q;
    end
    if (Ones) begin : gen_ones
      assign digit = 1'b1;
    end else if (Count == 1) begin : gen_digit
      assign digit = LowBits[Bits-1-Before];
    end else begin : gen_digits
      logic [Count-1:0] digits, digits_q;
      assign digits = start ? LowBits[Bits-After +: Count] : digits_q;
      assign digit  = digits[Count-1];
      always_ff @(posedge clk_i) digits_q <= digits << 1;
    end
    assign wide = {1'b0, rest, digit};
    assign less = wide - {2'b00, divisor};
    always_ff @(posedge clk_i) begin
      rest_q     <= less[Divisor+1] ? wide[Divisor-1:0] : less[Divisor-1:0];
      divisor_q  <= divisor;
      quotient_q <= After'({quotient, !less[Divisor+1]});
    end
    rhz_valid #(.Stages(Count)) u_valid (.clk_i, .rst_ni, .valid_i(start), .valid_o(valid));
    assign unused_valid = &{1'b0, valid, start};
    assign unused_top   = &{1'b0, wide, less, quotient, rest_q, divisor_q};
  end
  assign valid_o    = gen_part[Parts-1].valid[Bits-(Parts-1)*Steps];
  assign quotient_o = gen_part[Parts-1].quotient_q;
endmodule
