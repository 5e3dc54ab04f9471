// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// UART receiver, 8 data bits, no parity: a byte for one cycle on valid_o, no
// way to refuse it. Bits are sampled in their middle, Divisor cycles apart. A
// line that stays low through the stop bit is a break: break_o is high until
// the line is high again, and nothing is received.
module rhz_uart_rx #(
  parameter int Divisor = 12   // cycles a bit, at least 3
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       rx_i,
  output logic       valid_o,
  output logic [7:0] data_o,
  output logic       break_o
);
  localparam int CW = $clog2(Divisor + Divisor / 2 + 1);
  if (Divisor < 3) begin : gen_bad_divisor
    initial $fatal(1, "rhz_uart_rx: Divisor %0d, at least 3 are needed", Divisor);
  end

  logic rx1_q, rx_q;
  always_ff @(posedge clk_i) begin
    rx1_q <= rx_i;
    rx_q  <= rx1_q;
  end

  // The start bit is met one to two cycles late; the first data bit's middle is
  // one and a half bits behind its edge.
  logic busy_q, break_q, valid_q;
  logic [CW-1:0] wait_q;
  logic [3:0]    bit_q;      // 0 to 7 data, 8 stop
  logic [7:0]    shift_q;
  always_ff @(posedge clk_i) begin
    valid_q <= 1'b0;
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      break_q <= 1'b0;
      wait_q  <= '0;
      bit_q   <= '0;
    end else if (break_q) begin
      break_q <= !rx_q;
    end else if (!busy_q) begin
      busy_q <= !rx_q;
      wait_q <= CW'(Divisor + Divisor / 2 - 2);
      bit_q  <= '0;
    end else if (wait_q != '0) begin
      wait_q <= wait_q - CW'(1);
    end else begin
      wait_q <= CW'(Divisor - 1);
      bit_q  <= bit_q + 4'd1;
      if (bit_q == 4'd8) begin
        busy_q  <= 1'b0;
        valid_q <= rx_q;
        break_q <= !rx_q;
      end
    end
  end
  always_ff @(posedge clk_i)
    if (busy_q && wait_q == '0 && bit_q != 4'd8) shift_q <= {rx_q, shift_q[7:1]};

  assign valid_o = valid_q;
  assign data_o  = shift_q;
  assign break_o = break_q;
endmodule
