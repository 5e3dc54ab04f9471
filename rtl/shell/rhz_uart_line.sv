// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A board's serial line as bytes that come and bytes that go, and the reset of
// what stands behind it. Buffer bytes that came are kept, for the line cannot
// wait. A break resets. After configuration reset lasts 256 cycles: iCE40 block
// RAMs cannot be read in the first microseconds.
module rhz_uart_line #(
  parameter int Divisor = 12,  // cycles a bit
  parameter int Buffer  = 64
) (
  input  logic       clk_i,
  input  logic       uart_rx_i,
  output logic       uart_tx_o,
  output logic       rst_no,
  output logic       in_valid_o,
  input  logic       in_ready_i,
  output logic [7:0] in_data_o,
  input  logic       out_valid_i,
  output logic       out_ready_o,
  input  logic [7:0] out_data_i
);
  // Flip-flops are 0 after configuration.
  logic [8:0] start_q = '0;
  logic       rst_q = 1'b0;
  logic       brk;
  always_ff @(posedge clk_i) begin
    if (!start_q[8]) start_q <= start_q + 9'd1;
    rst_q <= start_q[8] && !brk;
  end
  assign rst_no = rst_q;

  // The receiver tells a break from data, so a break does not reset it.
  logic       rx_valid, unused_ready;
  logic [7:0] rx_data;
  rhz_uart_rx #(.Divisor(Divisor)) u_rx (
    .clk_i, .rst_ni(start_q[8]), .rx_i(uart_rx_i), .valid_o(rx_valid),
    .data_o(rx_data), .break_o(brk)
  );
  rhz_fifo #(.Width(8), .Depth(Buffer)) u_buffer (
    .clk_i, .rst_ni(rst_q), .in_valid_i(rx_valid), .in_ready_o(unused_ready),
    .in_data_i(rx_data), .out_valid_o(in_valid_o), .out_ready_i(in_ready_i),
    .out_data_o(in_data_o)
  );
  rhz_uart_tx #(.Divisor(Divisor)) u_tx (
    .clk_i, .rst_ni(rst_q), .valid_i(out_valid_i), .ready_o(out_ready_o),
    .data_i(out_data_i), .tx_o(uart_tx_o)
  );
endmodule
