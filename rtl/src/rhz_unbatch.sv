// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes the frames of a batch on that are there: of Frames frames of Beats beats
// each, those up to the number that n gives for the batch. Latency = 1 + V.
module rhz_unbatch #(
  parameter int Elem    = 8,
  parameter int Beats   = 1,
  parameter int Frames  = 2,
  parameter int Depth   = 2,
  parameter int Latency = 0
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      in_valid_i,
  output logic                      in_ready_o,
  input  logic [Elem-1:0]           in_data_i,
  input  logic                      n_valid_i,
  output logic                      n_ready_o,
  input  logic [$clog2(Frames)-1:0] n_data_i,
  output logic                      out_valid_o,
  input  logic                      out_ready_i,
  output logic [Elem-1:0]           out_data_o
);
  localparam int Lat   = 1 + ((Depth > 64) ? 2 : 1);
  localparam int BeatW = (Beats > 1) ? $clog2(Beats) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_unbatch: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire, is_there, push_q, beat_last, frame_last;
  logic [BeatW-1:0] unused_beat;
  logic [$clog2(Frames)-1:0] frame;
  logic [Elem-1:0] data_q;
  assign is_there   = frame <= n_data_i;
  assign in_ready_o = n_valid_i && (credit || !is_there);
  assign fire       = in_valid_i && in_ready_o;
  assign n_ready_o  = fire && beat_last && frame_last;
  rhz_counter #(.Count(Beats)) u_beat (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_beat), .last_o(beat_last)
  );
  rhz_counter #(.Count(Frames)) u_frame (
    .clk_i, .rst_ni, .en_i(fire && beat_last), .value_o(frame), .last_o(frame_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) push_q <= 1'b0;
    else         push_q <= fire && is_there;
  end
  always_ff @(posedge clk_i) data_q <= in_data_i;

  rhz_outbuf #(.Width(Elem), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire && is_there), .push_i(push_q),
    .push_data_i(data_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
