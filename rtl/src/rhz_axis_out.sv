// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a stream to AXI4-Stream: elements packed little-endian over beats,
// frames padded with zero bits to whole beats, TLAST on the frame's last. A
// gearbox in units that divide both widths; its timing is ours.
module rhz_axis_out #(
  parameter int DataWidth     = 64,
  parameter int Elem          = 8,
  parameter int Lanes         = 1,
  parameter int FrameElements = 16,
  parameter int Row           = 16,
  parameter int Depth         = 2,
  parameter int Latency       = 0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [Lanes*Elem-1:0] in_data_i,
  output logic [DataWidth-1:0]  m_axis_tdata,
  output logic                  m_axis_tvalid,
  input  logic                  m_axis_tready,
  output logic                  m_axis_tlast
);
  function automatic int gcd(input int a, input int b);
    int u;
    int v;
    int w;
    u = a;
    v = b;
    while (v != 0) begin
      w = u % v;
      u = v;
      v = w;
    end
    gcd = u;
  endfunction
  localparam int Unit  = gcd(DataWidth, Elem);
  localparam int Beats = (FrameElements * Elem + DataWidth - 1) / DataWidth;
  localparam int BeatW = (Beats > 1) ? $clog2(Beats) : 1;

  logic [BeatW-1:0] unused_beat;
  rhz_counter #(.Count(Beats)) u_beat (
    .clk_i, .rst_ni, .en_i(m_axis_tvalid && m_axis_tready), .value_o(unused_beat),
    .last_o(m_axis_tlast)
  );

  rhz_gearbox #(
    .Elem(Unit), .LanesIn(Lanes * (Elem / Unit)), .LanesOut(DataWidth / Unit),
    .RowIn(Row * (Elem / Unit)), .RowOut(FrameElements * (Elem / Unit)), .Depth(Depth),
    .Latency(Latency)
  ) u_gearbox (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i,
    .out_valid_o(m_axis_tvalid), .out_ready_i(m_axis_tready), .out_data_o(m_axis_tdata)
  );
endmodule
