// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of beats one by one: Most of every beat, Last of the last of every Beats.
// The first comes straight from the input, which is taken with it, the others from
// registers. Latency = 1 + V.
module rhz_gearbox_pick #(
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
  input  logic [Most*Width-1:0] in_data_i,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [Width-1:0]      out_data_o
);
  localparam int Lat    = 1 + ((Depth > 64) ? 2 : 1);
  localparam int AtW    = (Most > 1) ? $clog2(Most) : 1;
  localparam int BeatsW = (Beats > 1) ? $clog2(Beats) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_gearbox_pick: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire, first, at_last, beat_last, push_q;
  logic [AtW-1:0] at;
  logic [BeatsW-1:0] beat;
  assign fire       = credit && (!first || in_valid_i);
  assign in_ready_o = credit && first;
  rhz_counter #(.Count(Beats)) u_beat (
    .clk_i, .rst_ni, .en_i(fire && at_last), .value_o(beat), .last_o(beat_last)
  );
  if (Beats == 1) begin : gen_full
    logic unused;
    assign unused = &{1'b0, beat, beat_last};
    rhz_counter #(.Count(Most)) u_at (
      .clk_i, .rst_ni, .en_i(fire), .value_o(at), .last_o(at_last)
    );
  end else begin : gen_partial
    // The last word of a beat is known with it, also if there is only one.
    logic [AtW-1:0] at_q, at_d;
    logic last_q, last_d, beat_last_d;
    assign at_d        = last_q ? '0 : at_q + AtW'(1);
    assign beat_last_d = last_q ? beat == BeatsW'(Beats - 2) : beat_last;
    assign last_d      = at_d == (beat_last_d ? AtW'(Last - 1) : AtW'(Most - 1));
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        at_q   <= '0;
        last_q <= Most == 1;
      end else if (fire) begin
        at_q   <= at_d;
        last_q <= last_d;
      end
    end
    assign at      = at_q;
    assign at_last = last_q;
  end

  logic [Most*Width-1:0] words;
  logic [Width-1:0] word, word_q;
  if (Most == 1) begin : gen_single
    assign first = 1'b1;
    assign words = in_data_i;
  end else begin : gen_held
    logic first_q;
    logic [(Most-1)*Width-1:0] held_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni)   first_q <= 1'b1;
      else if (fire) first_q <= at_last;
    end
    always_ff @(posedge clk_i) if (first) held_q <= in_data_i[Most*Width-1:Width];
    assign first = first_q;
    assign words = {held_q, in_data_i[Width-1:0]};
  end
  rhz_choose #(.Width(Width), .Count(Most)) u_choose (
    .sel_i(at), .data_i(words), .data_o(word)
  );
  always_ff @(posedge clk_i) begin
    push_q <= rst_ni && fire;
    word_q <= word;
  end
  rhz_outbuf #(.Width(Width), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(push_q),
    .push_data_i(word_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
