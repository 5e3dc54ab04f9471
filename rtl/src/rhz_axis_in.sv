// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From AXI4-Stream to a stream: elements packed little-endian over beats,
// frames padded to whole beats. A gearbox in units that divide both widths; its
// timing is ours. A frame whose TLAST comes early is filled up with whatever
// stands on TDATA, and what follows a frame's last beat without TLAST is dropped
// up to the next TLAST: the frame after that is right. The latter only once some
// TLAST has come, so that a source without it works too. err_o counts (and
// saturates) both kinds of frames. Nothing is taken in reset.
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

  logic take, take_ready, last;  // a beat of a frame, to the gearbox
  logic beat, wrong;             // one that comes from outside
  logic fill_q, drop_q, framed_q;
  logic [BeatW-1:0] unused_beat;
  assign s_axis_tready = rst_ni && !fill_q && (take_ready || drop_q);
  assign take          = fill_q || (s_axis_tvalid && !drop_q);
  assign beat          = s_axis_tvalid && !fill_q && !drop_q && take_ready;
  assign wrong         = beat && s_axis_tlast != last;
  rhz_counter #(.Count(Beats)) u_beat (
    .clk_i, .rst_ni, .en_i(take && take_ready), .value_o(unused_beat), .last_o(last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q   <= 1'b0;
      drop_q   <= 1'b0;
      framed_q <= 1'b0;
      err_o    <= '0;
    end else begin
      if (fill_q) fill_q <= !(take_ready && last);
      else fill_q <= wrong && !last;
      if (drop_q) drop_q <= !(s_axis_tvalid && s_axis_tlast);
      else drop_q <= wrong && last && framed_q && Beats > 1;
      if (s_axis_tvalid && s_axis_tready && s_axis_tlast) framed_q <= 1'b1;
      if (wrong && err_o != '1) err_o <= err_o + 16'd1;
    end
  end

  rhz_gearbox #(
    .Elem(Unit), .LanesIn(DataWidth / Unit), .LanesOut(Lanes * (Elem / Unit)),
    .RowIn(FrameElements * (Elem / Unit)), .RowOut(Row * (Elem / Unit)), .Depth(Depth),
    .Latency(Latency)
  ) u_gearbox (
    .clk_i, .rst_ni, .in_valid_i(take), .in_ready_o(take_ready),
    .in_data_i(s_axis_tdata), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
