// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From AXI4-Stream to a stream: elements packed little-endian over beats,
// frames padded to whole beats. A gearbox in units that divide both widths; its
// timing is ours. TLAST does not steer anything: err_o counts (and saturates)
// accepted beats on which it disagrees with the frame length.
module rhz_axis_in #(
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
  input  logic [DataWidth-1:0]  s_axis_tdata,
  input  logic                  s_axis_tvalid,
  output logic                  s_axis_tready,
  input  logic                  s_axis_tlast,
  output logic [15:0]           err_o,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [Lanes*Elem-1:0] out_data_o
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

  logic beat, last;
  logic [BeatW-1:0] unused_beat;
  assign beat = s_axis_tvalid && s_axis_tready;
  rhz_counter #(.Count(Beats)) u_beat (
    .clk_i, .rst_ni, .en_i(beat), .value_o(unused_beat), .last_o(last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) err_o <= '0;
    else if (beat && s_axis_tlast != last && err_o != '1) err_o <= err_o + 16'd1;
  end

  rhz_gearbox #(
    .Elem(Unit), .LanesIn(DataWidth / Unit), .LanesOut(Lanes * (Elem / Unit)),
    .RowIn(FrameElements * (Elem / Unit)), .RowOut(Row * (Elem / Unit)), .Depth(Depth),
    .Latency(Latency)
  ) u_gearbox (
    .clk_i, .rst_ni, .in_valid_i(s_axis_tvalid), .in_ready_o(s_axis_tready),
    .in_data_i(s_axis_tdata), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
