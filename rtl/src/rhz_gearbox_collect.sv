// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Beats of words that come one by one: Most in every beat, Last in the last of every
// Beats, whose other places are zero. Words are shifted to their places, or with
// partial beats written there. Latency = 1 + V, from the last word of a beat.
module rhz_gearbox_collect #(
  parameter int Width   = 8,
  parameter int Most    = 2,
  parameter int Last    = 2,
  parameter int Beats   = 1,
  parameter int Depth   = 2,
  parameter int Latency = 0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [Width-1:0]      in_data_i,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [Most*Width-1:0] out_data_o
);
  localparam int Lat    = 1 + ((Depth > 64) ? 2 : 1);
  localparam int AtW    = (Most > 1) ? $clog2(Most) : 1;
  localparam int BeatsW = (Beats > 1) ? $clog2(Beats) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_gearbox_collect: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire, at_last, push_q;
  logic [Most*Width-1:0] beat_q, beat;
  assign in_ready_o = credit || !at_last;
  assign fire       = in_valid_i && in_ready_o;
  always_ff @(posedge clk_i) push_q <= rst_ni && fire && at_last;
  if (Beats == 1) begin : gen_shifted
    logic [AtW-1:0] unused_at;
    rhz_counter #(.Count(Most)) u_at (
      .clk_i, .rst_ni, .en_i(fire), .value_o(unused_at), .last_o(at_last)
    );
    if (Most == 1) begin : gen_single
      always_ff @(posedge clk_i) beat_q <= in_data_i;
    end else begin : gen_several
      always_ff @(posedge clk_i) if (fire) beat_q <= {in_data_i, beat_q[Most*Width-1:Width]};
    end
    assign beat = beat_q;
  end else begin : gen_placed
    // The place of the next word has a flag of its own.
    logic beat_last, part_q;
    logic [BeatsW-1:0] unused_beat;
    logic [Most-1:0] place_q;
    rhz_counter #(.Count(Beats)) u_beat (
      .clk_i, .rst_ni, .en_i(fire && at_last), .value_o(unused_beat), .last_o(beat_last)
    );
    assign at_last = beat_last ? place_q[Last-1] : place_q[Most-1];
    always_ff @(posedge clk_i) begin
      if (!rst_ni)   place_q <= Most'(1);
      else if (fire) place_q <= at_last ? Most'(1) : place_q << 1;
      part_q <= beat_last;
    end
    for (genvar k = 0; k < Most; k++) begin : gen_place
      always_ff @(posedge clk_i)
        if (fire && place_q[k]) beat_q[k*Width +: Width] <= in_data_i;
      assign beat[k*Width +: Width] =
          (k < Last || !part_q) ? beat_q[k*Width +: Width] : '0;
    end
  end
  rhz_outbuf #(.Width(Most * Width), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire && at_last), .push_i(push_q),
    .push_data_i(beat), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
