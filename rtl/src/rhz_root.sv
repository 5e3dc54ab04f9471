// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The integer square root of a number of 2 · Bits bits. Numbers come at least
// Interval cycles after one another, as for rhz_quotient. Latency = Bits.
module rhz_root #(
  parameter int Bits     = 16,
  parameter int Interval = 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              valid_i,
  input  logic [2*Bits-1:0] square_i,
  output logic              valid_o,
  output logic [Bits-1:0]   root_o
);
  localparam int Steps = (Interval < Bits) ? Interval : Bits;
  localparam int Parts = (Bits + Steps - 1) / Steps;

  for (genvar p = 0; p < Parts; p++) begin : gen_part
    localparam int Before = p * Steps;
    localparam int Count  = (p == Parts - 1) ? Bits - Before : Steps;
    localparam int Left   = 2 * (Bits - Before);   // digits that are to come
    logic start, unused;
    logic [Bits:0] rest_in, rest, rest_q;
    logic [Bits-1:0] root_in, root, root_q;
    logic [Left-1:0] square_in, square, square_q;
    logic [Bits+3:0] wide, less;
    logic [Count:0] valid;
    if (p == 0) begin : gen_first
      assign start     = valid_i;
      assign rest_in   = '0;
      assign root_in   = '0;
      assign square_in = square_i;
    end else begin : gen_next
      assign start     = gen_part[p-1].valid[Steps];
      assign rest_in   = gen_part[p-1].rest_q;
      assign root_in   = gen_part[p-1].root_q;
      assign square_in = gen_part[p-1].square_q[2*(Bits-Before+Steps)-1 -: Left];
    end
    if (Count == 1) begin : gen_single
      assign rest   = rest_in;
      assign root   = root_in;
      assign square = square_in;
    end else begin : gen_again
      assign rest   = start ? rest_in : rest_q;
      assign root   = start ? root_in : root_q;
      assign square = start ? square_in : square_q;
    end
    assign wide = {1'b0, rest, square[Left-1 -: 2]};
    assign less = wide - {2'b00, root, 2'b01};
    always_ff @(posedge clk_i) begin
      rest_q   <= less[Bits+3] ? wide[Bits:0] : less[Bits:0];
      root_q   <= {root[Bits-2:0], !less[Bits+3]};
      square_q <= square << 2;
    end
    rhz_valid #(.Stages(Count)) u_valid (.clk_i, .rst_ni, .valid_i(start), .valid_o(valid));
    assign unused = &{1'b0, valid, start, root, wide, less, square_q, rest_q};
  end
  assign valid_o = gen_part[Parts-1].valid[Bits-(Parts-1)*Steps];
  assign root_o  = gen_part[Parts-1].root_q;
endmodule
