// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor that is kept from frame to frame: a FIFO that after a reset first
// gives the Beats beats of InitFile, one a cycle, and then what comes in.
// Depth >= Beats: while no more than a frame is on its way around the loop in
// which it stands, a beat that comes in finds a place. Latency = 1 + V.
module rhz_state #(
  parameter int Width   = 8,
  parameter int Beats   = 1,
  parameter int Block   = 0,   // 1: the initial value in block RAM
  parameter     InitFile = "",
  parameter int Depth   = 2,
  parameter int Latency = 0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  localparam int Lat    = 1 + ((Depth > 64) ? 2 : 1);
  localparam int IndexW = (Beats > 1) ? $clog2(Beats) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_state: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Depth < Beats) begin : gen_bad_depth
    initial $fatal(1, "rhz_state: Depth %0d, a frame has %0d beats", Depth, Beats);
  end

  logic credit, begins_q, fill, fill_last, fire, push_q, filled_q;
  logic [IndexW-1:0] index;
  logic [Width-1:0] initial_data, data_q;
  assign fill       = credit && begins_q;
  assign in_ready_o = credit && !begins_q;
  assign fire       = in_valid_i && in_ready_o;
  rhz_counter #(.Count(Beats)) u_index (
    .clk_i, .rst_ni, .en_i(fill), .value_o(index), .last_o(fill_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begins_q <= 1'b1;
      push_q   <= 1'b0;
    end else begin
      begins_q <= begins_q && !(fill && fill_last);
      push_q   <= fill || fire;
    end
  end
  always_ff @(posedge clk_i) begin
    filled_q <= begins_q;
    data_q   <= in_data_i;
  end
  rhz_rom #(.Width(Width), .Words(Beats), .Stages(1), .Block(Block), .File(InitFile)) u_initial (
    .clk_i, .addr_i(index), .data_o(initial_data)
  );

  rhz_outbuf #(.Width(Width), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fill || fire), .push_i(push_q),
    .push_data_i(filled_q ? initial_data : data_q), .out_valid_o, .out_ready_i,
    .out_data_o
  );
endmodule
