// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands between a board's serial line and a design of one input and one
// output stream. A frame's bytes come in, the answer's bytes go out; the host
// sends a frame when it has the answer to the one before, and Buffer bytes
// (a frame's) are kept, for the line cannot wait. A break resets the design.
// After configuration reset lasts 256 cycles: iCE40 block RAMs cannot be read
// in the first microseconds.
module rhz_uart_shell #(
  parameter int Divisor   = 12,  // cycles a bit
  parameter int Buffer    = 64,
  parameter int InWidth   = 8,
  parameter int InBeats   = 64,
  parameter int OutWidth  = 8
) (
  input  logic                clk_i,
  input  logic                uart_rx_i,
  output logic                uart_tx_o,
  output logic                rst_no,
  output logic                m_axis_tvalid,
  input  logic                m_axis_tready,
  output logic [InWidth-1:0]  m_axis_tdata,
  output logic                m_axis_tlast,
  input  logic                s_axis_tvalid,
  output logic                s_axis_tready,
  input  logic [OutWidth-1:0] s_axis_tdata
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
  logic       rx_valid, unused_ready, byte_valid, byte_ready;
  logic [7:0] rx_data, byte_data;
  rhz_uart_rx #(.Divisor(Divisor)) u_rx (
    .clk_i, .rst_ni(start_q[8]), .rx_i(uart_rx_i), .valid_o(rx_valid),
    .data_o(rx_data), .break_o(brk)
  );
  rhz_fifo #(.Width(8), .Depth(Buffer)) u_buffer (
    .clk_i, .rst_ni(rst_q), .in_valid_i(rx_valid), .in_ready_o(unused_ready),
    .in_data_i(rx_data), .out_valid_o(byte_valid), .out_ready_i(byte_ready),
    .out_data_o(byte_data)
  );
  rhz_bytes_to_axis #(.DataWidth(InWidth), .FrameBeats(InBeats)) u_in (
    .clk_i, .rst_ni(rst_q), .in_valid_i(byte_valid), .in_ready_o(byte_ready),
    .in_data_i(byte_data), .m_axis_tvalid, .m_axis_tready, .m_axis_tdata,
    .m_axis_tlast
  );

  logic       tx_valid, tx_ready;
  logic [7:0] tx_data;
  rhz_axis_to_bytes #(.DataWidth(OutWidth)) u_out (
    .clk_i, .rst_ni(rst_q), .s_axis_tvalid, .s_axis_tready, .s_axis_tdata,
    .out_valid_o(tx_valid), .out_ready_i(tx_ready), .out_data_o(tx_data)
  );
  rhz_uart_tx #(.Divisor(Divisor)) u_tx (
    .clk_i, .rst_ni(rst_q), .valid_i(tx_valid), .ready_o(tx_ready),
    .data_i(tx_data), .tx_o(uart_tx_o)
  );
endmodule
