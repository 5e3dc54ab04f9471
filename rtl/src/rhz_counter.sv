// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts 0 .. Count-1 and wraps, one step per enabled cycle. last_o is high at
// Count-1 and comes from a register, so nested loops chain flags, not compares.
// Count = 1 is a constant.
module rhz_counter #(
  parameter int Count = 2,
  parameter int ValueWidth = (Count > 1) ? $clog2(Count) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  en_i,
  output logic [ValueWidth-1:0] value_o,
  output logic                  last_o
);
  if (Count == 1) begin : gen_const
    logic unused;
    assign unused  = &{1'b0, clk_i, rst_ni, en_i};
    assign value_o = '0;
    assign last_o  = 1'b1;
  end else begin : gen_count
    logic [ValueWidth-1:0] value_q, value_d;
    logic last_q;
    localparam bit Wraps = Count == (1 << ValueWidth);
    assign value_d = (last_q && !Wraps) ? '0 : value_q + ValueWidth'(1);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        value_q <= '0;
        last_q  <= 1'b0;
      end else if (en_i) begin
        value_q <= value_d;
        last_q  <= value_d == ValueWidth'(Count - 1);
      end
    end
    assign value_o = value_q;
    assign last_o  = last_q;
  end
endmodule
