// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// UART transmitter, 8 data bits, no parity, one stop bit, Divisor cycles a bit.
module rhz_uart_tx #(
  parameter int Divisor = 12
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  output logic       tx_o
);
  localparam int CW = (Divisor > 1) ? $clog2(Divisor) : 1;
  logic [CW-1:0] wait_q;
  logic [9:0]    shift_q;   // what is still to be sent, a one above the stop bit
  logic          busy_q, tx_q;
  assign ready_o = !busy_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      tx_q    <= 1'b1;
      wait_q  <= '0;
      shift_q <= 10'd1;
    end else if (!busy_q) begin
      busy_q  <= valid_i;
      tx_q    <= !valid_i;
      wait_q  <= CW'(Divisor - 1);
      shift_q <= {2'b11, data_i};
    end else if (wait_q != '0) begin
      wait_q <= wait_q - CW'(1);
    end else begin
      wait_q  <= CW'(Divisor - 1);
      busy_q  <= shift_q != 10'd1;
      tx_q    <= shift_q[0];
      shift_q <= {1'b0, shift_q[9:1]};
    end
  end
  assign tx_o = tx_q;
endmodule
