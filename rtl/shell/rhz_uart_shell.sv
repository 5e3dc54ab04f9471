// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands between a board's serial line and a design of one input and one
// output stream. A frame's bytes come in, the answer's bytes go out; the host
// sends a frame when it has the answer to the one before, and Buffer is a
// frame's bytes.
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
  logic       in_valid, in_ready, out_valid, out_ready;
  logic [7:0] in_data, out_data;
  rhz_uart_line #(.Divisor(Divisor), .Buffer(Buffer)) u_line (
    .clk_i, .uart_rx_i, .uart_tx_o, .rst_no, .in_valid_o(in_valid),
    .in_ready_i(in_ready), .in_data_o(in_data), .out_valid_i(out_valid),
    .out_ready_o(out_ready), .out_data_i(out_data)
  );
  rhz_bytes_to_axis #(.DataWidth(InWidth), .FrameBeats(InBeats)) u_in (
    .clk_i, .rst_ni(rst_no), .in_valid_i(in_valid), .in_ready_o(in_ready),
    .in_data_i(in_data), .m_axis_tvalid, .m_axis_tready, .m_axis_tdata,
    .m_axis_tlast
  );
  rhz_axis_to_bytes #(.DataWidth(OutWidth)) u_out (
    .clk_i, .rst_ni(rst_no), .s_axis_tvalid, .s_axis_tready, .s_axis_tdata,
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(out_data)
  );
endmodule
